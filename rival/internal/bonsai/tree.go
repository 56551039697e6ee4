package bonsai

import (
	"cmp"
	"context"
	"slices"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// splits returns the columns at which a decision tree splits the rows of x, ascending. The tree predicts the classes y
// and minimises the Gini impurity (CART, Breiman et al. 1984). It grows until its leaves are pure, have equal rows or
// are depth splits deep. Ties go to the first column.
func splits(ctx context.Context, x *mat.Dense, y []int32, classes, depth int) ([]int, error) {
	used := make([]bool, x.Cols)
	t := tree{x, y, classes}
	type leaf struct {
		rows  []int32
		depth int
	}
	for open := []leaf{{memory.Range(0, x.Rows), 0}}; len(open) > 0; {
		l := open[len(open)-1]
		open = open[:len(open)-1]
		if l.depth == depth || t.pure(l.rows) {
			continue
		}
		s, err := t.best(ctx, l.rows)
		if err != nil {
			return nil, err
		}
		if s.left == 0 {
			continue // equal rows
		}
		used[s.column] = true
		sorted := t.sorted(l.rows, s.column)
		open = append(open, leaf{sorted[:s.left], l.depth + 1}, leaf{sorted[s.left:], l.depth + 1})
	}
	var list []int
	for j, is := range used {
		if is {
			list = append(list, j)
		}
	}
	return list, ctx.Err()
}

// tree holds the training data of a decision tree.
type tree struct {
	x       *mat.Dense
	y       []int32
	classes int
}

// split divides rows, sorted by a column, into the first left ones and the rest. A larger purity means a lower Gini
// impurity.
type split struct {
	column, left int
	purity       float64
}

// apart is the difference that two values must exceed for a split between them, as in scikit-learn.
const apart = 1e-7

func (t tree) pure(rows []int32) bool {
	return !slices.ContainsFunc(rows, func(i int32) bool { return t.y[i] != t.y[rows[0]] })
}

// sorted returns a copy of rows, sorted by a column.
func (t tree) sorted(rows []int32, column int) []int32 {
	s := slices.Clone(rows)
	slices.SortStableFunc(s, func(i, j int32) int {
		return cmp.Compare(t.x.Data[int(i)*t.x.Cols+column], t.x.Data[int(j)*t.x.Cols+column])
	})
	return s
}

// best returns the split of the rows with the highest purity. Its left is 0 if no split is possible.
func (t tree) best(ctx context.Context, rows []int32) (split, error) {
	const chunk = 16 // columns
	found := make([]split, (t.x.Cols+chunk-1)/chunk)
	err := parallel.ForContext(ctx, t.x.Cols, chunk, func(lo, hi int) {
		left, right := make([]float64, t.classes), make([]float64, t.classes)
		for column := lo; column < hi; column++ {
			if s := t.at(rows, column, left, right); s.purity > found[lo/chunk].purity {
				found[lo/chunk] = s
			}
		}
	})
	var best split
	for _, s := range found {
		if s.purity > best.purity {
			best = s
		}
	}
	return best, err
}

// at returns the best split by a column: the maximum of Σ_c l_c²/l + Σ_c r_c²/r, where l_c of the l rows on the left
// and r_c of the r rows on the right have class c. left and right are scratch space.
func (t tree) at(rows []int32, column int, left, right []float64) (best split) {
	clear(left)
	clear(right)
	sorted := t.sorted(rows, column)
	var leftSquares, rightSquares float64
	for _, i := range sorted {
		right[t.y[i]]++
	}
	for _, n := range right {
		rightSquares += n * n
	}
	value := func(at int) float32 { return t.x.Data[int(sorted[at])*t.x.Cols+column] }
	for at := range len(sorted) - 1 {
		c := t.y[sorted[at]]
		leftSquares += 2*left[c] + 1
		rightSquares -= 2*right[c] - 1
		left[c]++
		right[c]--
		if value(at+1)-value(at) <= apart {
			continue
		}
		n := float64(at + 1)
		if purity := leftSquares/n + rightSquares/(float64(len(sorted))-n); purity > best.purity {
			best = split{column, at + 1, purity}
		}
	}
	return best
}
