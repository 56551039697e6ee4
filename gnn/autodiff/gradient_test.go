package autodiff_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/mat"
)

// pattern is a graph in which node 3 has only a self-loop, node 5 has no edges, and some nodes have several incoming
// edges.
var pattern = &mat.CSR{
	Rows: 6, Cols: 6, Indptr: []int64{0, 3, 5, 7, 8, 11, 11}, Indices: []int32{0, 1, 4, 0, 1, 2, 4, 3, 0, 2, 4},
}

// edgeList returns the edges of pattern.
func edgeList() (edges [][2]int) {
	for i := range pattern.Rows {
		for j := range pattern.Row(i) {
			edges = append(edges, [2]int{i, j})
		}
	}
	return edges
}

// fixed is a constant linear map.
type fixed struct{ m, t *mat.Dense }

func (f fixed) Apply(dst, x *mat.Dense) { mat.Mul(dst, f.m, x) }
func (f fixed) T() autodiff.Linear      { return fixed{f.t, f.m} }

type function func(t *autodiff.Tape, in []*autodiff.Var) *autodiff.Var

type operation struct {
	name      string
	shapes    [][2]int
	positive  bool // operands must be positive
	value     function
	reference func(in []table) table
}

func operations() []operation {
	random := rand.New(rand.NewPCG(7, 7))
	operator := normal(4, 5, random)
	list := edgeList()
	edges, err := autodiff.NewEdges(context.Background(), pattern)
	if err != nil {
		panic(err)
	}
	index := []int32{2, 0, 2, 3}
	nodes, onEdges := [2]int{6, 4}, [2]int{len(list), 2}
	elu := func(x float64) float64 {
		if x > 0 {
			return x
		}
		return math.Exp(x) - 1
	}
	type onTape = func(t *autodiff.Tape, x *autodiff.Var) *autodiff.Var
	unary := func(name string, positive bool, value onTape, f func(float64) float64) operation {
		return operation{name, [][2]int{{4, 3}}, positive,
			func(t *autodiff.Tape, in []*autodiff.Var) *autodiff.Var { return value(t, in[0]) },
			func(in []table) table { return in[0].each(f) }}
	}
	all := []operation{
		unary("scale", false,
			func(t *autodiff.Tape, x *autodiff.Var) *autodiff.Var { return t.Scale(-1.5, x) },
			func(x float64) float64 { return -1.5 * x }),
		unary("relu", false, (*autodiff.Tape).ReLU, relu),
		unary("leaky relu", false,
			func(t *autodiff.Tape, x *autodiff.Var) *autodiff.Var { return t.LeakyReLU(0.25, x) },
			func(x float64) float64 { return max(x, x/4) }),
		unary("elu", false, (*autodiff.Tape).ELU, elu),
		unary("exp", false, (*autodiff.Tape).Exp, math.Exp),
		unary("log", true, (*autodiff.Tape).Log, math.Log),
		unary("root", true,
			func(t *autodiff.Tape, x *autodiff.Var) *autodiff.Var { return t.Power(x, 0.5) }, math.Sqrt),
		unary("arc-cosine 0", false,
			func(t *autodiff.Tape, x *autodiff.Var) *autodiff.Var { return t.ArcCosine0(t.Scale(0.2, x)) },
			func(x float64) float64 { return 1 - math.Acos(0.2*x)/math.Pi }),
		unary("arc-cosine 1", false,
			func(t *autodiff.Tape, x *autodiff.Var) *autodiff.Var { return t.ArcCosine1(t.Scale(0.2, x)) },
			func(x float64) float64 {
				c := 0.2 * x
				return (math.Sqrt(1-c*c) + c*(math.Pi-math.Acos(c))) / math.Pi
			}),
		{"add", [][2]int{{4, 3}, {4, 3}}, false,
			func(t *autodiff.Tape, in []*autodiff.Var) *autodiff.Var { return t.Add(in[0], in[1]) },
			func(in []table) table { return in[0].with(in[1], plus) }},
		{"sub", [][2]int{{4, 3}, {4, 3}}, false,
			func(t *autodiff.Tape, in []*autodiff.Var) *autodiff.Var { return t.Sub(in[0], in[1]) },
			func(in []table) table { return in[0].with(in[1], minus) }},
		{"mul", [][2]int{{4, 3}, {4, 3}}, false,
			func(t *autodiff.Tape, in []*autodiff.Var) *autodiff.Var { return t.Mul(in[0], in[1]) },
			func(in []table) table { return in[0].with(in[1], times) }},
		{"square by mul", [][2]int{{4, 3}}, false,
			func(t *autodiff.Tape, in []*autodiff.Var) *autodiff.Var { return t.Mul(in[0], in[0]) },
			func(in []table) table { return in[0].with(in[0], times) }},
		{"matmul", [][2]int{{4, 3}, {3, 5}}, false,
			func(t *autodiff.Tape, in []*autodiff.Var) *autodiff.Var { return t.MatMul(in[0], in[1]) },
			func(in []table) table { return in[0].times(in[1]) }},
		{"matmul transposed left", [][2]int{{3, 4}, {3, 5}}, false,
			func(t *autodiff.Tape, in []*autodiff.Var) *autodiff.Var { return t.MatMulTA(in[0], in[1]) },
			func(in []table) table { return in[0].t().times(in[1]) }},
		{"transpose", [][2]int{{4, 3}}, false,
			func(t *autodiff.Tape, in []*autodiff.Var) *autodiff.Var { return t.Transpose(in[0]) },
			func(in []table) table { return in[0].t() }},
		{"matmul transposed right", [][2]int{{4, 3}, {5, 3}}, false,
			func(t *autodiff.Tape, in []*autodiff.Var) *autodiff.Var { return t.MatMulTB(in[0], in[1]) },
			func(in []table) table { return in[0].times(in[1].t()) }},
		{"linear", [][2]int{{5, 3}}, false,
			func(t *autodiff.Tape, in []*autodiff.Var) *autodiff.Var {
				return t.Linear(fixed{operator.dense(), operator.t().dense()}, in[0])
			},
			func(in []table) table { return operator.times(in[0]) }},
		{"sum", [][2]int{{4, 3}}, false,
			func(t *autodiff.Tape, in []*autodiff.Var) *autodiff.Var { return t.Sum(in[0]) },
			func(in []table) table { return scalar(in[0].sum()) }},
		{"row sums", [][2]int{{4, 3}}, false,
			func(t *autodiff.Tape, in []*autodiff.Var) *autodiff.Var { return t.RowSums(in[0]) },
			func(in []table) table {
				return in[0].times(newTable(3, 1, func(_, _ int) float64 { return 1 }))
			}},
		{"column sums", [][2]int{{4, 3}}, false,
			func(t *autodiff.Tape, in []*autodiff.Var) *autodiff.Var { return t.ColumnSums(in[0]) },
			func(in []table) table {
				return newTable(1, 4, func(_, _ int) float64 { return 1 }).times(in[0])
			}},
		{"repeat row", [][2]int{{1, 3}}, false,
			func(t *autodiff.Tape, in []*autodiff.Var) *autodiff.Var { return t.RepeatRow(in[0], 4) },
			func(in []table) table {
				return newTable(4, 3, func(_, j int) float64 { return in[0].at(0, j) })
			}},
		{"repeat column", [][2]int{{4, 1}}, false,
			func(t *autodiff.Tape, in []*autodiff.Var) *autodiff.Var { return t.RepeatColumn(in[0], 3) },
			func(in []table) table {
				return newTable(4, 3, func(i, _ int) float64 { return in[0].at(i, 0) })
			}},
		{"add row", [][2]int{{4, 3}, {1, 3}}, false,
			func(t *autodiff.Tape, in []*autodiff.Var) *autodiff.Var { return t.AddRow(in[0], in[1]) },
			func(in []table) table {
				return newTable(4, 3, func(i, j int) float64 { return in[0].at(i, j) + in[1].at(0, j) })
			}},
		{"log softmax", [][2]int{{4, 3}}, false,
			func(t *autodiff.Tape, in []*autodiff.Var) *autodiff.Var { return t.LogSoftmax(in[0]) },
			func(in []table) table { return in[0].logSoftmax() }},
		{"cross entropy", [][2]int{{4, 3}, {4, 3}}, false,
			func(t *autodiff.Tape, in []*autodiff.Var) *autodiff.Var { return t.CrossEntropy(in[0], in[1]) },
			func(in []table) table { return scalar(-in[0].logSoftmax().with(in[1], times).sum() / 4) }},
		{"rows", [][2]int{{5, 3}}, false,
			func(t *autodiff.Tape, in []*autodiff.Var) *autodiff.Var { return t.Rows(in[0], index) },
			func(in []table) table {
				return newTable(4, 3, func(r, j int) float64 { return in[0].at(int(index[r]), j) })
			}},
		{"spread rows", [][2]int{{4, 3}}, false,
			func(t *autodiff.Tape, in []*autodiff.Var) *autodiff.Var { return t.SpreadRows(in[0], index, 5) },
			func(in []table) table {
				out := newTable(5, 3, func(_, _ int) float64 { return 0 })
				for r, i := range index {
					for j := range 3 {
						out.v[int(i)*3+j] += in[0].at(r, j)
					}
				}
				return out
			}},
		{"concat", [][2]int{{4, 3}, {4, 2}}, false,
			func(t *autodiff.Tape, in []*autodiff.Var) *autodiff.Var { return t.Concat(in[0], in[1]) },
			func(in []table) table {
				return newTable(4, 5, func(i, j int) float64 {
					if j < 3 {
						return in[0].at(i, j)
					}
					return in[1].at(i, j-3)
				})
			}},
		{"columns", [][2]int{{4, 5}}, false,
			func(t *autodiff.Tape, in []*autodiff.Var) *autodiff.Var { return t.Columns(in[0], 1, 4) },
			func(in []table) table {
				return newTable(4, 3, func(i, j int) float64 { return in[0].at(i, j+1) })
			}},
		{"edge softmax", [][2]int{onEdges}, false,
			func(t *autodiff.Tape, in []*autodiff.Var) *autodiff.Var { return t.EdgeSoftmax(edges, in[0]) },
			func(in []table) table {
				return newTable(len(list), 2, func(e, h int) float64 {
					sum := 0.
					for o, edge := range list {
						if edge[0] == list[e][0] {
							sum += math.Exp(in[0].at(o, h))
						}
					}
					return math.Exp(in[0].at(e, h)) / sum
				})
			}},
		{"edge dots", [][2]int{nodes, nodes}, false,
			func(t *autodiff.Tape, in []*autodiff.Var) *autodiff.Var { return t.EdgeDots(edges, in[0], in[1], 2) },
			func(in []table) table {
				return newTable(len(list), 2, func(e, h int) float64 {
					i, j := list[e][0], list[e][1]
					return in[0].at(i, 2*h)*in[1].at(j, 2*h) + in[0].at(i, 2*h+1)*in[1].at(j, 2*h+1)
				})
			}},
	}
	for _, flip := range []bool{false, true} {
		ends := func(e int) (to, from int) {
			if flip {
				return list[e][1], list[e][0]
			}
			return list[e][0], list[e][1]
		}
		all = append(all,
			operation{fmt.Sprint("edge rows ", flip), [][2]int{nodes}, false,
				func(t *autodiff.Tape, in []*autodiff.Var) *autodiff.Var { return t.EdgeRows(edges, in[0], flip) },
				func(in []table) table {
					return newTable(len(list), 4, func(e, j int) float64 { i, _ := ends(e); return in[0].at(i, j) })
				}},
			operation{fmt.Sprint("edge sums ", flip), [][2]int{onEdges}, false,
				func(t *autodiff.Tape, in []*autodiff.Var) *autodiff.Var { return t.EdgeSums(edges, in[0], flip) },
				func(in []table) table {
					out := newTable(6, 2, func(_, _ int) float64 { return 0 })
					for e := range list {
						i, _ := ends(e)
						for h := range 2 {
							out.v[i*2+h] += in[0].at(e, h)
						}
					}
					return out
				}},
			operation{fmt.Sprint("attend ", flip), [][2]int{onEdges, nodes}, false,
				func(t *autodiff.Tape, in []*autodiff.Var) *autodiff.Var {
					return t.Attend(edges, in[0], in[1], flip)
				},
				func(in []table) table {
					out := newTable(6, 4, func(_, _ int) float64 { return 0 })
					for e := range list {
						i, j := ends(e)
						for k := range 4 {
							out.v[i*4+k] += in[0].at(e, k/2) * in[1].at(j, k)
						}
					}
					return out
				}},
		)
	}
	return all
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

// TestGCN checks the loss of a complete two-layer GCN, with a bias and with only some rows in the loss.
func TestGCN(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	a := normal(5, 5, random).each(func(x float64) float64 { return x / 4 })
	x := normal(5, 4, random)
	in := []table{normal(4, 6, random), normal(1, 6, random), normal(6, 3, random), normal(1, 3, random)}
	direction := []table{normal(4, 6, random), normal(1, 6, random), normal(6, 3, random), normal(1, 3, random)}
	labels, rows := []int32{2, 0, 1}, []int32{4, 0, 1}
	hidden := func(in []table) table {
		h := a.times(x).times(in[0])
		return newTable(5, 6, func(i, j int) float64 { return h.at(i, j) + in[1].at(0, j) })
	}
	for _, v := range hidden(in).v {
		if math.Abs(v) < 1e-2 { // the differences change it by about 1e-3
			t.Fatalf("hidden unit at %v: too near the kink of ReLU for differences", v)
		}
	}
	check(t, in, direction,
		func(tape *autodiff.Tape, in []*autodiff.Var) *autodiff.Var {
			operator := fixed{a.dense(), a.t().dense()}
			h := tape.ReLU(tape.AddRow(tape.MatMul(tape.Linear(operator, tape.Var(x.dense())), in[0]), in[1]))
			z := tape.AddRow(tape.Linear(operator, tape.MatMul(h, in[2])), in[3])
			return tape.CrossEntropy(tape.Rows(z, rows), tape.Var(autodiff.OneHot(labels, 3)))
		},
		func(in []table) float64 {
			z := a.times(hidden(in).each(relu)).times(in[2])
			z = newTable(5, 3, func(i, j int) float64 { return z.at(i, j) + in[3].at(0, j) })
			p := z.logSoftmax()
			loss := 0.
			for r, i := range rows {
				loss -= p.at(int(i), int(labels[r])) / 3
			}
			return loss
		})
}
