package autodiff_test

import (
	"fmt"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/mat"
)

// The first and the second derivative of y = Σ x³.
func Example() {
	t := autodiff.NewTape()
	x := t.Var(&mat.Dense{Rows: 1, Cols: 2, Data: []float32{2, 3}})
	y := t.Sum(t.Mul(x, t.Mul(x, x)))
	first := t.Grad(y, x)[0]
	second := t.Grad(t.Sum(first), x)[0]
	fmt.Println(y.Value.Data, first.Value.Data, second.Value.Data)
	// Output: [35] [12 27] [12 18]
}
