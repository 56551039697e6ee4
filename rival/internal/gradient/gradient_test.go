package gradient_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/condense/condensetest"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/internal/checkpoint"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
	"github.com/graph-condensation/cgc/rival/internal/gradient"
	"github.com/graph-condensation/cgc/rival/internal/learn"
	"github.com/graph-condensation/cgc/rival/internal/learn/learntest"
)

// short makes a method fast enough for hundreds of condensations.
func short(m *gradient.Matching) {
	m.Epochs, m.Outer, m.Inner, m.Hidden, m.Batch = 2, 2, 1, 8, 12
	m.Choice = learn.Choice{JudgeEvery: 2, JudgeEpochs: 2}
}

// methods returns the methods of this package with few steps.
func methods() []condense.Method {
	a, b, c := gradient.NewGCond(), gradient.NewGCondX(), gradient.NewDosCond()
	short(&a.Matching)
	short(&b.Matching)
	short(&c.Matching)
	a.PairHidden, c.PairHidden = 8, 8
	a.StructureEpochs, a.FeatureEpochs = 1, 1
	d, e := gradient.NewMSGC(), gradient.NewSGDD()
	short(&d.Matching)
	short(&e.Matching)
	d.PairHidden, d.Patterns, d.Window = 8, 3, 2
	d.StructureEpochs, d.FeatureEpochs = 0, 0 // epoch 1 must change X′, because the initial X′ does not depend on the seed
	e.PairHidden, e.Sample, e.StructureEpochs, e.FeatureEpochs = 8, 20, 1, 1
	return []condense.Method{a, b, c, d, e}
}

func TestContract(t *testing.T) {
	for _, m := range methods() {
		t.Run(m.Name(), func(t *testing.T) {
			condensetest.Test(t, m, condensetest.Proportional, condensetest.Random, condensetest.ReadsValidation)
		})
	}
}

// TestLearns checks that a GCN trained on the condensed demo graph is accurate on the validation nodes.
func TestLearns(t *testing.T) {
	for _, m := range methods() {
		text, _ := json.Marshal(map[string]any{
			"epochs": 32, "outer": 4, "inner": 5, "judge_every": 16, "judge_epochs": 50, "lr_feat": 0.05, "lr_adj": 0.01,
			"start_weight": 0.02, "graphon": 0.1,
		})
		own := reflect.New(reflect.TypeOf(m)) // m with other parameters
		own.Elem().Set(reflect.ValueOf(m))
		if err := json.Unmarshal(text, own.Interface()); err != nil {
			t.Fatal(err)
		}
		m = own.Elem().Interface().(condense.Method)
		g := synth.Demo()
		account := learntest.Account(t, m, g, 4*g.Classes, 1)
		if account.Validation < 80 || account.Judgements != 6 || account.Epoch < 1 || account.Epoch > 32 {
			t.Errorf("%s: %+v, want a validation accuracy of at least 80 at one of 6 looks", m.Name(), account)
		}
	}
}

// TestContinues checks that a run that is stopped after each epoch gives the same bytes as an uninterrupted run.
func TestContinues(t *testing.T) {
	g := learntest.Begin(t).Graph
	for _, m := range methods() {
		want, err := m.Condense(t.Context(), g, 9, 3)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "state")
		stops := 0
		for {
			ctx, cancel := context.WithCancel(checkpoint.With(t.Context(), path, time.Hour))
			ctx = progress.With(ctx, func(e progress.Event) {
				if e.Stage == m.Name() { // the stage is reported after each epoch
					cancel()
				}
			})
			got, err := m.Condense(ctx, g, 9, 3)
			cancel()
			if errors.Is(err, context.Canceled) {
				if stops++; stops > 3 {
					t.Fatalf("%s: stopped %d times in 2 epochs", m.Name(), stops)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.X.Data, want.X.Data) || !same(got.Adj, want.Adj) {
				t.Errorf("%s: another condensed graph after %d stops", m.Name(), stops)
			}
			break
		}
		if _, err := os.Stat(path); err != nil || stops < 2 {
			t.Errorf("%s: %d stops, %v", m.Name(), stops, err)
		}
		ctx := checkpoint.With(t.Context(), path, 0)
		if _, err := m.Condense(ctx, g, 9, 4); err == nil || !strings.Contains(err.Error(), "is of other work") {
			t.Errorf("%s: another seed continues: %v", m.Name(), err)
		}
	}
}

func same(a, b *mat.CSR) bool {
	if a == nil || b == nil {
		return a == b
	}
	return slices.Equal(a.Indptr, b.Indptr) && slices.Equal(a.Indices, b.Indices) && slices.Equal(a.Data, b.Data)
}

// TestRefuses checks that errors name the parameter that is out of range, or the work that needs too much memory.
func TestRefuses(t *testing.T) {
	g := synth.Demo()
	for _, c := range []struct {
		change func(m *gradient.GCond)
		says   string
	}{
		{func(m *gradient.GCond) { m.Epochs = 0 }, "epochs 0, must be at least 1"},
		{func(m *gradient.GCond) { m.Relay = "gat" }, "relay gat, must be sgc or gcn"},
		{func(m *gradient.GCond) { m.FeatureRate = 0 }, "lr feat 0, must be above 0"},
		{func(m *gradient.GCond) { m.JudgeEvery = 0 }, "judge every 0, must be at least 1"},
		{func(m *gradient.GCond) { m.Memory = 1e4 }, "gcond on 100 pairs of condensed nodes needs 13 kB, bound 10 kB"},
		{func(m *gradient.GCond) { m.Memory = 3e4 }, "training nodes with "},
		{func(m *gradient.GCond) { m.FeatureRate = 1e39 }, "gcond diverged: "},
	} {
		m := methods()[0].(gradient.GCond)
		c.change(&m)
		if _, err := m.Condense(t.Context(), g, 10, 1); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("error %v, want %q", err, c.says)
		}
	}
}

// TestSGDDRefuses checks that the memory of both pair networks is counted, and that an invalid number of units is
// reported unchanged.
func TestSGDDRefuses(t *testing.T) {
	g := synth.Demo()
	for _, c := range []struct {
		hidden int
		says   string
	}{
		{-3, "pair hidden -3, must be at least 1"},
		{8, "sgdd on 100 pairs of condensed nodes needs 26 kB, bound 20 kB"},
	} {
		m := methods()[4].(gradient.SGDD)
		m.PairHidden, m.Memory = c.hidden, 2e4
		if err := m.Check(g, 10); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("error %v, want %q", err, c.says)
		}
	}
}

func ExampleNewGCondX() {
	m := gradient.NewGCondX()
	m.Epochs, m.JudgeEvery = 20, 10
	small, err := m.Condense(context.Background(), synth.Demo(), 20, 0)
	if err != nil {
		panic(err)
	}
	_ = small // to train on it: gnn.Train(ctx, gnn.GCN(), experiment.Sample(small), …)
}
