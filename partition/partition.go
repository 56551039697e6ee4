// Package partition divides each class of a labelled set of embeddings into groups and aggregates every group into one
// condensed node (Gao et al. 2025, §2.3 and §3.4).
//
// Budgets distributes the condensed nodes over the classes. A Partitioner (KMeans, Spectral, Random, or one of your
// own) groups the rows of one class. Plan.Aggregate partitions each class and returns R̂ and the calibrated means H′ =
// R̂·H. Register gives a partitioner a name that configurations can use.
//
// The same input and the same source give the same bytes for any number of threads.
package partition

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/registry"
)

// Partitioner groups similar rows. It is the node mapping π in the paper's definition of a class partition.
type Partitioner interface {
	// Partition divides the n rows of x into k groups, none of them empty, 1 ≤ k ≤ n. All rows have the same length. They
	// may be anywhere in memory and are not changed. The same input and source give the same groups for any number of
	// threads. The error is ctx.Err(), or says why k, x or the parameters are invalid.
	Partition(ctx context.Context, x [][]float32, k int, src rand.Source) (Groups, error)
}

// Groups divides n rows into K groups.
type Groups struct {
	// Of[i] is the group of row i, in [0, K). Each group has at least one row.
	Of []int32
	// K is the number of groups.
	K int
	// Stats says how the groups were found.
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

// check returns an error unless g divides n rows into k groups, none of them empty.
func (g Groups) check(n, k int) error {
	if len(g.Of) != n || g.K != k {
		return fmt.Errorf("%d groups of %d rows, expected %d of %d", g.K, len(g.Of), k, n)
	}
	sizes := make([]int, k)
	for i, j := range g.Of {
		if j < 0 || int(j) >= k {
			return fmt.Errorf("group %d of row %d, must be 0 to %d", j, i, k-1)
		}
		sizes[j]++
	}
	if j := slices.Index(sizes, 0); j >= 0 {
		return fmt.Errorf("group %d with 0 rows, must be at least 1", j)
	}
	return nil
}

// Stats describes how a partition was found. The zero value means that it needed no search.
type Stats struct {
	// Objective[t] is the k-means objective Σ_i ‖x_i − mean of its group‖² after iteration t of the run that was kept. It
	// decreases with t. Its unit is the square of the rows' unit for KMeans, and of the embedding's unit for Spectral.
	Objective []float64
	// Converged says that the run ended because little or nothing changed, and not because it reached its maximum number
	// of iterations.
	Converged bool
	// Restarts is the number of runs; the best run was kept. The runs used all rows, or a sample. After runs on a sample,
	// one run over all rows started from the best means.
	Restarts int
	// Visits counts how often a row was compared with all means, over all runs and iterations.
	Visits int
	// Reseeded counts the groups that became empty during the run that was kept and were restarted at a distant row.
	Reseeded int
	// Products counts Spectral's products with the n×n kernel matrix. It is 0 if the matrix was formed explicitly, or if
	// no product was needed.
	Products int
}

// sorted lists the rows of each of k groups: group j has rows[start[j]:start[j+1]], ascending.
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

// check returns an error if k is out of range or the rows differ in length. finite checks their values.
func check(x [][]float32, k int) error {
	if n := len(x); k < 1 || k > n {
		return fmt.Errorf("%d groups of %d rows, must be 1 to %d", k, n, n)
	}
	return checkLengths(x)
}

// checkLengths returns an error unless all rows have the same length.
func checkLengths(x [][]float32) error {
	for i, row := range x {
		if len(row) != len(x[0]) {
			return fmt.Errorf("row %d has %d columns, expected %d", i, len(row), len(x[0]))
		}
	}
	return nil
}

// finite returns an error that names the first number of x that is NaN or infinite.
func finite(x [][]float32) error {
	for i, row := range x {
		if j := kernel.FirstNotFinite(row); j >= 0 {
			return fmt.Errorf("row %d column %d is %v, must be a finite number", i, j, row[j])
		}
	}
	return nil
}

// singletons puts each of n rows in its own group.
func singletons(n int) Groups {
	return Groups{Of: memory.Range(0, n), K: n, Stats: Stats{Converged: true}}
}

// Random shuffles the rows and cuts them into k groups whose sizes differ by at most one. It is the ablation "w RAN" of
// the paper (§4.5), which ignores the features. Its Stats are empty.
type Random struct{}

// Partition implements Partitioner.
func (Random) Partition(ctx context.Context, x [][]float32, k int, src rand.Source) (Groups, error) {
	if err := errors.Join(check(x, k), finite(x)); err != nil {
		return Groups{}, err
	}
	if err := ctx.Err(); err != nil {
		return Groups{}, err
	}
	n := len(x)
	g := Groups{Of: make([]int32, n), K: k}
	for at, i := range rand.New(src).Perm(n) {
		g.Of[i] = int32(at * k / n)
	}
	return g, nil
}

// registered holds the named partitioners, the default first.
var registered = registry.New[Partitioner]("partition").
	With("kmeans", KMeans{Tolerance: rest}).
	With("spectral", Spectral{KMeans: KMeans{Tolerance: rest}}).
	With("random", Random{})

// rest ends a run of k-means when an iteration lowers the objective by less than this share of it. That saves half of
// the iterations on classes of many thousand rows. Accuracies on arxiv and Amazon Photo do not change.
const rest = 1e-3

// Register adds a partitioner under a name of lower-case letters, digits and hyphens, so that configurations can use
// it. It panics if the name is invalid or taken. It is safe for concurrent use.
func Register(name string, p Partitioner) { registered.Register(name, p) }

// Names returns the names of the partitioners in the order of their registration: "kmeans", "spectral", "random", and
// then others.
func Names() []string { return registered.Names() }

// Find returns the partitioner with the given name, ignoring case. The error for an unknown name lists all names.
//
// "kmeans" and the k-means inside "spectral" stop when an iteration lowers the objective by less than 0.1%; their other
// parameters have default values.
func Find(name string) (Partitioner, error) { return registered.Find(name) }
