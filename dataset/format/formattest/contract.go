// Package formattest tests that a registered file format keeps the contract of package format: see Run.
package formattest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// Run tests the format registered under name. path is a graph with edges that no other format recognises with the same
// certainty. The format must describe itself, recognise path but no other file, read the same valid graph each time,
// and read what it writes.
func Run(t *testing.T, name, path string) {
	t.Helper()
	f := mattest.Must(format.Find(name))
	d := f.Describe()
	_, lists := f.(format.Lister)
	if d.Title == "" || d.Folder == "" && d.File == "" {
		t.Errorf("the description %+v has no title, or names neither files nor folders", d)
	}
	if d.File != "" && len(d.Extensions) == 0 && !lists {
		t.Errorf("the description %+v has files without an extension", d)
	}
	if found, err := format.Recognise(path); err != nil || found.FormatName != name {
		t.Errorf("%s is recognised as of the format %q: %v", path, found.FormatName, err)
	}
	for _, other := range []string{"nothing", "nothing.txt"} {
		other = filepath.Join(t.TempDir(), other)
		mattest.OK(t, os.WriteFile(other, []byte("nothing"), 0o600))
		if f.Recognise(other) != format.No || f.Recognise(filepath.Dir(other)) != format.No {
			t.Errorf("%s or its folder is recognised", other)
		}
	}
	g := read(t, f, path)
	if g.Edges() == 0 {
		t.Errorf("the graph of %s has no edges", path)
	}
	if one, two := identify(g), identify(read(t, f, path)); one != two {
		t.Errorf("%s is read as %+v, and then as %+v", path, one, two)
	}
	if w, ok := f.(format.Writer); ok {
		writes(t, w, g)
	}
}

// writes tests that w reads what it wrote, and that equal graphs give equal bytes.
func writes(t *testing.T, w format.Writer, g *graph.Graph) {
	t.Helper()
	name := "written"
	if extensions := w.Describe().Extensions; len(extensions) > 0 {
		name += extensions[0]
	}
	again := read(t, w, twice(t, "a graph", name, func(path string) error { return w.Write(t.Context(), path, g) }))
	if again.Nodes() != g.Nodes() || again.Edges() != g.Edges() || !slices.Equal(again.Y, g.Y) {
		t.Errorf("what was written is read as %+v, want %+v", again.Sizes(), g.Sizes())
	}
}

func read(t *testing.T, f format.Format, path string) *graph.Graph {
	t.Helper()
	g, _, err := f.Read(t.Context(), path)
	mattest.OK(t, err)
	mattest.OK(t, g.Validate(t.Context()))
	return g
}

func identify(g *graph.Graph) graph.Identity { return mattest.Must(graph.Identify(g)) }
