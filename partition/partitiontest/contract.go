// Package partitiontest tests any partition.Partitioner against the promises of its interface:
//
//	func TestMine(t *testing.T) { partitiontest.Run(t, mine{}) }
package partitiontest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/slow"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/partition"
)

// Run checks the promises of the interface on ordinary rows, equal rows, fewer distinct rows than groups, a single row,
// and very large and very small numbers:
//
//   - each row is in one of k groups, and none is empty;
//   - the rows are not changed;
//   - the same seed gives the same groups for any number of threads;
//   - it stops when its context ends;
//   - invalid arguments are errors.
//
// Run sets GOMAXPROCS, so it must not run in parallel with other tests.
func Run(t *testing.T, m partition.Partitioner) {
	for name, x := range inputs() {
		t.Run(name, func(t *testing.T) {
			n := x.Rows
			for _, k := range []int{1, 2, 3, 10, n / 2, n - 1, n} {
				if k < 1 || k > n || name == "many rows" && k > 10 && !slow.On() { // the eigenvectors would take seconds
					continue
				}
				before := x.Clone()
				g, err := m.Partition(t.Context(), x.View().Rows(), k, rand.NewPCG(1, 2))
				if err != nil {
					t.Fatalf("%d groups of %d rows: %v", k, n, err)
				}
				if err := valid(g, n, k); err != nil {
					t.Errorf("%d groups of %d rows: %v", k, n, err)
				}
				if !slices.Equal(before.Data, x.Data) {
					t.Errorf("%d groups of %d rows: the input was changed", k, n)
				}
			}
		})
	}
	t.Run("threads", func(t *testing.T) { threads(t, m) })
	t.Run("refusals", func(t *testing.T) { refusals(t, m) })
	t.Run("cancelled", func(t *testing.T) {
		x := mattest.Mixture(50, 4, 3, 9).View().Rows()
		if _, err := m.Partition(mattest.Cancelled(t), x, 5, rand.NewPCG(1, 2)); err != context.Canceled {
			t.Errorf("error %v, want %v", err, context.Canceled)
		}
	})
}

func inputs() map[string]*mat.Dense {
	equal, few := mat.NewDense(40, 6), mat.NewDense(60, 5)
	values := mattest.Mixture(4, 5, 2, 3)
	for i := range equal.Rows {
		for j := range equal.Cols {
			equal.Row(i)[j] = 0.1 * float32(j+1) // float32 cannot represent these values exactly
		}
	}
	for i := range few.Rows {
		copy(few.Row(i), values.Row(i*i%4))
	}
	scaled := func(factor float32) *mat.Dense {
		x := mattest.Mixture(80, 7, 4, 4)
		for i := range x.Data {
			x.Data[i] *= factor
		}
		return x
	}
	far := mattest.Mixture(80, 7, 4, 5) // the mean is large compared with the spread
	for i := range far.Data {
		far.Data[i] += 1000
	}
	heaps := mattest.Mixture(90, 6, 1, 10) // in float32, distances within a heap vanish next to distances between heaps
	for i := range heaps.Rows {
		for j := range heaps.Cols {
			heaps.Row(i)[j] = heaps.Row(i)[j]*1e-3 + float32(1000*(i%2))
		}
	}
	// There are enough rows to start from a sample, which is unlikely to contain the outlier.
	outlier := mattest.Mixture(2600, 6, 9, 11)
	for j := range outlier.Cols {
		outlier.Row(1717)[j] = 1e15
	}
	return map[string]*mat.Dense{
		"many rows":       mattest.Mixture(2600, 6, 9, 12),
		"an outlier":      outlier,
		"many equal rows": mat.NewDense(2100, 2),
		"two tight heaps": heaps,
		"mixture":         mattest.Mixture(150, 12, 8, 1),
		"more columns":    mattest.Mixture(20, 150, 5, 2),
		"one column":      mattest.Mixture(90, 1, 4, 6),
		"no column":       mat.NewDense(12, 0),
		"one row":         mattest.Mixture(1, 5, 1, 7),
		"two rows":        mattest.Mixture(2, 5, 2, 8),
		"equal rows":      equal,
		"zero rows":       mat.NewDense(30, 4),
		"four values":     few,
		"huge":            scaled(1e18),
		"near the bounds": scaled(1e36),
		"tiny":            scaled(1e-18),
		"far from zero":   far,
	}
}

// valid returns an error unless g is a partition of n rows into k non-empty groups.
func valid(g partition.Groups, n, k int) error {
	if g.K != k || len(g.Of) != n {
		return fmt.Errorf("%d groups of %d rows", g.K, len(g.Of))
	}
	size := make([]int, k)
	for i, j := range g.Of {
		if j < 0 || int(j) >= k {
			return fmt.Errorf("row %d is in group %d", i, j)
		}
		size[j]++
	}
	if j := slices.Index(size, 0); j >= 0 {
		return fmt.Errorf("group %d is empty", j)
	}
	seen := 0
	for j, rows := range g.All() {
		for at, i := range rows {
			if g.Of[i] != int32(j) || at > 0 && rows[at-1] >= i {
				return fmt.Errorf("method All gives group %d the rows %v", j, rows)
			}
		}
		seen += len(rows)
	}
	if seen != n {
		return fmt.Errorf("method All gives %d of %d rows", seen, n)
	}
	for t, v := range g.Stats.Objective {
		if math.IsNaN(v) || v < 0 || t > 0 && v >= g.Stats.Objective[t-1] {
			return fmt.Errorf("objectives %v do not fall", g.Stats.Objective)
		}
	}
	return nil
}

func threads(t *testing.T, m partition.Partitioner) {
	// The second and third matrix have several chunks.
	for _, x := range []*mat.Dense{
		mattest.Mixture(30, 40, 5, 1), mattest.Mixture(5000, 16, 30, 2), mattest.Mixture(2500, 200, 12, 3),
	} {
		var want partition.Groups
		mattest.AtThreads(func(threads int) {
			g, err := m.Partition(t.Context(), x.View().Rows(), 12, rand.NewPCG(3, 4))
			if err != nil {
				t.Fatal(err)
			}
			if threads == 1 {
				want = g
			}
			if !slices.Equal(g.Of, want.Of) {
				t.Errorf("%d rows: other groups with %d threads than with 1", x.Rows, threads)
			}
			if !slices.Equal(g.Stats.Objective, want.Stats.Objective) {
				t.Errorf("%d rows: objectives %v with %d threads, %v with 1", x.Rows, g.Stats.Objective, threads,
					want.Stats.Objective)
			}
		})
	}
}

func refusals(t *testing.T, m partition.Partitioner) {
	bad := func(n int, v float64) *mat.Dense {
		x := mattest.Mixture(n, 3, 2, 1)
		x.Data[7] = float32(v)
		return x
	}
	for _, c := range []struct {
		name string
		x    *mat.Dense
		k    int
	}{
		{"more groups than rows", mattest.Mixture(9, 3, 2, 1), 10},
		{"no group", mattest.Mixture(9, 3, 2, 1), 0},
		{"a negative number of groups", mattest.Mixture(9, 3, 2, 1), -1},
		{"no row", mat.NewDense(0, 3), 1},
		{"a NaN", bad(9, math.NaN()), 3},
		{"an infinity", bad(9, math.Inf(-1)), 3},
		{"a NaN among many rows", bad(2600, math.NaN()), 3},
		{"an infinity among many rows", bad(2600, math.Inf(1)), 3},
	} {
		if _, err := m.Partition(t.Context(), c.x.View().Rows(), c.k, rand.NewPCG(1, 2)); err == nil {
			t.Errorf("%s: no error", c.name)
		}
	}
}
