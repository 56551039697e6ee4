package kernel_test

import (
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/condense/condensetest"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/kernel"
	"github.com/graph-condensation/cgc/rival/internal/learn"
	"github.com/graph-condensation/cgc/rival/internal/learn/learntest"
)

func TestContract(t *testing.T) {
	claims := []condensetest.Claim{condensetest.Proportional, condensetest.Random, condensetest.ReadsValidation}
	edges, learnt := kernel.NewSNTK(), kernel.NewSNTKX()
	few := learn.Choice{JudgeEvery: 2, JudgeEpochs: 3}
	edges.Epochs, edges.Choice = 2, few
	learnt.Epochs, learnt.Choice, learnt.LearnLabels, learnt.InitHops = 2, few, true, 1
	t.Run("sntk", func(t *testing.T) { condensetest.Test(t, edges, claims...) })
	t.Run("sntk-x", func(t *testing.T) { condensetest.Test(t, learnt, claims...) })
}

// planted returns two cliques of 12 nodes. A third of the nodes have the features of the other clique, so that only
// their neighbours identify them.
func planted(t *testing.T) *graph.Graph {
	t.Helper()
	b := graph.Builder{Name: "planted", X: mat.NewDense(24, 3), Y: make([]int32, 24), Classes: 2}
	x := b.X.(*mat.Dense)
	for v := range 24 {
		c := v / 12
		b.Y[v] = int32(c)
		x.Row(v)[c] = 1
		if v%3 == 2 { // it has the features of the other clique
			x.Row(v)[c], x.Row(v)[1-c] = 0, 1
		}
		x.Row(v)[2] = float32(v%5) / 5
		for u := range v {
			if u/12 == c {
				b.AddEdge(u, v)
			}
		}
		switch v % 3 {
		case 0:
			b.Split.Train = append(b.Split.Train, int32(v))
		case 1:
			b.Split.Test = append(b.Split.Test, int32(v))
		default:
			b.Split.Val = append(b.Split.Val, int32(v))
		}
	}
	g, _, err := b.Graph(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestPlanted checks that a GCN trained on two condensed nodes per class separates two cliques although the features of
// a third of their nodes are misleading. It also checks that the loss decreases.
func TestPlanted(t *testing.T) {
	edges, none := kernel.NewSNTK(), kernel.NewSNTKX()
	edges.Epochs, none.Epochs, none.InitHops = 100, 100, 1
	for _, m := range []condense.Method{edges, none} {
		if a := learntest.Account(t, m, planted(t), 4, 3); a.Validation != 100 {
			t.Errorf("%s: validation accuracy %v%%, want 100", m.Name(), a.Validation)
		}
	}
	g := planted(t)
	g.Split.Val = nil // so that the last iterate is kept
	first, last := kernel.NewSNTKX(), kernel.NewSNTKX()
	first.Epochs, last.Epochs = 1, 500
	a, b := learntest.Account(t, first, g, 4, 3), learntest.Account(t, last, g, 4, 3)
	if b.Epoch != 500 || !(b.Loss < 0.7*a.Loss) {
		t.Errorf("epoch %d with loss %v, and %v at first: want epoch 500, and a loss that fell by a third",
			b.Epoch, b.Loss, a.Loss)
	}
}

// TestEdges checks that A′ has the requested mean degree, or all pairs.
func TestEdges(t *testing.T) {
	for degree, want := range map[float64]int{0: 0, 1: 2, 2: 4, 100: 6} {
		m := kernel.NewSNTK()
		m.Epochs, m.Degree = 1, degree
		small, err := m.Condense(t.Context(), planted(t), 4, 0)
		if err != nil {
			t.Fatal(err)
		}
		if small.Edges() != want {
			t.Errorf("degree %v: %d edges among 4 nodes, want %d", degree, small.Edges(), want)
		}
	}
}

// TestRefusals checks that parameters out of range and a memory limit that is too small fail before any work.
func TestRefusals(t *testing.T) {
	g := planted(t)
	for words, change := range map[string]func(*kernel.Parameters){
		"hops 3, must be 1 or 2":     func(p *kernel.Parameters) { p.Hops = 3 },
		"layers 0, must be from 1":   func(p *kernel.Parameters) { p.Layers = 0 },
		"ridge 0, must be above 0":   func(p *kernel.Parameters) { p.Ridge = 0 },
		"epochs 0, must be at least": func(p *kernel.Parameters) { p.Epochs = 0 },
		"lr feat -1, must be above":  func(p *kernel.Parameters) { p.FeatureRate = -1 },
		"judge every 0, must be at":  func(p *kernel.Parameters) { p.JudgeEvery = 0 },
		"init hops -1, must be at":   func(p *kernel.Parameters) { p.InitHops = -1 },
		"sntk-x on 8 training no":    func(p *kernel.Parameters) { p.Memory = 1000 },
	} {
		m := kernel.NewSNTKX()
		change(&m.Parameters)
		_, err := m.Condense(t.Context(), g, 4, 0)
		if checked := m.Check(g, 4); err == nil || checked == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("errors %v and %v, want %q", err, checked, words)
		}
	}
	m := kernel.NewSNTK()
	m.Degree = -1
	if err := m.Check(g, 4); err == nil || !strings.Contains(err.Error(), "degree -1, must be at least 0") {
		t.Errorf("error %v", err)
	}
}
