package bonsai

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// path returns a path graph of training nodes. The only feature of node v is x[v].
func path(t *testing.T, y []int32, x ...float32) *graph.Graph {
	t.Helper()
	b := graph.Builder{Name: "path", X: &mat.Dense{Rows: len(x), Cols: 1, Data: x}, Y: y}
	for v := range x {
		b.Split.Train = append(b.Split.Train, int32(v))
		if v > 0 {
			b.AddEdge(v-1, v)
		}
	}
	return mattest.First(b.Graph(t.Context()))
}

// TestRepresent compares R with (A + I)_ij x_j/((1 + d_i)(1 + d_j)), worked out by hand on a path of three nodes.
func TestRepresent(t *testing.T) {
	r := mattest.Must(represent(t.Context(), path(t, make([]int32, 3), 4, 9, 16)))
	want := []float32{4./4 + 9./6, 4./6 + 9./9 + 16./6, 9./6 + 16./4}
	for i, w := range want {
		mattest.Near(t, float64(r.Row(i)[0]), float64(w), 1e-6, "row %d is", i) // float32 rounding
	}
}

// TestOrder checks the nearest rows and the order of coverage on a line, worked out by hand. Row 1 has the votes of
// rows 0 to 2, and row 3 has the votes of rows 3 and 4. The other rows have no new voters.
func TestOrder(t *testing.T) {
	x := &mat.Dense{Rows: 5, Cols: 1, Data: []float32{0, 1, 2, 10, 11.5}}
	votes := mattest.Must(nearest(t.Context(), x, 2))
	want := [][]int32{{0, 1}, {1, 0}, {2, 1}, {3, 4}, {4, 3}}
	for i, w := range want {
		mattest.Equal(t, votes[i], w, "row %d is nearest to", i)
	}
	mattest.Equal(t, cover(votes), []int32{1, 3, 0, 2, 4}, "order")
	if all, _ := nearest(t.Context(), x, 9); len(all[4]) != 5 || all[4][4] != 0 {
		t.Errorf("all rows by their distance to the last one: %v", all[4])
	}
}

// TestSplits checks which columns a decision tree uses. Column 1 separates class 0. Columns 2, 3 and 4 separate classes
// 1 and 2 equally well, so column 2 is used. Column 0 is constant.
func TestSplits(t *testing.T) {
	x := &mat.Dense{Rows: 6, Cols: 5, Data: []float32{
		7, 1, 0, 5, 0,
		7, 1, 1, 6, 1,
		7, 2, 0, 5, 0,
		7, 2, 1, 6, 1,
		7, 2, 0, 5, 0,
		7, 2, 1, 6, 1,
	}}
	y := []int32{0, 0, 1, 2, 1, 2}
	for depth, want := range [][]int{nil, {1}, {1, 2}} {
		mattest.Equal(t, mattest.Must(splits(t.Context(), x, y, 3, depth)), want, "depth %d: columns", depth)
	}
}

// TestFirstSplit compares the first split of random rows with a search over all columns and thresholds.
func TestFirstSplit(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	const rows, cols, classes = 25, 6, 3
	for range 20 {
		x, y := mat.NewDense(rows, cols), make([]int32, rows)
		for i := range x.Data {
			x.Data[i] = float32(random.IntN(5))
		}
		for i := range y {
			y[i] = random.Int32N(classes)
		}
		best, lowest := -1, math.Inf(1) // the weighted Gini impurity
		for column := range cols {
			for threshold := range 4 {
				var counts [2][classes]float64
				var sizes [2]float64
				for i, c := range y {
					side := 0
					if x.Row(i)[column] > float32(threshold) {
						side = 1
					}
					counts[side][c]++
					sizes[side]++
				}
				impurity := 0.0
				for side, n := range sizes {
					for _, count := range counts[side] {
						impurity += count * (1 - count/max(1, n))
					}
				}
				if impurity < lowest-1e-9 {
					best, lowest = column, impurity
				}
			}
		}
		if got, err := splits(t.Context(), x, y, classes, 1); err != nil || !slices.Equal(got, []int{best}) {
			t.Fatalf("columns %v (%v), want %d", got, err, best)
		}
	}
}

// TestCover compares the order with greedy coverage that counts all voters anew in each step.
func TestCover(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	const n = 40
	for range 20 {
		votes := make([][]int32, n)
		for i := range votes {
			for _, q := range random.Perm(n / 2)[:5] {
				votes[i] = append(votes[i], int32(q))
			}
		}
		order := cover(votes)
		covered := make([]bool, n)
		for at, v := range order {
			gain := make([]int, n)
			for i, list := range votes {
				for _, q := range list {
					if !covered[i] {
						gain[q]++
					}
				}
			}
			if most := slices.Max(gain); most > 0 && int(v) != slices.Index(gain, most) {
				t.Fatalf("row %d is number %d of the order, want %d", v, at, slices.Index(gain, most))
			}
			for i, list := range votes {
				covered[i] = covered[i] || slices.Contains(list, v)
			}
		}
		mattest.Equal(t, len(slices.Compact(slices.Sorted(slices.Values(order)))), n, "different rows of order %v:", order)
	}
}

// TestPageRank compares the ranks with the solution of π = α(πD⁻¹A + δp) + (1 − α)p on the path 0–1–2 and an isolated
// node 3. Nodes 0 and 3 are exemplars, so p = ½ at both. Node 2 is in no tree, so 0–1 is the only edge. Below, r = αδ +
// 0.15.
func TestPageRank(t *testing.T) {
	g := path(t, make([]int32, 3), 0, 0, 0)
	adj := &mat.CSR{Rows: 4, Cols: 4, Indptr: append(g.Adj.Indptr, g.Adj.Indptr[3]), Indices: g.Adj.Indices}
	f := forest{adj: adj, order: []int32{0, 3, 1, 2}}
	f.grow(3)
	if !slices.Equal(f.kept, []bool{true, true, false, true}) || !slices.Equal(f.exemplars, []int32{0, 3}) {
		t.Fatalf("nodes %v and exemplars %v, want nodes 0, 1 and 3 from 0 and 3", f.kept, f.exemplars)
	}
	rank := mattest.Must(f.pageRank(t.Context()))
	// π₃ = r/2 and r = 0.85π₃ + 0.15 give π₃ = 0.075/0.575; then π₀ = 0.85π₁ + π₃ and π₁ = 0.85π₀.
	last := 0.075 / 0.575
	first := last / (1 - 0.85*0.85)
	for v, want := range []float64{first, 0.85 * first, 0, last} {
		// The iteration ends when changes are below 3·10⁻⁶.
		mattest.Near(t, float64(rank[v]), want, 1e-5, "node %d has rank", v)
	}
	mattest.OK(t, f.prune(t.Context(), 2))
	mattest.Equal(t, f.kept, []bool{true, true, false, false}, "the best two nodes are")
	for _, c := range []struct {
		y      []int32
		budget []int
		want   []int32
		edges  int
	}{
		{[]int32{0, 1, 0, 0}, []int{3, 0}, []int32{0, 2, 3}, 0},    // node 1 leaves, nodes 3 and 2 enter
		{[]int32{0, 1, 0, 0}, []int{2, 1}, []int32{0, 1, 3}, 1},    // node 2, the last in the order, leaves; node 1 enters
		{[]int32{0, 1, 2, 0}, []int{1, 1, 1}, []int32{0, 1, 2}, 2}, // node 3 leaves; node 2 enters with all its edges
	} {
		f.match(c.y, c.budget)
		nodes, edges, err := f.graph(t.Context())
		mattest.OK(t, err)
		mattest.Equal(t, nodes, c.want, "nodes")
		mattest.Equal(t, edges.NNZ(), 2*c.edges, "entries between nodes %v", nodes)
	}
}

// TestTreeEdges checks that a forest has the edges of its exemplars, the edges between their neighbours, and no others.
func TestTreeEdges(t *testing.T) {
	b := graph.Builder{Name: "tree", X: mat.NewDense(6, 1), Y: make([]int32, 6), Classes: 1}
	for _, e := range [][2]int{{0, 1}, {0, 2}, {1, 2}, {2, 3}, {4, 5}, {3, 4}} {
		b.AddWeightedEdge(e[0], e[1], float32(1+e[0]+e[1]))
	}
	g := mattest.First(b.Graph(t.Context()))
	f := forest{adj: g.Adj, order: []int32{0, 5, 1, 2, 3, 4}}
	f.grow(5) // the trees of 0, 5 and 1; the trees of 2, 3 and 4 would add node 3
	kept, adj, err := f.graph(t.Context())
	if err != nil || !slices.Equal(kept, []int32{0, 1, 2, 4, 5}) {
		t.Fatalf("nodes %v (%v), want all but 3", kept, err)
	}
	mattest.Equal(t, adj.Data, []float32{2, 3, 2, 4, 3, 4, 10, 10}, "edges %v with weights", adj.Indices)
}

// TestRefusals checks that a parameter out of range causes an error that contains its value.
func TestRefusals(t *testing.T) {
	g := path(t, make([]int32, 3), 1, 2, 3)
	for words, change := range map[string]func(*bonsai){
		"neighbours 0, must be at least 1":            func(b *bonsai) { b.Neighbours = 0 },
		"depth -1, must be at least 0":                func(b *bonsai) { b.Depth = -1 },
		"prune 1, must be at least 0 and below 1":     func(b *bonsai) { b.Prune = 1 },
		"bonsai on 3 training nodes with 1 features":  func(b *bonsai) { b.Memory = 8 },
		"neighbours -2, must be at least 1\ndepth -2": func(b *bonsai) { b.Neighbours, b.Depth = -2, -2 },
	} {
		b := New().(bonsai)
		change(&b)
		mattest.Fails(t, words)(b.Condense(t.Context(), g, 2, 0))
		mattest.WantError(t, b.Check(g, 2), words)
	}
}
