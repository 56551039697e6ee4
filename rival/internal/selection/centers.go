package selection

import (
	"context"
	"math"
	"slices"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/internal/parameter"
	"github.com/graph-condensation/cgc/internal/rival"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

const (
	// herding chooses nodes whose mean embedding stays close to the mean of their class. The embeddings are ÂᴷX. Source:
	// Welling, Herding dynamical weights to learn (ICML 2009).
	//
	// Let μ be the mean of the class and S the set of nodes chosen so far. The next node is
	//
	//	argmin_{i∉S} ‖(|S|+1)·μ − Σ_{j∈S} h_j − h_i‖,
	//
	// and the first one in case of a tie.
	herding = "herding"

	// kCenter chooses nodes that cover their class: each further node is the one farthest from the nodes chosen so far.
	// The embeddings are ÂᴷX. Source: Gonzalez, Clustering to minimize the maximum intercluster distance (1985); Sener and
	// Savarese, Active learning for convolutional neural networks: A core-set approach (ICLR 2018).
	//
	// The first node is the one closest to the mean of the class. With S the set of nodes chosen so far, each further node
	// is
	//
	//	argmax_i min_{j∈S} ‖h_i − h_j‖,
	//
	// and the first one in case of a tie. The largest distance to the nearest chosen node is at most twice the optimum.
	kCenter = "k-center"
)

// centers is herding or k-center. Both are deterministic: all seeds give the same graph.
type centers struct {
	name string
	// Hops is K, from 0 to 20.
	Hops int `json:"hops"`
	// Memory limits the memory for the embeddings of the training nodes, 4·(K+1)·n·d bytes.
	Memory rival.Memory `json:"memory"`
}

// newCenters returns herding or k-center on embeddings of two hops.
func newCenters(name string) centers { return centers{name, 2, rival.DefaultMemory} }

// KCenter condenses g by k-center, within a memory limit.
func KCenter(ctx context.Context, g *graph.Graph, nodes int, memory rival.Memory) (*condense.Condensed, error) {
	return centers{kCenter, 2, memory}.Condense(ctx, g, nodes, 0)
}

// Name returns the name of the method.
func (m centers) Name() string { return m.name }

// Check validates the parameters, g, nodes and the memory limit.
func (m centers) Check(g *graph.Graph, nodes int) error {
	hops := parameter.Check(m.Hops >= 0 && m.Hops <= 20, "hops", m.Hops, "from 0 to 20")
	if err := rival.Check(g, nodes, hops); err != nil {
		return err
	}
	bytes := 4 * float64(m.Hops+1) * float64(len(g.Split.Train)) * float64(g.Features())
	return m.Memory.Fits(rival.Training(m.name, g), bytes)
}

// Condense chooses the nodes of each class. For a class of n nodes, it costs n·d operations for each chosen node.
func (m centers) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	pick := herd
	if m.name == kCenter {
		pick = cover
	}
	return rival.Run(ctx, m, g, nodes, seed, func(ctx context.Context, task *rival.Task) (*condense.Condensed, error) {
		rows, err := m.propagate(ctx, task)
		if err != nil {
			return nil, err
		}
		return choose(task, func(of []int32, k int) ([]int32, error) {
			h := make([][]float32, len(of))
			for i, v := range of {
				h[i] = rows[v]
			}
			picked, err := pick(ctx, h, k)
			chosen := make([]int32, len(picked))
			for i, r := range picked {
				chosen[i] = of[r]
			}
			return chosen, err
		})
	}, propagateStep, selectStep)
}

// propagate returns the embedding of each training node: its row of ÂᴷX, the embedding of SGC (Wu et al. 2019).
func (m centers) propagate(ctx context.Context, task *rival.Task) (map[int32][]float32, error) {
	defer task.Clock.Step(propagateStep)()
	g := task.Graph
	h, err := propagate.Run(ctx, blocked.Engine{}, propagate.Propagation{Rule: propagate.SGC, Hops: m.Hops},
		propagate.Input{
			Adj: g.Adj, X: g.X, Rows: g.Split.Train, Classes: g.Labels(g.Split.Train), Last: true, Mapped: g.Mapped,
		})
	if err != nil {
		return nil, err
	}
	rows := make(map[int32][]float32, len(g.Split.Train))
	for i, v := range g.Split.Train {
		rows[v] = h[m.Hops].Row(i)
	}
	return rows, nil
}

// herd returns the indices of k rows in the order in which herding chooses them.
func herd(ctx context.Context, h [][]float32, k int) (chosen []int, err error) {
	mean := means(h)
	rest := make([]float64, len(mean)) // (|S|+1)·μ − Σ h_j
	distance := make([]float64, len(h))
	for len(chosen) < k {
		for j, m := range mean {
			rest[j] += m
		}
		if err := distances(ctx, distance, h, rest); err != nil {
			return nil, err
		}
		for _, i := range chosen {
			distance[i] = math.Inf(1)
		}
		next := slices.Index(distance, slices.Min(distance))
		for j, v := range h[next] {
			rest[j] -= float64(v)
		}
		chosen = append(chosen, next)
	}
	return chosen, nil
}

// cover returns the indices of k rows in the order in which k-center chooses them.
func cover(ctx context.Context, h [][]float32, k int) (chosen []int, err error) {
	distance, nearest := make([]float64, len(h)), make([]float64, len(h))
	if err := distances(ctx, distance, h, means(h)); err != nil {
		return nil, err
	}
	for i := range nearest {
		nearest[i] = math.Inf(1)
	}
	next := slices.Index(distance, slices.Min(distance))
	centre := make([]float64, len(h[0]))
	for {
		chosen = append(chosen, next)
		if len(chosen) == k {
			return chosen, nil
		}
		for j, v := range h[next] {
			centre[j] = float64(v)
		}
		if err := distances(ctx, distance, h, centre); err != nil {
			return nil, err
		}
		for i, d := range distance {
			nearest[i] = min(nearest[i], d)
		}
		for _, i := range chosen { // so that each of several equal rows is chosen at most once
			nearest[i] = -1
		}
		next = slices.Index(nearest, slices.Max(nearest))
	}
}

func means(h [][]float32) []float64 {
	mean := make([]float64, len(h[0]))
	for _, row := range h {
		for j, v := range row {
			mean[j] += float64(v) / float64(len(h))
		}
	}
	return mean
}

// distances sets dst[i] to ‖h_i − to‖². If ctx is done, it returns ctx's error.
func distances(ctx context.Context, dst []float64, h [][]float32, to []float64) error {
	const chunk = 64
	return parallel.ForContext(ctx, len(h), chunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			sum := 0.0
			for j, v := range h[i] {
				d := float64(v) - to[j]
				sum += d * d
			}
			dst[i] = sum
		}
	})
}
