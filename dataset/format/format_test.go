package format_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// sure recognises paths that contain a word, with a given certainty.
type sure struct {
	word string
	as   format.Certainty
	name string
}

func (s sure) Describe() format.Description {
	return format.Description{Title: s.word, File: "a ." + s.word + " file", Extensions: []string{"." + s.word}}
}

func (s sure) Recognise(path string) format.Certainty {
	if strings.Contains(filepath.Base(path), s.word) {
		return s.as
	}
	return format.No
}

func (s sure) Read(context.Context, string) (*graph.Graph, []string, error) {
	b := graph.Builder{X: mat.NewDense(90, 1), Y: make([]int32, 90), Name: s.name}
	g, _, err := b.Graph(context.Background())
	return g, []string{"from " + s.word}, err
}

func TestMain(m *testing.M) {
	format.Register("first", sure{"twin", format.Likely, "one"})
	format.Register("second", sure{"twin", format.Likely, "two"})
	format.Register("third", sure{"twins", format.Certain, ""})
	os.Exit(m.Run())
}

func file(t *testing.T, name string) string {
	return fixture.File(t, name, []byte{})
}

func TestTheMostCertainFormatReads(t *testing.T) {
	g, notes := fixture.Noted(t, file(t, "a.twins"))
	if g.Name != "a" || len(g.Split.Train) != 20 || len(g.Split.Val) != 30 || len(g.Split.Test) != 40 {
		t.Errorf("a graph without a name or a split is opened as %s with %+v", g.Name, g.Split)
	}
	fixture.Notes(t, notes, "from twins", "comes without a split", "has no edges")
}

func TestTwoFormatsAreAnError(t *testing.T) {
	path := file(t, "a.twin")
	_, err := dataset.Options{}.Open(t.Context(), path)
	fixture.Says(t, err, path+" may be of the formats first (a .twin file) and second (a .twin file)")
}

func TestSeveralGraphsAreAnError(t *testing.T) {
	dir := fixture.Folder(t, map[string][]byte{"b.npz": {}, "a.safetensors": {}})
	_, err := dataset.Options{}.Open(t.Context(), dir)
	if several, is := errors.AsType[*format.SeveralError](err); !is || len(several.Graphs) != 2 {
		t.Errorf("error %v", err)
	}
	fixture.Says(t, err, "holds the graphs a, b: name the file of the one you want, as "+
		filepath.Join(dir, "a.safetensors"))
}

// TestFoldersAreNotFiles checks that a folder is not recognised as a file, whatever its name.
func TestFoldersAreNotFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "own.npz")
	mattest.OK(t, os.Mkdir(dir, 0o755))
	if _, err := (dataset.Options{}).Open(t.Context(), dir); !errors.As(err, new(*format.UnrecognisedError)) {
		t.Errorf("error %v", err)
	}
}

func TestDevicesAreNotFiles(t *testing.T) {
	_, err := format.Recognise(os.DevNull)
	fixture.Says(t, err, os.DevNull+": a pipe or a device")
}

func TestErrorsListTheFormats(t *testing.T) {
	var unknown *format.UnrecognisedError
	_, err := dataset.Options{}.Open(t.Context(), t.TempDir())
	if !errors.As(err, &unknown) || !unknown.Folder {
		t.Fatalf("error %v", err)
	}
	for _, name := range format.Names() {
		f := mattest.Must(format.Find(name))
		d := f.Describe()
		for _, of := range []string{d.Folder, d.File} {
			if of != "" && !strings.Contains(unknown.Error(), of+" ("+d.Title+")") {
				t.Errorf("%v\nsays nothing of %s", unknown, of)
			}
		}
	}
}

// TestErrorsListTheFolder checks that the error for a folder lists its files, similar names, and the formats with such
// files.
func TestErrorsListTheFolder(t *testing.T) {
	const few = "; expected edges.csv and target.csv, or out1_graph_edges.txt and out1_node_feature_label.txt (MUSAE, " +
		"Karate Club and Geom-GCN), nodes.csv and edges.csv (text with names), edges.csv and labels.csv (text)"
	const all = "; expected processed/data.pt (torch.save), "
	for files, want := range map[string]string{
		"":                       "it is empty" + all,
		"accounts.csv":           `it holds "accounts.csv"` + all,
		"edges.csv":              `it holds "edges.csv"` + few,
		"accounts.csv edges.csv": `it holds "accounts.csv, edges.csv"` + few,
		"Nodes.csv edges.csv.gz": `it holds "Nodes.csv, edges.csv.gz"; "Nodes.csv" must be nodes.csv` + few,
		"edges.csv nodes.tsv":    `"nodes.tsv" must be nodes.csv` + few,
		"edge.csv nodes.csv.zst": `"edge.csv" must be edges.csv; "nodes.csv.zst" must be nodes.csv` + few,
	} {
		dir := t.TempDir()
		for _, file := range strings.Fields(files) {
			mattest.OK(t, os.WriteFile(filepath.Join(dir, file), nil, 0o600))
		}
		_, err := dataset.Options{}.Open(t.Context(), dir)
		fixture.Says(t, err, "folder "+dir+" holds no graph: ")
		fixture.Says(t, err, want)
	}
}

// TestEarlierNames checks that formats that became one format are found by their earlier names.
func TestEarlierNames(t *testing.T) {
	for _, name := range []string{"pyg", "PyG", "scipy"} {
		if w, ok, err := format.WriterFor("a.npz", name); !ok || err != nil || w.Describe().Extensions[0] != ".npz" {
			t.Errorf("%s: writer %T, %v", name, w, err)
		}
	}
}

func TestWriterFor(t *testing.T) {
	if _, _, err := format.WriterFor("a.npz", "mtx"); err == nil ||
		!strings.HasSuffix(err.Error(), "read, expected one of "+strings.Join(format.Writers(), ", ")) {
		t.Errorf("error %v", err)
	}
	var unknown *format.UnknownError
	if _, _, err := format.WriterFor("a.npz", "nqz"); !errors.As(err, &unknown) ||
		!slices.Equal(unknown.Names, format.Names()) {
		t.Errorf("error %v", err)
	}
	if _, ok, err := format.WriterFor("a.safetensors", ""); !ok || err != nil {
		t.Errorf("no writer for a.safetensors, %v", err)
	}
	if _, ok, err := format.WriterFor("a.xyz", ""); ok || err != nil {
		t.Errorf("a writer for a.xyz, %v", err)
	}
}

// TestShown checks that no user, password or parameter of an address is shown.
func TestShown(t *testing.T) {
	for address, want := range map[string]string{
		"postgres://ann:secret@host:5432/people":        "postgres://host:5432/people",
		"postgres://ann:se@cr/et?x@host/people":         "postgres://host/people",
		"postgres://host/people?user=a&password=secret": "postgres://host/people",
		"POSTGRES://a:secret@[::1]/p":                   "POSTGRES://[::1]/p",
		"my-graph/":                                     "my-graph/",
		`C:\graphs\a@b`:                                 `C:\graphs\a@b`,
		"://x@y":                                        "://x@y",
	} {
		mattest.Equal(t, format.Shown(address), want, "%s is shown as", address)
	}
}
