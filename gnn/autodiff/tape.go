// Package autodiff differentiates functions of matrices in reverse mode. A gradient consists of the same operations as
// the function, on the same tape, so it can be differentiated again. Gradient matching needs such second derivatives.
//
// The tape is eager: each operation computes its value at once and leaves a record. Grad walks the records backwards.
// It visits only records between the result and the variables of the gradient, so constants add no cost to the backward
// pass.
//
//	t := autodiff.NewTape()
//	for range steps {
//		t.Reset()
//		w := t.Var(weights)
//		loss := t.CrossEntropy(t.MatMul(t.Var(x), w), t.Var(targets))
//		g := t.Grad(loss, w)[0]
//		…
//	}
//
// Memory: when the tape is reset, each record keeps its matrix for reuse. A loop that repeats its operations therefore
// allocates nothing after the first round. Values are float32; column sums over several blocks of rows are added in
// float64. Determinism: results are bit-identical for any number of threads.
//
// Not supported: implicit broadcasting (each broadcast is a separate operation), views, in-place operations, and
// tensors of higher rank.
package autodiff

import (
	"cmp"
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Tape records operations in the order in which they run. It is not safe for concurrent use, but each operation uses
// all threads. The zero value is not usable: call NewTape or Values.
type Tape struct {
	records []*Var // records from index used on are free for reuse
	used    int
	resets  int    // the number of calls to Reset
	results []*Var // the gradients that Grad returned since Reset
	visit   int    // the number of calls to Grad

	ctx    context.Context
	values bool // keep no records
	last   *Var // the last record if values is set

	sums    []float64 // partial sums of reductions
	scratch mat.Dense // memory of the running operation
}

// Var is a matrix on a tape: the result of an operation, or a matrix that Tape.Var put there. It is valid until the
// tape's Reset.
type Var struct {
	// Value is the matrix. It must not change before the last Grad that precedes the tape's Reset.
	Value *mat.Dense

	tape  *Tape
	place int  // in tape.records
	a, b  *Var // operands

	// da and db return the contributions of v's gradient g to the gradients of a and b (vector-Jacobian products). nil
	// means that there is none.
	da, db gradient
	// body computes elements or rows lo to hi−1 of the value.
	body func(v *Var, lo, hi int)

	alpha, beta float32 // parameters of the operation, if it has any
	f           func(x, alpha float64) float64
	index       []int32
	first       int
	linear      Linear
	edges       *Edges
	flip        bool

	own   mat.Dense // the memory of Value, unless Value was put on the tape
	grad  *Var
	visit int // equals tape.visit if the running Grad needs its gradient
}

// gradient returns what the gradient g of v contributes to the gradient of one of v's operands.
type gradient func(v, g *Var) *Var

// NewTape returns an empty tape.
func NewTape() *Tape { return &Tape{ctx: context.Background()} }

// ended is the value with which operations panic after the context of their tape is done. Operations return no errors,
// so that they can be nested like formulas. Only operations inside Within panic with ended, and only Within recovers
// it.
type ended struct{}

// Within calls f, which runs operations on t, and returns f's error. When ctx is done, the running operation ends soon,
// f does not return from its next operation, and Within returns the error of ctx. Values are then meaningless. All
// operations of f must run in the goroutine of the caller.
func (t *Tape) Within(ctx context.Context, f func() error) (err error) {
	before := t.ctx
	t.ctx = ctx
	defer func() {
		t.ctx = before
		if raised := recover(); raised == any(ended{}) {
			err = ctx.Err()
		} else if raised != nil {
			panic(raised)
		}
	}()
	return cmp.Or(f(), ctx.Err())
}

// Values returns a new tape for values without gradients, with the context of t. It keeps no records, so the memory of
// a Var is freed when the Var is no longer referenced. Grad panics.
func (t *Tape) Values() *Tape {
	values := NewTape()
	values.values, values.ctx = true, t.ctx
	return values
}

// Reset discards all records but keeps their memory for reuse. Every Var of the tape becomes invalid.
func (t *Tape) Reset() {
	t.used = 0
	t.resets++
	t.results = t.results[:0]
}

// Resets returns the number of calls to Reset. A Var is valid as long as this number does not change.
func (t *Tape) Resets() int { return t.resets }

// Tape returns the tape of v.
func (v *Var) Tape() *Tape { return v.tape }

// Var puts m on the tape. m is not copied; it must not change until the next Reset.
func (t *Tape) Var(m *mat.Dense) *Var {
	v := t.record(nil, nil, nil, nil)
	v.Value = m
	return v
}

// record returns the next record. The caller sets the shape of its value.
func (t *Tape) record(a, b *Var, da, db gradient) *Var {
	if t.ctx.Err() != nil {
		panic(ended{})
	}
	if t.values {
		if t.last != nil {
			t.last.a, t.last.b = nil, nil // no longer needed: its value is computed
		}
		t.last = &Var{tape: t, a: a, b: b}
		t.last.Value = &t.last.own
		return t.last
	}
	if t.used == len(t.records) {
		t.records = append(t.records, &Var{tape: t, place: t.used})
	}
	v := t.records[t.used]
	t.used++
	v.Value, v.a, v.b, v.da, v.db, v.body = &v.own, a, b, da, db, nil
	v.index, v.linear, v.edges, v.grad, v.visit = nil, nil, nil, nil, 0
	return v
}

// Grad returns the gradients ∂y/∂w of a 1×1 y for each w of wrt, in the order and shapes of wrt. If y does not depend
// on w, the gradient is zero. The gradients are on the tape and can be differentiated again. The returned slice is
// valid until Reset.
func (t *Tape) Grad(y *Var, wrt ...*Var) []*Var {
	if t.values {
		panic("autodiff: gradient on a tape of values")
	}
	checkShape("the function", y.Value, 1, 1)
	t.visit++
	start, end := y.place, y.place
	for _, w := range wrt {
		w.visit = t.visit
		start = min(start, w.place)
	}
	for _, v := range t.records[start : end+1] {
		v.grad = nil
		if wanted(v.a) && v.da != nil || wanted(v.b) && v.db != nil {
			v.visit = t.visit
		}
	}
	y.grad = t.zeros(1, 1)
	y.grad.own.Data[0] = 1
	for i := end; i >= start; i-- {
		v := t.records[i]
		if v.grad == nil || v.visit != t.visit {
			continue
		}
		if v.da != nil && wanted(v.a) {
			v.a.add(v.da(v, v.grad))
		}
		if v.db != nil && wanted(v.b) {
			v.b.add(v.db(v, v.grad))
		}
	}
	from := len(t.results)
	for _, w := range wrt {
		g := w.grad
		if g == nil || w.place > end {
			g = t.zeros(w.Value.Rows, w.Value.Cols)
		}
		t.results = append(t.results, g)
	}
	return t.results[from:len(t.results):len(t.results)]
}

// wanted reports whether the running Grad needs the gradient of v.
func wanted(v *Var) bool { return v != nil && v.visit == v.tape.visit }

// add adds g to the gradient of v.
func (v *Var) add(g *Var) {
	if v.grad == nil {
		v.grad = g
		return
	}
	v.grad = v.tape.Add(v.grad, g)
}

func (t *Tape) zeros(rows, cols int) *Var {
	v := t.record(nil, nil, nil, nil)
	v.own.Reshape(rows, cols)
	clear(v.own.Data)
	return v
}

// run computes the value of v by calling body with chunks of [0, n).
func (t *Tape) run(v *Var, n, chunk int, body func(v *Var, lo, hi int)) *Var {
	if n <= chunk {
		body(v, 0, n)
		return v
	}
	v.body = body
	_ = operations.ForContext(t.ctx, n, chunk, v, func(v **Var, lo, hi int) { (*v).body(*v, lo, hi) })
	return v
}

var operations parallel.Loop[*Var]

// elementChunk is the number of elements that one task of an element-wise operation processes. A task takes about 10
// µs; starting it costs 2 µs.
const elementChunk = 1 << 15

// functionChunk is elementChunk for functions such as exp and log, which take many times as long for an element.
const functionChunk = 1 << 11

// rowChunk returns the number of rows, of cols columns each, that one task processes.
func rowChunk(cols int) int { return max(1, elementChunk/max(1, cols)) }

func checkShape(what string, m *mat.Dense, rows, cols int) {
	if m.Rows != rows || m.Cols != cols {
		panic(fmt.Sprintf("autodiff: %s is %d×%d, expected %d×%d", what, m.Rows, m.Cols, rows, cols))
	}
}
