package torch_test

import (
	"archive/zip"
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/formattest"
	"github.com/graph-condensation/cgc/dataset/format/internal/formats/torch"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// written returns a file of testdata, which testdata/make.py wrote with torch.
func written(t testing.TB, name string) []byte {
	t.Helper()
	return fixture.Base64(t, filepath.Join("testdata", name+".pt.b64"))
}

func TestContract(t *testing.T) {
	formattest.Run(t, torch.Name, fixture.File(t, "own.pt", written(t, "data")))
	formattest.Condensed(t, torch.Name)
}

// TestReadFilesOfTorch checks that each file of torch holds the path 3–0–1–2.
func TestReadFilesOfTorch(t *testing.T) {
	for _, name := range []string{
		"data", "dict", "legacy", "processed", "processed-1", "adj_t", "strides", "index", "sparse", "data-1",
		"torch_sparse", "data-torch-2.15", "sparse-torch-2.15", "adj_t-torch-2.15", "legacy-torch-2.15",
		"untyped-torch-2.15",
	} {
		t.Run(name, func(t *testing.T) {
			g, notes := fixture.Noted(t, fixture.File(t, "own.pt", written(t, name)))
			fixture.Is(t, g, "edges 0-1 0-3 1-2; x 1 2, 3 4, 5 6, 7 8; y 0 1 1 0; split 0 1 / 2 / 3")
			if g.Classes != 2 || g.Name != "own" {
				t.Errorf("%d classes, name %q", g.Classes, g.Name)
			}
			if name == "strides" && !slices.Contains(notes, "train_mask holds 2 splits: split 0 of 0 to 1 is used") {
				t.Errorf("notes %q, want one about the columns of train_mask", notes)
			}
		})
	}
}

// TestReadFolders checks that a data set of PyTorch Geometric can be read from its folder, which names the graph, and
// from the folder inside.
func TestReadFolders(t *testing.T) {
	for _, name := range []string{"data.pt", "data_undirected.pt", "data_directed.pt"} {
		root := filepath.Join(t.TempDir(), "Cora")
		inner := filepath.Join(root, "processed")
		mattest.OK(t, os.MkdirAll(inner, 0o700))
		file := filepath.Join(inner, name)
		mattest.OK(t, os.WriteFile(file, written(t, "processed"), 0o600))
		for _, path := range []string{root, inner, file} {
			if g := fixture.Open(t, path); g.Name != "Cora" || g.Nodes() != 4 {
				t.Errorf("%s: a graph %q of %d nodes", path, g.Name, g.Nodes())
			}
		}
	}
}

// TestTensorsAreAligned checks that the numbers of a tensor begin at a multiple of 64 bytes, so that torch can map
// them.
func TestTensorsAreAligned(t *testing.T) {
	path := filepath.Join(t.TempDir(), "own.pt")
	mattest.OK(t, dataset.Write(t.Context(), path, fixture.Made(t, "cora", 0.1)))
	z := mattest.Must(zip.OpenReader(path))
	defer z.Close()
	for _, m := range z.File {
		if at, err := m.DataOffset(); err != nil || at%64 != 0 {
			t.Errorf("%s begins at byte %d, %v", m.Name, at, err)
		}
	}
}

// TestRefusesGraphs checks that errors about graphs name the array, and that condensed graphs are identified.
func TestRefusesGraphs(t *testing.T) {
	nan := float32(math.NaN())
	change := func(name string, data any, shape ...int) func(*format.Arrays) {
		return func(a *format.Arrays) {
			a.List = slices.DeleteFunc(a.List, func(b format.Array) bool { return b.Name == name })
			if data != nil {
				a.Add(name, data, shape...)
			}
		}
	}
	for want, change := range map[string]func(*format.Arrays){
		`"train_mask" (3 bool), "x" (3×2 float32), "y" (3 int64)`: change("edge_index", nil),
		"x: feature 1 of node 0 is not a finite number":           change("x", []float32{1, nan, 3, 4, 5, 6}, 3, 2),
		"test_mask: elements of type text, must be numbers":       change("test_mask", []string{"a", "b", "c"}),
		"adj_t: shape [3 2], must be [3 3]": func(a *format.Arrays) {
			change("edge_index", nil)(a)
			a.Add("adj_t", make([]float32, 6), 3, 2)
		},
	} {
		a := &format.Arrays{}
		a.Add("x", []float32{1, 2, 3, 4, 5, 6}, 3, 2)
		a.Add("y", []int64{0, 1, -1})
		a.Add("edge_index", []int64{0, 1, 1, 2}, 2, 2)
		a.Add("train_mask", []bool{true, false, false})
		change(a)
		path := filepath.Join(t.TempDir(), "own.pt")
		mattest.OK(t, (torch.Format{}).WriteArrays(t.Context(), path, a))
		fixture.RefusesAt(t, path, want)
	}
}

// member changes one member of an archive, or removes it if the content is nil.
func member(t testing.TB, data []byte, name string, change func([]byte) []byte) []byte {
	t.Helper()
	found := false
	changed := fixture.Rezipped(t, data, func(of string, content []byte, add func(*zip.FileHeader, []byte)) {
		if strings.HasSuffix(of, name) {
			found = true
			if content = change(content); content == nil {
				return
			}
		}
		add(&zip.FileHeader{Name: of}, content)
	})
	if !found {
		t.Fatalf("there is no member %s", name)
	}
	return changed
}

// with replaces bytes in the pickle of an archive.
func with(t *testing.T, data []byte, old, replacement string) []byte {
	return member(t, data, "data.pkl", func(text []byte) []byte {
		if !bytes.Contains(text, []byte(old)) {
			t.Fatalf("the pickle has no %q", old)
		}
		return bytes.Replace(text, []byte(old), []byte(replacement), 1)
	})
}

// TestRefuses checks that damaged files, and files that try to run code, give one-line errors.
func TestRefuses(t *testing.T) {
	data, dict := written(t, "data"), written(t, "dict")
	legacy := written(t, "legacy")
	const class, rebuild = "ctorch_geometric.data.data\nData\n", "ctorch._utils\n_rebuild_tensor_v2\n"
	gone := func([]byte) []byte { return nil }
	short := func(text []byte) []byte { return text[:len(text)-8] }
	for want, file := range map[string][]byte{
		`pickle uses the class "os.system"`:               with(t, data, class, "cos\nsystem\n"),
		`pickle uses the class "builtins.eval"`:           with(t, dict, "ccollections\nOrderedDict\n", "cbuiltins\neval\n"),
		`pickle uses the class "posix.system"`:            with(t, dict, rebuild, "cposix\nsystem\n"),
		`pickle uses the class "torch.load"`:              with(t, dict, "ctorch\nFloatStorage\n", "ctorch\nload\n"),
		`pickle uses the class "__main__.Unknown"`:        written(t, "unknown"),
		`it holds a HeteroData, a graph of several types`: written(t, "hetero"),
		`it holds 3 graphs (slices of`:                    written(t, "three"),
		`the file of 1200 bytes is cut short`:             data[:1200],
		`pickle is cut short`:                             legacy[:200],
		`the file is cut short: storage`:                  legacy[:len(legacy)-4],
		`not a file of torch.save: neither a zip`:         member(t, data, "data.pkl", gone)[4:100],
		`a zip archive without data.pkl`:                  member(t, data, "data.pkl", gone),
		`the numbers of storage "0" are missing`:          member(t, data, "data/0", gone),
		`storage "0" holds 24 bytes, expected 32`:         member(t, data, "data/0", short),
		`x: shape [4 2] with strides [9 1] from 0 reaches beyond its storage of 8 elements`: with(t, dict,
			"K\x04K\x02\x86q\x08K\x02K\x01\x86", "K\x04K\x02\x86q\x08K\x09K\x01\x86"),
		`x: shape [2147483647 2147483647] is not possible in a storage of 8 elements`: with(t, dict,
			"K\x04K\x02\x86q\x08K\x02K\x01\x86", "J\xff\xff\xff\x7fJ\xff\xff\xff\x7f\x86q\x08K\x00K\x00\x86"),
		`x: shape [4 2] with strides [2 1] from 77 reaches beyond`: with(t, dict,
			"QK\x00K\x04K\x02\x86", "QK\x4dK\x04K\x02\x86"),
		`torch's pickle has a storage that is no`: with(t, dict, "K\x08tq", "J\xff\xff\xff\xfftq"),
	} {
		fixture.RefusesAt(t, fixture.File(t, "own.pt", file), want)
	}
}

// TestUnlabelled checks that labels may be missing if graphs without labels are allowed.
func TestUnlabelled(t *testing.T) {
	file := fixture.File(t, "own.pt", with(t, written(t, "dict"), "X\x01\x00\x00\x00y", "X\x01\x00\x00\x00z"))
	g := mattest.Must(dataset.Options{Unlabelled: true}.Open(t.Context(), file))
	fixture.Is(t, g, "edges 0-1 0-3 1-2; y - - - -")
	fixture.RefusesAt(t, file, "there is no array of labels")
}

// TestRefusesOddObjects checks that a record that contains itself, and a pickle of a number, are errors.
func TestRefusesOddObjects(t *testing.T) {
	const data, store = "ctorch_geometric.data.data\nData\n)\x81q\x00", "X\x06\x00\x00\x00_store"
	for pickled, want := range map[string]string{
		data + "}" + store + "h\x00sb.": "own.pt: there is no array of edges (edge_index, ",
		"cbuiltins\ngetattr\nctorch_geometric.data.data\nData\nX\x08\x00\x00\x00__init__\x86R.": "uses the function getattr",
		"K\x07.":                       "it holds a number, must hold a Data or a dictionary with x, y and edge_index",
		"(K\x01K\x02K\x03K\x04K\x05t.": "it holds a tuple of 5, expected (data, slices)",
		"}X\x01\x00\x00\x00xX\x01\x00\x00\x00as.": `the file holds "x" (a string)`,
	} {
		file := member(t, written(t, "data"), "data.pkl", func([]byte) []byte { return []byte("\x80\x02" + pickled) })
		fixture.RefusesAt(t, fixture.File(t, "own.pt", file), want)
	}
}

// FuzzRead checks that no input causes a panic or unbounded memory use. Errors are allowed.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.b64"))
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, file := range files {
		f.Add(fixture.Base64(f, file))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		fixture.Valid(t, fixture.File(t, "own.pt", data))
	})
}

// FuzzPickle changes only the pickle, so that the archive stays intact.
func FuzzPickle(f *testing.F) {
	whole := written(f, "data")
	for _, name := range []string{"data", "dict", "adj_t", "sparse", "processed", "torch_sparse", "strides"} {
		member(f, written(f, name), "data.pkl", func(text []byte) []byte { f.Add(text); return text })
	}
	f.Fuzz(func(t *testing.T, pickled []byte) {
		fixture.Valid(t, fixture.File(t, "own.pt", member(t, whole, "data.pkl", func([]byte) []byte { return pickled })))
	})
}
