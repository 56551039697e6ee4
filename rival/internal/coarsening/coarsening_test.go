package coarsening

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/factor"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// drawn returns a connected graph of n nodes with weighted edges and two classes. Half of its nodes are training nodes.
func drawn(t *testing.T, n int) *graph.Graph {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(n), 4))
	b := graph.Builder{Name: "drawn", X: mattest.Normal(n, 5, random), Y: make([]int32, n), Classes: 2}
	for v := range n {
		b.Y[v] = int32(v % 2)
		if v%4 < 2 {
			b.Split.Train = append(b.Split.Train, int32(v))
		}
		if v > 0 {
			b.AddWeightedEdge(random.IntN(v), v, 0.5+random.Float32())
			if u := random.IntN(v); random.IntN(2) == 0 {
				b.AddWeightedEdge(u, v, 0.5+random.Float32())
			}
		}
	}
	return mattest.First(b.Graph(t.Context()))
}

// TestSmallest compares the eigenvalues of a path with 2 − 2cos(πj/n), and the eigenpairs of a random graph with the
// eigenvalue equation and a full decomposition.
func TestSmallest(t *testing.T) {
	const n, k = 400, 6
	path := make([][]edge, n)
	for i := range n - 1 {
		path[i] = append(path[i], edge{int32(i + 1), 1})
		path[i+1] = append(path[i+1], edge{int32(i), 1})
	}
	values := mattest.First(newLaplacian(path).smallest(t.Context(), k))
	for j, got := range values {
		want := 2 - 2*math.Cos(math.Pi*float64(j+1)/n)
		mattest.Near(t, got, want, 1e-3*want, "eigenvalue %d of a path is", j)
	}
	l := newLaplacian(begin(drawn(t, 300)).edges)
	values, vectors, err := l.smallest(t.Context(), k)
	mattest.OK(t, err)
	want := mattest.First(l.dense(t.Context(), k))
	for j, v := range vectors {
		image := make([]float64, len(v))
		l.apply(image, v)
		axpy(image, -values[j], v)
		mattest.Near(t, math.Sqrt(dot(image, image)), 0, 0.01*values[j], "residual of eigenvalue %d:", j)
		mattest.Near(t, values[j], want[j], 1e-4*want[j], "eigenvalue %d (want that of a full decomposition) is", j)
	}
}

// TestVariation compares the cost of a set with its definition, computed with dense matrices.
func TestVariation(t *testing.T) {
	c := begin(drawn(t, 12))
	rows := mattest.Must(c.spectrum(t.Context(), 4))
	degrees, inside := degrees(c.edges), make([]bool, 12)
	for _, set := range [][]int32{{0, 1}, {2, 5, 7}, {0, 1, 2, 3, 4, 5}} {
		m := len(set)
		l, b := make([][]float64, m), make([][]float64, m)
		mean := make([]float64, 4)
		for _, i := range set {
			axpy(mean, 1/float64(m), rows[i])
		}
		for p, i := range set {
			l[p], b[p] = make([]float64, m), slices.Clone(rows[i])
			axpy(b[p], -1, mean)
			l[p][p] = 2 * degrees[i]
			for q, j := range set {
				for _, e := range c.edges[i] {
					if e.to == j {
						l[p][p] -= e.weight
						l[p][q] -= e.weight
					}
				}
			}
		}
		sum := 0.0
		for f := range 4 {
			for h := range 4 {
				entry := 0.0
				for p := range m {
					for q := range m {
						entry += b[p][f] * l[p][q] * b[q][h]
					}
				}
				sum += entry * entry
			}
		}
		want := math.Sqrt(sum) / float64(m-1)
		mattest.Near(t, c.cost(rows, degrees, set, inside), want, 1e-12*want, "cost of %v is", set)
	}
}

// TestNext checks that AᵀLA = I holds before and after a merge.
func TestNext(t *testing.T) {
	const k = 3
	c := begin(drawn(t, 40))
	rows := mattest.Must(c.spectrum(t.Context(), k))
	check := func(where string, c *coarse, rows [][]float64) {
		l := newLaplacian(c.edges)
		for f := range k {
			x, image := make([]float64, len(rows)), make([]float64, len(rows))
			for i := range rows {
				x[i] = rows[i][f]
			}
			l.apply(image, x)
			for h := range k {
				got, want := 0.0, 0.0
				for i := range rows {
					got += rows[i][h] * image[i]
				}
				if f == h {
					want = 1
				}
				mattest.Near(t, got, want, 1e-9, "%s: entry %d, %d of AᵀLA is", where, f, h)
			}
		}
	}
	check("before", c, rows)
	next, place := c.merge([][]int32{{0, 1, 2}, {7, 9}, {20, 11}})
	rows = mattest.Must(next.next(t.Context(), rows, place))
	check("after", next, rows)

	// With one eigenpair, the new A is a multiple of CA. A row of CA is a sum over S, divided by √|S|.
	rows = mattest.Must(c.spectrum(t.Context(), 1))
	got := mattest.Must(next.next(t.Context(), rows, place))
	group, single := (rows[0][0]+rows[1][0]+rows[2][0])/math.Sqrt(3), rows[30][0]
	ratio, want := got[place[0]][0]/got[place[30]][0], group/single
	mattest.Near(t, ratio, want, 1e-9*math.Abs(want), "a row of three over a row of one is")
}

// TestMerge checks that merging preserves the sum of weights, combines members, and orders new super-nodes by their
// first old super-node.
func TestMerge(t *testing.T) {
	c := begin(drawn(t, 20))
	total := func(c *coarse) (sum float64) {
		for i := range c.edges {
			sum += degree(c.edges[i]) + c.inside[i]
		}
		return sum
	}
	next, place := c.merge([][]int32{{12, 4, 8}, {1, 0}})
	mattest.Equal(t, next.nodes(), 17, "super-nodes")
	mattest.Near(t, total(next), total(c), 1e-9, "weights after a merge:")
	twice, _ := next.merge([][]int32{{0, place[4], 7}})
	mattest.Near(t, total(twice), total(c), 1e-9, "weights after a second merge:")
	if place[0] != 0 || place[1] != 0 || place[2] != 1 || !(next.inside[0] > 0) ||
		!slices.Equal(next.members[place[4]], []int32{4, 8, 12}) {
		t.Errorf("places %v, members %v", place, next.members)
	}
}

// TestConvolution checks that the convolution over single nodes is ÂX. It also checks that the cost of a pair is at
// least the change that merging it causes, with equality for a graph of two nodes.
func TestConvolution(t *testing.T) {
	g := drawn(t, 30)
	c := begin(g)
	x := g.X.(*mat.Dense)
	v := mattest.Must(c.convolution(t.Context(), x))
	h := new(mat.Dense)
	mattest.OK(t, graph.Symmetric(g.Adj).Apply(t.Context(), h, x))
	before := v.apply(doubles(x))
	for i, row := range before {
		for j, got := range row {
			mattest.Near(t, got, float64(h.Row(i)[j]), 1e-6, "convolution of node %d (want ÂX) at %d is", i, j)
		}
	}
	for _, p := range [][]int32{{0, 1}, {3, 17}, {8, 29}} {
		next, place := c.merge([][]int32{p})
		means := factor.Rounded(mergedRows(c, next, place, x.View().Rows()), x.Cols)
		merged := mattest.Must(next.convolution(t.Context(), means))
		after := merged.apply(doubles(merged.x))
		two, all := 0.0, 0.0
		for i, row := range before {
			for j, f := range row {
				change := math.Abs(f - after[place[i]][j])
				all += change
				if slices.Contains(p, int32(i)) {
					two += change
				}
			}
		}
		if got := v.cost(int(p[0]), int(p[1])); got < all-1e-6 || got > 3*all || two > all {
			t.Errorf("cost of %v is %v, merging changes the convolution by %v", p, got, all)
		}
	}
	alone := &coarse{
		edges: [][]edge{{{1, 2}}, {{0, 2}}}, inside: []float64{3, 0}, members: [][]int32{{0, 1}, {2}}, class: []int32{0, 0},
	}
	two := &mat.Dense{Rows: 2, Cols: 1, Data: []float32{1, 4}}
	v = mattest.Must(alone.convolution(t.Context(), two))
	// Masses 5 and 1, sums 7 and 3: h = 5/7·1 + 2/√21·4 and 1/3·4 + 2/√21·1. After merging, mass = sum = 10 and h = x = 2.
	root := math.Sqrt(21)
	want := math.Abs(5.0/7+8/root-2) + math.Abs(4.0/3+2/root-2)
	mattest.Near(t, v.cost(0, 1), want, 1e-6, "cost of two super-nodes is")
}

// TestNeighbours compares the tree with a search over all distances. Some points are equal, so that there are ties.
func TestNeighbours(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	points := make([][]float64, 300)
	for i := range points {
		points[i] = []float64{float64(random.IntN(9)), float64(random.IntN(9)), float64(random.IntN(3))}
	}
	rows := memory.Range(0, len(points))[10:]
	found := mattest.Must(neighbours(t.Context(), points, rows, 7))
	for i, r := range rows {
		var all []pair
		for _, o := range rows {
			if o != r {
				d := 0.0
				for a := range points[r] {
					d += math.Abs(points[r][a] - points[o][a])
				}
				all = append(all, pair{0, o, d})
			}
		}
		for k, want := range sorted(all)[:7] {
			if got := found[i][k]; got.row != want.j || got.distance != want.cost {
				t.Fatalf("neighbour %d of row %d is %v, want row %d at %v", k, r, got, want.j, want.cost)
			}
		}
	}
}

// TestOrder checks that disjoint chooses the cheapest pairs. It must skip pairs that share a super-node with an earlier
// pair, and pairs whose classes forbid merging.
func TestOrder(t *testing.T) {
	c := &coarse{edges: make([][]edge, 7), class: []int32{0, 0, 1, -1, 0, 0, -1}, labelled: 5}
	pairs := sorted([]pair{{0, 1, 2}, {1, 3, 1}, {0, 2, 0.5}, {0, 4, 3}, {4, 5, 4}, {2, 6, 5}, {1, 3, 1}})
	for _, want := range []struct {
		most, nodes int
		groups      string
	}{
		{9, 2, "[[1 3] [0 4] [2 6]]"}, // 0 and 2 have different classes; 0 and 1, 4 and 5 overlap with cheaper pairs
		{2, 2, "[[1 3] [0 4]]"},
		{9, 5, "[[1 3] [2 6]]"}, // no super-node with a class may be lost
	} {
		got := fmt.Sprint(c.disjoint(pairs, want.most, want.nodes))
		mattest.Equal(t, got, want.groups, "at most %d pairs to %d nodes:", want.most, want.nodes)
	}
}

// TestPlanted checks that two cliques connected by one edge become the two super-nodes.
func TestPlanted(t *testing.T) {
	b := graph.Builder{Name: "cliques", X: mat.NewDense(20, 2), Y: make([]int32, 20), Classes: 2}
	for v := range 20 {
		b.Y[v] = int32(v / 10)
		b.X.(*mat.Dense).Row(v)[v/10] = 1 + float32(v%10)/20
		for u := range v {
			if u/10 == v/10 {
				b.AddEdge(u, v)
			}
		}
	}
	b.AddEdge(9, 10)
	b.Split.Train = []int32{0, 1, 18, 19}
	g := mattest.First(b.Graph(t.Context()))
	for _, m := range Methods() {
		small := mattest.Must(m.Condense(t.Context(), g, 2, 0))
		mattest.Equal(t, small.Members.Indices, memory.Range(0, 20), "%s: members", m.Name())
		mattest.Equal(t, small.Members.Indptr[1], 10, "%s: members of the first super-node", m.Name())
		mattest.Near(t, float64(small.X.Row(0)[0]), 1.225, 1e-6, "%s: feature", m.Name())
		mattest.Equal(t, small.Adj.NNZ(), 2, "%s: entries of A′", m.Name())
	}
}
