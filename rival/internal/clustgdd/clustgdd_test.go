package clustgdd

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
	"github.com/graph-condensation/cgc/rival/internal/learn/learntest"
)

// rounding is a tolerance for sums of a few dozen float32 products.
const rounding = 1e-5

// TestSmooth compares H with the sum of powers of a dense Â.
func TestSmooth(t *testing.T) {
	g := learntest.Begin(t).Graph
	m := clustGDD{Terms: 4, Alpha: 0.7}
	got := mattest.Must(m.smooth(t.Context(), g, 2))
	a, power := learntest.Written(t, g, graph.Symmetric), g.X.(*mat.Dense).Clone()
	want := mat.NewDense(power.Dims())
	for term := range 4 {
		for i, v := range power.Data {
			want.Data[i] += float32(0.3 * math.Pow(0.7, float64(term)) * float64(v) / 2)
		}
		next := new(mat.Dense)
		mat.Mul(next, a, power)
		power = next
	}
	learntest.Close(t, "H", got, want, rounding)
}

// clustered returns a graph of 48 nodes, its clusters and random logits for three classes.
func clustered(t *testing.T) (g *graph.Graph, members *mat.CSR, z *mat.Dense) {
	g = learntest.Begin(t).Graph
	c := mat.NewDense(10, g.Nodes())
	for v := range g.Nodes() {
		c.Row(v * v % 10)[v] = 1 // clusters of different sizes, some of them empty
	}
	kept := &mat.Dense{Cols: g.Nodes()}
	for a := range 10 {
		if slices.Max(c.Row(a)) > 0 {
			kept.Rows++
			kept.Data = append(kept.Data, c.Row(a)...)
		}
	}
	random := rand.New(rand.NewPCG(7, 7))
	z = mat.NewDense(g.Nodes(), 3)
	for i := range z.Data {
		z.Data[i] = 1 + random.Float32()
	}
	return g, kept.Sparse(), z
}

// compressed returns CᵀWC without its diagonal, where Cᵀ averages over the clusters.
func compressed(members *mat.CSR, w *mat.Dense) *mat.Dense {
	c := members.Dense()
	for a := range c.Rows {
		size := 0
		for _, v := range c.Row(a) {
			size += int(v)
		}
		for v := range c.Row(a) {
			c.Row(a)[v] /= float32(size)
		}
	}
	var half, all mat.Dense
	mat.Mul(&half, c, w)
	mat.MulTB(&all, &half, c)
	for a := range all.Rows {
		all.Row(a)[a] = 0
	}
	return &all
}

// TestAdjacency compares A′ with products of dense matrices.
func TestAdjacency(t *testing.T) {
	g, members, _ := clustered(t)
	q, want := newQuotient(g, members), compressed(members, learntest.Written(t, g, graph.Symmetric))
	learntest.Close(t, "A′", q.compress(slices.Values(q.entries)), want, rounding)
}

// TestClassGraphs compares the graphs of the classes with dense matrices whose entries are sorted by their scores. The
// scores of (u, v) and (v, u) are equal, so an edge remains only if the share has room for both entries.
func TestClassGraphs(t *testing.T) {
	g, members, z := clustered(t)
	n := g.Nodes()
	w, p, degree := learntest.Written(t, g, graph.Symmetric), softmax(z), make([]float64, n)
	entries := 0
	for u := range n {
		for v := range n {
			if w.Row(u)[v] == 0 {
				continue
			}
			entries++
			zu, zv := z.Row(u), z.Row(v)
			w.Row(u)[v] *= float32(dot(zu, zv) / math.Sqrt(dot(zu, zu)*dot(zv, zv)))
			degree[u] += float64(w.Row(u)[v])
		}
	}
	for _, want := range []int{entries, entries / 3} {
		graphs := newQuotient(g, members).classGraphs(z, (float64(want)+0.5)/float64(entries))
		for c, got := range graphs {
			type scored struct {
				u, v  int
				score float64
			}
			var list []scored
			for u := range n {
				for v, x := range w.Row(u) {
					if x != 0 {
						r := float64(x)/degree[u] + float64(x)/degree[v]
						list = append(list, scored{min(u, v), max(u, v), float64(p.Row(u)[c]) * float64(p.Row(v)[c]) * r})
					}
				}
			}
			slices.SortFunc(list, func(a, b scored) int {
				if math.Abs(a.score-b.score) > 1e-9 {
					return cmp.Compare(b.score, a.score)
				}
				return cmp.Or(cmp.Compare(a.u, b.u), cmp.Compare(a.v, b.v))
			})
			sparse := mat.NewDense(n, n)
			for i := 0; i < want; i++ {
				e := list[i]
				if i+1 == want && e.u != e.v && (i == 0 || list[i-1] != e) {
					break // the second of the two entries is beyond the share
				}
				sparse.Row(e.u)[e.v], sparse.Row(e.v)[e.u] = w.Row(e.u)[e.v], w.Row(e.v)[e.u]
			}
			learntest.Close(t, "class graph", got, compressed(members, sparse), rounding)
		}
	}
}

// TestSeries checks that many terms solve (I − αS)P = (1 − α)I.
func TestSeries(t *testing.T) {
	s := learntest.Symmetric(5, rand.New(rand.NewPCG(1, 1)))
	for i := range s.Data {
		s.Data[i] /= 5 // so that the eigenvalues are below 1
	}
	m := clustGDD{CondensedTerms: 100, Alpha: 0.8}
	p := m.series(s)
	var sp mat.Dense
	mat.Mul(&sp, s, p)
	want := mat.NewDense(5, 5)
	for i := range 5 {
		want.Row(i)[i] = 0.2
	}
	for i := range p.Data {
		p.Data[i] -= 0.8 * sp.Data[i]
	}
	learntest.Close(t, "(I − αS)P", p, want, rounding)
	m.CondensedTerms = 1
	learntest.Close(t, "one term", m.series(s), want, 0)
}

// TestGradient compares gradients with central differences, and the loss with plain loops over the definition.
func TestGradient(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 3))
	matrix := func(rows, cols int) *mat.Dense { return mattest.Normal(rows, cols, random) }
	m := New().(clustGDD)
	m.Consistency, m.Temperature, m.LabelWeight = 0, 0.5, 0.7
	r := refinement{
		clustGDD: m, h: matrix(5, 4), labels: []int32{0, 1, 2, 0, 1}, x: matrix(4, 4), y: []int32{0, 1, 2, 2}, classes: 3,
		maps: []*mat.Dense{matrix(4, 4), matrix(4, 4), matrix(4, 4)},
	}
	c := learn.NewWeights(4, 6, 3).Draw(rand.NewPCG(4, 4))
	tape := autodiff.NewTape()
	for k, p := range append(c.All(), r.x) {
		// The error is step² times the third derivative, plus float32 rounding divided by the step.
		learntest.Differences(t, "parameter", p, nil, 1.0/64, 1e-2, func() (float64, *mat.Dense, *mat.Dense) {
			loss, gradients := r.gradient(autodiff.NewTape(), c)
			return loss, gradients[k], nil
		})
	}
	without, _ := r.gradient(tape, c)
	plain, own := gnn.CrossEntropy(logits(c, r.h), r.labels, 1), 0.0
	for _, s := range r.maps {
		f := new(mat.Dense)
		mat.Mul(f, s, r.x)
		own += gnn.CrossEntropy(logits(c, f), r.y, 1)
	}
	mattest.Near(t, without, plain+0.7*own, 1e-5, "the loss is")
	r.Consistency = 0.3
	with, _ := r.gradient(tape, c)
	var p []*mat.Dense
	for _, s := range r.maps {
		f := new(mat.Dense)
		mat.Mul(f, s, r.x)
		p = append(p, softmax(logits(c, f)))
	}
	want := 0.0
	for i := range 4 {
		var squares [3]float64
		total := 0.0
		for j := range squares {
			mean := (float64(p[0].Row(i)[j]) + float64(p[1].Row(i)[j]) + float64(p[2].Row(i)[j])) / 3
			squares[j] = mean * mean // 1/Temperature is 2
			total += squares[j]
		}
		for j, q := range squares {
			for class := range p {
				want += 0.3 * 0.5 / 3 * math.Pow(float64(p[class].Row(i)[j])-q/total, 2)
			}
		}
	}
	mattest.Near(t, with-without, want, 1e-5, "the consistency adds")
}

// TestPretrain checks that the kept epoch predicts at least as many validation nodes correctly as the last one, and
// more than the initial weights.
func TestPretrain(t *testing.T) {
	g := learntest.Begin(t).Graph
	blind := *g
	blind.Split.Val = nil // the last epoch counts
	m := New().(clustGDD)
	accuracy := func(g *graph.Graph, epochs int, rate float64) float64 {
		m.PretrainEpochs, m.Rate = epochs, rate
		_, z, err := m.pretrain(t.Context(), g, 1, rand.NewPCG(3, 3))
		mattest.OK(t, err)
		return gnn.Accuracy(&mat.Dense{Rows: 18, Cols: 3, Data: z.Data[30*3:]}, g.Y[30:])
	}
	kept, last, first := accuracy(g, 30, 0.01), accuracy(&blind, 30, 0.01), accuracy(&blind, 1, 1e-9)
	if kept < last || kept <= first {
		t.Errorf("%v%% of the validation nodes are correct, %v%% in the last epoch and %v%% at first", kept, last, first)
	}
}

// TestRefinement checks that Δ is bounded by Adam's step sizes, and that F does not change without epochs.
func TestRefinement(t *testing.T) {
	g := learntest.Begin(t).Graph
	m := New().(clustGDD)
	m.Hidden, m.PretrainEpochs, m.Scale, m.FeatureRate = 8, 5, 1, 0.01
	m.Epochs = 0
	none := mattest.Must(m.Condense(t.Context(), g, 9, 1))
	m.Epochs = 4
	some := mattest.Must(m.Condense(t.Context(), g, 9, 1))
	h := mattest.Must(m.smooth(t.Context(), g, 1))
	var f mat.Dense
	mat.MulSparse(&f, none.Members, h)
	learntest.Close(t, "F", none.X, &f, rounding)
	var unit, largest float64 // the features are learnt in units of their mean row sum
	for _, v := range g.Split.Train {
		for _, x := range g.X.(*mat.Dense).Row(int(v)) {
			unit += float64(x) / float64(len(g.Split.Train))
		}
	}
	for i, x := range some.X.Data {
		largest = max(largest, math.Abs(float64(x-none.X.Data[i]))/unit)
	}
	if !(largest > 0.01 && largest < 0.0235) { // Adam's first steps are 0.01 each, and 0.001 from half of the epochs on
		t.Errorf("Δ is at most %v, want about 0.022", largest)
	}
}

// TestDiverges checks that a loss that is not finite causes an error that contains the epoch.
func TestDiverges(t *testing.T) {
	m := New().(clustGDD)
	m.Hidden, m.Rate = 4, 1e30
	mattest.Fails(t, "the loss of epoch 2 of step pretrain is ")(m.Condense(t.Context(), learntest.Begin(t).Graph, 9, 1))
	one := []int32{0}
	r := refinement{clustGDD: m, h: mat.NewDense(1, 2), labels: one, x: mat.NewDense(1, 2), y: one, classes: 1}
	r.h.Data[0] = float32(math.Inf(1))
	mattest.WantError(t, r.run(t.Context(), rand.NewPCG(1, 1)), "epoch 1 of step refine is NaN")
}

// TestRefusals checks that a parameter out of range causes an error that contains its value.
func TestRefusals(t *testing.T) {
	g := learntest.Begin(t).Graph
	for words, change := range map[string]func(*clustGDD){
		"terms 0, must be at least 1":                              func(m *clustGDD) { m.Terms = 0 },
		"condensed terms -1, must be at least 1":                   func(m *clustGDD) { m.CondensedTerms = -1 },
		"alpha 1, must be at least 0 and below 1":                  func(m *clustGDD) { m.Alpha = 1 },
		"dropout NaN, must be at least 0 and below 1":              func(m *clustGDD) { m.Dropout = math.NaN() },
		"temperature 0, must be above 0":                           func(m *clustGDD) { m.Temperature = 0 },
		"edge share 1.5, must be from 0 to 1":                      func(m *clustGDD) { m.EdgeShare = 1.5 },
		"lr feat +Inf, must be above 0":                            func(m *clustGDD) { m.FeatureRate = math.Inf(1) },
		"clustgdd on 48 nodes with 6 features and 3 classes needs": func(m *clustGDD) { m.Memory = 8 },
		"hidden 0, must be at least 1\npretrain epochs 0":          func(m *clustGDD) { m.Hidden, m.PretrainEpochs = 0, 0 },
	} {
		m := New().(clustGDD)
		change(&m)
		mattest.Fails(t, words)(m.Condense(t.Context(), g, 9, 0))
		mattest.WantError(t, m.Check(g, 9), words)
	}
}
