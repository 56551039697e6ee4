package propagate_test

import (
	"fmt"
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

// However features are cut into blocks, whichever nodes are left out, and for any number of threads: the same bits as whole rows of all nodes.
func TestBlocksAreTheWholeBitForBit(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0))
	const n, d = 500, 150
	a, x := ring(n, 4), features(n, d, 0.3, random)
	rows := []int32{499, 3, 4, 3, 77, 300}
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, method := range propagate.Methods {
		for hops := 1; hops <= 4; hops++ {
			p := propagate.Propagation{Method: method, Hops: hops, Teleport: 0.1}
			widths := map[int]bool{}
			for name, features := range map[string]mat.Matrix{"dense": x, "sparse": x.Sparse()} {
				want := whole(t, p, a, features, x)
				for _, rows := range [][]int32{rows, all} {
					for i, memory := range []int64{0, 1, 50 << 10, 1500 << 10, 4500 << 10, 1 << 30} {
						runtime.GOMAXPROCS([]int{1, 2, 7}[i%3])
						p.Memory = memory
						widths[p.Width(a, features, rows)] = true
						got, err := p.Embeddings(t.Context(), a, features, rows)
						if err != nil {
							t.Fatal(err)
						}
						for l := range want {
							for r, v := range rows {
								if !slices.Equal(got[l].Row(r), want[l].Row(int(v))) {
									t.Fatalf("%s, %s, memory %d: row of node %d in hop %d of %d differs from whole rows", method, name, memory, v, l, hops)
								}
							}
						}
					}
				}
			}
			if !widths[16] || !widths[64] || !widths[d] {
				t.Errorf("blocks of %v columns, want some of 16, 64 and %d", widths, d)
			}
		}
	}
}

// The bound on memory decides the width, and what does not help is not done: no blocks of sparse features, of the few edges of few nodes, or where a block is far
// beyond the cache.
func TestWidth(t *testing.T) {
	const n, d = 1000, 200
	a := ring(n, 5) // 10000 entries of 8 bytes, 1001 pointers of 8: 88 kB
	x := mat.NewDense(n, d)
	many := make([]int32, n/2)
	for i := range many {
		many[i] = int32(2 * i)
	}
	const input, results = 8*10_000 + 8*1001 + 4*n*d, 3 * 4 * n / 2 * d
	for _, c := range []struct {
		what   string
		x      mat.Matrix
		rows   []int32
		memory int64
		want   int
	}{
		{"no bound", x, many, 0, 64},
		{"few rows", x, []int32{5}, 0, d},
		{"sparse", x.Sparse(), many, 0, d},
		{"room for all", x, many, 1 << 30, 64},
		{"room for 50 columns", x, many, input + results + 50*(4*n+4*n), 48},
		{"room for 31 columns", x, many, input + results + 31*(4*n+4*n), 16},
		{"no room", x, many, input, 16},
		{"sparse, room for 40 columns", x.Sparse(), many, input - 4*n*d + 8*1001 + results + 40*4*n, 32},
	} {
		p := propagate.Propagation{Method: propagate.SGC, Hops: 2, Memory: c.memory}
		if got := p.Width(a, c.x, c.rows); got != c.want {
			t.Errorf("%s: blocks of %d columns, want %d", c.what, got, c.want)
		}
	}
	large := mat.NewDense(n, 4*d) // larger than the bound that leaves room for 48 columns
	p := propagate.Propagation{Method: propagate.SGC, Hops: 1, Memory: 2*4*n/4*4*d + 48*4*n}
	if got := p.Width(a, large, many[:n/4]); got != 48 {
		t.Errorf("features larger than the bound: blocks of %d columns, want 48, for these do not count", got)
	}
	p = propagate.Propagation{Method: propagate.SGC, Hops: 1, Memory: -1}
	if _, err := p.Embeddings(t.Context(), a, x, many); err == nil || !strings.Contains(err.Error(), "memory -1") {
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
			b.Run(fmt.Sprintf("nodes=%d/features=%d/block=%d", size.n, size.d, p.Width(a, x, rows)), func(b *testing.B) {
				b.SetBytes(int64(len(a.Indices)) * int64(size.d) * 4 * 3 / 2)
				for b.Loop() {
					if _, err := p.Embeddings(b.Context(), a, x, rows); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
