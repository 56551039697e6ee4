package stored_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/stored"
	"github.com/graph-condensation/cgc/dataset/format/table"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
)

// arriving returns a causal graph of n nodes, with or without weights and names.
func arriving(t *testing.T, n int, weighted, named bool) *graph.Graph {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(n), 0))
	b := graph.Builder{Name: "arriving", X: mattest.Normal(n, 5, random), Classes: 3}
	for i := range n {
		b.Y = append(b.Y, int32(i%4)-1)
		if named {
			b.IDs = append(b.IDs, fmt.Sprintf("node %d", i*i))
		}
		if part := []*[]int32{nil, &b.Split.Train, &b.Split.Val, &b.Split.Test}[i%4]; part != nil {
			*part = append(*part, int32(i))
		}
		for range 3 {
			if w := float32(1); weighted {
				b.AddWeightedEdge(i, random.IntN(n), w+random.Float32())
			} else {
				b.AddEdge(i, random.IntN(n))
			}
		}
	}
	return mattest.Must(mattest.First(b.Graph(t.Context())).Causally(t.Context()))
}

// first returns the first n nodes of g.
func first(g *graph.Graph, n int) *graph.Graph { return g.Induced(memory.Range(0, n)) }

// described returns the description of a folder of g.
func described(g *graph.Graph, p propagate.Propagation) stored.Info {
	return stored.Info{
		Graph: g.Sizes(), Propagation: p.Rule, Hops: p.Hops, Teleport: p.Teleport, Causal: true, Store: mat.F32,
		Grows: &stored.Grows{ClassNames: g.ClassNames, FeatureNames: g.FeatureNames},
	}
}

// made writes a folder of g with one batch for each number of bytes.
func made(t *testing.T, g *graph.Graph, p propagate.Propagation, bytes int64) (path string) {
	t.Helper()
	path = t.TempDir()
	f := mattest.Must(stored.Create(path, described(g, p)))
	mattest.OK(t, f.AddGraph(t.Context(), g, bytes))
	mattest.OK(t, f.Commit())
	mattest.OK(t, f.Close())
	return path
}

// rest returns the nodes of g from n on as arrivals read them, with edges in the rows of both new ends.
func rest(g *graph.Graph, n int) *table.Arrivals {
	b := g.Nodes() - n
	a := &table.Arrivals{X: new(mat.Dense), Y: g.Y[n:], Edges: &mat.CSR{Rows: b, Cols: g.Nodes(), Indptr: []int64{0}}}
	_ = mat.Rows(a.X, g.X, memory.Range(n, g.Nodes()))
	both, _, _ := g.Adj.Transpose(context.Background())
	for i := n; i < g.Nodes(); i++ {
		for _, m := range []*mat.CSR{g.Adj, both} { // columns ascend, because those of g.Adj are below i
			for j, w := range m.Row(i) {
				a.Edges.Indices = append(a.Edges.Indices, int32(j))
				if g.Adj.Data != nil {
					a.Edges.Data = append(a.Edges.Data, w)
				}
			}
		}
		a.Edges.Indptr = append(a.Edges.Indptr, int64(len(a.Edges.Indices)))
		a.IDs = append(a.IDs, fmt.Sprint(i))
		if g.IDs != nil {
			a.IDs[i-n] = g.IDs[i]
		}
		if part := []*[]int32{nil, &a.Split.Train, &a.Split.Val, &a.Split.Test}[i%4]; part != nil {
			*part = append(*part, int32(i-n))
		}
	}
	return a
}

// contents returns the files of a folder.
func contents(t *testing.T, path string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, entry := range mattest.Must(os.ReadDir(path)) {
		files[entry.Name()] = string(mattest.Must(os.ReadFile(filepath.Join(path, entry.Name()))))
	}
	return files
}

// TestFolderGrows checks that additions give the same bytes as a folder that was written at once, in batches of any
// size, and the embeddings of the plain engine.
func TestFolderGrows(t *testing.T) {
	const n = 60
	for _, rule := range propagate.Rules() {
		for _, kind := range []struct{ weighted, named bool }{{false, false}, {true, true}} {
			g := arriving(t, n, kind.weighted, kind.named)
			p := propagate.Propagation{Rule: rule, Hops: 3, Teleport: 0.2}
			whole := made(t, g, p, 1<<30)
			want := contents(t, whole)
			mattest.True(t, reflect.DeepEqual(contents(t, made(t, g, p, 600)), want),
				"%s, %+v: the bytes depend on the batches", rule, kind)
			grown := made(t, first(g, 40), p, 1<<30)
			for _, end := range []int{41, 60} {
				f := mattest.Must(stored.OpenFolder(grown, true))
				mattest.OK(t, f.Add(t.Context(), mattest.Must(f.Batch(rest(first(g, end), f.Rows)))))
				mattest.OK(t, f.Commit())
				mattest.OK(t, f.Close())
			}
			mattest.True(t, reflect.DeepEqual(contents(t, grown), want), "%s, %+v: additions give other bytes", rule, kind)
			f := mattest.Must(stored.Open(t.Context(), whole))
			in := propagate.Input{Adj: g.Adj, X: g.X, Rows: g.Split.Train}
			for l, h := range mattest.Must(propagate.Run(t.Context(), propagate.Plain{}, p, in)) {
				got := append([]*mat.Dense{f.X}, f.H...)[l]
				for i := range f.Train {
					for j, v := range h.Row(i) {
						mattest.Near(t, float64(got.Row(i)[j]), float64(v), 1e-6, "%s: hop %d, (%d, %d)", rule, l, i, j)
					}
				}
			}
			mattest.Equal(t, f.Train, g.Split.Train, "training nodes")
			mattest.Equal(t, f.Y, g.Labels(f.Train), "labels")
		}
	}
}

// TestInterruptedAddition checks that a folder has all nodes of an addition or none, wherever it was interrupted.
func TestInterruptedAddition(t *testing.T) {
	g := arriving(t, 60, true, true)
	p := propagate.Propagation{Rule: propagate.SGC, Hops: 2}
	path := made(t, first(g, 40), p, 1<<30)
	before, after := contents(t, path), contents(t, made(t, g, p, 1<<30))
	f := mattest.Must(stored.OpenFolder(path, true))
	mattest.Fails(t, "another process")(stored.OpenFolder(path, true)) // a second writer
	mattest.OK(t, f.Add(t.Context(), mattest.Must(f.Batch(rest(g, 40)))))
	mattest.OK(t, f.Close()) // before Commit
	if reflect.DeepEqual(contents(t, path), before) {
		t.Fatal("the addition wrote nothing")
	}
	mattest.Equal(t, mattest.Must(stored.Open(t.Context(), path)).Nodes, 40, "nodes before Commit:")
	mattest.OK(t, mattest.Must(stored.OpenFolder(path, true)).Close())
	mattest.True(t, reflect.DeepEqual(contents(t, path), before), "opening does not undo an unfinished addition")
	// After Commit has written the description, but not all headers.
	for name := range after {
		if name == "ids.npy" || name == stored.InfoName {
			continue
		}
		for file, text := range after {
			if file == name {
				text = before[file][:128] + text[128:]
			}
			mattest.OK(t, os.WriteFile(filepath.Join(path, file), []byte(text), 0o600))
		}
		mattest.Equal(t, mattest.Must(stored.Open(t.Context(), path)).Nodes, 60, "%s: nodes", name)
		mattest.OK(t, mattest.Must(stored.OpenFolder(path, true)).Close())
		mattest.True(t, reflect.DeepEqual(contents(t, path), after), "%s: opening does not finish an addition", name)
	}
}

// TestLateLabels checks that labels and parts that arrive later give the same bytes as a folder that had them from the
// beginning, and that a crash before the exchange of the folders leaves the old ones.
func TestLateLabels(t *testing.T) {
	p := propagate.Propagation{Rule: propagate.SGC, Hops: 1}
	g := arriving(t, 40, true, true)
	early := *g
	later := len(g.Split.Test) - 3 // the last three test nodes have labels from the beginning
	tested := g.Split.Test[later:]
	early.Y, early.Split = slices.Clone(g.Y), graph.Split{Train: g.Split.Val, Val: g.Split.Train[:4], Test: tested}
	l := &table.Labels{Split: g.Split, Parted: true}
	l.Split.Test = g.Split.Test[:later]
	for v := 39; v >= 0; v-- {
		if slices.Contains(tested, int32(v)) {
			continue
		}
		if l.Nodes, l.Y = append(l.Nodes, int32(v)), append(l.Y, g.Y[v]); v%4 == 3 || v > 20 {
			early.Y[v] = graph.Unlabelled
		}
	}
	early.Split.Train = slices.DeleteFunc(slices.Clone(early.Split.Train), func(v int32) bool { return early.Y[v] < 0 })
	path := made(t, &early, p, 1<<30)
	before, after := contents(t, path), contents(t, made(t, g, p, 1<<30))
	f := mattest.Must(stored.OpenFolder(path, true))
	mattest.OK(t, f.Label(l))
	mattest.OK(t, f.Close()) // before Commit
	mattest.True(t, reflect.DeepEqual(contents(t, path), before), "labels are written before Commit")
	f = mattest.Must(stored.OpenFolder(path, true))
	mattest.OK(t, f.Label(l))
	mattest.OK(t, f.Commit())
	mattest.OK(t, f.Close())
	mattest.True(t, reflect.DeepEqual(contents(t, path), after), "late labels give other bytes than early ones")
	// Without a split, nodes keep their parts.
	f = mattest.Must(stored.OpenFolder(path, true))
	mattest.OK(t, f.Label(&table.Labels{Nodes: []int32{9}, Y: []int32{1}}))
	mattest.OK(t, f.Commit())
	mattest.OK(t, f.Close())
	read := mattest.Must(stored.Open(t.Context(), path))
	if at := slices.Index(read.Train, 9); !slices.Equal(read.Train, g.Split.Train) || read.Y[at] != 1 {
		t.Errorf("training nodes %v with labels %v", read.Train, read.Y)
	}
	f = mattest.Must(stored.OpenFolder(path, true))
	mattest.WantError(t, f.Label(&table.Labels{Nodes: []int32{9}, Y: []int32{graph.Unlabelled}}),
		`node "node 81" is in the split (train), and would have no label`)
	mattest.OK(t, f.Close())
}

func TestFolderRefuses(t *testing.T) {
	g := arriving(t, 20, false, false)
	path := made(t, first(g, 10), propagate.Propagation{Rule: propagate.SGC, Hops: 1}, 1<<30)
	before := contents(t, path)
	f := mattest.Must(stored.OpenFolder(path, true))
	a := rest(g, 10)
	a.IDs[3] = "x"
	mattest.Fails(t, `id "x" of new node 3, must be 13: the nodes of graph arriving are numbered`)(f.Batch(a))
	a = rest(g, 10)
	a.X = mat.NewDense(10, 4)
	mattest.Fails(t, "the new nodes have 4 features, must have the 5 of graph arriving")(f.Batch(a))
	b := mattest.Must(f.Batch(rest(g, 10)))
	b.X.Data[7] = float32(math.NaN())
	mattest.WantError(t, f.Add(t.Context(), b), "feature 2 of node 11 is NaN in hop 0")
	b = mattest.Must(f.Batch(rest(g, 10)))
	mattest.WantError(t, f.Add(mattest.Cancelled(t), b), "canceled")
	mattest.OK(t, f.Close())
	mattest.True(t, reflect.DeepEqual(contents(t, path), before), "a refused addition changed the folder")
	for _, c := range []struct{ from, to, want string }{
		{`"rows": 10`, `"rows": -1`, "-1 rows of 10 nodes"}, {`"rows": 10`, `"rows": 11`, "11 rows of 10 nodes"},
		{`"features": 5`, `"features": 4`, "hop0.npy is float32 of shape [10 5], must be float32 with rows of shape [4]"},
		{`"train": 3`, `"train": 99`, "parts of 99,"}, {`"test": 2`, `"test": -2`, "-2 nodes, must be 0 to 10"},
		{`"sgc"`, `"x"`, `propagation rule "x"`}, {`"hops": 1`, `"hops": 1000000000`, "hops 1000000000"},
		{`"hops": 1`, `"hops": 3`, "hop2.npy: no such file"}, {`"hops": 1`, `"hops": -7`, "hops -7"},
		{`"rows"`, `rows`, "propagate.json"},
	} {
		changed := strings.Replace(before[stored.InfoName], c.from, c.to, 1)
		mattest.OK(t, os.WriteFile(filepath.Join(path, stored.InfoName), []byte(changed), 0o600))
		for _, write := range []bool{true, false} {
			_, err := stored.OpenFolder(path, write)
			mattest.WantError(t, err, c.want)
		}
	}
	mattest.OK(t, os.WriteFile(filepath.Join(path, stored.InfoName), []byte(before[stored.InfoName]), 0o600))
	mattest.True(t, reflect.DeepEqual(contents(t, path), before), "a refused folder was changed")
	mattest.OK(t, os.WriteFile(filepath.Join(path, "hop1.npy"), []byte(before["hop1.npy"][:200]), 0o600))
	mattest.Fails(t, "hop1.npy: fewer than 10 rows")(stored.OpenFolder(path, true))
	mattest.Fails(t, "reading row")(stored.Open(t.Context(), path))
	info := bytes.ReplaceAll([]byte(before[stored.InfoName]), []byte(`"grows"`), []byte(`"other"`))
	mattest.OK(t, os.WriteFile(filepath.Join(path, stored.InfoName), info, 0o600))
	mattest.Fails(t, "nodes cannot be added")(stored.OpenFolder(path, false))
	mattest.Fails(t, "no propagated features")(stored.OpenFolder(t.TempDir(), false))
}
