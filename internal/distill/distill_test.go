package distill_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/condense/condensetest"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/distill"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

func TestContract(t *testing.T) {
	all := distill.New()
	all.Unlabelled, all.Teachers = distill.Always, []distill.Depth{{Hops: 1}, {Hops: 4, Teleport: 0.2}}
	claims := []condensetest.Claim{condensetest.Proportional, condensetest.Random, condensetest.ReadsValidation}
	t.Run("auto", func(t *testing.T) { condensetest.Test(t, distill.New(), claims...) })
	t.Run("all nodes", func(t *testing.T) { condensetest.Test(t, all, claims[:2]...) })
}

// planted returns two rings of 12 nodes, one for each class, with two training nodes each. Features separate the
// classes, but validation nodes also have the feature of the other class, with weight mislead.
func planted(t *testing.T, mislead float32) *graph.Graph {
	t.Helper()
	b := graph.Builder{Name: "rings", X: mat.NewDense(24, 2), Y: make([]int32, 24), Classes: 2}
	for v := range 24 {
		c := v / 12
		b.Y[v] = int32(c)
		row := b.X.(*mat.Dense).Row(v)
		row[c] = 1
		for step := 1; step <= 2; step++ {
			b.AddEdge(v, 12*c+(v+step)%12)
		}
		switch v % 6 {
		case 0:
			b.Split.Train = append(b.Split.Train, int32(v))
		case 3:
			row[1-c] = mislead
			b.Split.Val = append(b.Split.Val, int32(v))
		default:
			b.Split.Test = append(b.Split.Test, int32(v))
		}
	}
	return mattest.First(b.Graph(t.Context()))
}

// account condenses g to four nodes and returns the account and the condensed graph.
func account(t *testing.T, m distill.Method, g *graph.Graph) (distill.Account, *condense.Condensed) {
	t.Helper()
	small := mattest.Must(m.Condense(t.Context(), g, 4, 1))
	var a distill.Account
	mattest.OK(t, json.Unmarshal(small.Account, &a))
	return a, small
}

// TestChoice: a teacher without hops is misled on validation nodes, and smoothing corrects it. Then all nodes are
// condensed. If nothing misleads the teacher, smoothing gains nothing, and only the training nodes are condensed.
func TestChoice(t *testing.T) {
	m := distill.New()
	m.Teachers = []distill.Depth{{}}
	for _, c := range []struct {
		mislead float32
		pool    int
		first   float64
	}{{3, 24, 0}, {0, 4, 100}} {
		a, small := account(t, m, planted(t, c.mislead))
		if a.Pool != c.pool || a.Validation != [2]float64{c.first, 100} || small.Members.NNZ() != c.pool {
			t.Errorf("misled by %v: %+v with %d members, want a pool of %d and validation [%v 100]", c.mislead, a,
				small.Members.NNZ(), c.pool, c.first)
		}
	}
	m.Unlabelled = distill.Never
	if a, _ := account(t, m, planted(t, 3)); a.Pool != 4 || a.Validation != [2]float64{} {
		t.Errorf("never: %+v, want a pool of the 4 training nodes", a)
	}
	blind := *planted(t, 3)
	blind.Split.Val = nil
	if a, _ := account(t, distill.New(), &blind); a.Pool != 4 {
		t.Errorf("without validation nodes: %+v, want a pool of the 4 training nodes", a)
	}
}

// TestFormula compares a condensation with the formulas, in plain loops over float64: X′ and Y′ are means over source
// nodes of ÂᴷX, and of q̄ or the students' predictions.
func TestFormula(t *testing.T) {
	for _, students := range []int{0, 3} {
		formula(t, students)
	}
}

func formula(t *testing.T, students int) {
	t.Helper()
	g := planted(t, 0.4)
	m := distill.New()
	m.Unlabelled, m.Hops, m.Students = distill.Always, 1, students
	m.Teachers = []distill.Depth{{Hops: 1}, {Hops: 3, Teleport: 0.3}}
	m.Smoothing = distill.Depth{Hops: 2, Teleport: 0.25}
	_, small := account(t, m, g)

	h := walk(g, columns(g.X.(*mat.Dense)), 1, 0)
	q := make([][]float64, g.Nodes())
	for v := range q {
		q[v] = make([]float64, 2)
	}
	for _, d := range m.Teachers {
		said := taught(t, g, walk(g, columns(g.X.(*mat.Dense)), d.Hops, d.Teleport))
		for v := range q {
			for c := range q[v] {
				q[v][c] += said[v][c] / 2
			}
		}
	}
	q = walk(g, q, 2, 0.25)
	for v := range q {
		sum := q[v][0] + q[v][1]
		q[v][0], q[v][1] = q[v][0]/sum, q[v][1]/sum
	}
	q = studied(g, h, q, students)
	for j := range small.Nodes() {
		members := small.Members.Indices[small.Members.Indptr[j]:small.Members.Indptr[j+1]]
		var x, soft, sum [2]float64
		for _, v := range members {
			for c := range 2 {
				x[c] += h[v][c] / float64(len(members))
				soft[c] += q[v][c] / (q[v][0] + q[v][1]) / float64(len(members))
			}
		}
		for c := range 2 {
			sum[c] = soft[c] / (soft[0] + soft[1])
			if d := math.Abs(x[c] - float64(small.X.Row(j)[c])); !(d < 1e-5) { // rounding of float32 sums
				t.Errorf("X′[%d][%d] is %v, want %v", j, c, small.X.Row(j)[c], x[c])
			}
			if d := math.Abs(sum[c] - float64(small.Soft.Row(j)[c])); !(d < 1e-4) {
				t.Errorf("Y′[%d][%d] is %v, want %v", j, c, small.Soft.Row(j)[c], sum[c])
			}
		}
	}
}

// TestSample checks that the pool has Sample nodes per condensed node, and that the condensed classes do not change.
func TestSample(t *testing.T) {
	g := planted(t, 0)
	m := distill.New()
	m.Unlabelled = distill.Always
	whole, all := account(t, m, g)
	m.Sample = 3
	part, some := account(t, m, g)
	if want := m.Sample * all.Nodes(); part.Pool != want || some.Members.NNZ() != want || whole.Pool <= want {
		t.Errorf("%d of %d nodes, %d members, want %d", part.Pool, whole.Pool, some.Members.NNZ(), want)
	}
	if !slices.Equal(some.Y, all.Y) {
		t.Errorf("classes %v, without a sample %v", some.Y, all.Y)
	}
}

func TestCheck(t *testing.T) {
	g := planted(t, 0)
	for want, change := range map[string]func(*distill.Method){
		"hops -1":                 func(m *distill.Method) { m.Hops = -1 },
		"teachers":                func(m *distill.Method) { m.Teachers = nil },
		"hops of a depth 101":     func(m *distill.Method) { m.Teachers[0].Hops = 101 },
		"teleport of a depth NaN": func(m *distill.Method) { m.Smoothing.Teleport = math.NaN() },
		"unlabelled sometimes":    func(m *distill.Method) { m.Unlabelled = "sometimes" },
		"needs":                   func(m *distill.Method) { m.Memory = 10 },
	} {
		m := distill.New()
		m.Teachers = slices.Clone(m.Teachers)
		change(&m)
		mattest.Fails(t, want)(m.Condense(t.Context(), g, 4, 0))
	}
}
