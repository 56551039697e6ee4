package trajectory

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/condense/condensetest"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/checkpoint"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
	"github.com/graph-condensation/cgc/rival/internal/learn"
	"github.com/graph-condensation/cgc/rival/internal/learn/learntest"
)

// brief sets small parameters, so that runs are short.
func brief(m *Matching) {
	m.Epochs, m.Steps, m.Hidden = 3, 4, 6
	m.Experts.Experts, m.ExpertEpochs, m.MaxStart, m.Interval = 2, 6, 4, 2
	m.Choice = learn.Choice{JudgeEvery: 3, JudgeEpochs: 2}
}

func methods() []condense.Method {
	sfgc := NewSFGC()
	brief(&sfgc.Matching)
	geom := NewGEOM()
	brief(&geom.Matching)
	geom.Window, geom.Span = 2, 4
	gcsr := NewGCSR()
	brief(&gcsr.Matching)
	gcsr.ExpertEpochs = 2
	return []condense.Method{sfgc, geom, gcsr}
}

func TestContract(t *testing.T) {
	for _, m := range methods() {
		t.Run(m.Name(), func(t *testing.T) {
			condensetest.Test(t, m, condensetest.Proportional, condensetest.Random, condensetest.ReadsValidation)
		})
	}
}

// TestExpertIsAutodiff compares the gradient of an expert with a tape on dense matrices, for both networks and for a
// subset of the training nodes.
func TestExpertIsAutodiff(t *testing.T) {
	s := learntest.Begin(t)
	train, _ := s.Labelled()
	convolution, err := newConvolution(t.Context(), s, train)
	if err != nil {
		t.Fatal(err)
	}
	linear, err := newLinear(t.Context(), s, train, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*pupil{convolution, linear} {
		w := newWeights(6, 5, 3)
		w.restart(rand.NewPCG(1, 9))
		const seen = 20
		got := p.gradient(autodiff.NewTape(), w, seen)
		tape := autodiff.NewTape()
		var theta []*autodiff.Var
		for _, m := range w.all() {
			theta = append(theta, tape.Var(m))
		}
		hidden := tape.AddRow(tape.MatMul(tape.Var(p.s.Matrix.Dense()), theta[0]), theta[1])
		if p.relu {
			hidden = tape.MatMul(tape.Var(p.p.Matrix.Dense()), tape.ReLU(hidden))
		}
		index := make([]int32, seen)
		for i := range index {
			index[i] = int32(i)
		}
		logits := tape.Rows(tape.AddRow(tape.MatMul(hidden, theta[2]), theta[3]), index)
		targets := tape.Var(&mat.Dense{Rows: seen, Cols: 3, Data: p.y.Data[:3*seen]})
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
	p, err := newConvolution(t.Context(), s, train)
	if err != nil {
		t.Fatal(err)
	}
	m := methods()[0].(SFGC)
	size := weightNumbers(6, m.Hidden, 3)
	var stores []*store
	for _, onDisk := range []bool{false, true} {
		to, err := newStore(m.Experts.Experts*m.snapshots(), size, onDisk)
		if err != nil {
			t.Fatal(err)
		}
		defer to.close()
		if err := m.train(t.Context(), p, to, 5, "experts"); err != nil {
			t.Fatal(err)
		}
		stores = append(stores, to)
	}
	one, two, first := newWeights(6, m.Hidden, 3), newWeights(6, m.Hidden, 3), newWeights(6, m.Hidden, 3)
	stores[0].get(0, first)
	for i := range m.Experts.Experts * m.snapshots() {
		for k, w := range []weights{one, two} {
			stores[k].get(i, w)
		}
		for k, w := range one.all() {
			learntest.Close(t, "snapshot", two.all()[k], w, 0)
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

// TestRefused checks the errors for memory and disk limits that are too small, and for experts that diverge.
func TestRefused(t *testing.T) {
	s := learntest.Begin(t)
	m := NewSFGC()
	m.Memory, m.Disk = 3<<19, 1<<10
	if err := m.Check(s.Graph, 9); err == nil || !strings.Contains(err.Error(), "(parameter disk)") {
		t.Errorf("error %v, want one about the disk", err)
	}
	m.Memory = 1 << 10
	if err := m.Check(s.Graph, 9); err == nil || !strings.Contains(err.Error(), "(parameter memory)") {
		t.Errorf("error %v, want one about the memory", err)
	}
	m = NewSFGC()
	m.ExpertRate, m.Epochs = 1e30, 2
	m.ExpertEpochs = 20
	const says = "expert 1 of 20 diverged: its weights are not finite after epoch "
	if _, err := m.Condense(t.Context(), s.Graph, 9, 0); err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("error %v, want %q", err, says)
	}
}

// TestResume checks that a run that is stopped and continued gives the same bytes as an uninterrupted run.
func TestResume(t *testing.T) {
	g := learntest.Begin(t).Graph
	for _, m := range methods() {
		whole := saved(t.Context(), t, m, g)
		path := filepath.Join(t.TempDir(), "checkpoint")
		ctx, cancel := context.WithCancel(checkpoint.With(t.Context(), path, 0))
		if _, err := m.Condense(progress.With(ctx, func(e progress.Event) {
			if e.Stage == m.Name() && e.Done == 2 {
				cancel()
			}
		}), g, 9, 1); err == nil {
			t.Fatalf("%s: not stopped", m.Name())
		}
		if _, err := os.Stat(path); err != nil {
			t.Fatalf("%s: no checkpoint: %v", m.Name(), err)
		}
		if again := saved(checkpoint.With(t.Context(), path, 0), t, m, g); !bytes.Equal(whole, again) {
			t.Errorf("%s: a continued run gives other bytes", m.Name())
		}
	}
}

// saved returns the bytes of a condensed graph, with all times set to 0.
func saved(ctx context.Context, t *testing.T, m condense.Method, g *graph.Graph) []byte {
	t.Helper()
	small, err := m.Condense(ctx, g, 9, 1)
	if err != nil {
		t.Fatal(err)
	}
	small.Seconds = condense.Seconds{}
	path := filepath.Join(t.TempDir(), "small.safetensors")
	if err := small.Save(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestPlanted checks that, on the demo graph, the distance falls below its initial value and the validation accuracy is
// far above chance.
func TestPlanted(t *testing.T) {
	g := synth.Demo()
	for _, m := range methods() {
		longer := func(m *Matching) {
			m.Epochs, m.Steps, m.Hidden, m.FeatureRate = 20, 20, 16, 0.02
			m.Choice = learn.Choice{JudgeEvery: 20, JudgeEpochs: 40}
		}
		switch of := m.(type) {
		case SFGC:
			longer(&of.Matching)
			of.ExpertEpochs = 40
			m = of
		case GEOM:
			longer(&of.Matching)
			of.ExpertEpochs = 40
			m = of
		case GCSR:
			longer(&of.Matching)
			of.ExpertRate = 0.01
			m = of
		}
		account := learntest.Account(t, m, g, 2*g.Classes, 0)
		if !(account.Loss < 1) || account.Validation < 100/float64(g.Classes)+25 {
			t.Errorf("%s: distance %v and validation accuracy %v of %d classes", m.Name(), account.Loss, account.Validation,
				g.Classes)
		}
	}
}
