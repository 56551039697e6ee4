package bench_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/bench"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// path returns the path graph 0–1–2–3 with two features.
func path() *graph.Graph {
	return &graph.Graph{
		Adj: &mat.CSR{Rows: 4, Cols: 4, Indptr: []int64{0, 1, 3, 5, 6}, Indices: []int32{1, 0, 2, 1, 3, 2}},
		X:   mat.NewDense(4, 2), Y: []int32{0, 1, 2, 0}, Classes: 3,
		Split: graph.Split{Train: []int32{0}, Val: []int32{3}, Test: []int32{1, 2}},
	}
}

// TestWork compares the formulas with operations counted by hand.
func TestWork(t *testing.T) {
	g := path()
	words := &mat.CSR{Rows: 4, Cols: 2, Indptr: []int64{0, 2, 3, 3, 5}, Indices: []int32{0, 1, 1, 0, 1}}
	valued := *words
	valued.Data = []float32{1, 2, 3, 4, 5}
	triangle := &mat.CSR{Rows: 4, Cols: 4, Indptr: []int64{0, 2, 4, 6, 6}, Indices: []int32{1, 2, 0, 2, 0, 1}}
	settled := func(iterations, visits, products int) partition.Stats {
		return partition.Stats{
			Objective: make([]float64, iterations), Converged: true, Restarts: 1, Visits: visits, Products: products,
		}
	}
	// Two classes of 10 and 30 training nodes, 4 picks of augmentation, 2 and 3 groups.
	partitioning := func(d int, name string, errors []float64, stats ...partition.Stats) *bench.Work {
		account := cgc.Account{Partitions: stats, Assessed: cgc.Assessed{Error: errors, Augmented: 4}}
		return bench.Partitioning([]int{10, 30}, d, name, []int{2, 3}, account)
	}
	still := settled(0, 0, 0)
	train := gnn.Config{Epochs: 12, Hidden: 8, ValidateEvery: 10}
	for _, c := range []struct {
		name    string
		got     *bench.Work
		want    float64 // bytes or operations
		ceiling bench.Ceiling
	}{
		// Hop 2 computes row 0 from rows 0 and 1; hop 1 computes row 0 from 2 rows and row 1 from 3: 7 rows of 8 bytes.
		{"two hops", bench.Propagation(g.Adj, g.X, []int32{0}, 2, blocked.Float32), 7 * 8, bench.Gather},
		{"two hops in half precision", bench.Propagation(g.Adj, g.X, []int32{0}, 2, blocked.Half), 7 * 4, bench.Gather},
		{"no hops", bench.Propagation(g.Adj, g.X, []int32{0}, 0, blocked.Float32), 0, bench.Gather},
		{"a row named twice is made once", bench.Propagation(g.Adj, g.X, []int32{0, 0}, 1, blocked.Float32), 2 * 8,
			bench.Gather},
		// Hop 1 reads rows 0, 1 of X for node 0 and rows 0, 1, 2 for node 1: 3 and 3 entries. Hop 2 reads 2 dense rows.
		{"words", bench.Propagation(g.Adj, words, []int32{0}, 2, blocked.Float32), 2*8 + 6*4, bench.Gather},
		{"words with values", bench.Propagation(g.Adj, &valued, []int32{0}, 2, blocked.Float32), 2*8 + 6*8, bench.Gather},
		{"words in half precision", bench.Propagation(g.Adj, words, []int32{0}, 2, blocked.Half), 2*4 + 6*4, bench.Gather},
		// Twice 5 rows of 3 float32, and a block of 16 columns for 7 nodes.
		{"allocation", bench.Allocation(5, 3, 2, 7, bench.Table{Columns: 16}), 2*5*3*4 + 7*16*4, bench.Fresh},
		{"allocation for one hop", bench.Allocation(5, 3, 1, 7, bench.Table{Columns: 16}), 5 * 3 * 4, bench.Fresh},
		{"allocation in half precision", bench.Allocation(5, 3, 2, 7, bench.Table{Columns: 16, Precision: blocked.Half}),
			2*5*3*4 + 7*16*2, bench.Fresh},
		// 3·2·3 + 2³/3 + 2·(2·3·2·5)
		{"assessment", bench.Assessment(3, 2, 5, 2), 18 + 8./3 + 120, bench.Compute},
		{"dual assessment", bench.Assessment(2, 3, 5, 2), 18 + 8./3 + 180, bench.Compute},
		{"augmentation", bench.Augmentation(10, 3, 4), 14 * 3 * 8, bench.Stream},
		{"no augmentation", bench.Augmentation(10, 3, 0), 0, bench.Stream},
		// The classes share 4 picks in the ratio 10·0.3 to 30·0.3. The first class needs 2·6 passes over 11 rows, with 2
		// groups and 7 columns. The second class needs none.
		{"k-means", partitioning(7, "kmeans", []float64{0.3, 0.3}, settled(5, 2*6*11, 0), still),
			2 * 6 * 2 * 11 * 2 * 7, bench.Compute},
		{"no errors", partitioning(7, "kmeans", []float64{0, 0}, settled(5, 2*6*11, 0), still),
			2 * 6 * 2 * 11 * 2 * 7, bench.Compute},
		// All picks belong to the second class: 34 rows, 3 groups, 7 columns, 1+1 iterations.
		{"errors of one class", partitioning(7, "kmeans", []float64{0, 0.1}, still, settled(1, 2*34, 0)),
			2 * 2 * 34 * 3 * 7, bench.Compute},
		{"few rows", partitioning(70, "kmeans", []float64{1, 0}, settled(5, 6*14, 0), still),
			6 * 2 * 14 * 2 * 14, bench.Compute},
		// Gram 34·7·8, 2 products of 2·34·3²·3, k-means 2·2·34·3·3.
		{"spectral", partitioning(7, "spectral", []float64{0, 1}, still, settled(1, 2*34, 2)),
			34*7*8 + 2*2*34*27 + 2*2*34*9, bench.Compute},
		{"spectral of few features", partitioning(2, "spectral", []float64{0, 1}, still, settled(1, 2*34, 2)),
			34*2*3 + 2*2*34*12 + 2*2*34*9, bench.Compute},
		// 2·16·5, and for the triangle 2·(2·27 + 2·9·5) + 2·27 + 27/3 + 2·9·5.
		{"generation", bench.Generation(triangle, 5, 2), 160 + 288 + 54 + 9 + 90, bench.Compute},
		// 12 epochs of 2·6·8·(2·2+3·3); 2 validations on 2 nodes and a test on 4 nodes, with 2·8·(2+3) per node.
		{"training", bench.Learning(g, 6, train), 12*96*13 + 8*80, bench.Compute},
	} {
		// The tolerance allows three roundings of float64.
		mattest.Near(t, c.got.Amount*1e9, c.want, 1e-12*c.want, "%s: work", c.name)
		mattest.Equal(t, c.got.Ceiling, c.ceiling, "%s: ceiling", c.name)
	}
	for hops, want := range [][2]int{{1, 0}, {2, 1}, {3, 2}, {4, 3}, {4, 4}} {
		all, near := bench.Within(g.Adj, []int32{0}, hops)
		mattest.Equal(t, [2]int{all, near}, want, "nodes within %d hops, and within one hop less:", hops)
	}
	unknown := partitioning(7, "random", []float64{1, 1}, still, still)
	mattest.Equal(t, unknown, nil, "a partition whose operations are not known has the work")
	g.X = words
	mattest.Near(t, bench.Learning(g, 6, train).Amount*1e9, 12*96*13+8*48, 1e-6, "training with sparse features: work")
}

// TestPropagationOfAll checks that each hop gathers every entry of A+I if all rows are requested.
func TestPropagationOfAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(30, 80).Draw(t, "nodes")
		edges := rapid.IntRange(0, nodes).Draw(t, "edges")
		hops := rapid.IntRange(0, 4).Draw(t, "hops")
		shape := synth.Shape{Nodes: nodes, Edges: edges, Features: 3, Classes: 2, Train: 2}
		g := mattest.Must(synth.Make(context.Background(), shape, rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)))
		all := memory.Range(0, nodes)
		want := float64(hops*(2*edges+nodes)*4*3) / 1e9
		if got := bench.Propagation(g.Adj, g.X, all, hops, blocked.Float32).Amount; math.Abs(got-want) > 1e-12*want {
			t.Errorf("%v GB, want %v", got, want)
		}
		if part := bench.Propagation(g.Adj, g.X, all[:1], hops, blocked.Float32).Amount; part > want*(1+1e-12) {
			t.Errorf("%v GB for one row, %v for all", part, want)
		}
	})
}
