package selection

import (
	"context"
	"math"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/internal/rival"
)

// Herding chooses nodes whose mean embedding stays close to the mean of their class. The embeddings are ÂᴷX. Source:
// Welling, Herding dynamical weights to learn (ICML 2009).
//
// Let μ be the mean of the class and S the set of nodes chosen so far. The next node is
//
//	argmin_{i∉S} ‖(|S|+1)·μ − Σ_{j∈S} h_j − h_i‖,
//
// and the first one in case of a tie. Herding is deterministic: all seeds give the same graph.
type Herding struct{ Embedding }

// NewHerding returns herding on embeddings of two hops.
func NewHerding() Herding { return Herding{Embedding{Hops: 2, Memory: rival.DefaultMemory}} }

// Name returns "herding".
func (Herding) Name() string { return "herding" }

// Check validates the parameters, g, nodes and the memory limit.
func (h Herding) Check(g *graph.Graph, nodes int) error {
	if err := rival.Check(g, nodes); err != nil {
		return err
	}
	return h.check(h.Name(), g)
}

// Condense chooses the nodes of each class by herding. For a class of n nodes, it costs n·d operations for each chosen
// node.
func (h Herding) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	return h.condense(ctx, g, h, nodes, seed, herd)
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
		next := least(distance)
		for j, v := range h[next] {
			rest[j] -= float64(v)
		}
		chosen = append(chosen, next)
	}
	return chosen, nil
}

// KCenter chooses nodes that cover their class: each further node is the one farthest from the nodes chosen so far. The
// embeddings are ÂᴷX. Source: Gonzalez, Clustering to minimize the maximum intercluster distance (1985); Sener and
// Savarese, Active learning for convolutional neural networks: A core-set approach (ICLR 2018).
//
// The first node is the one closest to the mean of the class. With S the set of nodes chosen so far, each further node
// is
//
//	argmax_i min_{j∈S} ‖h_i − h_j‖,
//
// and the first one in case of a tie. The largest distance to the nearest chosen node is at most twice the minimum.
// KCenter is deterministic: all seeds give the same graph.
type KCenter struct{ Embedding }

// NewKCenter returns k-center on embeddings of two hops.
func NewKCenter() KCenter { return KCenter{Embedding{Hops: 2, Memory: rival.DefaultMemory}} }

// Name returns "k-center".
func (KCenter) Name() string { return "k-center" }

// Check validates the parameters, g, nodes and the memory limit.
func (c KCenter) Check(g *graph.Graph, nodes int) error {
	if err := rival.Check(g, nodes); err != nil {
		return err
	}
	return c.check(c.Name(), g)
}

// Condense chooses the nodes of each class by k-center. For a class of n nodes, it costs n·d operations for each chosen
// node.
func (c KCenter) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	return c.condense(ctx, g, c, nodes, seed, cover)
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
	next := least(distance)
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
		next = 0
		for i, d := range nearest {
			if d > nearest[next] {
				next = i
			}
		}
	}
}

// means returns the mean of the rows.
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

// least returns the index of the smallest value, and the first one in case of a tie.
func least(values []float64) int {
	at := 0
	for i, v := range values {
		if v < values[at] {
			at = i
		}
	}
	return at
}
