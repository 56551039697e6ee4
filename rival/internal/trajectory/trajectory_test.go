package trajectory

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
	"github.com/graph-condensation/cgc/rival/internal/learn/learntest"
)

// TestExpertIsAutodiff compares the gradient of an expert with a tape on dense matrices, for both networks and for a
// subset of the training nodes.
func TestExpertIsAutodiff(t *testing.T) {
	s := learntest.Begin(t)
	train, _ := s.Labelled()
	convolution := mattest.Must(s.Convolution(t.Context(), train))
	linear := mattest.Must(s.Linear(t.Context(), train, 2))
	for _, p := range []*pupil{{convolution, nil}, {linear, nil}} {
		w := learn.NewWeights(6, 5, 3).Draw(rand.NewPCG(1, 9))
		const seen = 20
		got := p.gradient(autodiff.NewTape(), w, seen)
		tape := autodiff.NewTape()
		theta := learn.Put(tape, w.All())
		hidden := tape.AddRow(tape.MatMul(tape.Var(p.S.Matrix.Dense()), theta[0]), theta[1])
		if p.ReLU {
			hidden = tape.MatMul(tape.Var(p.P.Matrix.Dense()), tape.ReLU(hidden))
		}
		logits := tape.Rows(tape.AddRow(tape.MatMul(hidden, theta[2]), theta[3]), memory.Range(0, seen))
		targets := tape.Var(&mat.Dense{Rows: seen, Cols: 3, Data: p.Y.Data[:3*seen]})
		for i, g := range tape.Grad(tape.CrossEntropy(logits, targets), theta...) {
			learntest.Close(t, "gradient of an expert", got[i].Value, g.Value, 1e-5)
		}
	}
}

// TestStoreOnDisk checks that a store on disk returns the same snapshots as one in memory, and leaves no file behind.
func TestStoreOnDisk(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := learntest.Begin(t)
	train, _ := s.Labelled()
	layers := mattest.Must(s.Convolution(t.Context(), train))
	m := Experts{
		Experts: 2, Optimizer: SGD, ExpertRate: 0.4, ExpertEpochs: 6, MaxStart: 4, Interval: 2, Hidden: 6, end: 13,
	}
	mattest.Equal(t, m.snapshots(), 7, "snapshots") // epochs 0, 2, 4, 6, 8, 10 and 13
	size := weightNumbers(6, m.Hidden, 3)
	var stores []*store
	for _, onDisk := range []bool{false, true} {
		to := mattest.Must(newStore(m.Experts*m.snapshots(), size, onDisk))
		defer to.close()
		mattest.OK(t, m.train(t.Context(), &pupil{layers, nil}, to, 5, "experts"))
		stores = append(stores, to)
	}
	one := learn.NewWeights(6, m.Hidden, 3)
	two, first := one.Clone(), one.Clone()
	stores[0].get(0, first)
	for i := range m.Experts * m.snapshots() {
		for k, w := range []learn.Weights{one, two} {
			stores[k].get(i, w)
		}
		for k, w := range one.All() {
			learntest.Close(t, "snapshot", two.All()[k], w, 0)
		}
		if _, apart := differences(one, first); i > 0 && apart == 0 {
			t.Errorf("snapshots 0 and %d are the same", i)
		}
	}
	stores[1].close()
	if files, _ := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*")); len(files) > 0 {
		t.Errorf("the store leaves %v", files)
	}
}
