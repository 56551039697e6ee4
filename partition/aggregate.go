package partition

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
)

// Plan says how the classes are partitioned and their groups aggregated.
type Plan struct {
	// Budgets[c] is the number of condensed nodes |C′_c| of class c: at most its number of rows, and at least 1 if it has
	// any. The function Budgets computes them.
	Budgets []int
	// Partitioner groups the rows of each class.
	Partitioner Partitioner
	// Temperature is the τ > 0 of the calibration (see Aggregate). The smaller it is, the more a condensed node follows
	// its most confident rows. +Inf gives plain means.
	Temperature float64
}

// Aggregation is the outcome of a class partition: N′ condensed embeddings, classes ascending.
type Aggregation struct {
	// H is H′ = R̂·H, N′×d.
	H *mat.Dense
	// Y is the class of each condensed node.
	Y []int32
	// Members is R̂, N′×n: row j contains the weights of the rows in the group of condensed node j, which sum to 1. A
	// weight is positive, or 0 if it is below the smallest float32. Each row of the embeddings is in exactly one group.
	Members *mat.CSR
	// Stats[c] describes the partition of class c.
	Stats []Stats
}

// Aggregate partitions the rows of each class of x and aggregates each group.
//
// x contains the n embeddings of length d, which may be anywhere in memory. y contains their classes, in [0,
// len(Budgets)). confidence contains the scores r of the assessment; nil means equal scores. Within a group S, the
// weight of row k is
//
//	R̂_k = exp(r_k/τ) / Σ_{l∈S} exp(r_l/τ).
//
// (In §3.4, the paper divides r by τ and then by the sum of the row, so that τ cancels. With the softmax, τ is a
// temperature.) Weights and sums are float64, rounded to float32 at the end.
//
// Each class has its own source, seeded from src in the order of the classes, so that groups of one class do not depend
// on the rows of other classes. The error is ctx.Err(), or it names the argument, its value and its bound. In addition
// to the result, Aggregate needs memory for copies of the rows of a few classes.
func (p Plan) Aggregate(ctx context.Context, x [][]float32, y []int32, confidence []float32,
	src rand.Source) (*Aggregation, error) {
	classes := len(p.Budgets)
	if err := p.check(x, y, confidence); err != nil {
		return nil, err
	}
	start, rows := sorted(y, classes)
	first := make([]int, classes+1) // condensed nodes of class c: first[c] to first[c+1]−1
	for c, budget := range p.Budgets {
		if has := start[c+1] - start[c]; budget < min(1, has) || budget > has {
			return nil, fmt.Errorf("class %d: %d condensed nodes for %d rows, must be %d to %d", c, budget, has,
				min(1, has), has)
		}
		first[c+1] = first[c] + budget
	}
	seeds := make([][2]uint64, classes)
	for c := range seeds {
		seeds[c] = [2]uint64{src.Uint64(), src.Uint64()}
	}
	a := newAggregation(first[classes], classes, x)
	count := progress.NewCounter(0, classes)
	err := parallel.Try(ctx, classes, 1, func(c, _ int) error {
		defer count.Add(ctx, "partition")
		if p.Budgets[c] == 0 {
			return nil
		}
		mine := rows[start[c]:start[c+1]]
		own := make([][]float32, len(mine))
		for r, i := range mine {
			own[r] = x[i]
		}
		groups, err := p.Partitioner.Partition(ctx, own, p.Budgets[c], rand.NewPCG(seeds[c][0], seeds[c][1]))
		if err != nil {
			return fmt.Errorf("partitioning class %d: %w", c, err)
		}
		if err := groups.check(len(own), p.Budgets[c]); err != nil {
			return fmt.Errorf("partitioning class %d: partitioner %T returned %w", c, p.Partitioner, err)
		}
		a.Stats[c] = groups.Stats
		a.place(groups, c, first[c], start[c], mine)
		return nil
	})
	if err != nil {
		return nil, err
	}
	parallel.For(len(a.Y), 1, func(j, _ int) {
		lo, hi := a.Members.Indptr[j], a.Members.Indptr[j+1]
		weigh(a.H.Row(j), a.Members.Data[lo:hi], x, a.Members.Indices[lo:hi], confidence, p.Temperature)
	})
	return a, nil
}

// newAggregation allocates an aggregation of the rows of x into the given number of condensed nodes.
func newAggregation(nodes, classes int, x [][]float32) *Aggregation {
	n, d := len(x), 0
	if n > 0 {
		d = len(x[0])
	}
	return &Aggregation{
		H: mat.NewDense(nodes, d), Y: make([]int32, nodes), Stats: make([]Stats, classes),
		Members: &mat.CSR{Rows: nodes, Cols: n, Indptr: make([]int64, nodes+1), Indices: memory.Make[int32](n),
			Data: memory.Make[float32](n)},
	}
}

// place writes the groups of class c, whose rows are given. Its condensed nodes start at first, and its members start
// at entry.
func (a *Aggregation) place(groups Groups, c, first, entry int, rows []int32) {
	for j, members := range groups.All() {
		for _, i := range members {
			a.Members.Indices[entry] = rows[i]
			entry++
		}
		a.Members.Indptr[first+j+1] = int64(entry)
		a.Y[first+j] = int32(c)
	}
}

// ahead is the prefetch distance in rows, which are not contiguous in memory.
const ahead = 2

// weigh sets weights to the softmax of confidence/temperature over the given rows of x, and mean to the weighted mean.
func weigh(mean, weights []float32, x [][]float32, rows []int32, confidence []float32, temperature float64) {
	exact := make([]float64, len(rows)) // the scores, then their exponentials
	if confidence != nil {
		for at, i := range rows {
			exact[at] = float64(confidence[i])
		}
	}
	top, total := slices.Max(exact), 0.0
	for at, score := range exact {
		exact[at] = math.Exp((score - top) / temperature) // at most 1, and 1 at the top: no overflow for any temperature
		total += exact[at]
	}
	sum := make([]float64, len(mean))
	for at, i := range rows {
		if at+ahead < len(rows) {
			kernel.Prefetch(x[rows[at+ahead]])
		}
		w := exact[at] / total
		weights[at] = float32(w)
		kernel.Accumulate(sum, w, x[i])
	}
	for j, v := range sum {
		mean[j] = float32(v)
	}
}

// check returns an error if an argument is invalid. Aggregate itself compares the budgets with the sizes of the
// classes.
func (p Plan) check(x [][]float32, y []int32, confidence []float32) error {
	if p.Partitioner == nil {
		return fmt.Errorf("no partitioner")
	}
	if !(p.Temperature > 0) {
		return fmt.Errorf("temperature %v, must be positive", p.Temperature)
	}
	if len(y) != len(x) || confidence != nil && len(confidence) != len(x) {
		return fmt.Errorf("%d rows with %d labels and %d confidences", len(x), len(y), len(confidence))
	}
	if err := checkLengths(x); err != nil {
		return err
	}
	for i, c := range y {
		if c < 0 || int(c) >= len(p.Budgets) {
			return fmt.Errorf("row %d has class %d, must be 0 to %d", i, c, len(p.Budgets)-1)
		}
	}
	for i, r := range confidence {
		if math.IsNaN(float64(r)) || math.IsInf(float64(r), 0) {
			return fmt.Errorf("row %d has confidence %v, must be a finite number", i, r)
		}
	}
	return nil
}
