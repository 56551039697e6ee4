package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// TestOtherGraph checks that a condensed graph is tested on the graph that it was made from, in any format. Another
// split or another graph causes an error with counts; --other-graph allows it, and the output says so. A file that does
// not record its source causes a note.
func TestOtherGraph(t *testing.T) {
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	write := func(name string, change func(g *graph.Graph)) string {
		t.Helper()
		g := wide(400, 4, 16)
		g.Name, g.Split = "shop", graph.Split{}
		for v := range int32(400) {
			switch {
			case v < 80:
				g.Split.Train = append(g.Split.Train, v)
			case v < 160:
				g.Split.Val = append(g.Split.Val, v)
			default:
				g.Split.Test = append(g.Split.Test, v)
			}
		}
		change(g)
		check(t, dataset.Write(t.Context(), in(name), g))
		return in(name)
	}
	shop := write("shop.safetensors", func(*graph.Graph) {})
	swapped := write("shop2.safetensors", func(g *graph.Graph) {
		g.Split.Train, g.Split.Test = g.Split.Test, g.Split.Train
	})
	changed := write("shop3.safetensors", func(g *graph.Graph) { g.X.(*mat.Dense).Data[0]++ })
	small := in("small.safetensors")
	ok(t, "condense", shop, "--method", "cgc", "--nodes", "16", "-o", small)

	short := []string{"--seeds", "1", "--epochs", "2", "--hidden", "4", "--models", "sgc"}
	evaluate := func(file, on string, more ...string) []string {
		return append(append([]string{"evaluate", file, "--on", on}, short...), more...)
	}
	report := func(file, on string, more ...string) []string {
		return append([]string{"report", file, "--on", on, "-o", in("page.html"), "--seeds", "0", "--whole", "0",
			"--ceilings=false"}, more...)
	}

	// The same graph in other formats, and a condensed graph in other formats.
	for _, name := range []string{"shop.npz", "shop.pt", "shop.graphml", "shop.dgl"} {
		ok(t, "convert", shop, in(name))
		if _, said := ok(t, evaluate(small, in(name))...); strings.Contains(said, "does not say") {
			t.Errorf("%s: %s", name, said)
		}
	}
	for _, name := range []string{"small.npz", "small.pt", "small.graphml", "small.dgl"} {
		ok(t, "convert", small, in(name))
		ok(t, evaluate(in(name), shop)...)
		if code, _, said := run(t, evaluate(in(name), swapped)...); code != 1 || !strings.Contains(said, "another split") {
			t.Errorf("%s: %d: %s", name, code, said)
		}
	}

	// Settings in which the method sees a modified graph.
	for _, flags := range [][]string{
		{"--inductive"}, {"--standardize", "--normalize-features"}, {"--pseudo-labels", "1"},
	} {
		other := in("setting.safetensors")
		ok(t, append([]string{"condense", shop, "--nodes", "16", "-o", other}, flags...)...)
		ok(t, evaluate(other, shop)...)
	}

	// Embeddings computed in advance.
	ok(t, "propagate", shop, "-o", in("embeddings.safetensors"))
	ok(t, "condense", "--embeddings", in("embeddings.safetensors"), "--nodes", "16", "-o", in("embedded.safetensors"))
	if _, said := ok(t, evaluate(in("embedded.safetensors"), shop)...); strings.Contains(said, "does not say") {
		t.Error(said)
	}

	for on, words := range map[string][]string{
		swapped: {"another split of shop", "nodes it was made from are test nodes of shop", "--other-graph"},
		changed: {"another graph than shop", "features differ", "0 of the"},
	} {
		for _, args := range [][]string{evaluate(small, on), report(small, on), evaluate(in("embedded.safetensors"), on)} {
			code, _, said := run(t, args...)
			for _, word := range words {
				if code != 1 || !strings.Contains(said, word) {
					t.Errorf("%q: %d: %q does not say %q", args, code, said, word)
				}
			}
		}
	}

	// --other-graph allows another split.
	out, _ := ok(t, evaluate(small, swapped, "--other-graph")...)
	if !strings.Contains(out, "another split of shop") {
		t.Errorf("the text does not say that the split is another one:\n%s", out)
	}
	var object struct {
		OtherGraph *condense.Target `json:"other_graph"`
	}
	out, _ = ok(t, evaluate(small, swapped, "--other-graph", "--json")...)
	if err := json.Unmarshal([]byte(out), &object); err != nil || object.OtherGraph == nil ||
		object.OtherGraph.InTest == 0 || object.OtherGraph.InTest != object.OtherGraph.SourceNodes {
		t.Errorf("%+v, error %v:\n%s", object.OtherGraph, err, out)
	}
	if out, _ = ok(t, evaluate(small, shop, "--other-graph", "--json")...); strings.Contains(out, "other_graph") {
		t.Errorf("the same graph is said to be another one:\n%s", out)
	}
	ok(t, report(small, swapped, "--other-graph")...)
	if page, err := os.ReadFile(in("page.html")); err != nil || !bytes.Contains(page, []byte("another split of shop")) {
		t.Errorf("the page does not say that the split is another one, error %v", err)
	}

	// A file of an older version records no source.
	old, err := condense.Load(small)
	check(t, err)
	old.Source = nil
	check(t, old.Save(t.Context(), small))
	if _, said := ok(t, evaluate(small, shop)...); !strings.Contains(said, "does not say which graph it was made from") {
		t.Errorf("no note for an old file: %q", said)
	}
	code, _, said := run(t, evaluate(small, swapped)...)
	if code != 1 || !strings.Contains(said, "are test nodes of shop") {
		t.Errorf("an old file on another split: %d: %s", code, said)
	}
}
