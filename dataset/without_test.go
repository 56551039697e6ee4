package dataset_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// TestWithout leaves out random nodes of random graphs, and compares the graph and its condensed graph with those from
// files without these nodes.
func TestWithout(t *testing.T) {
	for seed := range uint64(12) {
		random := rand.New(rand.NewPCG(seed, 1))
		split, named := seed%2 == 0, seed%3 > 0
		const n = 90
		ids, left := make([]string, n), make([]bool, n)
		for v := range n {
			if ids[v] = fmt.Sprint(v); named {
				ids[v] = fmt.Sprintf("node %d", v*v)
			}
			left[v] = v >= 3 && random.IntN(8) == 0 // the first three keep every class from becoming empty
		}
		nodes, edges := []string{"id,label,split,a,b"}, []string{"source,target,weight"}
		fewerNodes, fewerEdges := slices.Clone(nodes), slices.Clone(edges)
		for v := range n {
			part := ""
			if split {
				part = []string{"train", "val", "test"}[v/3%3]
			}
			row := fmt.Sprintf("%s,%c,%s,%.3f,%.3f", ids[v], 'r'+rune(v%3), part, random.NormFloat64(), random.Float64())
			if nodes = append(nodes, row); !left[v] {
				fewerNodes = append(fewerNodes, row)
			}
		}
		for range 4 * n {
			u, v := random.IntN(n), random.IntN(n)
			row := fmt.Sprintf("%s,%s,%.2f", ids[u], ids[v], 0.1+random.Float64())
			if edges = append(edges, row); !left[u] && !left[v] {
				fewerEdges = append(fewerEdges, row)
			}
		}
		var without []string
		for v, out := range left {
			if out {
				without = append(without, ids[v])
			}
		}
		random.Shuffle(len(without), func(i, j int) { without[i], without[j] = without[j], without[i] })
		var notes []string
		var omitted dataset.Omission
		o := dataset.Options{
			Omitted: func(o dataset.Omission) { omitted = o },
			Without: append(without, " "+without[0]+"\t"), Note: func(note string) { notes = append(notes, note) },
		}
		got := mattest.Must(o.Open(t.Context(), tables(t, nodes, edges)))
		want := mattest.Must(dataset.Options{}.Open(t.Context(), tables(t, fewerNodes, fewerEdges)))
		mattest.OK(t, got.Check(t.Context()))
		full := mattest.Must(graph.Identify(mattest.Must(dataset.Options{}.Open(t.Context(), tables(t, nodes, edges)))))
		rest := mattest.Must(graph.Identify(want))
		mattest.Equal(t, omitted, dataset.Omission{Nodes: len(without), Before: full.Fingerprint, After: rest.Fingerprint},
			"seed %d", seed)
		config := cgc.Defaults()
		config.Nodes = 9
		for _, config.Variant = range []cgc.Variant{cgc.CGC, cgc.CGCX} {
			bytes := make([][]byte, 2)
			for i, g := range []*graph.Graph{got, want} {
				path := filepath.Join(t.TempDir(), "small.safetensors")
				mattest.OK(t, mattest.Must(cgc.Condense(t.Context(), g, config)).Save(t.Context(), path))
				bytes[i] = mattest.Must(os.ReadFile(path))
			}
			if !slices.Equal(bytes[0], bytes[1]) {
				t.Errorf("seed %d: %s has other bytes than without the nodes in the files", seed, config.Variant)
			}
		}
		last := notes[len(notes)-1]
		if !split {
			last = notes[len(notes)-2] // the last note is about the split, which is drawn afterwards
		}
		if want := fmt.Sprintf("%d of the %d nodes were left out", len(without), n); !strings.Contains(last, want) {
			t.Errorf("seed %d: note %q, want %q", seed, last, want)
		}
	}
}

// tables writes a folder with nodes.csv and edges.csv.
func tables(t *testing.T, nodes, edges []string) string {
	of := func(lines []string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }
	return fixture.Folder(t, map[string][]byte{"nodes.csv": of(nodes), "edges.csv": of(edges)})
}

// TestWithoutUnknownNodes checks that the error names the ids that are not nodes, even if they are the numbers of nodes
// with names.
func TestWithoutUnknownNodes(t *testing.T) {
	named := tables(t, []string{"id,label,x", "a,0,1", "b,1,2", "c,0,3"}, []string{"source,target", "a,b"})
	for _, c := range []struct {
		path, want string
		without    []string
	}{
		{named, `there is no node "1"`, []string{"a", "1"}},
		{named, `there is no node "x", "y", "z", "u", "v" and 1 more`, []string{"x", "y", "z", "a", "u", "v", "w", "x"}},
		{"demo", `there is no node "4000", "-1", "node"`, []string{"3999", "4000", "-1", "node"}},
		{"demo", "no node has a label", everyNode(4000)},
	} {
		g, err := dataset.Options{Without: c.without}.Open(t.Context(), c.path)
		if g != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s without %v: error %v, want %q", c.path, c.without[:2], err, c.want)
		}
	}
	g := mattest.Must(dataset.Options{Without: []string{"0", "3999"}}.Open(t.Context(), "demo"))
	if mattest.OK(t, g.Check(t.Context())); g.Nodes() != 3998 {
		t.Errorf("%d nodes of demo without two, want 3998", g.Nodes())
	}
}

func everyNode(n int) (ids []string) {
	for v := range n {
		ids = append(ids, fmt.Sprint(v))
	}
	return ids
}
