// Package partition divides each class of a labelled set of embeddings into groups and aggregates every group into one
// condensed node (Gao et al. 2025, §2.3 and §3.4).
//
// Budgets shares the condensed nodes out over the classes. A Partitioner (KMeans, Spectral, Random, or one of your own)
// groups the rows of one class. Plan.Aggregate goes class by class and returns the calibrated means H′ = R̂·H with R̂.
// Register gives a partitioner a name that configurations know.
//
// The same input and the same source give the same bytes for any number of threads.
package partition

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/internal/kernel"
)

// Partitioner groups rows that belong together: the node mapping π of the paper's definition of a class partition.
type Partitioner interface {
	// Partition divides the n rows of x into k groups, none of them empty, 1 ≤ k ≤ n. All rows have the same length. They
	// may stand anywhere in memory and are not changed. The same input and source give the same groups for any number of
	// threads. The error is that of ctx, or names what is wrong with k, x or the parameters.
	Partition(ctx context.Context, x [][]float32, k int, src rand.Source) (Groups, error)
}

// Groups divides n rows into K groups.
type Groups struct {
	// Of[i] is the group of row i, in [0, K). Each group has at least one row.
	Of []int32
	// K is the number of groups.
	K int
	// Stats says how they were found.
	Stats Stats
}

// All returns an iterator over the groups and their rows, both ascending.
func (g Groups) All() iter.Seq2[int, []int32] {
	return func(yield func(int, []int32) bool) {
		start, rows := sorted(g.Of, g.K)
		for j := range g.K {
			if !yield(j, rows[start[j]:start[j+1]:start[j+1]]) {
				return
			}
		}
	}
}

// Stats is a partition's account of itself. The zero value stands for a partition that needed no search.
type Stats struct {
	// Objective[t] is the k-means objective Σ_i ‖x_i − mean of its group‖² after iteration t of the run that was kept. It
	// falls from each to the next. KMeans counts in squared units of the rows, Spectral in those of the embedding.
	Objective []float64
	// Converged says that the run ended because nothing, or too little, changed, and not because it used up its
	// iterations.
	Converged bool
	// Restarts is the number of runs from which the best was kept. The runs were over all rows, or over a sample, from
	// whose means one run over all rows then started.
	Restarts int
	// Visits is how often a row was compared with all means, in all runs and iterations.
	Visits int
	// Reseeded counts the groups that fell empty during the run that was kept and were started again at a far row.
	Reseeded int
	// Products counts the products with the n×n kernel matrix that Spectral took. It is 0 if the matrix was written out,
	// or known not to matter.
	Products int
}

// sorted lists the rows of each of k groups: those of group j, ascending, are rows[start[j]:start[j+1]].
func sorted(of []int32, k int) (start []int, rows []int32) {
	start = make([]int, k+1)
	for _, j := range of {
		start[j+1]++
	}
	for j := range k {
		start[j+1] += start[j]
	}
	rows = make([]int32, len(of))
	next := append([]int(nil), start[:k]...)
	for i, j := range of {
		rows[next[j]] = int32(i)
		next[j]++
	}
	return start, rows
}

// check returns what is wrong with k or the lengths of the rows. See finite for the numbers.
func check(x [][]float32, k int) error {
	if n := len(x); k < 1 || k > n {
		return fmt.Errorf("partition: %d groups of %d rows, want 1 to %d", k, n, n)
	}
	for i, row := range x {
		if len(row) != len(x[0]) {
			return fmt.Errorf("partition: row %d has %d columns, want %d", i, len(row), len(x[0]))
		}
	}
	return nil
}

// finite returns an error that names the first number of x that is NaN or infinite.
func finite(x [][]float32) error {
	for i, row := range x {
		if kernel.Dot(row, row) <= math.MaxFloat32 {
			continue
		}
		for j, v := range row { // large numbers, or at least one that is not finite
			if math.Float32bits(v)&0x7f800000 == 0x7f800000 { // all ones in the exponent
				return fmt.Errorf("partition: row %d column %d is %v, want a finite number", i, j, v)
			}
		}
	}
	return nil
}

// singletons puts each of n rows in a group of its own.
func singletons(n int) Groups {
	g := Groups{Of: make([]int32, n), K: n, Stats: Stats{Converged: true}}
	for i := range g.Of {
		g.Of[i] = int32(i)
	}
	return g
}
