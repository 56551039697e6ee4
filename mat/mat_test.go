package mat_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/product"
	"github.com/graph-condensation/cgc/mat"
)

// whole returns a matrix of integers between −8 and 8: sums of their products are exact in float32, so that
// comparisons need no tolerance.
func whole(rows, cols int, random *rand.Rand) *mat.Dense {
	m := mat.NewDense(rows, cols)
	for i := range m.Data {
		m.Data[i] = float32(random.IntN(17) - 8)
	}
	return m
}

// sparse is like whole, with about the given share of nonzero entries.
func sparse(rows, cols int, share float64, random *rand.Rand) *mat.CSR {
	m := whole(rows, cols, random)
	for i := range m.Data {
		if random.Float64() > share {
			m.Data[i] = 0
		}
	}
	return m.Sparse()
}

func naive(a, b *mat.Dense) *mat.Dense {
	c := mat.NewDense(a.Rows, b.Cols)
	for i := range a.Rows {
		for j := range b.Cols {
			var sum float64
			for k := range a.Cols {
				sum += float64(a.Row(i)[k]) * float64(b.Row(k)[j])
			}
			c.Row(i)[j] = float32(sum)
		}
	}
	return c
}

func wantEqual(t *testing.T, what string, got, want *mat.Dense) {
	t.Helper()
	if got.Rows != want.Rows || got.Cols != want.Cols || !slices.Equal(got.Data, want.Data) {
		t.Errorf("%s: %d×%d differs from the plain product, %d×%d", what, got.Rows, got.Cols, want.Rows, want.Cols)
	}
}

func TestProducts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0))
	shapes := [][3]int{{1, 1, 1}, {3, 5, 2}, {17, 33, 65}, {130, 70, 9}, {9, 300, 130}, {200, 64, 100}, {500, 1100, 7}}
	for _, shape := range shapes {
		m, k, n := shape[0], shape[1], shape[2]
		a, b := whole(m, k, random), whole(k, n, random)
		s := sparse(m, k, 0.2, random)
		want, wantSparse := naive(a, b), naive(s.Dense(), b)
		mattest.AtThreads(func(threads int) {
			var dst mat.Dense
			mat.Mul(&dst, a, b)
			wantEqual(t, "Mul", &dst, want)
			mat.MulTA(&dst, a.T(), b)
			wantEqual(t, "MulTA", &dst, want)
			mat.MulTB(&dst, a, b.T())
			wantEqual(t, "MulTB", &dst, want)
			mat.MulSparse(&dst, s, b)
			wantEqual(t, "MulSparse", &dst, wantSparse)
		})
		transposed, from, _ := s.Transpose(t.Context())
		wantEqual(t, "transpose of sparse", transposed.Dense(), s.Dense().T())
		for e, was := range from {
			if got, want := transposed.Data[e], s.Data[was]; got != want {
				t.Errorf("entry %d of the transpose is %v, entry %d of the matrix %v", e, got, was, want)
			}
		}
	}
}

// Products that must round give the same bits for any number of threads.
func TestProductsIgnoreThreads(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 0))
	a, b := mattest.Normal(150, 333, random), mattest.Normal(333, 90, random)
	mattest.IgnoresThreads(t, func() [3]mat.Dense {
		var ab, ta, tb mat.Dense
		mat.Mul(&ab, a, b)
		mat.MulTA(&ta, a, a)
		mat.MulTB(&tb, a, a)
		return [3]mat.Dense{ab, ta, tb}
	})
}

// MulTA with few columns uses another code path, with the same sums: a column does not depend on the number of columns.
func TestProductOfFewColumns(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 0))
	a, wide := mattest.Normal(1100, 500, random), mattest.Normal(1100, 60, random)
	few := wide.Columns(0, 7)
	mattest.AtThreads(func(int) {
		var all, some mat.Dense
		mat.MulTA(&all, a, wide)
		mat.MulTA(&some, a, few)
		wantEqual(t, "product with 7 columns", &some, all.Columns(0, 7))
	})
}

func TestCSRValidateNamesTheFault(t *testing.T) {
	good := mat.CSR{Rows: 2, Cols: 3, Indptr: []int64{0, 2, 3}, Indices: []int32{0, 2, 1}, Data: []float32{1, 2, 3}}
	mattest.OK(t, good.Validate(t.Context()))
	for want, change := range map[string]func(*mat.CSR){
		"-1 rows and 3 columns, must be at":    func(m *mat.CSR) { m.Rows, m.Indptr = -1, nil },
		"2 row pointers for 2 rows":            func(m *mat.CSR) { m.Indptr = m.Indptr[:2] },
		"row pointers run from 0 to 2":         func(m *mat.CSR) { m.Indptr = []int64{0, 2, 2} },
		"row 0 runs from entry 0 to 9":         func(m *mat.CSR) { m.Indptr = []int64{0, 9, 3} },
		"column 3 in row 0, must be 0 to 2":    func(m *mat.CSR) { m.Indices = []int32{0, 3, 1} },
		"column -1 in row 1":                   func(m *mat.CSR) { m.Indices = []int32{0, 2, -1} },
		"columns 2, 2 in row 0":                func(m *mat.CSR) { m.Indices = []int32{2, 2, 1} },
		"2 values for 3 entries":               func(m *mat.CSR) { m.Data = m.Data[:2] },
		"must be 0 to the number of entries 3": func(m *mat.CSR) { m.Indptr = []int64{1, 2, 3} },
	} {
		m := good
		change(&m)
		mattest.WantError(t, m.Validate(t.Context()), want)
	}
}

// ValidateRows passes valid rows to use, each at most once, but no row of a chunk with a fault.
func TestValidateRows(t *testing.T) {
	const n = 20_000 // several chunks
	m := &mat.CSR{Rows: n, Cols: n, Indptr: make([]int64, n+1), Indices: make([]int32, n)}
	for i := range n {
		m.Indptr[i+1], m.Indices[i] = int64(i+1), int32(i)
	}
	for _, fault := range []int{-1, 0, n / 2} {
		if fault >= 0 {
			m.Indices[fault] = n
		}
		used := make([]atomic.Int32, n)
		err := m.ValidateRows(t.Context(), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				used[i].Add(1)
			}
		})
		if (err != nil) != (fault >= 0) {
			t.Errorf("fault in row %d: error %v", fault, err)
		}
		for i := range used {
			if times := used[i].Load(); times > 1 || fault < 0 && times == 0 || i == fault && times > 0 {
				t.Fatalf("fault in row %d: row %d is used %d times", fault, i, times)
			}
		}
	}
}

func TestRoundTrips(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 0))
	s := sparse(30, 8, 0.3, random)
	d := s.Dense()
	if back := d.Sparse(); !slices.Equal(back.Indices, s.Indices) || !slices.Equal(back.Data, s.Data) ||
		!slices.Equal(back.Indptr, s.Indptr) {
		t.Error("sparse to dense to sparse changes the matrix")
	}
	for _, cut := range [][2]int{{0, 8}, {2, 5}, {7, 8}, {3, 3}} {
		columns, part := s.Columns(cut[0], cut[1]), d.Columns(cut[0], cut[1])
		mattest.OK(t, columns.Validate(t.Context()))
		wantEqual(t, "columns of sparse", columns.Dense(), part)
	}
}

func TestView(t *testing.T) {
	m := mat.NewDense(4, 3)
	for i := range m.Data {
		m.Data[i] = float32(i)
	}
	var buffer mat.Dense
	for _, c := range []struct {
		v    mat.View
		rows []int
	}{{m.View(), []int{0, 1, 2, 3}}, {m.Select([]int32{3, 0, 0}), []int{3, 0, 0}}, {m.Select([]int32{}), nil},
		{mat.View{}, nil}} {
		n, d := c.v.Dims()
		if n != len(c.rows) || d != 3 && n > 0 {
			t.Errorf("%d×%d, want %d×3", n, d, len(c.rows))
		}
		for i, row := range c.v.Rows() {
			if !slices.Equal(row, m.Row(c.rows[i])) || &row[0] != &m.Row(c.rows[i])[0] || &c.v.Row(i)[0] != &row[0] {
				t.Errorf("row %d is %v, want row %d of the matrix itself", i, row, c.rows[i])
			}
		}
		if n == 0 {
			if c.v.Dense().Rows != 0 || len(c.v.Block(0, 0, &buffer)) != 0 {
				t.Errorf("%+v has rows", c.v)
			}
			continue
		}
		want := slices.Concat(m.Row(c.rows[1]), m.Row(c.rows[2]))
		mattest.Equal(t, c.v.Block(1, 3, &buffer), want, "rows 1 and 2 are")
		if got := c.v.Dense(); got.Rows != n || !slices.Equal(got.Row(1), m.Row(c.rows[1])) {
			t.Errorf("as a matrix %v", got)
		}
	}
	if m.View().Dense() != m {
		t.Error("all rows of a matrix are a copy of it, want the matrix")
	}
}

// Products and transposes return the error of their context after it has ended.
func TestEndedContexts(t *testing.T) {
	ctx := mattest.Cancelled(t)
	a := &product.Dense{Rows: 3, Cols: 3, Data: make([]float32, 9)}
	s := &mat.CSR{Rows: 3, Cols: 3, Indptr: []int64{0, 2, 2, 3}, Indices: []int32{0, 2, 1}, Data: []float32{1, 2, 3}}
	_, _, transposed := s.Transpose(ctx)
	for name, err := range map[string]error{
		"Mul":       product.Mul(ctx, new(product.Dense), a, a),
		"MulTA":     product.MulTA(ctx, new(product.Dense), a, a),
		"MulTB":     product.MulTB(ctx, new(product.Dense), a, a),
		"MulSparse": product.MulSparse(ctx, new(product.Dense), (*product.CSR)(s), a),
		"Transpose": transposed,
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s after the end: error %v", name, err)
		}
	}
}

// TestSizesOutOfRange checks that a matrix of impossible sizes is a panic with these sizes.
func TestSizesOutOfRange(t *testing.T) {
	for want, sizes := range map[string][2]int{
		"mat: -1×2 matrix, must have": {-1, 2}, "mat: 2×-1 matrix": {2, -1}, "mat: -1×-1 matrix": {-1, -1},
		"mat: 2147483648×8589934592 matrix, must have 0 to 9223372036854775807 numbers": {1 << 31, 1 << 33},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
					t.Errorf("%d: panic %q, want %q", sizes, got, want)
				}
			}()
			mat.NewDense(sizes[0], sizes[1])
		}()
	}
}
