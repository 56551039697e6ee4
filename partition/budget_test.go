package partition_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/partition"
)

func TestBudgets(t *testing.T) {
	for _, c := range []struct {
		name   string
		counts []int
		total  int
		want   []int
	}{
		{"in proportion", []int{20, 40, 40}, 10, []int{2, 4, 4}},
		{"the largest takes the remainder", []int{10, 33, 20}, 10, []int{1, 6, 3}},
		{"of equals the last is the largest", []int{5, 5, 5}, 8, []int{2, 2, 4}},
		{"at least one", []int{1, 1, 98}, 10, []int{1, 1, 8}},
		{"absent classes get none", []int{0, 7, 0, 7}, 4, []int{0, 2, 0, 2}},
		{"one each", []int{3, 900, 4}, 3, []int{1, 1, 1}},
		{"all of them", []int{3, 9, 4}, 16, []int{3, 9, 4}},
		{"no more than the largest has", []int{3, 3, 3}, 8, []int{3, 2, 3}},
		{"the furthest below their share get what the largest cannot take", []int{2, 8, 9, 9, 9}, 36, []int{2, 8, 9, 8, 9}},
		{"the largest keeps one", []int{1, 1, 1, 1, 1, 6, 7}, 7, []int{1, 1, 1, 1, 1, 1, 1}},
		{"one class", []int{5}, 3, []int{3}},
	} {
		got, err := partition.Budgets(c.counts, c.total)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: Budgets(%v, %d) = %v, %v; want %v", c.name, c.counts, c.total, got, err, c.want)
		}
	}
}

func TestBudgetsRefuses(t *testing.T) {
	for _, c := range []struct {
		counts []int
		total  int
		names  string
	}{
		{[]int{3, 0, 4}, 1, "must be 2"},
		{[]int{3, 0, 4}, 8, "to 7"},
		{[]int{0, 0}, 1, "no class"},
		{nil, 1, "no class"},
		{[]int{3, -1}, 2, "class 1 has -1"},
	} {
		mattest.Fails(t, c.names)(partition.Budgets(c.counts, c.total))
	}
}

func TestBudgetsProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.OneOf(rapid.IntRange(0, 5), rapid.IntRange(0, 20_000)), 1, 50).Draw(t, "counts")
		present, nodes := 0, 0
		for _, n := range counts {
			present += min(n, 1)
			nodes += n
		}
		if nodes == 0 {
			t.Skip("no node")
		}
		total := rapid.IntRange(present, nodes).Draw(t, "total")
		got := mattest.Must(partition.Budgets(counts, total))
		sum, largest := 0, slices.Max(counts)
		for c, b := range got {
			sum += b
			if b < min(1, counts[c]) || b > counts[c] {
				t.Fatalf("class %d of %d nodes gets %d", c, counts[c], b)
			}
			// Rounding down and the moves take at most one node from a class. They give at most one, except to the largest
			// class.
			share := float64(counts[c]) * float64(total) / float64(nodes)
			if counts[c] < largest && float64(b) > share+1 {
				t.Fatalf("class %d of %d nodes gets %d, its share is %.2f", c, counts[c], b, share)
			}
		}
		if sum != total {
			t.Fatalf("%v sums to %d, want %d", got, sum, total)
		}
	})
}
