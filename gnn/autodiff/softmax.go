package autodiff

import (
	"fmt"
	"math"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/mat"
)

// LogSoftmax returns the logarithm of the softmax of each row: x_ij − log Σ_k exp(x_ik). The largest element of a row
// is subtracted first, so that no exponential overflows.
func (t *Tape) LogSoftmax(x *Var) *Var {
	v := t.record(x, nil, func(v, g *Var) *Var {
		t := v.tape
		return t.Sub(g, t.Mul(t.Exp(v), t.RepeatColumn(t.RowSums(g), g.Value.Cols)))
	}, nil)
	v.own.Reshape(x.Value.Rows, x.Value.Cols)
	return t.run(v, x.Value.Rows, rowChunk(8*x.Value.Cols), func(v *Var, lo, hi int) {
		for i := lo; i < hi; i++ {
			x, dst := v.a.Value.Row(i), v.own.Row(i)
			top := float32(math.Inf(-1))
			for _, a := range x {
				top = max(top, a)
			}
			shift := float32(math.Log(float64(kernel.ExpShifted(dst, x, top))))
			for j, a := range x {
				dst[j] = a - top - shift
			}
		}
	})
}

// CrossEntropy returns −(1/n) Σ_i Σ_c y_ic·log softmax(x_i)_c, 1×1, for logits x n×c and targets y n×c. Each row of y
// is a distribution over the classes, such as OneHot of a label. CrossEntropy is differentiable in x and y.
func (t *Tape) CrossEntropy(x, y *Var) *Var {
	if x.Value.Rows == 0 {
		panic("autodiff: cross entropy of 0 rows")
	}
	return t.Scale(-1/float32(x.Value.Rows), t.Sum(t.Mul(y, t.LogSoftmax(x))))
}

// OneHot returns the n×classes matrix with a 1 at (i, labels[i]) and zeros elsewhere.
func OneHot(labels []int32, classes int) *mat.Dense {
	y := mat.NewDense(len(labels), classes)
	for i, c := range labels {
		if c < 0 || int(c) >= classes {
			panic(fmt.Sprintf("autodiff: label %d of row %d, must be 0 to %d", c, i, classes-1))
		}
		y.Row(i)[c] = 1
	}
	return y
}
