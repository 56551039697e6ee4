package kernel_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/condense/condensetest"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/kernel"
)

func TestContract(t *testing.T) {
	claims := []condensetest.Claim{condensetest.Proportional, condensetest.Random, condensetest.ReadsValidation}
	edges, learnt := kernel.NewSNTK(), kernel.NewSNTKX()
	edges.Steps, edges.Every = 12, 5
	learnt.Steps, learnt.Every, learnt.LearnLabels, learnt.Init = 7, 3, true, "uniform"
	t.Run("sntk", func(t *testing.T) { condensetest.Test(t, edges, claims...) })
	t.Run("sntk-x", func(t *testing.T) { condensetest.Test(t, learnt, claims...) })
}

// planted returns two cliques of 12 nodes. A feature tells them apart where there is no noise: only neighbours do.
func planted(t *testing.T) *graph.Graph {
	t.Helper()
	b := graph.Builder{Name: "planted", X: mat.NewDense(24, 3), Y: make([]int32, 24), Classes: 2}
	x := b.X.(*mat.Dense)
	for v := range 24 {
		c := v / 12
		b.Y[v] = int32(c)
		x.Row(v)[c] = 1
		if v%3 == 2 { // looks like the other clique
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
	g, _, err := b.Graph()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestPlanted: one condensed node a class predicts all validation nodes of two cliques, though their own features
// mislead. The loss falls.
func TestPlanted(t *testing.T) {
	edges, none := kernel.NewSNTK(), kernel.NewSNTKX()
	edges.Steps, none.Steps, none.Init = 200, 200, "uniform"
	for _, m := range []condense.Method{edges, none} {
		small, err := m.Condense(t.Context(), planted(t), 2, 3)
		if err != nil {
			t.Fatal(err)
		}
		var a kernel.Account
		if err := json.Unmarshal(small.Account, &a); err != nil {
			t.Fatal(err)
		}
		if a.Validation != 100 {
			t.Errorf("%s predicts %v%% of the validation nodes, want all", m.Name(), a.Validation)
		}
	}
	last := kernel.NewSNTKX()
	last.Steps, last.Every = 200, 200
	g := planted(t)
	g.Split.Val = nil // so that the last iterate is kept
	small, err := last.Condense(t.Context(), g, 4, 0)
	if err != nil {
		t.Fatal(err)
	}
	var a kernel.Account
	if err := json.Unmarshal(small.Account, &a); err != nil || a.Step != 200 || !(a.Loss[1] < 0.7*a.Loss[0]) {
		t.Errorf("account %+v (error %v), want step 200 and a loss that fell by a third", a, err)
	}
}

// TestEdges: A′ has the mean degree that is asked for, or all pairs.
func TestEdges(t *testing.T) {
	for degree, want := range map[float64]int{0: 0, 1: 2, 2: 4, 100: 6} {
		m := kernel.NewSNTK()
		m.Steps, m.Degree = 1, degree
		small, err := m.Condense(t.Context(), planted(t), 4, 0)
		if err != nil {
			t.Fatal(err)
		}
		if small.Edges() != want {
			t.Errorf("degree %v: %d edges among 4 nodes, want %d", degree, small.Edges(), want)
		}
	}
}

// TestRefusals: what is out of range, and what does not fit, is refused before any work.
func TestRefusals(t *testing.T) {
	g := planted(t)
	for words, change := range map[string]func(*kernel.Parameters){
		"hops 3, want 1 or 2":     func(p *kernel.Parameters) { p.Hops = 3 },
		"layers 0, want from 1":   func(p *kernel.Parameters) { p.Layers = 0 },
		"ridge 0, want above 0":   func(p *kernel.Parameters) { p.Ridge = 0 },
		"steps -1, want from 0":   func(p *kernel.Parameters) { p.Steps = -1 },
		"rate -1, want from 0":    func(p *kernel.Parameters) { p.Rate = -1 },
		"every 0, want at least":  func(p *kernel.Parameters) { p.Every = 0 },
		"init none, want":         func(p *kernel.Parameters) { p.Init = "none" },
		"sntk-x on 8 training no": func(p *kernel.Parameters) { p.Memory = 1000 },
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
	if err := m.Check(g, 4); err == nil || !strings.Contains(err.Error(), "degree -1, want at least 0") {
		t.Errorf("error %v", err)
	}
}
