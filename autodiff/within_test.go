package autodiff_test

import (
	"context"
	"errors"
	"testing"

	"github.com/graph-condensation/cgc/autodiff"
	"github.com/graph-condensation/cgc/mat"
)

// ending is a linear map that ends a context when it is applied.
type ending struct{ end context.CancelFunc }

func (e ending) Apply(dst, x *mat.Dense) {
	dst.Reshape(x.Rows, x.Cols)
	e.end()
}

func (e ending) T() autodiff.Linear { return e }

// After the end of its context, a tape starts no operation and makes no memory, and Within returns the context's error.
// Another Within works again.
func TestWithin(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	tape := autodiff.NewTape()
	x := mat.NewDense(2, 3)
	var reached *autodiff.Var
	err := tape.Within(ctx, func() {
		v := tape.Linear(ending{cancel}, tape.Var(x))
		reached = tape.Add(v, v)
	})
	if !errors.Is(err, context.Canceled) || reached != nil {
		t.Errorf("error %v, and the operation after the end gives %v", err, reached)
	}
	err = tape.Within(ctx, func() {
		values := tape.Values()
		reached = values.Var(x)
	})
	if !errors.Is(err, context.Canceled) || reached != nil {
		t.Errorf("a tape of values: error %v and %v", err, reached)
	}
	if err := tape.Within(t.Context(), func() { reached = tape.Var(x) }); err != nil || reached == nil {
		t.Errorf("another context: error %v and %v", err, reached)
	}
	if v := tape.Var(x); v.Value != x {
		t.Error("outside Within, operations do not work")
	}
}

// Within hands on other panics.
func TestWithinPanics(t *testing.T) {
	tape := autodiff.NewTape()
	defer func() {
		if raised := recover(); raised == nil {
			t.Error("no panic for shapes that do not fit")
		}
	}()
	_ = tape.Within(t.Context(), func() { tape.MatMul(tape.Var(mat.NewDense(2, 3)), tape.Var(mat.NewDense(2, 3))) })
}
