package cgc_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/partition"
)

// recorder is a partitioner that delegates to another one and records its inputs and results.
type recorder struct {
	mu    sync.Mutex
	by    string
	calls []recorded
}

// recorded is one recorded call: the rows of a class and the group of each row.
type recorded struct {
	rows dense
	of   []int
}

// recording is the recorder registered as "recorded". It delegates to k-means unless a test changes that.
var recording = func() *recorder {
	r := &recorder{by: "kmeans"}
	partition.Register("recorded", r)
	return r
}()

// record clears the recorder and sets the partitioner that it delegates to.
func (r *recorder) record(by string) { r.by, r.calls = by, nil }

func (r *recorder) Partition(ctx context.Context, x [][]float32, k int, src rand.Source) (partition.Groups, error) {
	below, err := partition.Find(r.by)
	if err != nil {
		return partition.Groups{}, err
	}
	groups, err := below.Partition(ctx, x, k, src)
	if err != nil {
		return groups, err
	}
	call := recorded{rows: zeros(len(x), len(x[0])), of: ints(groups.Of)}
	for i, row := range x {
		for j, v := range row {
			call.rows[i][j] = float64(v)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, call)
	return groups, nil
}

// refPool is H_cond (§3.3) with the class, confidence and node of each row.
type refPool struct {
	h          dense
	y          []int
	confidence []float64
	node       []int32 // node in the graph
}

// refAugment returns H⁽ᴷ⁾ of the training nodes, followed by the sampled rows of shallower hops. Like the library, it
// draws from stream 1 of the seed: a class by its weight e_c·|C_c|, then a hop, then a node of the class.
func refAugment(h []dense, r [][]float64, y []int, e []float64, train []int32, multiple float64, seed uint64) refPool {
	hops := len(h) - 1
	pool := refPool{h: append(dense{}, h[hops]...), y: append([]int{}, y...), node: append([]int32{}, train...)}
	pool.confidence = append(pool.confidence, r[hops]...)
	members := make([][]int, len(e))
	for i, c := range y {
		members[c] = append(members[c], i)
	}
	total := 0.0
	for c := range e {
		total += e[c] * float64(len(members[c]))
	}
	random := rand.New(rand.NewPCG(seed, 1))
	for range int(multiple * float64(len(y))) {
		u, sum, class := random.Float64()*total, 0.0, -1
		for c := 0; class < 0; c++ {
			if sum += e[c] * float64(len(members[c])); u < sum {
				class = c
			}
		}
		hop := random.IntN(hops)
		i := members[class][random.IntN(len(members[class]))]
		pool.h = append(pool.h, h[hop][i])
		pool.y = append(pool.y, class)
		pool.confidence = append(pool.confidence, r[hop][i])
		pool.node = append(pool.node, train[i])
	}
	return pool
}

// groups returns the condensed node of each row of the pool, from the recorded partitions of the classes. It fails if
// the recorded rows of a class differ from the pool's.
func (p refPool) groups(t *testing.T, name string, calls []recorded, budget []int) []int {
	t.Helper()
	of := make([]int, len(p.y))
	first := 0
	for c, nodes := range budget {
		var at []int
		for i, y := range p.y {
			if y == c {
				at = append(at, i)
			}
		}
		rows := make(dense, len(at))
		for k, i := range at {
			rows[k] = p.h[i]
		}
		call := recorded{}
		for _, other := range calls { // classes are partitioned concurrently; the first row identifies the class
			if square(refSub(other.rows[:1], rows[:1])) < float32Error {
				call = other
			}
		}
		if len(call.of) != len(rows) {
			t.Fatalf("%s: %d embeddings of class %d are partitioned, want %d", name, len(call.of), c, len(rows))
		}
		wantClose(t, fmt.Sprintf("%s: H_cond of class %d", name, c), toDense(call.rows), rows, float32Error)
		for k, i := range at {
			of[i] = first + call.of[k]
		}
		first += nodes
	}
	return of
}

// members returns P̂: the weights softmax(r/τ) within each group, summed over the embeddings of each node.
func (p refPool) members(of []int, groups, nodes int, temperature float64) dense {
	m, total := zeros(groups, nodes), make([]float64, groups)
	for i, j := range of {
		w := math.Exp(p.confidence[i] / temperature)
		m[j][p.node[i]] += w
		total[j] += w
	}
	for j := range m {
		for v := range m[j] {
			m[j][v] /= total[j]
		}
	}
	return m
}

// The full run equals the paper's formulas, given the groups that were found. The reference draws its own sample and
// tracks the hop, row, class, confidence and node of each embedding.
func TestCondenseEqualsReference(t *testing.T) {
	defer recording.record("kmeans")
	g, a := smallGraph(60, 6, 3, true, false, rand.New(rand.NewPCG(20, 0)))
	y := ints(g.Labels(g.Split.Train))
	var h []dense
	for _, hop := range refPropagate(refNormalize(a), fromMatrix(g.X), 2, 0) {
		h = append(h, pickRows(hop, g.Split.Train))
	}
	w := refClassifier(h, y, 3, 1e-9)
	r := make([][]float64, len(h))
	var predicted []int // from H⁽ᴷ⁾ after the loop
	for l := range h {
		r[l], predicted = refJudge(h[l], w, y)
	}
	e := refClassErrors(predicted, y, 3)
	for _, by := range []string{"kmeans", "spectral", "random"} {
		for _, variant := range cgc.Variants() {
			for _, multiple := range []float64{0, 0.4, 2.5} {
				for _, temperature := range []cgc.Temperature{0.05, 1, cgc.Infinite} {
					if simple := by == "kmeans" && multiple == 0 && temperature == cgc.Infinite; variant == cgc.SimDM && !simple {
						continue // simdm fixes these parameters
					}
					name := fmt.Sprintf("%s, %s, augment %v, temperature %v", by, variant, multiple, temperature)
					recording.record(by)
					config := configured(12, func(c *cgc.Config) {
						c.Variant, c.Partition, c.Seed = variant, "recorded", 5
						c.Augment, c.Temperature, c.Threshold, c.Degree = multiple, temperature, 0.5, 0
					})
					small := mustCondense(t, g, config)

					pool := refAugment(h, r, y, e, g.Split.Train, multiple, config.Seed)
					of := groupsOf(t, small, g, multiple > 0)
					if variant != cgc.SimDM {
						of = pool.groups(t, name, recording.calls, small.Budget)
					}
					tau, tolerance := float64(temperature), float32Error
					if tau < 1 {
						tolerance /= tau // an error of r is magnified in softmax(r/τ)
					}
					members := pool.members(of, 12, g.Nodes(), tau)
					wantClose(t, name+": P̂", small.Members.Dense(), members, 10*tolerance)
					want := refAggregate(pool.h, pool.confidence, of, 12, tau)
					if variant == cgc.CGC {
						adjacency := refAdjacency(want, 0.5)
						wantClose(t, name+": A′", small.Adj.Dense(), adjacency, 0)
						want = refFeatures(adjacency, want, 2, 1)
					} else if small.Adj != nil {
						t.Errorf("%s: has an adjacency", name)
					}
					wantClose(t, name+": X′", small.X, want, 10*tolerance)
					if n := accountOf(t, small).Assessed.Augmented; n != len(pool.y)-len(y) || (n == 0) != (multiple == 0) {
						t.Errorf("%s: %d augmented embeddings, want %d", name, n, len(pool.y)-len(y))
					}
					for i, j := range of {
						if int(small.Y[j]) != pool.y[i] {
							t.Errorf("%s: embedding %d of class %d is in condensed node %d of class %d", name, i, pool.y[i], j, small.Y[j])
						}
					}
				}
			}
		}
	}
}
