// Package assess evaluates node embeddings with a linear classifier in closed form (§3.2 of the paper). It computes the
// classifier's confidence in the true class of each embedding, and the error of each class. For the classes that the
// classifier finds hard, it adds embeddings of shallower hops (§3.3).
package assess

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Assessment holds the classifier and its results on the embeddings of the training nodes.
type Assessment struct {
	// Classifier is fitted to T = 1/(K+1) Σ_l H⁽ˡ⁾ (eqs. 13, 14).
	Classifier
	// Confidence[l][i] is the confidence r of training node i's embedding in H⁽ˡ⁾, in [0, 1]: softmax(h·W) at the true
	// class. A misclassified embedding gets the smallest confidence in H⁽ˡ⁾. Confidence[l] is nil if hop l was not
	// evaluated.
	Confidence [][]float32
	// Error[c] is e_c = 1 − F1 of class c, predicted from H⁽ᴷ⁾; 0 for a class without training nodes.
	Error []float64
	// Accuracy is the share of the training nodes whose class is predicted from H⁽ᴷ⁾, in [0, 1].
	Accuracy float64
}

// Fit fits the classifier to the mean of h and evaluates it on H⁽ᴷ⁾ only. h holds H⁽⁰⁾ … H⁽ᴷ⁾ of the n training nodes,
// each n×d; y holds their classes in [0, classes). It fails when LeastSquares fails. The result is the same for any
// number of threads.
func Fit(ctx context.Context, h []mat.View, y []int32, classes int) (Assessment, error) {
	if len(h) == 0 {
		panic("assess: no embeddings")
	}
	fitted, err := LeastSquares(ctx, h, y, classes)
	if err != nil {
		return Assessment{}, err
	}
	a := Assessment{Classifier: fitted, Confidence: make([][]float32, len(h))}
	last := len(h) - 1
	var predicted []int32
	a.Confidence[last], predicted = judge(h[last], a.W, y)
	a.Error, a.Accuracy = classErrors(predicted, y, classes)
	return a, ctx.Err()
}

// Judge evaluates the remaining hops of h, which only augmentation samples from. h must be the h that a was fitted to.
func (a *Assessment) Judge(h []mat.View, y []int32) {
	for l, r := range a.Confidence {
		if r == nil {
			a.Confidence[l], _ = judge(h[l], a.W, y)
		}
	}
}

// rowChunk is the number of rows that one task evaluates.
const rowChunk = 1024

// scratch is memory for a chunk: a contiguous copy of its rows, and the outputs of W.
type scratch struct{ rows, logits mat.Dense }

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// judge returns the confidence of each row of h in its true class, and the class that w predicts. Ties go to the first
// class.
func judge(h mat.View, w *mat.Dense, y []int32) (confidence []float32, predicted []int32) {
	n, d := h.Dims()
	classes := w.Cols
	confidence, predicted = memory.Make[float32](n), memory.Make[int32](n)
	least := make([]float32, (n+rowChunk-1)/rowChunk) // the smallest confidence in each chunk
	parallel.For(n, rowChunk, func(lo, hi int) {
		s := scratches.Get().(*scratch)
		defer scratches.Put(s)
		z := &s.logits
		z.Reshape(hi-lo, classes)
		rows := h.Block(lo, hi, &s.rows)
		kernel.Gemm(kernel.Rows(z.Data, classes), kernel.Rows(rows, d), kernel.Rows(w.Data, classes), hi-lo, classes, d,
			false)
		smallest := float32(math.Inf(1))
		for i := lo; i < hi; i++ {
			row := z.Row(i - lo)
			top := kernel.Maximum(row)
			predicted[i] = int32(max(0, slices.Index(row, top))) // Index returns −1 if all outputs are NaN
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
