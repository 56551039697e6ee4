package selftrain

import (
	"context"
	"fmt"
	"math"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Ridge is a linear classifier of one hop's embeddings that is fitted to be right about nodes whose labels it has not seen: softmax(s·hW) is its distribution
// over the classes.
//
// W of an Assessment answers for the training nodes. Where these are fewer than the features it reproduces their labels, and says little of any other node. Here a
// penalty keeps it from that, and both penalty and scale are chosen by leaving out one training node at a time.
type Ridge struct {
	// W is (HᵀH + λI)⁻¹HᵀY, d×classes.
	W *mat.Dense
	// Penalty is λ.
	Penalty float64
	// Scale is s.
	Scale float64
	// Accuracy is the share of the training nodes, or of the judges among them, whose class is found by the classifier that is fitted to all the others, in [0, 1].
	Accuracy float64

	present []bool // the classes of the training nodes; no other is ever found
}

const (
	// The penalties that are tried, as shares of the mean squared norm of a row of H: from where little is held back to where only class means
	// are left, in half powers of ten.
	leastPenalty, penaltySteps = 1e-4, 13
	// The scales that are tried: from 1, in powers of √2. Outputs of a strong penalty are small, and need a large one.
	scaleSteps = 25
	// The number of training nodes that are left out, one at a time: of more, evenly spaced ones. Their mean error then has an error of a percent or so, and the cost of the choice does
	// not grow.
	judges = 8192
)

// cut is the eigenvalue of a Gram matrix, as a share of its trace, below which a direction counts as absent. It is above the rounding of
// float32 embeddings.
const cut = 1e-7

// rowChunk is the number of rows that one task judges.
const rowChunk = 1024

// FitRidge fits the classifier to the embeddings h of the n training nodes, n×d, whose classes y are in [0, classes).
//
// λ has the smallest squared error of the nodes that are left out (PRESS; Allen 1974), in closed form: with ŷ the fit to all and g_i = h_iᵀ(HᵀH + λI)⁻¹h_i, the
// output for node i of the fit to the others is (ŷ_i − g_i·y_i)/(1 − g_i). s has the smallest cross entropy of these outputs. One eigendecomposition of the smaller Gram matrix
// serves all λ. Of more than 8192 training nodes, so many evenly spaced ones are left out. It costs about what LeastSquares does
// of a matrix without full rank. The error is that of ctx, or says that a number of h is not finite.
func FitRidge(ctx context.Context, h *mat.Dense, y []int32, classes int) (*Ridge, error) {
	if len(y) == 0 {
		return nil, fmt.Errorf("selftrain: 0 training nodes, want at least 1")
	}
	n := h.Rows
	if len(y) != n {
		panic(fmt.Sprintf("selftrain: %d labels for %d rows", len(y), n))
	}
	f, err := decompose(ctx, h, y, classes)
	if err != nil {
		return nil, err
	}
	r := &Ridge{present: make([]bool, classes)}
	for _, c := range y {
		r.present[c] = true
	}
	least := math.Inf(1)
	penalty := leastPenalty * f.norm
	for range penaltySteps {
		if e := squared(f.leftOut(penalty), f.y); e < least {
			least, r.Penalty = e, penalty
		}
		penalty *= math.Sqrt(10)
	}
	out := f.leftOut(r.Penalty)
	least = math.Inf(1)
	scale := 1.0
	for range scaleSteps {
		e := r.entropy(out, f.y, scale)
		if e >= least {
			break // it is convex in the scale
		}
		least, r.Scale = e, scale
		scale *= math.Sqrt2
	}
	right := 0
	for i, c := range f.y {
		if r.best(out.Row(i)) == int(c) {
			right++
		}
	}
	r.Accuracy = float64(right) / float64(len(f.y))
	r.W = f.solve(r.Penalty)
	return r, nil
}

// Distribution sets dst, n×classes, to softmax(s·Z) of each row of the outputs Z = HW, restricted to the classes of the training nodes. dst may be outputs.
func (r *Ridge) Distribution(dst, outputs *mat.Dense) {
	dst.Reshape(outputs.Rows, outputs.Cols)
	parallel.For(outputs.Rows, rowChunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := dst.Row(i)
			kernel.Scale(row, float32(r.Scale), outputs.Row(i))
			for c, is := range r.present {
				if !is {
					row[c] = float32(math.Inf(-1))
				}
			}
			kernel.Softmax(row)
		}
	})
}

// best returns the class of the largest output, of those that are present; of equal ones the first.
func (r *Ridge) best(outputs []float32) int {
	best := -1
	for c, v := range outputs {
		if r.present[c] && (best < 0 || v > outputs[best]) {
			best = c
		}
	}
	return best
}

// entropy returns the cross entropy of softmax(scale·out) over the present classes, in nats, summed.
func (r *Ridge) entropy(out *mat.Dense, y []int32, scale float64) float64 {
	return parallel.Sum(out.Rows, rowChunk, func(lo, hi int) (sum float64) {
		for i := lo; i < hi; i++ {
			row := out.Row(i)
			top := row[r.best(row)]
			var total float64
			for c, v := range row {
				if r.present[c] {
					total += math.Exp(scale * float64(v-top))
				}
			}
			sum += math.Log(total) + scale*float64(top-row[y[i]])
		}
		return sum
	})
}

// decomposition is H = PVᵀ by the eigenvectors V of HᵀH, and what penalties have in common.
type decomposition struct {
	h       *mat.Dense // H, n×d
	norm    float64    // the mean squared norm of its rows
	values  []float64  // Λ, the eigenvalues of HᵀH that count
	vectors *mat.Dense // V, d×rank; for n < d the eigenvectors Q of HHᵀ, n×rank
	right   *mat.Dense // PᵀY, rank×classes
	p       *mat.Dense // P = HV, the rows of the nodes that are left out
	y       []int32    // and their classes
}

func decompose(ctx context.Context, h *mat.Dense, y []int32, classes int) (*decomposition, error) {
	n, d := h.Dims()
	f := &decomposition{h: h, p: new(mat.Dense), right: new(mat.Dense)}
	sides := mat.Gram
	if n < d {
		sides = mat.GramRows
	}
	gram, err := sides(ctx, h)
	if err != nil {
		return nil, err
	}
	f.norm = gram.Trace() / float64(n)
	values, vectors, err := gram.Eigen(ctx)
	if err != nil {
		return nil, err
	}
	rank := 0
	for rank < gram.N && values[rank] > cut*gram.Trace() {
		rank++
	}
	f.values = values[:rank]
	f.vectors = mat.Rounded(vectors[:rank*gram.N], gram.N).T()

	count := min(n, judges)
	rows := make([]int32, count)
	for j := range rows {
		rows[j] = int32(j * n / count)
		f.y = append(f.y, y[rows[j]])
	}
	if n >= d {
		mat.MulTA(f.right, f.vectors, mat.Rounded(classSums(h, y, classes), classes)) // PᵀY = VᵀHᵀY
		some := new(mat.Dense)
		h.Gather(some, rows)
		mat.Mul(f.p, some, f.vectors)
		return f, nil
	}
	p := f.vectors.Clone() // H = QΛ^½Vᵀ, so P = QΛ^½
	for i := range n {
		for k := range f.values {
			p.Row(i)[k] *= float32(math.Sqrt(values[k]))
		}
	}
	f.right = mat.Rounded(classSums(p, y, classes), classes)
	p.Gather(f.p, rows)
	return f, nil
}

// classSums returns XᵀY, row-major with a column for each class: the sum of the rows of x of each class.
func classSums(x *mat.Dense, y []int32, classes int) []float64 {
	sums := make([]float64, x.Cols*classes)
	for i, c := range y {
		for k, v := range x.Row(i) {
			sums[k*classes+int(c)] += float64(v)
		}
	}
	return sums
}

// shrunk returns diag(1/(Λ + λ))·PᵀY.
func (f *decomposition) shrunk(penalty float64) *mat.Dense {
	w := f.right.Clone()
	for k, v := range f.values {
		kernel.Scale(w.Row(k), float32(1/(v+penalty)), w.Row(k))
	}
	return w
}

// leftOut returns the outputs for each judge of the classifier that is fitted to all other training nodes.
func (f *decomposition) leftOut(penalty float64) *mat.Dense {
	out := new(mat.Dense)
	mat.Mul(out, f.p, f.shrunk(penalty))
	inverse := make([]float64, len(f.values))
	for k, v := range f.values {
		inverse[k] = 1 / (v + penalty)
	}
	parallel.For(out.Rows, rowChunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			var own float64 // g_i, below 1 since λ > 0
			for k, v := range f.p.Row(i) {
				own += float64(v) * float64(v) * inverse[k]
			}
			own = min(own, 1-1e-6) // rounding
			row := out.Row(i)
			row[f.y[i]] -= float32(own)
			kernel.Scale(row, float32(1/(1-own)), row)
		}
	})
	return out
}

// solve returns W for a penalty.
func (f *decomposition) solve(penalty float64) *mat.Dense {
	w, z := new(mat.Dense), f.shrunk(penalty)
	if f.h.Rows >= f.h.Cols {
		mat.Mul(w, f.vectors, z)
		return w
	}
	for k, v := range f.values { // W = HᵀQ(Λ + λI)⁻¹QᵀY, and QᵀY = Λ^-½PᵀY
		kernel.Scale(z.Row(k), float32(1/math.Sqrt(v)), z.Row(k))
	}
	weights := new(mat.Dense)
	mat.Mul(weights, f.vectors, z)
	mat.MulTA(w, f.h, weights)
	return w
}

// squared returns Σ ‖out_i − y_i‖² over the one-hot rows of y.
func squared(out *mat.Dense, y []int32) float64 {
	return parallel.Sum(out.Rows, rowChunk, func(lo, hi int) (sum float64) {
		for i := lo; i < hi; i++ {
			for c, v := range out.Row(i) {
				e := float64(v)
				if c == int(y[i]) {
					e--
				}
				sum += e * e
			}
		}
		return sum
	})
}
