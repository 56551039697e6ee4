package autodiff_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// pattern is a graph in which node 3 has only a self-loop, node 5 has no edges, and some nodes have several incoming
// edges.
var pattern = &mat.CSR{Rows: 6, Cols: 6, Indptr: []int64{0, 3, 5, 7, 8, 11, 11}, Indices: targets}

// sources and targets are the ends of the edges of pattern.
var (
	sources = []int32{0, 0, 0, 1, 1, 2, 2, 3, 4, 4, 4}
	targets = []int32{0, 1, 4, 0, 1, 2, 4, 3, 0, 2, 4}
)

// fixed is a constant linear map.
type fixed struct{ m, t *mat.Dense }

func (f fixed) Apply(dst, x *mat.Dense) { mat.Mul(dst, f.m, x) }
func (f fixed) T() autodiff.Linear      { return fixed{f.t, f.m} }

type (
	tape     = autodiff.Tape
	node     = autodiff.Var
	function func(t *tape, in []*node) *node
	unary    = func(t *tape, x *node) *node
	binary   = func(t *tape, a, b *node) *node
	shape    = [2]int
)

type operation struct {
	name      string
	shapes    []shape
	positive  bool // operands must be positive
	value     function
	reference func(in []table) table
}

// one and two return operations with one and two operands.
func one(name string, s shape, value unary, reference func(x table) table) operation {
	return operation{name, []shape{s}, false,
		func(t *tape, in []*node) *node { return value(t, in[0]) },
		func(in []table) table { return reference(in[0]) }}
}

func two(name string, a, b shape, value binary, reference func(a, b table) table) operation {
	return operation{name, []shape{a, b}, false,
		func(t *tape, in []*node) *node { return value(t, in[0], in[1]) },
		func(in []table) table { return reference(in[0], in[1]) }}
}

// each returns an element-wise operation.
func each(name string, positive bool, value unary, f func(float64) float64) operation {
	o := one(name, shape{4, 3}, value, func(x table) table { return x.each(f) })
	o.positive = positive
	return o
}

func operations() []operation {
	operator := normal(4, 5, rand.New(rand.NewPCG(7, 7)))
	linear := fixed{operator.dense(), operator.t().dense()}
	edges := mattest.Must(autodiff.NewEdges(context.Background(), pattern))
	index := []int32{2, 0, 2, 3}
	small, nodes, onEdges := shape{4, 3}, shape{6, 4}, shape{len(sources), 2}
	heads := picks(2, 0, 0, 1, 1).t() // two heads of two columns
	ones := func(rows, cols int) table { return newTable(rows, cols, func(_, _ int) float64 { return 1 }) }
	all := []operation{
		each("scale", false, func(t *tape, x *node) *node { return t.Scale(-1.5, x) },
			func(x float64) float64 { return -1.5 * x }),
		each("relu", false, (*tape).ReLU, relu),
		each("leaky relu", false, func(t *tape, x *node) *node { return t.LeakyReLU(0.25, x) },
			func(x float64) float64 { return max(x, x/4) }),
		each("elu", false, (*tape).ELU, func(x float64) float64 { return max(0, x) + math.Exp(min(0, x)) - 1 }),
		each("exp", false, (*tape).Exp, math.Exp),
		each("log", true, (*tape).Log, math.Log),
		each("root", true, func(t *tape, x *node) *node { return t.Power(x, 0.5) }, math.Sqrt),
		each("arc-cosine 0", false, func(t *tape, x *node) *node { return t.ArcCosine0(t.Scale(0.2, x)) },
			func(x float64) float64 { return 1 - math.Acos(0.2*x)/math.Pi }),
		each("arc-cosine 1", false, func(t *tape, x *node) *node { return t.ArcCosine1(t.Scale(0.2, x)) },
			func(x float64) float64 {
				c := 0.2 * x
				return (math.Sqrt(1-c*c) + c*(math.Pi-math.Acos(c))) / math.Pi
			}),
		two("add", small, small, (*tape).Add, func(a, b table) table { return a.with(b, plus) }),
		two("sub", small, small, (*tape).Sub, func(a, b table) table { return a.with(b, minus) }),
		two("mul", small, small, (*tape).Mul, func(a, b table) table { return a.with(b, times) }),
		one("square by mul", small, func(t *tape, x *node) *node { return t.Mul(x, x) },
			func(x table) table { return x.with(x, times) }),
		two("matmul", small, shape{3, 5}, (*tape).MatMul, table.times),
		two("matmul transposed left", shape{3, 4}, shape{3, 5}, (*tape).MatMulTA,
			func(a, b table) table { return a.t().times(b) }),
		two("matmul transposed right", small, shape{5, 3}, (*tape).MatMulTB,
			func(a, b table) table { return a.times(b.t()) }),
		one("transpose", small, (*tape).Transpose, table.t),
		one("linear", shape{5, 3}, func(t *tape, x *node) *node { return t.Linear(linear, x) }, operator.times),
		one("sum", small, (*tape).Sum, func(x table) table { return scalar(x.sum()) }),
		one("row sums", small, (*tape).RowSums, func(x table) table { return x.times(ones(3, 1)) }),
		one("column sums", small, (*tape).ColumnSums, func(x table) table { return ones(1, 4).times(x) }),
		one("repeat row", shape{1, 3}, func(t *tape, x *node) *node { return t.RepeatRow(x, 4) }, ones(4, 1).times),
		one("repeat column", shape{4, 1}, func(t *tape, x *node) *node { return t.RepeatColumn(x, 3) },
			func(x table) table { return x.times(ones(1, 3)) }),
		two("add row", small, shape{1, 3}, (*tape).AddRow,
			func(x, b table) table { return x.with(ones(4, 1).times(b), plus) }),
		one("log softmax", small, (*tape).LogSoftmax, table.logSoftmax),
		two("cross entropy", small, small, (*tape).CrossEntropy,
			func(x, y table) table { return scalar(-x.logSoftmax().with(y, times).sum() / 4) }),
		one("rows", shape{5, 3}, func(t *tape, x *node) *node { return t.Rows(x, index) }, picks(5, index...).times),
		one("spread rows", small, func(t *tape, x *node) *node { return t.SpreadRows(x, index, 5) },
			picks(5, index...).t().times),
		two("concat", small, shape{4, 2}, (*tape).Concat,
			func(a, b table) table { return a.times(picks(5, 0, 1, 2)).with(b.times(picks(5, 3, 4)), plus) }),
		one("columns", shape{4, 5}, func(t *tape, x *node) *node { return t.Columns(x, 1, 4) },
			func(x table) table { return x.times(picks(5, 1, 2, 3).t()) }),
		one("edge softmax", onEdges, func(t *tape, x *node) *node { return t.EdgeSoftmax(edges, x) },
			func(x table) table {
				return newTable(len(sources), 2, func(e, h int) float64 {
					sum := 0.
					for o, i := range sources {
						if i == sources[e] {
							sum += math.Exp(x.at(o, h))
						}
					}
					return math.Exp(x.at(e, h)) / sum
				})
			}),
		two("edge dots", nodes, nodes, func(t *tape, a, b *node) *node { return t.EdgeDots(edges, a, b, 2) },
			func(a, b table) table {
				return picks(6, sources...).times(a).with(picks(6, targets...).times(b), times).times(heads.t())
			}),
	}
	for _, flip := range []bool{false, true} {
		to, from := picks(6, sources...), picks(6, targets...) // the edges gather from one end to the other
		if flip {
			to, from = from, to
		}
		all = append(all,
			one(fmt.Sprint("edge rows ", flip), nodes,
				func(t *tape, x *node) *node { return t.EdgeRows(edges, x, flip) }, to.times),
			one(fmt.Sprint("edge sums ", flip), onEdges,
				func(t *tape, x *node) *node { return t.EdgeSums(edges, x, flip) }, to.t().times),
			two(fmt.Sprint("attend ", flip), onEdges, nodes,
				func(t *tape, a, x *node) *node { return t.Attend(edges, a, x, flip) },
				func(a, x table) table { return to.t().times(a.times(heads).with(from.times(x), times)) }),
		)
	}
	return all
}

// picks returns the matrix of n columns whose product with x has the given rows of x.
func picks(n int, rows ...int32) table {
	return newTable(len(rows), n, func(i, j int) float64 {
		if int(rows[i]) == j {
			return 1
		}
		return 0
	})
}

// tolerance bounds the error of float32 results compared with the float64 reference, for values up to size. Operands
// are exact. Results and gradients are sums of at most a few dozen products, each within a few units of 2⁻²⁴ ≈ 6e-8.
// The error of derivatives by finite differences is about 1e-7.
func tolerance(size float64) float64 { return 4e-6 * (1 + size) }

func largest(m table) (size float64) {
	for _, v := range m.v {
		size = max(size, math.Abs(v))
	}
	return size
}

func compare(t *testing.T, what string, got *mat.Dense, want table) {
	t.Helper()
	if got.Rows != want.rows || got.Cols != want.cols {
		t.Fatalf("%s: %d×%d, want %d×%d", what, got.Rows, got.Cols, want.rows, want.cols)
	}
	limit := tolerance(largest(want))
	for i, w := range want.v {
		if g := float64(got.Data[i]); !(math.Abs(g-w) <= limit) {
			t.Fatalf("%s: element %d is %v, want %v ± %.1g", what, i, g, w, limit)
		}
	}
}

// TestOperations compares each operation y with its float64 reference. It compares the gradients of f = Σ c⊙y + ½Σ y⊙y
// and of ⟨∇f, d⟩, for random c and d, with central differences of the reference.
func TestOperations(t *testing.T) {
	for _, op := range operations() {
		t.Run(op.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 1))
			var in, direction []table
			for _, s := range op.shapes {
				x := normal(s[0], s[1], random)
				if op.positive {
					x = x.each(func(v float64) float64 { return 0.5 + math.Abs(v) })
				}
				in, direction = append(in, x), append(direction, normal(s[0], s[1], random))
			}
			y := op.reference(in)
			c := normal(y.rows, y.cols, random)
			check(t, in, direction,
				func(tape *autodiff.Tape, in []*autodiff.Var) *autodiff.Var {
					y := op.value(tape, in)
					return tape.Add(tape.Sum(tape.Mul(tape.Var(c.dense()), y)), tape.Scale(0.5, tape.Sum(tape.Mul(y, y))))
				},
				func(in []table) float64 {
					y := op.reference(in)
					return y.with(c, times).sum() + y.with(y, times).sum()/2
				})
			tape := autodiff.NewTape()
			compare(t, "value", op.value(tape, variables(tape, in)).Value, y)
		})
	}
}

func variables(tape *autodiff.Tape, in []table) (vars []*autodiff.Var) {
	for _, x := range in {
		vars = append(vars, tape.Var(x.dense()))
	}
	return vars
}

// check compares the value, ∇f and ∇⟨∇f, direction⟩ of a function with its reference.
func check(t *testing.T, in, direction []table, f function, reference func([]table) float64) {
	t.Helper()
	tape := autodiff.NewTape()
	vars := variables(tape, in)
	y := f(tape, vars)
	compare(t, "function", y.Value, scalar(reference(in)))
	gradient := tape.Grad(y, vars...)
	inner := tape.Var(mat.NewDense(1, 1))
	for k, g := range gradient {
		inner = tape.Add(inner, tape.Sum(tape.Mul(g, tape.Var(direction[k].dense()))))
	}
	second := tape.Grad(inner, vars...)

	// h balances the truncation error, h²·f‴, and the rounding error of the second difference, 1e-16·f/h².
	const h = 1e-4
	shifted := func(k, i int, by, along float64) float64 {
		moved := make([]table, len(in))
		for o := range in {
			moved[o] = in[o].with(direction[o], func(x, d float64) float64 { return x + along*d })
		}
		moved[k].v[i] += by
		return reference(moved)
	}
	for k := range in {
		first := newTable(in[k].rows, in[k].cols, func(i, j int) float64 {
			e := i*in[k].cols + j
			return (shifted(k, e, h, 0) - shifted(k, e, -h, 0)) / (2 * h)
		})
		mixed := newTable(in[k].rows, in[k].cols, func(i, j int) float64 {
			e := i*in[k].cols + j
			return (shifted(k, e, h, h) - shifted(k, e, h, -h) - shifted(k, e, -h, h) + shifted(k, e, -h, -h)) / (4 * h * h)
		})
		compare(t, fmt.Sprintf("gradient of operand %d", k), gradient[k].Value, first)
		compare(t, fmt.Sprintf("second gradient of operand %d", k), second[k].Value, mixed)
	}
}

// table is a float64 matrix for reference implementations.
type table struct {
	rows, cols int
	v          []float64
}

func newTable(rows, cols int, at func(i, j int) float64) table {
	m := table{rows, cols, make([]float64, rows*cols)}
	for i := range rows {
		for j := range cols {
			m.v[i*cols+j] = at(i, j)
		}
	}
	return m
}

func (m table) at(i, j int) float64 { return m.v[i*m.cols+j] }

// dense rounds m to float32.
func (m table) dense() *mat.Dense {
	d := mat.NewDense(m.rows, m.cols)
	for i, v := range m.v {
		d.Data[i] = float32(v)
	}
	return d
}

// normal returns a matrix of standard normal values that float32 represents exactly. None is within 1/16 of zero, where
// the derivatives of ReLU and similar functions jump.
func normal(rows, cols int, random *rand.Rand) table {
	return newTable(rows, cols, func(_, _ int) float64 {
		for {
			if v := math.Round(random.NormFloat64()*1024) / 1024; math.Abs(v) > 1./16 {
				return v
			}
		}
	})
}

func (m table) each(f func(x float64) float64) table {
	return newTable(m.rows, m.cols, func(i, j int) float64 { return f(m.at(i, j)) })
}

func (m table) with(o table, f func(x, y float64) float64) table {
	return newTable(m.rows, m.cols, func(i, j int) float64 { return f(m.at(i, j), o.at(i, j)) })
}

func (m table) t() table {
	return newTable(m.cols, m.rows, func(i, j int) float64 { return m.at(j, i) })
}

func (m table) times(o table) table {
	return newTable(m.rows, o.cols, func(i, j int) (s float64) {
		for k := range m.cols {
			s += m.at(i, k) * o.at(k, j)
		}
		return s
	})
}

func (m table) sum() (s float64) {
	for _, v := range m.v {
		s += v
	}
	return s
}

func (m table) logSoftmax() table {
	return newTable(m.rows, m.cols, func(i, j int) float64 {
		sum := 0.
		for k := range m.cols {
			sum += math.Exp(m.at(i, k))
		}
		return m.at(i, j) - math.Log(sum)
	})
}

func scalar(x float64) table { return table{1, 1, []float64{x}} }

func plus(x, y float64) float64  { return x + y }
func minus(x, y float64) float64 { return x - y }
func times(x, y float64) float64 { return x * y }
func relu(x float64) float64     { return max(0, x) }
