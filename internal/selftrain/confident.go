package selftrain

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Confident returns pseudo-labels (Lee 2013): the rows with the widest margin, ascending, and their classes y. They
// help if there are too few training nodes to represent a class.
//
// outputs is m×classes, with the outputs of a classifier for m nodes without labels. The class of a row has the largest
// output. The margin is that output minus the second largest. counts[c] is the number of training nodes of class c. A
// class without training nodes is ignored.
//
// Class c gets round(multiple·counts[c]) rows, or all of its rows if it has fewer. Classes therefore keep the
// proportions of the training nodes, even if the classifier favours some classes. Ties go to the first row. multiple
// must be finite and at least 0.
func Confident(outputs *mat.Dense, counts []int, multiple float64) (rows, y []int32, err error) {
	if len(counts) != outputs.Cols {
		panic(fmt.Sprintf("selftrain: %d counts for %d classes", len(counts), outputs.Cols))
	}
	if !(multiple >= 0) || math.IsInf(multiple, 1) {
		return nil, nil, fmt.Errorf("multiple %v of the training nodes, must be finite and at least 0", multiple)
	}
	found, margin := make([]int32, outputs.Rows), make([]float32, outputs.Rows)
	parallel.For(outputs.Rows, rowChunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			found[i], margin[i] = surest(outputs.Row(i), counts)
		}
	})
	byClass := make([][]int32, len(counts))
	for i, c := range found {
		byClass[c] = append(byClass[c], int32(i))
	}
	for c, members := range byClass {
		slices.SortStableFunc(members, func(i, j int32) int { return cmp.Compare(margin[j], margin[i]) })
		quota := min(float64(len(members)), math.Round(multiple*float64(counts[c])))
		rows = append(rows, members[:int(quota)]...)
	}
	slices.Sort(rows)
	for _, i := range rows {
		y = append(y, found[i])
	}
	return rows, y, nil
}

// surest returns the class of the largest output and its margin. Only classes with training nodes count. If there is
// only one such class, the margin is infinite.
func surest(outputs []float32, counts []int) (class int32, margin float32) {
	class = -1
	second := float32(math.Inf(-1))
	for c, v := range outputs {
		switch {
		case counts[c] == 0:
		case class < 0:
			class = int32(c)
		case v > outputs[class]:
			second, class = outputs[class], int32(c)
		default:
			second = max(second, v)
		}
	}
	return class, outputs[class] - second
}
