package propagate_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
)

// ring is a weighted graph in which node i is joined to the nodes up to span places away.
func ring(n, span int) *mat.CSR {
	a := &mat.CSR{Rows: n, Cols: n, Indptr: make([]int64, 1, n+1), Data: []float32{}}
	for i := range n {
		var row []int32
		for s := 1; s <= span; s++ {
			row = append(row, int32((i+s)%n), int32((i+n-s)%n))
		}
		slices.Sort(row)
		for _, j := range row {
			a.Indices = append(a.Indices, j)
			a.Data = append(a.Data, 1+1/float32(1+i+int(j)))
		}
		a.Indptr = append(a.Indptr, int64(len(a.Indices)))
	}
	return a
}

// features are normal numbers, the given share of them kept and the others 0.
func features(n, d int, share float64, random *rand.Rand) *mat.Dense {
	x := mat.NewDense(n, d)
	for i := range x.Data {
		if random.Float64() < share {
			x.Data[i] = float32(random.NormFloat64())
		}
	}
	return x
}

// whole propagates all features of all nodes, hop by hop. dense is x written out.
func whole(t *testing.T, p propagate.Propagation, a *mat.CSR, x mat.Matrix, dense *mat.Dense) []*mat.Dense {
	t.Helper()
	operator := graph.Symmetric(a)
	if p.Method == propagate.SAGE {
		operator = graph.Mean(a)
	}
	h := []*mat.Dense{dense}
	for range p.Hops {
		next := new(mat.Dense)
		if err := operator.Apply(t.Context(), next, x); err != nil {
			t.Fatal(err)
		}
		x = next
		if p.Method == propagate.PPR {
			beta := float32(p.Teleport)
			for i, v := range dense.Data {
				next.Data[i] = float32(next.Data[i]*(1-beta)) + float32(beta*v)
			}
		}
		h = append(h, next)
	}
	return h
}

// However features are cut into blocks, whichever nodes are left out, in whatever order nodes stand and for any number of threads: the same bits, and
// but for rounding those of the operator on whole rows of all nodes.
func TestBlocksAreTheWholeBitForBit(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0))
	const n, d = 500, 150
	x := features(n, d, 0.3, random)
	rows := []int32{499, 3, 4, 3, 77, 300}
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	plain := ring(n, 4)
	plain.Data = nil
	for what, a := range map[string]*mat.CSR{"weighted": ring(n, 4), "unweighted": plain} {
		for _, method := range propagate.Methods {
			for hops := 1; hops <= 4; hops++ {
				p := propagate.Propagation{Method: method, Hops: hops, Teleport: 0.1}
				widths, stored := map[int]bool{}, map[bool]bool{}
				for kind, features := range map[string]mat.Matrix{"dense": x, "sparse": x.Sparse()} {
					near := whole(t, p, a, features, x)
					runtime.GOMAXPROCS(1)
					p.Memory = 0
					want, err := p.Embeddings(t.Context(), a, features, all, nil)
					if err != nil {
						t.Fatal(err)
					}
					for l := range want {
						for i, v := range want[l].Dense().Data {
							if diff := math.Abs(float64(v - near[l].Data[i])); diff > 1e-5 { // a few roundings of sums of some ten terms of order 1 in each hop
								t.Fatalf("%s, %s, %s: value %d of hop %d of %d is %v, by the operator %v", what, kind, method, i, l, hops, v, near[l].Data[i])
							}
						}
					}
					for _, rows := range [][]int32{rows, all} {
						classes := make([]int32, len(rows))
						for i := range classes {
							classes[i] = random.Int32N(5)
						}
						for i, memory := range []int64{0, 1, 50 << 10, 1500 << 10, 1680 << 10, 1730 << 10, 4500 << 10, 1 << 30} {
							runtime.GOMAXPROCS([]int{1, 2, 7}[i%3])
							p.Memory = memory
							width, store := p.Plan(a, features, rows)
							widths[width], stored[store] = true, true
							got, err := p.Embeddings(t.Context(), a, features, rows, classes)
							if err != nil {
								t.Fatal(err)
							}
							for l := range want {
								for r, v := range rows {
									if !slices.Equal(got[l].Row(r), want[l].Row(int(v))) {
										t.Fatalf("%s, %s, %s, memory %d: row of node %d in hop %d of %d differs from one thread's", what, kind, method, memory, v, l, hops)
									}
								}
							}
						}
					}
				}
				if !widths[16] || !widths[64] || !widths[d] || !stored[false] || !stored[true] {
					t.Errorf("blocks of %v columns, want some of 16, 64 and %d; rows stored %v, want both", widths, d, stored)
				}
			}
		}
	}
}

// The nodes that each hop needs come first, those of a class together, and neighbours of rows with them.
func TestLayout(t *testing.T) {
	// Two cliques of 4 (classes 1 and 0) joined at 3–4, and a path 7–8–9–10 away from them.
	a := edges(11, [][2]int32{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}, {4, 5}, {4, 6}, {4, 7}, {5, 6}, {5, 7}, {6, 7}, {3, 4}, {7, 8}, {8, 9}, {9, 10}})
	for _, c := range []struct {
		what          string
		rows, classes []int32
		hops          int
		nodes         []int32
		within        []int
	}{
		{"by class", []int32{6, 1, 2, 7}, []int32{0, 1, 1, 0}, 2, []int32{6, 7, 1, 2, 4, 5, 8, 0, 3, 9, 10}, []int{4, 9, 11}},
		{"no classes", []int32{6, 1, 2, 7}, nil, 2, []int32{1, 2, 6, 7, 0, 3, 4, 5, 8, 9, 10}, []int{4, 9, 11}},
		{"few entries: only what is read", []int32{10, 10}, []int32{3, 3}, 2, []int32{10, 9, 8}, []int{1, 2, 3}},
		{"one hop", []int32{9, 0}, []int32{0, 1}, 1, []int32{0, 9, 1, 2, 3, 8, 10}, []int{2, 7}},
		{"all are rows", []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, []int32{1, 1, 1, 1, 0, 0, 0, 0, 2, 2, 2}, 3, []int32{4, 5, 6, 7, 0, 1, 2, 3, 8, 9, 10}, []int{11, 11, 11, 11}},
	} {
		if nodes, within := propagate.Layout(a, c.rows, c.classes, c.hops); !slices.Equal(nodes, c.nodes) || !slices.Equal(within, c.within) {
			t.Errorf("%s: nodes %v within %v, want %v within %v", c.what, nodes, within, c.nodes, c.within)
		}
	}
	// Node 4 has two neighbours of class 1 and, last, one of class 2, the only neighbour of node 0.
	a = edges(5, [][2]int32{{0, 3}, {4, 1}, {4, 2}, {4, 3}, {1, 2}})
	if nodes, _ := propagate.Layout(a, []int32{1, 2, 3}, []int32{1, 1, 2}, 1); !slices.Equal(nodes, []int32{1, 2, 3, 4, 0}) {
		t.Errorf("nodes %v, want 4 with class 1, that of most of its neighbours, before 0", nodes)
	}
}

// edges returns the symmetric adjacency of n nodes with the given edges.
func edges(n int, list [][2]int32) *mat.CSR {
	neighbours := make([][]int32, n)
	for _, e := range list {
		neighbours[e[0]] = append(neighbours[e[0]], e[1])
		neighbours[e[1]] = append(neighbours[e[1]], e[0])
	}
	a := &mat.CSR{Rows: n, Cols: n, Indptr: make([]int64, 1, n+1)}
	for _, row := range neighbours {
		slices.Sort(row)
		a.Indices = append(a.Indices, row...)
		a.Indptr = append(a.Indptr, int64(len(a.Indices)))
	}
	return a
}

// The bound on memory decides the width, and whether rows of the adjacency are kept in the order of places; sparse features are not cut without need.
func TestPlan(t *testing.T) {
	const n, d = 1000, 200
	a := ring(n, 5) // 10000 entries of 8 bytes, 1001 pointers of 8: 88 kB
	x := mat.NewDense(n, d)
	many := make([]int32, n/2)
	for i := range many {
		many[i] = int32(2 * i)
	}
	const input, results, entries = 8*10_000 + 8*1001 + 4*n*d, 2 * 4 * n / 2 * d, 8*n + 2*4*11*n
	for _, c := range []struct {
		what   string
		x      mat.Matrix
		rows   []int32
		memory int64
		width  int
		store  bool
	}{
		{"no bound", x, many, 0, 64, true},
		{"sparse", x.Sparse(), many, 0, d, true},
		{"room for all", x, many, 1 << 30, 64, true},
		{"room for 64 columns and the rows", x, many, input + results + 64*(4*n+4*n) + entries, 64, true},
		{"room for 64 columns", x, many, input + results + 64*(4*n+4*n) + entries - 1, 64, false},
		{"room for 50 columns", x, many, input + results + 50*(4*n+4*n), 48, false},
		{"room for 31 columns", x, many, input + results + 31*(4*n+4*n), 16, false},
		{"no room", x, many, input, 16, false},
		{"sparse, room for 40 columns", x.Sparse(), many, input - 4*n*d + 8*1001 + results*3/2 + 40*(4*n+4*n/2), 32, false},
	} {
		p := propagate.Propagation{Method: propagate.SGC, Hops: 2, Memory: c.memory}
		if width, store := p.Plan(a, c.x, c.rows); width != c.width || store != c.store {
			t.Errorf("%s: blocks of %d columns, rows stored %t, want %d, %t", c.what, width, store, c.width, c.store)
		}
	}
	for span, want := range map[int]int{15: 64, 16: 32} {
		p := propagate.Propagation{Method: propagate.SGC, Hops: 2}
		if got, _ := p.Plan(ring(n, span), x, many); got != want {
			t.Errorf("%d edges at each node: blocks of %d columns, want %d", 2*span, got, want)
		}
	}
	large := mat.NewDense(n, 4*d) // larger than the bound that leaves room for 48 columns
	p := propagate.Propagation{Method: propagate.SGC, Hops: 1, Memory: 4*n/4*4*d + 48*(4*n+4*n/4)}
	if got, _ := p.Plan(a, large, many[:n/4]); got != 48 {
		t.Errorf("features larger than the bound: blocks of %d columns, want 48, for these do not count", got)
	}
	p = propagate.Propagation{Method: propagate.SGC, Hops: 1, Memory: -1}
	if _, err := p.Embeddings(t.Context(), a, x, many, nil); err == nil || !strings.Contains(err.Error(), "memory -1") {
		t.Errorf("error %v, want one that names the memory -1", err)
	}
}

// BenchmarkEmbeddings propagates random graphs of the nodes, degrees and features of Reddit (a quarter of it) and ogbn-arxiv. The rate is that of
// gathered features: 4 bytes for each edge and column of each hop.
func BenchmarkEmbeddings(b *testing.B) {
	for _, size := range []struct{ n, degree, d int }{{60_000, 100, 602}, {170_000, 14, 128}} {
		random := rand.New(rand.NewPCG(1, 0))
		a := &mat.CSR{Rows: size.n, Cols: size.n, Indptr: make([]int64, 1, size.n+1)}
		for range size.n {
			for range size.degree {
				a.Indices = append(a.Indices, int32(random.IntN(size.n)))
			}
			a.Indptr = append(a.Indptr, int64(len(a.Indices)))
		}
		x := features(size.n, size.d, 1, random)
		rows := make([]int32, size.n/2)
		for i := range rows {
			rows[i] = int32(2 * i)
		}
		for _, memory := range []int64{0, 1} {
			p := propagate.Propagation{Method: propagate.SGC, Hops: 2, Memory: memory}
			width, _ := p.Plan(a, x, rows)
			b.Run(fmt.Sprintf("nodes=%d/features=%d/block=%d", size.n, size.d, width), func(b *testing.B) {
				b.SetBytes(int64(len(a.Indices)) * int64(size.d) * 4 * 3 / 2)
				for b.Loop() {
					if _, err := p.Embeddings(b.Context(), a, x, rows, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
