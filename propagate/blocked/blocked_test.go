package blocked_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/paneled"
	"github.com/graph-condensation/cgc/internal/reach"
	"github.com/graph-condensation/cgc/internal/slow"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// ring returns a weighted graph in which node i is joined to the nodes up to span places away.
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

// features returns normally distributed features. Only the given share of them is kept; the others are 0.
func features(n, d int, share float64, random *rand.Rand) *mat.Dense {
	x := mat.NewDense(n, d)
	for i := range x.Data {
		if random.Float64() < share {
			x.Data[i] = float32(random.NormFloat64())
		}
	}
	return x
}

// TestBlocksAreTheWholeBitForBit checks, for each precision, that the bits of the embeddings do not depend on the
// blocks of columns, the mapping of the input, the requested rows, or the number of threads. The plain engine must
// agree with float32 up to rounding.
func TestBlocksAreTheWholeBitForBit(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0))
	const n, d = 500, 150
	x := features(n, d, 0.3, random)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	halves := mattest.Must(paneled.Copy(x, 16, mat.F16))
	kinds := map[string]mat.Matrix{
		"dense": x, "sparse": x.Sparse(), "panels of 16": inPanels{x, 16, nil}, "panels of 22": inPanels{x, 22, nil},
		"panels of 16 bits": halves,
	}
	plain := ring(n, 4)
	plain.Data = nil
	causal := mattest.Must((&graph.Graph{Adj: ring(n, 4)}).Causally(t.Context())).Adj
	for what, a := range map[string]*mat.CSR{"weighted": ring(n, 4), "unweighted": plain, "causal": causal} {
		for r, rule := range propagate.Rules() {
			for hops := 1; hops <= 4; hops++ {
				for _, precision := range blocked.Precisions() {
					half := precision == blocked.Half
					if (r+hops+len(what)/2)%4 > 0 && !slow.On() || half && hops > 2 && rule != propagate.PPR {
						continue // skips all but one number of hops for each rule and kind of weights
					}
					if what == "causal" && (half || rule == propagate.PPR) && !slow.On() {
						continue
					}
					p := propagate.Propagation{Rule: rule, Hops: hops, Teleport: 0.1}
					name := fmt.Sprintf("%s, %s, %d hops, %s", what, rule, hops, precision)
					seen := map[string]bool{}
					for kind, features := range kinds {
						in := propagate.Input{Adj: a, X: features, Rows: memory.Range(0, n)}
						runtime.GOMAXPROCS(1)
						want := embeddings(t, blocked.Engine{Precision: precision}, p, in)
						if !half {
							wantClose(t, name+", "+kind, want, embeddings(t, propagate.Plain{}, p, in))
						}
						for which, rows := range [][]int32{{499, 3, 4, 3, 77, 300}, memory.Range(0, n)} {
							in.Rows, in.Classes = rows, nil
							for range len(rows) * (r % 2) {
								in.Classes = append(in.Classes, random.Int32N(5))
							}
							for i, memory := range []int64{
								0, 1, 50 << 10, 90 << 10, 200 << 10, 700 << 10, 1680 << 10, 4500 << 10, 1 << 30,
							} {
								if (a.Data != nil || rule != propagate.SGC) && (which+i+len(kind))%2 > 0 && !slow.On() {
									continue
								}
								in.Mapped, in.Last = i%3 != 0, i%4 == 2
								memory = withProcess(memory, in.Mapped)
								runtime.GOMAXPROCS([]int{1, 2, 7}[i%3])
								engine, got := fitting(t, blocked.Engine{Memory: memory, Precision: precision}, p, in)
								note(seen, engine.Plan(p, in))
								from := 0
								if in.Last {
									from = hops
								}
								for l, h := range got[:from] {
									if n, _ := h.Dims(); n > 0 {
										t.Errorf("%s, %s, memory %d: hop %d has %d rows, not asked for", name, kind, memory, l, n)
									}
								}
								wantRows(t, fmt.Sprintf("%s, %s, memory %d", name, kind, memory), got[from:], want[from:], rows)
							}
						}
					}
					all := []string{"wide", "narrow", "stored", "made anew", "results in a file"}
					if !half && hops < 4 && what != "causal" {
						all = append(all, "entries in a file", "some entries in a file")
					}
					if !half && a.Data == nil && rule != propagate.PPR {
						all = append(all, "16 bits")
					} else if seen["16 bits"] {
						t.Errorf("%s: blocks of 16 bits", name)
					}
					for _, of := range all {
						if !seen[of] {
							t.Errorf("%s: no plan of the kind %q", name, of)
						}
					}
				}
			}
		}
	}
}

// TestHops checks that Hops equals Embeddings bit for bit, from memory and from a temporary file, for blocks of columns
// that are read in any order, and that it names a value that is not finite. A file in float16 gives the values rounded.
func TestHops(t *testing.T) {
	const n, d = 500, 150
	x := features(n, d, 0.3, rand.New(rand.NewPCG(3, 0)))
	seen := map[string]bool{}
	for _, features := range []mat.Matrix{x, x.Sparse(), inPanels{x, 16, nil}} {
		for _, rows := range [][]int32{{499, 3, 4, 3, 77, 300}, memory.Range(0, n), {}} {
			p := propagate.Propagation{Rule: propagate.PPR, Hops: 3, Teleport: 0.1}
			in := propagate.Input{Adj: ring(n, 4), X: features, Rows: rows}
			want := embeddings(t, blocked.Engine{}, p, in)
			for run, limit := range []int64{0, withProcess(200<<10, false), 0, withProcess(200<<10, false)} {
				engine, store := blocked.Engine{Memory: limit}, mat.F32
				if run > 1 {
					store = mat.F16
				}
				if len(rows) > 0 {
					note(seen, engine.Plan(p, in))
				}
				next := 0
				err := engine.Hops(t.Context(), p, in, store, func(l int, h mat.Matrix) error {
					mattest.Equal(t, l, next, "hop")
					next++
					var got mat.Dense
					for lo := 0; lo < d; lo += 40 {
						hi := min(d, lo+40)
						if err := h.ReadBlock(&got, memory.Range(0, len(rows)), lo, hi); err != nil {
							return err
						}
						for i := range rows {
							have, want := stored(got.Row(i), store), stored(want[l].Row(i)[lo:hi], store)
							if !slices.Equal(have, want) {
								t.Fatalf("%T, limit %d, %s: hop %d, row %d, columns from %d differ", features, limit, store, l, i, lo)
							}
						}
					}
					return nil
				})
				if err != nil || next != p.Hops+1 {
					t.Errorf("%d hops, error %v", next-1, err)
				}
			}
		}
	}
	if !seen["results in a file"] {
		t.Error("no results in a file")
	}
	x.Row(7)[5] = math.MaxFloat32
	x.Row(8)[5] = math.MaxFloat32
	heavy := ring(n, 1)
	heavy.Data = slices.Repeat([]float32{1}, len(heavy.Indices))
	in := propagate.Input{Adj: heavy, X: x, Rows: []int32{2, 7}}
	read := func(_ int, h mat.Matrix) error { return h.ReadBlock(new(mat.Dense), []int32{1}, 4, 6) }
	sage := propagate.Propagation{Rule: propagate.SAGE, Hops: 1}
	err := blocked.Engine{}.Hops(t.Context(), sage, in, mat.F32, read)
	mattest.Fails(t, "feature 5 of node 7 is +Inf in hop 1")(nil, err)
}

// Without a hop, embeddings are the features.
func TestNoHops(t *testing.T) {
	x := features(20, 5, 1, rand.New(rand.NewPCG(2, 0)))
	for _, features := range []mat.Matrix{x, x.Sparse()} {
		in := propagate.Input{Adj: ring(20, 2), X: features, Rows: memory.Range(0, 20)}
		h := embeddings(t, blocked.Engine{}, propagate.Propagation{Rule: propagate.SGC}, in)
		if !slices.Equal(h[0].Dense().Data, x.Data) {
			t.Errorf("H(0) of a %T is not X", features)
		}
	}
}

// note records in seen which kinds of plans were used.
func note(seen map[string]bool, plan blocked.Plan) {
	for kind, is := range map[string]bool{
		"wide": plan.Width == 64, "narrow": plan.Width < 16 && plan.Width > 1, "stored": plan.Stored,
		"made anew": !plan.Stored, "entries in a file": plan.Filed > 0,
		"some entries in a file": plan.Filed > 0 && plan.Held > 0, "results in a file": plan.Spill, "16 bits": plan.Halves,
	} {
		seen[kind] = seen[kind] || is
	}
}

// fitting returns engine and its embeddings. If engine rejects a mapped input, the memory limit is raised to the
// smallest one that works.
func fitting(t *testing.T, engine blocked.Engine, p propagate.Propagation, in propagate.Input) (
	blocked.Engine, []mat.View,
) {
	t.Helper()
	h, err := propagate.Run(t.Context(), engine, p, in)
	if err == nil {
		return engine, h
	}
	var bound, least int64
	words := "the memory limit is %d bytes, must be at least %d for this graph"
	_, scanned := fmt.Sscanf(err.Error(), words, &bound, &least)
	if scanned != nil || !in.Mapped || bound != engine.Memory {
		t.Fatal(err)
	}
	engine.Memory = least - 64
	if _, err := engine.Embeddings(t.Context(), p, in); err == nil {
		t.Errorf("%d bytes are enough, and %d were asked for", least-64, least)
	}
	engine.Memory = least
	return engine, embeddings(t, engine, p, in)
}

func embeddings(t *testing.T, engine propagate.Engine, p propagate.Propagation, in propagate.Input) []mat.View {
	t.Helper()
	return mattest.Must(propagate.Run(t.Context(), engine, p, in))
}

// wantClose compares two lists of embeddings. The tolerance of 1e-5 per hop covers a few roundings of sums of about ten
// terms of order 1.
func wantClose(t *testing.T, name string, got, want []mat.View) {
	t.Helper()
	for l := range want {
		near := want[l].Dense().Data
		for i, v := range got[l].Dense().Data {
			if math.Abs(float64(v-near[i])) > 1e-5 {
				t.Fatalf("%s: value %d of H(%d) is %v, by the plain engine %v", name, i, l, v, near[i])
			}
		}
	}
}

// wantRows compares embeddings of some rows with the embeddings of all nodes, bit for bit.
func wantRows(t *testing.T, name string, got, all []mat.View, rows []int32) {
	t.Helper()
	for l := range all {
		for r, v := range rows {
			if !slices.Equal(got[l].Row(r), all[l].Row(int(v))) {
				t.Fatalf("%s: row %d of H(%d) differs", name, v, l)
			}
		}
	}
}

// Nodes are sorted by distance, and then by class. A node that is not a row is sorted by the class of most of its
// neighbours.
func TestLayout(t *testing.T) {
	// Two cliques of 4 (classes 1 and 0) joined at 3–4, and a path 7–8–9–10 away from them.
	a := edges(11, [][2]int32{
		{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3},
		{4, 5}, {4, 6}, {4, 7}, {5, 6}, {5, 7}, {6, 7},
		{3, 4}, {7, 8}, {8, 9}, {9, 10},
	})
	all := []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
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
		{"all are rows", all, []int32{1, 1, 1, 1, 0, 0, 0, 0, 2, 2, 2}, 3,
			[]int32{4, 5, 6, 7, 0, 1, 2, 3, 8, 9, 10}, []int{11, 11, 11, 11}},
	} {
		nodes, within := blocked.Layout(a, c.rows, c.classes, c.hops)
		if !slices.Equal(nodes, c.nodes) || !slices.Equal(within, c.within) {
			t.Errorf("%s: nodes %v within %v, want %v within %v", c.what, nodes, within, c.nodes, c.within)
		}
	}
	// Node 4 has neighbours of classes 1, 1 and 2, in this order. The only neighbour of node 0 has class 2.
	a = edges(5, [][2]int32{{0, 3}, {4, 1}, {4, 2}, {4, 3}, {1, 2}})
	if nodes, _ := blocked.Layout(a, []int32{1, 2, 3}, []int32{1, 1, 2}, 1); !slices.Equal(nodes, []int32{1, 2, 3, 4, 0}) {
		t.Errorf("nodes %v, want 4 with class 1, that of most of its neighbours, before 0", nodes)
	}
}

// edges returns the symmetric adjacency of n nodes with the given edges.
func edges(n int, list [][2]int32) *mat.CSR {
	var e graph.Edges
	for _, ends := range list {
		e.From, e.To = append(e.From, ends[0]), append(e.To, ends[1])
	}
	return mattest.First(graph.Adjacency(context.Background(), n, e))
}

// inPanels holds features in panels of the given width. read is called before each block.
type inPanels struct {
	*mat.Dense
	width int
	read  func(rows []int32, lo, hi int) error
}

func (p inPanels) PanelWidth() int { return p.width }

func (p inPanels) ReadBlock(dst *mat.Dense, rows []int32, lo, hi int) error {
	if p.read != nil {
		if err := p.read(rows, lo, hi); err != nil {
			return err
		}
	}
	return p.Dense.ReadBlock(dst, rows, lo, hi)
}

// If mapped features exceed the memory limit, each panel is read once, and all its rows in order, also for H⁽⁰⁾.
func TestPanelsAreReadOnce(t *testing.T) {
	const n, d, width = 3000, 100, 16
	var mu sync.Mutex
	read := map[[2]int]int{} // number of reads by node and panel
	order := 0
	x := inPanels{features(n, d, 1, rand.New(rand.NewPCG(7, 0))), width, func(rows []int32, lo, hi int) error {
		mu.Lock()
		defer mu.Unlock()
		if lo < order {
			t.Errorf("columns %d to %d are read after column %d", lo, hi-1, order)
		}
		order = lo
		for k := lo / width; k*width < hi; k++ {
			for _, v := range rows {
				read[[2]int{int(v), k}]++
			}
		}
		return nil
	}}
	in := propagate.Input{Adj: ring(n, 20), X: x, Rows: []int32{1, 700, 1500, 2500}, Mapped: true}
	p := propagate.Propagation{Rule: propagate.SGC, Hops: 3}
	engine := blocked.Engine{Memory: (blocked.Process + 16*8*n + 30*n) * 16 / 15}
	plan := engine.Plan(p, in)
	if !plan.Beyond || plan.Width != 16 {
		t.Fatalf("plan %+v, want one with panels of 16 columns of a file", plan)
	}
	f := mattest.Must(engine.Footprint(p, in))
	if most := 4*n*d + 10*int64(8*len(in.Adj.Indices)+8*n); f.Read < 4*n*d || f.Read > most {
		t.Errorf("%d bytes to read, want X (%d) and at most ten times the adjacency", f.Read, 4*n*d)
	}
	once := func() {
		for k := range (d + width - 1) / width {
			for v := range n {
				if times := read[[2]int{v, k}]; times > 1 || times == 0 && f.Input >= size(in.Adj)+4*n*d {
					t.Fatalf("panel %d of node %d is read %d times", k, v, times)
				}
			}
		}
		clear(read)
		order = 0
	}
	want := embeddings(t, engine, p, in)
	once()
	mattest.OK(t, engine.Hops(t.Context(), p, in, mat.F32, func(l int, h mat.Matrix) error {
		var got mat.Dense
		err := h.ReadBlock(&got, []int32{0, 1, 2, 3}, 0, d)
		if !slices.Equal(got.Data, want[l].Dense().Data) {
			t.Errorf("hop %d differs", l)
		}
		return err
	}))
	once()
}

// stored returns x as it is, or narrowed to float16.
func stored(x []float32, store mat.Storage) []float32 {
	if store == mat.F32 {
		return x
	}
	halves, back := make([]uint16, len(x)), make([]float32, len(x))
	kernel.NarrowFloat16(halves, x)
	kernel.WidenFloat16(back, halves)
	return back
}

// TestHopsBeyondFloat16 checks that values that a temporary file in float16 cannot hold are an error naming the first.
func TestHopsBeyondFloat16(t *testing.T) {
	const n, d = 500, 150
	x := features(n, d, 0.3, rand.New(rand.NewPCG(3, 0)))
	for _, at := range [][2]int{{40, 30}, {40, 3}, {200, 2}} {
		x.Row(at[0])[at[1]] = 1e6
	}
	p := propagate.Propagation{Rule: propagate.SGC, Hops: 1}
	in := propagate.Input{Adj: ring(n, 2), X: inPanels{x, 16, nil}, Rows: memory.Range(0, n)}
	engine := blocked.Engine{Memory: withProcess(200<<10, false)}
	if !engine.Plan(p, in).Spill {
		t.Fatal("the results are in memory, want a temporary file")
	}
	err := engine.Hops(t.Context(), p, in, mat.F16, func(int, mat.Matrix) error { return nil })
	mattest.Fails(t, "feature 3 of node 38 is ", "in hop 1, must be at most 65504 in f16")(nil, err)
}

// withProcess adds the memory of the process, and of the pages that are being read, to the memory of a plan. 0 (no
// limit) and 1 (nothing fits) stay as they are.
func withProcess(memory int64, mapped bool) int64 {
	if memory > 1 {
		memory += blocked.Process
		if mapped {
			memory += memory / 16
		}
	}
	return memory
}

// size returns the bytes of a.
func size(a *mat.CSR) int64 { return int64(8*len(a.Indptr) + 4*len(a.Indices) + 4*len(a.Data)) }

// Blocks of columns end where panels end, whatever the widths are, and cover each column once.
func TestBlocksEndWithPanels(t *testing.T) {
	a := ring(50, 2)
	for d := 1; d < 150; d += 7 {
		for _, width := range []int{1, 3, 10, 16, 22, 64, 150} {
			for _, memory := range []int64{0, 1, 20_000, 40_000, 80_000, 200_000} {
				if memory > 1 {
					memory += blocked.Process
				}
				in := propagate.Input{Adj: a, X: inPanels{mat.NewDense(50, d), min(width, d), nil}, Rows: []int32{1, 30}}
				plan := blocked.Engine{Memory: memory}.Plan(propagate.Propagation{Rule: propagate.SGC, Hops: 1}, in)
				at := 0
				for _, b := range plan.Blocks {
					if b[0] != at || b[1] <= b[0] || b[1]-b[0] > max(plan.Width, 1) && plan.Width < d {
						t.Fatalf("%d columns in panels of %d, plan %+v", d, width, plan)
					}
					inside := b[0]/min(width, d) == (b[1]-1)/min(width, d)
					if starts := b[0]%min(width, d) == 0 && (b[1]%min(width, d) == 0 || b[1] == d); !inside && !starts {
						t.Fatalf("%d columns in panels of %d: block %v begins or ends within a panel", d, width, b)
					}
					at = b[1]
				}
				if at != d {
					t.Fatalf("%d columns in panels of %d: blocks end at %d", d, width, at)
				}
			}
		}
	}
}

func TestErrors(t *testing.T) {
	p := propagate.Propagation{Rule: propagate.SGC, Hops: 1}
	in := propagate.Input{Adj: ring(9, 1), X: mat.NewDense(9, 2), Rows: []int32{0}}
	engine := blocked.Engine{Memory: -1}
	mattest.Fails(t, "memory -1")(engine.Embeddings(t.Context(), p, in))
	ctx := mattest.Cancelled(t)
	_, err := (blocked.Engine{}).Embeddings(ctx, p, in)
	mattest.WantIs(t, err, context.Canceled)
}

// In a directed graph, a row can read a node that is more than one hop farther. Its features are beyond the end of the
// block that the kernels read. Embeddings returns an error before the kernels run.
func TestDirectedGraphsAreRefused(t *testing.T) {
	for _, data := range [][]float32{nil, {1, 1, 1}} {
		// A cycle 0→1→2→0 and nine nodes without edges: one hop to node 0 reads only node 1, which has a place.
		a := &mat.CSR{Rows: 3, Cols: 3, Indptr: []int64{0, 1, 2, 3}, Indices: []int32{1, 2, 0}, Data: data}
		for range 9 {
			a.Rows, a.Cols, a.Indptr = a.Rows+1, a.Cols+1, append(a.Indptr, 3)
		}
		in := propagate.Input{Adj: a, X: mat.NewDense(12, 20), Rows: []int32{0}}
		p := propagate.Propagation{Rule: propagate.SGC, Hops: 1}
		for _, memory := range []int64{0, 1} {
			if _, err := (blocked.Engine{Memory: memory}).Embeddings(t.Context(), p, in); err != nil {
				t.Errorf("one hop reads what it reaches: %v", err)
			}
		}
		// Nodes 0 and 1 have edges to all others, but not back. With that many entries, the search lets each unreached node
		// look for a reached neighbour, and none finds one.
		n := 40
		star := &mat.CSR{Rows: n, Cols: n, Indptr: make([]int64, n+1)}
		for i := range n {
			if i < 2 {
				for j := 2; j < n; j++ {
					star.Indices = append(star.Indices, int32(j))
				}
			}
			star.Indptr[i+1] = int64(len(star.Indices))
		}
		if data != nil {
			star.Data = slices.Repeat([]float32{1}, star.NNZ())
		}
		in = propagate.Input{Adj: star, X: mat.NewDense(n, 20), Rows: []int32{0, 1}}
		p.Hops = 3
		for _, memory := range []int64{0, 1} {
			mattest.Fails(t, "not symmetric")(blocked.Engine{Memory: memory}.Embeddings(t.Context(), p, in))
		}
	}
}

// An error of a feature reader is returned, whichever block of columns it occurs in.
func TestErrorsOfFeaturesArePassedOn(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 0))
	in := propagate.Input{Adj: ring(500, 4), Rows: []int32{1, 2, 3}}
	p := propagate.Propagation{Rule: propagate.PPR, Hops: 2, Teleport: 0.1}
	x := features(500, 150, 1, random)
	errLost := errors.New("the disk is gone")
	for blocks := range int64(5) { // three blocks of columns; H⁽⁰⁾ is copied from them
		var read atomic.Int64
		in.X = inPanels{x, 0, func([]int32, int, int) error {
			if read.Add(1) > blocks {
				return errLost
			}
			return nil
		}}
		_, err := blocked.Engine{}.Embeddings(t.Context(), p, in)
		if want := blocks < 3; errors.Is(err, errLost) != want {
			t.Errorf("after %d blocks: error %v", blocks, err)
		}
	}
}

// BenchmarkEmbeddings propagates random graphs with the sizes of a quarter of Reddit, and of ogbn-arxiv. The rate
// counts the gathered features: 4 bytes per column and entry of A; hop 2 gathers for half of the rows.
func BenchmarkEmbeddings(b *testing.B) {
	p := propagate.Propagation{Rule: propagate.SGC, Hops: 2}
	for _, size := range []struct{ n, degree, d int }{{60_000, 100, 602}, {170_000, 14, 128}} {
		random := rand.New(rand.NewPCG(1, 0))
		list := make([][2]int32, size.n*size.degree/2)
		for i := range list {
			list[i] = [2]int32{random.Int32N(int32(size.n)), random.Int32N(int32(size.n))}
		}
		in := propagate.Input{Adj: edges(size.n, list), X: features(size.n, size.d, 1, random), Rows: make([]int32, size.n/2)}
		for i := range in.Rows {
			in.Rows[i] = int32(2 * i)
		}
		for _, memory := range []int64{0, 1} {
			engine := blocked.Engine{Memory: memory}
			width := engine.Plan(p, in).Width
			b.Run(fmt.Sprintf("nodes=%d/features=%d/block=%d", size.n, size.d, width), func(b *testing.B) {
				b.SetBytes(int64(in.Adj.NNZ()) * int64(size.d) * 4 * 3 / 2)
				for b.Loop() {
					mattest.Must(engine.Embeddings(b.Context(), p, in))
				}
			})
		}
	}
}

// A part of the graph with the nodes within K hops, the rows of the nodes within K−1 hops and all degrees gives the
// same bits as the full graph. A worker of a cluster has such a part.
func TestPartWithDegrees(t *testing.T) {
	g := synth.Demo()
	rows := g.Split.Train[:20]
	for _, rule := range propagate.Rules() {
		p := propagate.Propagation{Rule: rule, Hops: 2, Teleport: 0.1}
		want := embeddings(t, blocked.Engine{}, p, propagate.Input{Adj: g.Adj, X: g.X, Rows: rows})
		set := reach.New(g.Adj, rows)
		set.Grow()
		part := &mat.CSR{Rows: g.Adj.Rows, Cols: g.Adj.Cols, Indptr: make([]int64, g.Adj.Rows+1)}
		degrees := make([]float64, g.Adj.Rows)
		for v := range g.Adj.Rows {
			row := g.Adj.Indices[g.Adj.Indptr[v]:g.Adj.Indptr[v+1]]
			degrees[v] = float64(len(row))
			if set.Distance[v] != reach.Unreached {
				part.Indices = append(part.Indices, row...)
			}
			part.Indptr[v+1] = int64(len(part.Indices))
		}
		if len(part.Indices) == len(g.Adj.Indices) {
			t.Fatal("the part is the whole")
		}
		got := embeddings(t, blocked.Engine{}, p, propagate.Input{Adj: part, X: g.X, Rows: rows, Degrees: degrees})
		wantRows(t, string(rule), got, want, memory.Range(0, len(rows)))
	}
}
