package autodiff_test

import (
	"context"
	"errors"
	"testing"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/mat"
)

// ending is a linear map that cancels a context when it is applied.
type ending struct{ end context.CancelFunc }

func (e ending) Apply(dst, x *mat.Dense) {
	dst.Reshape(x.Rows, x.Cols)
	e.end()
}

func (e ending) T() autodiff.Linear { return e }

// TestWithin checks that a tape starts no operation after its context is done, that Within returns the context's error
// or the function's, and that another Within works again.
func TestWithin(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	tape := autodiff.NewTape()
	x := mat.NewDense(2, 3)
	var reached *autodiff.Var
	err := tape.Within(ctx, func() error {
		v := tape.Linear(ending{cancel}, tape.Var(x))
		reached = tape.Add(v, v)
		return nil
	})
	if !errors.Is(err, context.Canceled) || reached != nil {
		t.Errorf("error %v, and the operation after the end gives %v", err, reached)
	}
	err = tape.Within(ctx, func() error {
		values := tape.Values()
		reached = values.Var(x)
		return nil
	})
	if !errors.Is(err, context.Canceled) || reached != nil {
		t.Errorf("a tape of values: error %v and %v", err, reached)
	}
	own := errors.New("own")
	err = tape.Within(t.Context(), func() error { reached = tape.Var(x); return own })
	if err != own || reached == nil {
		t.Errorf("another context: error %v and %v", err, reached)
	}
	if v := tape.Var(x); v.Value != x {
		t.Error("outside Within, operations do not work")
	}
}

// TestWithinPanics checks that Within passes other panics on.
func TestWithinPanics(t *testing.T) {
	tape := autodiff.NewTape()
	defer func() {
		if raised := recover(); raised == nil {
			t.Error("no panic for shapes that do not fit")
		}
	}()
	_ = tape.Within(t.Context(), func() error {
		tape.MatMul(tape.Var(mat.NewDense(2, 3)), tape.Var(mat.NewDense(2, 3)))
		return nil
	})
}
