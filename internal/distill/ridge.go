package distill

import (
	"context"
	"fmt"
	"math"

	"github.com/graph-condensation/cgc/internal/factor"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// ridge is a linear classifier of embeddings, for nodes whose labels it has not seen. It gives an embedding h the
// distribution softmax(s·hW) over the classes.
//
// The W of package assess is fitted without a penalty. With fewer training nodes than features it reproduces all
// training labels, and generalises badly to other nodes. A ridge has a penalty λ. Both λ and s are chosen by
// leave-one-out error.
type ridge struct {
	// W is (HᵀH + λI)⁻¹HᵀY, d×classes.
	W *mat.Dense
	// Penalty is λ.
	Penalty float64
	// Scale is s.
	Scale float64
	// Accuracy is the leave-one-out accuracy in [0, 1]: the share of the judges (see fitRidge) that are classified
	// correctly by a classifier fitted to all other training nodes.
	Accuracy float64

	present []bool // classes with training nodes; the others have probability 0
}

const (
	// The candidates for λ are 10^(k/2)·leastPenalty·m for k = 0 … penaltySteps−1, where m is the mean squared norm of
	// a row of H. The smallest hardly changes the fit. The largest leaves little but the class means.
	leastPenalty, penaltySteps = 1e-4, 13
	// The candidates for s are 2^(k/2) for k = 0 … scaleSteps−1. A large λ makes outputs small, and they need a large s.
	scaleSteps = 25
	// judges caps the leave-one-out error at 8192 training nodes, evenly spaced. That estimates the mean error to about 1%
	// at a bounded cost.
	judges = 8192
)

// rowChunk is the number of rows that one task processes.
const rowChunk = 1024

// fitRidge fits the classifier to the embeddings h, n×d, of the n training nodes. Their classes y are in [0, classes).
//
// λ minimises the squared leave-one-out error (PRESS; Allen 1974), which has a closed form. Let ŷ be the fit to all
// nodes and g_i = h_iᵀ(HᵀH + λI)⁻¹h_i. The fit to all nodes but i gives node i the output (ŷ_i − g_i·y_i)/(1 −
// g_i). s minimises the cross entropy of these outputs. The nodes that are left out are called judges: all training
// nodes, or 8192 evenly spaced ones if there are more.
//
// One eigendecomposition of the smaller Gram matrix serves all λ. With k = min(n, d), the cost is O(n·d·k + k³). The
// result is the same for any number of threads. It is an error if there are no training nodes, or if squares
// of h overflow or underflow in float32. Otherwise the only error is ctx.Err().
func fitRidge(ctx context.Context, h *mat.Dense, y []int32, classes int) (*ridge, error) {
	if len(y) == 0 {
		return nil, fmt.Errorf("0 training nodes, must be at least 1")
	}
	n := h.Rows
	if len(y) != n {
		panic(fmt.Sprintf("distill: %d labels for %d rows", len(y), n))
	}
	f, err := decompose(ctx, h, y, classes)
	if err != nil {
		return nil, err
	}
	r := &ridge{present: make([]bool, classes)}
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
			break // the cross entropy is convex in the scale
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

// distribution sets dst, n×classes, to softmax(s·Z) of each row of the outputs Z = HW. Classes without training
// nodes get probability 0. dst may be outputs.
func (r *ridge) distribution(dst, outputs *mat.Dense) {
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

// best returns the present class of the largest output. Ties go to the first class.
func (r *ridge) best(outputs []float32) int {
	best := -1
	for c, v := range outputs {
		if r.present[c] && (best < 0 || v > outputs[best]) {
			best = c
		}
	}
	return best
}

// entropy returns the sum over the rows of the cross entropy of softmax(scale·out) over the present classes, in nats.
func (r *ridge) entropy(out *mat.Dense, y []int32, scale float64) float64 {
	return parallel.Sum(out.Rows, rowChunk, func(lo, hi int) (sum float64) {
		present := make([]float32, out.Cols)
		for i := lo; i < hi; i++ {
			row := out.Row(i)
			top := row[r.best(row)]
			for c, v := range row {
				present[c] = v
				if !r.present[c] {
					present[c] = float32(math.Inf(-1))
				}
			}
			sum += math.Log(kernel.ExpSum(present, top, scale)) + scale*float64(top-row[y[i]])
		}
		return sum
	})
}

// decomposition is H = PVᵀ by the eigenvectors V of HᵀH, with everything that does not depend on λ.
type decomposition struct {
	h       *mat.Dense // H, n×d
	norm    float64    // the mean squared norm of its rows
	values  []float64  // Λ, the eigenvalues of HᵀH that count
	vectors *mat.Dense // V, d×rank; for n < d the eigenvectors Q of HHᵀ, n×rank
	right   *mat.Dense // PᵀY, rank×classes
	p       *mat.Dense // rows of P = HV, for the judges
	y       []int32    // classes of the judges
}

// leastNorm is the smallest mean squared norm of rows that fitRidge accepts, unless all rows are zero. Below 2⁻¹²⁶
// squares lose their digits, and 1/λ overflows.
const leastNorm = 0x1p-120

// inRange returns an error if squares of h overflow or underflow in float32. It names the feature with the largest
// number.
func inRange(h *mat.Dense, norm float64) error {
	if norm >= leastNorm && norm <= math.MaxFloat64 {
		return nil
	}
	feature, most := 0, 0.0
	for k, v := range h.Data {
		if size := math.Abs(float64(v)); !(size <= most) {
			feature, most = k%h.Cols, size
		}
	}
	switch {
	case most == 0:
		return nil
	case most < 1:
		return fmt.Errorf("squares of feature %d (counted from 0), which is up to %.3g and the largest, underflow in "+
			"float32, must be at least about 1e-36: --standardize gives all features one scale", feature, most)
	}
	return fmt.Errorf("squares of feature %d (counted from 0), which is up to %.3g, overflow in float32, must be finite "+
		"numbers: --standardize gives all features one scale; leave the feature out if it is an id or a hash", feature, most)
}

func decompose(ctx context.Context, h *mat.Dense, y []int32, classes int) (*decomposition, error) {
	n, d := h.Dims()
	f := &decomposition{h: h, p: new(mat.Dense), right: new(mat.Dense)}
	sides := factor.Gram
	if n < d {
		sides = factor.GramRows
	}
	gram, err := sides(ctx, h)
	if err != nil {
		return nil, err
	}
	f.norm = gram.Trace() / float64(n)
	if err := inRange(h, f.norm); err != nil {
		return nil, err
	}
	values, vectors, err := gram.Eigen(ctx)
	if err != nil {
		return nil, err
	}
	rank := 0
	for rank < gram.N && values[rank] > factor.GramCut*gram.Trace() {
		rank++
	}
	f.values = values[:rank]
	f.vectors = factor.Rounded(vectors[:rank*gram.N], gram.N).T()

	count := min(n, judges)
	rows := make([]int32, count)
	for j := range rows {
		rows[j] = int32(j * n / count)
		f.y = append(f.y, y[rows[j]])
	}
	if n >= d {
		mat.MulTA(f.right, f.vectors, factor.Rounded(classSums(h, y, classes), classes)) // PᵀY = VᵀHᵀY
		mat.Mul(f.p, h.Select(rows).Dense(), f.vectors)
		return f, nil
	}
	p := f.vectors.Clone() // H = QΛ^½Vᵀ, so P = QΛ^½
	for i := range n {
		for k := range f.values {
			p.Row(i)[k] *= float32(math.Sqrt(values[k]))
		}
	}
	f.right = factor.Rounded(classSums(p, y, classes), classes)
	p.Gather(f.p, rows)
	return f, nil
}

// classSums returns XᵀY, row-major: column c is the sum of the rows of x that have class c.
func classSums(x *mat.Dense, y []int32, classes int) []float64 {
	sums := memory.Make[float64](x.Cols * classes)
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

// leftOut returns the leave-one-out outputs of the judges: row i comes from the fit to all training nodes but judge i.
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
			own = min(own, 1-1e-6) // guards against rounding
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
