package coarsening

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/graph-condensation/cgc/internal/parallel"
)

type neighbour struct {
	row      int32
	distance float64
}

// tree is a k-d tree of points for the L1 distance, split at the median of the widest coordinate.
type tree struct {
	points [][]float64
	rows   []int32 // ordered so that each subtree is a contiguous range
	axis   []int32 // axis[mid] is the coordinate that splits the range whose middle is mid
}

const leaf = 16

func newTree(points [][]float64, rows []int32) *tree {
	t := &tree{points, slices.Clone(rows), make([]int32, len(rows))}
	t.build(0, len(rows))
	return t
}

func (t *tree) build(lo, hi int) {
	if hi-lo <= leaf {
		return
	}
	axis, widest := 0, -1.0
	for a := range t.points[t.rows[lo]] {
		least, most := math.Inf(1), math.Inf(-1)
		for _, r := range t.rows[lo:hi] {
			least, most = min(least, t.points[r][a]), max(most, t.points[r][a])
		}
		if most-least > widest {
			axis, widest = a, most-least
		}
	}
	slices.SortFunc(t.rows[lo:hi], func(a, b int32) int {
		return cmp.Or(cmp.Compare(t.points[a][axis], t.points[b][axis]), cmp.Compare(a, b))
	})
	mid := (lo + hi) / 2
	t.axis[mid] = int32(axis)
	t.build(lo, mid)
	t.build(mid+1, hi)
}

// nearest returns the k rows closest to row r, excluding r, by ascending distance and then by row.
func (t *tree) nearest(r int32, k int) []neighbour {
	found := make([]neighbour, 0, k+1)
	t.search(r, k, 0, len(t.rows), &found)
	return found
}

func (t *tree) search(r int32, k, lo, hi int, found *[]neighbour) {
	if hi-lo <= leaf {
		for _, row := range t.rows[lo:hi] {
			t.offer(r, row, k, found)
		}
		return
	}
	mid := (lo + hi) / 2
	t.offer(r, t.rows[mid], k, found)
	gap := t.points[r][t.axis[mid]] - t.points[t.rows[mid]][t.axis[mid]]
	first, second := [2]int{lo, mid}, [2]int{mid + 1, hi}
	if gap > 0 {
		first, second = second, first
	}
	t.search(r, k, first[0], first[1], found)
	if len(*found) < k || math.Abs(gap) <= (*found)[len(*found)-1].distance {
		t.search(r, k, second[0], second[1], found)
	}
}

// offer inserts row into the list of the k nearest rows if it is near enough.
func (t *tree) offer(r, row int32, k int, found *[]neighbour) {
	if row == r {
		return
	}
	one := neighbour{row, 0}
	other := t.points[row]
	for a, v := range t.points[r] {
		one.distance += math.Abs(v - other[a])
	}
	at, _ := slices.BinarySearchFunc(*found, one, func(a, b neighbour) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.row, b.row))
	})
	if at == k {
		return
	}
	*found = slices.Insert(*found, at, one)
	if len(*found) > k {
		*found = (*found)[:k]
	}
}

// neighbours returns the k nearest other rows for each of the given rows. If ctx is done, it returns ctx's error.
func neighbours(ctx context.Context, points [][]float64, rows []int32, k int) ([][]neighbour, error) {
	t := newTree(points, rows)
	found := make([][]neighbour, len(rows))
	err := parallel.ForContext(ctx, len(rows), 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			found[i] = t.nearest(rows[i], k)
		}
	})
	return found, err
}

// pair is two super-nodes that may be merged.
type pair struct {
	i, j int32 // i < j
	cost float64
}

// sorted sorts pairs by cost and then by their ends, and removes duplicates.
func sorted(pairs []pair) []pair {
	slices.SortFunc(pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.i, b.i), cmp.Compare(a.j, b.j))
	})
	return slices.CompactFunc(pairs, func(a, b pair) bool { return a.i == b.i && a.j == b.j })
}

// disjoint returns the first pairs, at most the given number. It skips pairs that share a super-node with an earlier
// pair and pairs whose classes forbid merging. At least nodes labelled super-nodes remain.
func (c *coarse) disjoint(pairs []pair, most, nodes int) (groups [][]int32) {
	taken := make([]bool, c.nodes())
	fall := c.labelled - nodes
	for _, p := range pairs {
		if len(groups) == most {
			break
		}
		if taken[p.i] || taken[p.j] || !c.may(p.i, p.j, fall > 0) {
			continue
		}
		taken[p.i], taken[p.j] = true, true
		if c.class[p.i] >= 0 && c.class[p.j] >= 0 {
			fall--
		}
		groups = append(groups, []int32{p.i, p.j})
	}
	return groups
}

// alike returns a pair for each super-node with a class: itself and the nearest other super-node of its class. It is
// used if no neighbours can be merged.
func (c *coarse) alike(ctx context.Context, points [][]float64, classes int) (pairs []pair, err error) {
	of := make([][]int32, classes)
	for i, y := range c.class {
		if y >= 0 {
			of[y] = append(of[y], int32(i))
		}
	}
	for _, rows := range of {
		found, err := neighbours(ctx, points, rows, 1)
		if err != nil {
			return nil, err
		}
		for r, near := range found {
			for _, n := range near {
				pairs = append(pairs, pair{min(rows[r], n.row), max(rows[r], n.row), n.distance})
			}
		}
	}
	return sorted(pairs), nil
}
