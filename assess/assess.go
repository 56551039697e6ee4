// Package assess judges node embeddings with a linear classifier in closed form (§3.2 of the paper): how sure it is of the true
// class of each embedding, and how hard each class is.
package assess

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Assessment is what the classifier says of the embeddings of the training nodes.
type Assessment struct {
	// W is the linear classifier, d×classes: the minimum-norm minimiser of ‖Y − TW‖², T = 1/(K+1) Σ_l H⁽ˡ⁾ (eqs. 13, 14).
	W *mat.Dense
	// Confidence[l][i] is r of training node i's embedding in H⁽ˡ⁾, in [0, 1]: softmax(h·W) at the true class. An embedding that is
	// misclassified gets the smallest value of its H⁽ˡ⁾. Of a hop that was not judged there is none.
	Confidence [][]float32
	// Error[c] is e_c = 1 − F1 of class c, predicted from H⁽ᴷ⁾; 0 for a class without training nodes.
	Error []float64
	// Accuracy is the share of the training nodes whose class is predicted from H⁽ᴷ⁾, in [0, 1].
	Accuracy float64
	// Rank is the rank of T; below min(n, d), the solution is one of many, the smallest.
	Rank int
}

// Assess fits the classifier on the mean of h and judges each of them: Fit and Judge.
func Assess(ctx context.Context, h []mat.View, y []int32, classes int) (Assessment, error) {
	a, err := Fit(ctx, h, y, classes)
	if err == nil {
		a.Judge(h, y)
	}
	return a, err
}

// Fit fits the classifier on the mean of h and judges H⁽ᴷ⁾ alone. h holds H⁽⁰⁾ … H⁽ᴷ⁾ of the n training nodes, each n×d; y holds their
// classes in [0, classes).
func Fit(ctx context.Context, h []mat.View, y []int32, classes int) (Assessment, error) {
	if len(h) == 0 {
		panic("assess: no embeddings")
	}
	w, rank, err := leastSquares(ctx, h, y, classes)
	if err != nil {
		return Assessment{}, err
	}
	a := Assessment{W: w, Rank: rank, Confidence: make([][]float32, len(h))}
	last := len(h) - 1
	var predicted []int32
	a.Confidence[last], predicted = judge(h[last], w, y)
	a.Error, a.Accuracy = classErrors(predicted, y, classes)
	return a, nil
}

// Judge judges those of h, which a was fitted on, that have not been judged: only augmentation draws from them.
func (a *Assessment) Judge(h []mat.View, y []int32) {
	for l, r := range a.Confidence {
		if r == nil {
			a.Confidence[l] = a.Of(h[l], y)
		}
	}
}

// Of returns r of other embeddings of the training nodes, n×d, whose classes are y.
func (a *Assessment) Of(h mat.View, y []int32) []float32 {
	r, _ := judge(h, a.W, y)
	return r
}

// sum sets dst to rows lo, lo+1, … of S = Σ_l H⁽ˡ⁾.
func sum(dst *mat.Dense, h []mat.View, lo int) {
	for r := range dst.Rows {
		row := dst.Row(r)
		if len(h) == 1 {
			copy(row, h[0].Row(lo+r))
			continue
		}
		kernel.Add(row, h[0].Row(lo+r), h[1].Row(lo+r))
		for _, hop := range h[2:] {
			kernel.Add(row, row, hop.Row(lo+r))
		}
	}
}

// rowChunk is the number of rows that one task judges.
const rowChunk = 1024

// A scratch is memory for a chunk: rows that do not stand together, and the outputs of W.
type scratch struct{ rows, logits mat.Dense }

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// judge returns the confidence of each row of h in its true class, and the class that w predicts: of equal ones the first.
func judge(h mat.View, w *mat.Dense, y []int32) (confidence []float32, predicted []int32) {
	n, d := h.Dims()
	classes := w.Cols
	confidence, predicted = make([]float32, n), make([]int32, n)
	least := make([]float32, (n+rowChunk-1)/rowChunk) // confidence in each chunk
	parallel.For(n, rowChunk, func(lo, hi int) {      // what follows the product finds the logits still in the cache
		s := scratches.Get().(*scratch)
		defer scratches.Put(s)
		z := &s.logits
		z.Reshape(hi-lo, classes)
		kernel.Gemm(z.Data, classes, h.Block(lo, hi, &s.rows), d, false, w.Data, classes, false, hi-lo, classes, d, false)
		smallest := float32(math.Inf(1))
		for i := lo; i < hi; i++ {
			row := z.Row(i - lo)
			top := kernel.Maximum(row)
			predicted[i] = int32(max(0, slices.Index(row, top))) // none is NaN's
			total := kernel.ExpShifted(row, row, top)
			confidence[i] = row[y[i]] / total
			smallest = min(smallest, confidence[i])
		}
		least[lo/rowChunk] = smallest
	})
	smallest := float32(math.Inf(1))
	for _, r := range least {
		smallest = min(smallest, r)
	}
	for i, p := range predicted {
		if p != y[i] {
			confidence[i] = smallest
		}
	}
	return confidence, predicted
}

// classErrors returns 1 − F1 of each class, F1 = 2·TP / (2·TP + FP + FN), and the accuracy.
func classErrors(predicted, y []int32, classes int) (errors []float64, accuracy float64) {
	hit, said, is := make([]int, classes), make([]int, classes), make([]int, classes)
	right := 0
	for i, p := range predicted {
		said[p]++
		is[y[i]]++
		if p == y[i] {
			hit[p]++
			right++
		}
	}
	errors = make([]float64, classes)
	for c := range errors {
		if is[c] > 0 {
			errors[c] = 1 - 2*float64(hit[c])/float64(said[c]+is[c])
		}
	}
	return errors, float64(right) / float64(max(1, len(y)))
}

// LeastSquares returns W = T⁺Y, d×classes: of the minimisers of ‖Y − TW‖² the one of smallest norm, Y being the one-hot rows of y
// (eq. 14, closed form), and the rank of T. t is n×d.
//
// The smaller Gram matrix G is factored: TᵀT for n ≥ d, else the dual TTᵀ, with W = Tᵀ(TTᵀ)⁺Y. Directions in which G is below 10⁻⁷ of its trace,
// that is, singular values of T below 3·10⁻⁴ of its Frobenius norm, count as zero. Where there are none, a Cholesky factorisation solves the
// system; a rank-deficient one, the rule for bags of words and one-hot features, takes the eigenvectors of G.
func LeastSquares(ctx context.Context, t *mat.Dense, y []int32, classes int) (w *mat.Dense, rank int, err error) {
	return leastSquares(ctx, []mat.View{t.View()}, y, classes)
}

// leastSquares is LeastSquares on T = S/(K+1), S = Σ_l H⁽ˡ⁾: W is (K+1)·S⁺Y. S is held whole only where it has fewer rows than columns.
func leastSquares(ctx context.Context, h []mat.View, y []int32, classes int) (w *mat.Dense, rank int, err error) {
	n, d := h[0].Dims()
	if len(y) == 0 {
		return nil, 0, fmt.Errorf("assess: 0 training nodes, want at least 1")
	}
	if len(y) != n {
		panic(fmt.Sprintf("assess: %d labels for %d rows", len(y), n))
	}
	if n >= d {
		gram, right, err := equations(ctx, h, y, classes)
		if err != nil {
			return nil, 0, err
		}
		if w, rank, err = pseudoSolve(ctx, gram, right, classes); err != nil {
			return nil, 0, err
		}
	} else {
		s := mat.NewDense(n, d)
		sum(s, h, 0)
		gram, err := mat.GramRows(ctx, s)
		if err != nil {
			return nil, 0, err
		}
		var dual *mat.Dense
		if dual, rank, err = pseudoSolve(ctx, gram, oneHot(y, classes), classes); err != nil {
			return nil, 0, err
		}
		w = new(mat.Dense)
		mat.MulTA(w, s, dual)
	}
	kernel.Scale(w.Data, float32(len(h)), w.Data)
	return w, rank, nil
}

// equations returns both sides of the normal equations, SᵀS and SᵀY (d×classes), for S = Σ_l H⁽ˡ⁾, which is formed some rows at a time.
func equations(ctx context.Context, h []mat.View, y []int32, classes int) (left *mat.Symmetric, right []float64, err error) {
	n, d := h[0].Dims()
	terms := mat.GramPart(n, d)
	of := make([][]float64, (n+terms-1)/terms) // YᵀS of each part
	left, err = mat.GramBlocks(ctx, n, d, func(dst *mat.Dense, lo int) {
		sum(dst, h, lo)
		part := lo / terms
		if of[part] == nil {
			of[part] = make([]float64, classes*d)
		}
		for r := range dst.Rows {
			c := int(y[lo+r])
			kernel.Accumulate(of[part][c*d:(c+1)*d], 1, dst.Row(r))
		}
	})
	if err != nil {
		return nil, nil, err
	}
	right = make([]float64, d*classes)
	for _, sums := range of {
		for c := range classes {
			for k, v := range sums[c*d : (c+1)*d] {
				right[k*classes+c] += v
			}
		}
	}
	return left, right, nil
}

// cut is the eigenvalue of a Gram matrix, as a share of its trace, below which a direction counts as absent: above the rounding of sums
// of float32 products (some 10⁻⁸ of the trace), so that rounding is never divided by, and far below what matters to a classifier.
const cut = 1e-7

// pseudoSolve returns G⁺R for a positive semi-definite G, n×n, and R, n×cols, and the rank of G.
func pseudoSolve(ctx context.Context, gram *mat.Symmetric, right []float64, cols int) (w *mat.Dense, rank int, err error) {
	n := gram.N
	threshold := cut * gram.Trace()
	shifted := mat.NewSymmetric(n)
	copy(shifted.Data, gram.Data)
	for i := range n {
		shifted.Data[i*n+i] -= threshold
	}
	if _, err := shifted.Cholesky(ctx); err == nil { // G − threshold·I is positive definite: no eigenvalue is below
		if factor, err := gram.Cholesky(ctx); err == nil {
			solution, err := factor.Solve(ctx, right, cols)
			return mat.Rounded(solution, cols), n, err
		}
	}
	values, vectors, err := gram.Eigen(ctx)
	if err != nil {
		return nil, 0, err
	}
	solution := make([]float64, n*cols)
	for rank < n && values[rank] > threshold {
		v := vectors[rank*n : (rank+1)*n]
		along := make([]float64, cols)
		for i, x := range v {
			for c, r := range right[i*cols : (i+1)*cols] {
				along[c] += x * r
			}
		}
		for i, x := range v {
			for c, a := range along {
				solution[i*cols+c] += x * a / values[rank]
			}
		}
		rank++
	}
	return mat.Rounded(solution, cols), rank, nil
}

func oneHot(y []int32, classes int) []float64 {
	r := make([]float64, len(y)*classes)
	for i, c := range y {
		r[i*classes+int(c)] = 1
	}
	return r
}
