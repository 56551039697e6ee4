package mat_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/internal/product"
	"github.com/graph-condensation/cgc/mat"
)

// Products and transposes give the same result with and without a context. After the context ends, they return its
// error.
func TestContexts(t *testing.T) {
	const m, k, n = 70, 300, 40
	a, b := mat.NewDense(m, k), mat.NewDense(k, n)
	for i := range a.Data {
		a.Data[i] = float32(i%17) - 8
	}
	for i := range b.Data {
		b.Data[i] = float32(i%23) / 7
	}
	at, bt := turned(a), turned(b)
	s := &mat.CSR{Rows: 3, Cols: k, Indptr: []int64{0, 2, 2, 3}, Indices: []int32{0, 9, 4}, Data: []float32{1, 2, 3}}
	ended, end := context.WithCancel(t.Context())
	end()
	dense := func(m *mat.Dense) *product.Dense { return (*product.Dense)(m) }
	for name, f := range map[string]func(ctx context.Context, dst *mat.Dense) error{
		"Mul": func(ctx context.Context, dst *mat.Dense) error {
			return product.Mul(ctx, dense(dst), dense(a), dense(b))
		},
		"MulTA": func(ctx context.Context, dst *mat.Dense) error {
			return product.MulTA(ctx, dense(dst), dense(at), dense(b))
		},
		"MulTB": func(ctx context.Context, dst *mat.Dense) error {
			return product.MulTB(ctx, dense(dst), dense(a), dense(bt))
		},
		"MulSparse": func(ctx context.Context, dst *mat.Dense) error {
			return product.MulSparse(ctx, dense(dst), (*product.CSR)(s), dense(b))
		},
	} {
		var got, want mat.Dense
		if err := f(t.Context(), &got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name == "MulSparse" {
			mat.MulSparse(&want, s, b)
		} else {
			mat.Mul(&want, a, b)
		}
		if !slices.Equal(got.Data, want.Data) {
			t.Errorf("%s with a context differs", name)
		}
		if err := f(ended, &got); !errors.Is(err, context.Canceled) {
			t.Errorf("%s after the end: error %v", name, err)
		}
	}
	if _, _, err := s.Transpose(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("Transpose after the end: error %v", err)
	}
}

// turned returns the transpose of m.
func turned(m *mat.Dense) *mat.Dense {
	t := mat.NewDense(m.Cols, m.Rows)
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			t.Row(j)[i] = v
		}
	}
	return t
}
