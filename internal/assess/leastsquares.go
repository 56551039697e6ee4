package assess

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/graph-condensation/cgc/internal/factor"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/scales"
	"github.com/graph-condensation/cgc/mat"
)

// Classifier is a linear classifier: it predicts the class of the largest output of h·W. The other fields describe how
// well W is determined by T, the n×d matrix that it was fitted to.
type Classifier struct {
	// W is d×classes.
	W *mat.Dense
	// Rank is the numerical rank of T. If it is below d, many W fit equally well, and W is the one of smallest norm.
	Rank int
	// Condition is σ_max/σ_min of T over the directions that Rank counts. It is at least 1, and accurate within a factor
	// of two. If Scales exceeds MostScales, it is the condition of T after its columns are scaled to similar norms.
	Condition float64
	// Scales is scales.Ratio of the norms of the columns of T. If it exceeds MostScales, Largest is the column with the
	// largest norm.
	Scales  float64
	Largest int
	// Norm is the root mean square of the norms of the rows of T.
	Norm float64
}

// MostScales is the largest Classifier.Scales for which T is not scaled.
const MostScales = scales.Most

// Warning returns a note for the user, or "" if there is nothing to note: Scales is above MostScales, or the features
// are too large or too small for a GNN. The classifier compensates for that, but clustering and a GNN do not.
// Features have numbers here: the warning is part of a condensed graph, which does not depend on their names.
func (c Classifier) Warning() string {
	const remedy = ": --standardize gives all features one scale"
	if c.Scales > MostScales {
		return fmt.Sprintf("propagated to the training nodes, %s is %.6g times as large as the median feature, and "+
			"distances between nodes depend only on it"+remedy, scales.Column(c.Largest, nil), math.Round(c.Scales))
	}
	if size := scales.Magnitude(c.Norm, c.W.Rows); size != "" {
		return fmt.Sprintf("the features of a node have a norm of about %.4g, and GNNs learn worse from features as %s as "+
			"these"+remedy, c.Norm, size)
	}
	return ""
}

// LeastSquares returns the classifier with W = T⁺Y, the minimiser of ‖Y − TW‖² of smallest norm, where Y has the
// one-hot rows of y (eq. 14). T is the mean of h, each n×d; y holds the classes of its rows in [0, classes). With S =
// Σ_l H⁽ˡ⁾, W is (K+1)·S⁺Y. S is formed completely only if it has fewer rows than columns.
//
// The smaller Gram matrix G is factored: TᵀT for n ≥ d, else the dual TTᵀ, with W = Tᵀ(TTᵀ)⁺Y. Directions in which G is
// below 10⁻⁷ of its trace count as zero. These are singular values of T below 3·10⁻⁴ of its Frobenius norm. T often
// lacks full rank, as with bags of words and one-hot features. factor.Symmetric.PseudoSolve describes the solution.
//
// If squares of T overflow or underflow in float32, T is first scaled by a power of two. If Scales exceeds MostScales,
// each column of T is scaled by its own power of two. With these factors on the diagonal of D, W = D(TD)⁺Y. That equals
// T⁺Y if T has rank d; otherwise it is the minimiser with the smallest ‖D⁻¹W‖.
//
// The result is the same for any number of threads. It is an error if there are no rows, or if T or W contains a number
// that is not finite. LeastSquares returns ctx.Err() soon after ctx is done.
func LeastSquares(ctx context.Context, h []mat.View, y []int32, classes int) (Classifier, error) {
	n, d := h[0].Dims()
	if len(y) == 0 {
		return Classifier{}, fmt.Errorf("0 training nodes, must be at least 1")
	}
	if len(y) != n {
		panic(fmt.Sprintf("assess: %d labels for %d rows", len(y), n))
	}
	solve := solvePrimal
	if n < d {
		solve = solveDual
	}
	s := hops{views: h}
	fitted, err := solve(ctx, s, y, classes)
	if errors.Is(err, errUnscaled) {
		var norms []float64
		if norms, err = s.norms(); err != nil {
			return Classifier{}, err
		}
		s.scale = levelling(norms, n)
		if fitted, err = solve(ctx, s, y, classes); err == nil {
			fitted.Scales, fitted.Norm = scales.Ratio(norms), s.norm(norms)
			for j, v := range norms {
				if v > norms[fitted.Largest] {
					fitted.Largest = j
				}
			}
			for j, f := range s.scale { // W = D(SD)⁺Y
				kernel.Scale(fitted.W.Row(j), f, fitted.W.Row(j))
			}
		}
	}
	if err != nil {
		return Classifier{}, err
	}
	w := fitted.W
	kernel.Scale(w.Data, float32(len(h)), w.Data)
	if i, c, found, _ := mat.FirstNotFinite(ctx, w); found {
		return Classifier{}, fmt.Errorf("the weight of feature %d for class %d is %v in float32, "+
			"must be a finite number: scale the features", i, c, w.Row(i)[c])
	}
	return fitted, nil
}

// errUnscaled means that the columns of S must be scaled before S⁺Y can be computed.
var errUnscaled = errors.New("the columns need scaling")

// solvePrimal computes the classifier W = (SD)⁺Y from the Gram matrix of the columns. Without D, the error may be
// errUnscaled.
func solvePrimal(ctx context.Context, s hops, y []int32, classes int) (fitted Classifier, err error) {
	gram, right, err := s.equations(ctx, y, classes)
	if err != nil {
		return fitted, err
	}
	norms := make([]float64, gram.N)
	for j := range norms {
		norms[j] = math.Sqrt(gram.Row(j)[j])
	}
	return s.solution(ctx, gram, right, classes, norms)
}

// solveDual is like solvePrimal, with the Gram matrix of the rows. It is for fewer rows than columns.
func solveDual(ctx context.Context, s hops, y []int32, classes int) (fitted Classifier, err error) {
	whole := mat.NewDense(s.views[0].Dims())
	s.sum(whole, 0)
	gram, err := factor.GramRows(ctx, whole)
	if err != nil {
		return fitted, err
	}
	if fitted, err = s.solution(ctx, gram, oneHot(y, classes), classes, columnNorms(whole)); err != nil {
		return fitted, err
	}
	dual := fitted.W
	fitted.W = new(mat.Dense)
	mat.MulTA(fitted.W, whole, dual)
	return fitted, ctx.Err()
}

// solution returns the classifier for SD: W solves gram·W = right. norms holds the norms of the columns of SD.
func (s hops) solution(
	ctx context.Context, gram *factor.Symmetric, right []float64, classes int, norms []float64,
) (fitted Classifier, err error) {
	if s.scale == nil {
		fitted.Norm = s.norm(norms)
		if fitted.Scales = scales.Ratio(norms); !usable(gram.Trace(), fitted.Scales) {
			return fitted, errUnscaled
		}
	}
	solution, err := gram.PseudoSolve(ctx, right, classes, factor.GramCut)
	if err != nil {
		return fitted, err
	}
	fitted.Rank, fitted.Condition = solution.Rank, math.Sqrt(solution.Condition)
	fitted.W = factor.Rounded(solution.X, classes)
	return fitted, nil
}

// usable reports whether a Gram matrix with this trace can be used without scaling.
func usable(trace, scales float64) bool {
	const least = 0x1p-70 // below it, squares of small entries of T may underflow in float32 (normal down to 2⁻¹²⁶)
	return trace >= least && !math.IsInf(trace, 1) && scales <= MostScales
}

// levelling returns a power of two for each column of n numbers. If the norms are too far apart, it brings the root
// mean square of each column near 1. Otherwise all columns get the factor that does so for the largest column.
func levelling(norms []float64, n int) []float32 {
	const most = 126 // exponents of float32
	scale := make([]float32, len(norms))
	if len(norms) == 0 {
		return scale
	}
	largest, apart := slices.Max(norms), scales.Ratio(norms) > MostScales
	for j, v := range norms {
		if !apart {
			v = largest
		}
		exponent := 0
		if v > 0 {
			exponent = int(math.Round(math.Log2(v / math.Sqrt(float64(n)))))
		}
		scale[j] = float32(math.Ldexp(1, -max(-most, min(most, exponent))))
	}
	return scale
}

// columnNorms returns the norm of each column of x, in float64.
func columnNorms(x *mat.Dense) []float64 {
	norms := make([]float64, x.Cols)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			norms[j] += float64(v) * float64(v)
		}
	}
	for j, v := range norms {
		norms[j] = math.Sqrt(v)
	}
	return norms
}

// oneHot returns Y, row-major: y_ic is 1 if the class of row i is c, else 0.
func oneHot(y []int32, classes int) []float64 {
	r := memory.Make[float64](len(y) * classes)
	for i, c := range y {
		r[i*classes+int(c)] = 1
	}
	return r
}

// hops represents SD with S = Σ_l H⁽ˡ⁾.
type hops struct {
	views []mat.View
	scale []float32 // the diagonal of D; nil if it is the identity
}

// sum sets dst to rows lo, lo+1, … of SD. Each hop is scaled before the addition, which then cannot overflow.
func (s hops) sum(dst *mat.Dense, lo int) {
	scaled := make([]float32, len(s.scale))
	for r := range dst.Rows {
		for l, hop := range s.views {
			term := hop.Row(lo + r)
			if s.scale != nil {
				kernel.Mul(scaled, term, s.scale)
				term = scaled
			}
			if row := dst.Row(r); l == 0 {
				copy(row, term)
			} else {
				kernel.Add(row, row, term)
			}
		}
	}
}

// norm returns the root mean square of the row norms of T, given the column norms of S.
func (s hops) norm(norms []float64) float64 {
	sum := 0.0
	for _, v := range norms {
		sum += v * v
	}
	n, _ := s.views[0].Dims()
	return math.Sqrt(sum/float64(n)) / float64(len(s.views))
}

// norms returns the norm of each column of S, without overflow. The error names a number in a hop that is not finite.
func (s hops) norms() ([]float64, error) {
	n, d := s.views[0].Dims()
	sums, row := make([]float64, d), make([]float64, d)
	for i := range n {
		clear(row)
		for l, hop := range s.views {
			for j, v := range hop.Row(i) {
				if row[j] += float64(v); math.IsNaN(row[j]) || math.IsInf(row[j], 0) {
					return nil, fmt.Errorf("feature %d of training node %d is %v in hop %d, must be a finite number",
						j, i, v, l)
				}
			}
		}
		for j, v := range row {
			sums[j] += v * v
		}
	}
	for j, v := range sums {
		sums[j] = math.Sqrt(v)
	}
	return sums, nil
}

// equations returns both sides of the normal equations of SD, D·SᵀS·D and D·SᵀY (d×classes). S is formed in blocks of
// rows.
func (s hops) equations(ctx context.Context, y []int32, classes int) (
	left *factor.Symmetric, right []float64, err error,
) {
	n, d := s.views[0].Dims()
	terms := factor.GramPart(n, d)
	of := make([][]float64, (n+terms-1)/terms) // YᵀSD of each part
	left, err = factor.GramBlocks(ctx, n, d, func(dst *mat.Dense, lo int) {
		s.sum(dst, lo)
		part := lo / terms
		if of[part] == nil {
			of[part] = memory.Make[float64](classes * d)
		}
		for r := range dst.Rows {
			c := int(y[lo+r])
			kernel.Accumulate(of[part][c*d:(c+1)*d], 1, dst.Row(r))
		}
	})
	if err != nil {
		return nil, nil, err
	}
	right = memory.Make[float64](d * classes)
	for _, sums := range of {
		for c := range classes {
			for k, v := range sums[c*d : (c+1)*d] {
				right[k*classes+c] += v
			}
		}
	}
	return left, right, nil
}
