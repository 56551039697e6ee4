package gradient

import (
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
	"github.com/graph-condensation/cgc/rival/internal/learn/learntest"
)

// byModel returns what twice returns for the relay GCN, with the logits of gnn.GCN.
func byModel(t *testing.T, o *convolution, s *learn.Start, x, a *mat.Dense) (loss float64, dx, da *mat.Dense) {
	t.Helper()
	dense := new(mat.Dense)
	mattest.OK(t, mat.ReadColumns(t.Context(), dense, s.Graph.X, nil, 0, s.Graph.Features()))
	kernel.Scale(dense.Data, 1/s.Unit, dense.Data)
	original := mattest.Must(gnn.NewInput(t.Context(), s.Graph.Adj, dense))
	logits := func(tape *autodiff.Tape, p []*autodiff.Var, x, a *autodiff.Var, c int) (_, _ *autodiff.Var) {
		real, own := gnn.GCN().Forward(tape, original, p), gnn.GCN().Forward(tape, gnn.VariableInput(a, x), p)
		return tape.Rows(real, s.Train[c]), tape.Rows(own, o.members[c])
	}
	return twice(o.Matching, o.coeff, o.weights.All(), x, a, logits)
}

// TestGCNIsAutodiff compares the low-rank products with full gradients on the tape. It covers sparse and dense
// features, A′ and A′ = I, and few and many neighbours.
func TestGCNIsAutodiff(t *testing.T) {
	for _, distance := range []string{Cosine, MSE} {
		for _, structured := range []bool{false, true} {
			random := rand.New(rand.NewPCG(11, 12))
			s := learntest.BeginOn(t, learntest.Graph(t, structured))
			m := newDosCond().Matching
			m.Distance, m.Hidden = distance, 6
			o := mattest.Must(newConvolution(t.Context(), s, m))
			o.real[1].gram = nil // as for a class with many neighbours
			o.Restart(random)
			learntest.Shift(o.weights.All(), 0.5, random)
			for i := range s.X.Data {
				s.X.Data[i] += random.Float32() / 10
			}
			var a *mat.Dense
			if structured {
				a = learntest.Symmetric(9, random)
			}
			loss, dx, da := matched(t, o, s.X, a, nil)
			dx = dx.Clone()
			want, wantX, wantA := byModel(t, o, s, s.X, a)
			mattest.Near(t, loss, want, 1e-4*want, "%s: loss", distance)
			learntest.Close(t, distance+": dX", dx, wantX, 2e-3)
			if structured {
				// The relay uses Â′ᵀ in place of Â′, so only the sum of an edge's two gradients can be compared.
				learntest.Close(t, distance+": dA", both(da), both(wantA), 2e-3)
			}
		}
	}
}

// both returns a + aᵀ.
func both(a *mat.Dense) *mat.Dense {
	sum := a.T()
	for i, v := range a.Data {
		sum.Data[i] += v
	}
	return sum
}
