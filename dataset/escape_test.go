package dataset_test

import (
	"archive/zip"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// rezipped returns a copy of an archive with renamed members. A member without a new name is omitted. A member whose
// name ends in "→" is a symbolic link to /etc/passwd.
func rezipped(t *testing.T, archive string, rename func(name string) []string) []byte {
	t.Helper()
	data := mattest.Must(os.ReadFile(archive))
	return fixture.Rezipped(t, data, func(of string, content []byte, add func(*zip.FileHeader, []byte)) {
		for _, name := range rename(of) {
			header, data := &zip.FileHeader{Name: strings.TrimSuffix(name, "→")}, content
			if strings.HasSuffix(name, "→") {
				header.SetMode(fs.ModeSymlink | 0o777)
				data = []byte("/etc/passwd")
			}
			add(header, data)
		}
	})
}

// everything lists the files and folders below a folder.
func everything(t *testing.T, folder string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		all = append(all, path)
		return err
	})
	mattest.OK(t, err)
	return all
}

// TestArchivesThatClimbOut reads archives whose members have absolute paths, paths out of the folder, links or repeated
// names, and checks that no file is written. Reading returns the graph if all its arrays are found, else an error that
// names the file.
func TestArchivesThatClimbOut(t *testing.T) {
	dir := t.TempDir()
	inner := filepath.Join(dir, "a", "b", "c")
	mattest.OK(t, os.MkdirAll(inner, 0o700))
	for _, extension := range []string{".npz", ".pt"} {
		whole := filepath.Join(dir, "whole"+extension)
		mattest.OK(t, dataset.Write(t.Context(), whole, synth.Demo()))
		for name, rename := range map[string]func(string) []string{
			"climbs":        func(name string) []string { return []string{"../../" + name} },
			"climbs within": func(name string) []string { return []string{"x/../../../" + name} },
			"from the root": func(name string) []string { return []string{filepath.Join(dir, "root", name)} },
			"of Windows":    func(name string) []string { return []string{`..\..\` + name, `C:\` + name} },
			"beside":        func(name string) []string { return []string{name, "../../../" + name, "/" + name} },
			"a link":        func(name string) []string { return []string{name + "→"} },
			"links beside":  func(name string) []string { return []string{name, "../../link→", "link→"} },
		} {
			path := filepath.Join(inner, strings.ReplaceAll(name, " ", "-")+extension)
			mattest.OK(t, os.WriteFile(path, rezipped(t, whole, rename), 0o600))
			before := everything(t, dir)
			g, err := dataset.Options{}.Open(t.Context(), path)
			if err != nil && (strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), filepath.Base(path))) {
				t.Errorf("%s%s: error %v, want one line with the file", name, extension, err)
			}
			beside := strings.HasSuffix(name, "beside") // all arrays keep their names
			if beside && err != nil || !beside && extension == ".npz" && err == nil {
				t.Errorf("%s%s: error %v", name, extension, err)
			}
			if err == nil && g.Nodes() != synth.Demo().Nodes() {
				t.Errorf("%s%s: %d nodes", name, extension, g.Nodes())
			}
			mattest.Equal(t, everything(t, dir), before, "%s%s: the files are now", name, extension)
		}
	}
}

// TestFoldersThatClimbOut checks that a folder whose description names readable files outside the folder is an error.
// Symbolic links in the folder are followed.
func TestFoldersThatClimbOut(t *testing.T) {
	dir := t.TempDir()
	made := filepath.Join(dir, "made.dgl")
	mattest.OK(t, dataset.Write(t.Context(), made, synth.Demo()))
	meta := mattest.Must(os.ReadFile(filepath.Join(made, "meta.yaml")))
	for name, to := range map[string]string{
		"climbs.dgl": "../made.dgl/", "root.dgl": made + "/", "within.dgl": "x/../../made.dgl/", "linked.dgl": "",
	} {
		folder := filepath.Join(dir, name)
		mattest.OK(t, os.Mkdir(folder, 0o700))
		if to == "" {
			for _, file := range []string{"nodes_0.csv", "edges_0.csv"} {
				mattest.OK(t, os.Symlink(filepath.Join("..", "made.dgl", file), filepath.Join(folder, file)))
			}
		}
		text := strings.NewReplacer("nodes_0.csv", to+"nodes_0.csv", "edges_0.csv", to+"edges_0.csv").Replace(string(meta))
		mattest.OK(t, os.WriteFile(filepath.Join(folder, "meta.yaml"), []byte(text), 0o600))
		_, err := dataset.Options{}.Open(t.Context(), folder)
		refused := err != nil && strings.Contains(err.Error(), "must be a file in the folder")
		if refused != (to != "") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
