package dataset_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format/formattest"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// TestFeaturesElsewhere checks that features of a matrix type outside package mat are described and written like equal
// dense features.
func TestFeaturesElsewhere(t *testing.T) {
	g := fixture.Made(t, "arxiv", 0.05) // several blocks
	dense := g.X.(*mat.Dense)
	want := mattest.Must(dataset.Describe(g))
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name+".safetensors") }
	mattest.OK(t, dataset.Write(t.Context(), at("dense"), g))
	g.X = mattest.Distant{Of: dense}
	mattest.Equal(t, mattest.Must(dataset.Describe(g)), want, "facts")
	mattest.OK(t, dataset.Write(t.Context(), at("elsewhere"), g))
	one, err := os.ReadFile(at("dense"))
	two, otherErr := os.ReadFile(at("elsewhere"))
	if err != nil || otherErr != nil || !slices.Equal(one, two) {
		t.Errorf("%v, %v: the files differ", err, otherErr)
	}

	lost := errors.New("connection lost")
	g.X = mattest.Distant{Of: dense, Err: lost}
	_, err = dataset.Describe(g)
	mattest.WantIs(t, err, lost)
	mattest.WantIs(t, dataset.Write(t.Context(), at("lost"), g), lost)
	if _, err := os.Stat(at("lost")); err == nil {
		t.Error("a file without its features stands under its name")
	}
}

// TestWriteRefuses checks that nothing is written under a name without a known extension, or of an invalid graph.
func TestWriteRefuses(t *testing.T) {
	demo := synth.Demo()
	short := *demo
	short.X = mat.NewDense(10, 2)
	causal := mattest.Must(demo.Causally(t.Context()))
	for name, c := range map[string]struct {
		g    *graph.Graph
		want string
	}{
		"g.parquet": {demo, "is not that of a format, must be one of .safetensors"},
		"g.csv":     {demo, "is not that of a format"}, "g": {demo, "is not that of a format"},
		"a.safetensors": {&short, "graph demo is not valid: features have 10 rows for 4000 nodes"},
		"a.npz":         {&short, "features have 10 rows for 4000 nodes"}, "a.pt": {&short, "features have 10 rows"},
		"a.graphml": {&short, "features have 10 rows"}, "empty.npz": {new(graph.Graph), "there is no adjacency (nil)"},
		"c.npz": {causal, "graph demo has only edges to earlier nodes, must have all edges"},
	} {
		path := filepath.Join(t.TempDir(), name)
		fixture.Says(t, dataset.Write(t.Context(), path, c.g), c.want)
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s was written", name)
		}
	}
}

func TestContractOfAFormatFromOutside(t *testing.T) {
	dir := fixture.Folder(t, map[string][]byte{"ring.pairs": []byte(`{"edges": [[0, 1]], "labels": [0, 1, 0, 1]}`)})
	formattest.Run(t, "pairs", filepath.Join(dir, "ring.pairs"))
}

// TestFormatsFromOutsideAreFound checks that graphs of an external format are found by name in a search folder.
func TestFormatsFromOutsideAreFound(t *testing.T) {
	dir := fixture.Folder(t, map[string][]byte{"ring.pairs": []byte(`{"edges": [[0, 1]], "labels": [0, 1, 0, 1]}`)})
	for _, o := range []dataset.Options{{Search: []string{dir}}, {Search: []string{filepath.Dir(dir)}}} {
		name := "ring"
		if o.Search[0] != dir {
			name = "own" // the folder, with the file of one graph
		}
		if g, err := o.Open(t.Context(), name); err != nil || g.Nodes() != 4 {
			t.Errorf("%s: %v", name, err)
		}
		if list := o.List(); list[len(list)-1].Name != name || list[len(list)-1].Path != filepath.Join(dir, "ring.pairs") {
			t.Errorf("list ends with %+v", list[len(list)-1])
		}
	}
}
