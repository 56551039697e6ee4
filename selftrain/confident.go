package selftrain

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Confident picks the rows of which a classifier is surest, and returns them, ascending, with the classes that it finds: pseudo-labels (Lee 2013), for training nodes that
// are too few to show what their class looks like. The paper has nothing of the kind.
//
// outputs holds what the classifier says of each unlabelled node, m×classes; a node's class has the largest output, and a row is the surer the further that is above the second
// largest (of equally sure rows, the first comes first). counts has the number of training nodes of each class. Of class c the multiple·counts[c] surest rows are taken, rounded, or all there
// are: the pool keeps the proportions of the training nodes, whatever the classifier prefers, and an absent class, which is never found, gets none. multiple is at least 0.
func Confident(outputs *mat.Dense, counts []int, multiple float64) (rows, y []int32, err error) {
	if len(counts) != outputs.Cols {
		panic(fmt.Sprintf("selftrain: %d counts for %d classes", len(counts), outputs.Cols))
	}
	if !(multiple >= 0) || math.IsInf(multiple, 1) {
		return nil, nil, fmt.Errorf("selftrain: multiple %v of the training nodes, want finite and at least 0", multiple)
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

// surest returns the present class of the largest output and how far it is above the next, infinitely far if there is no other.
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
