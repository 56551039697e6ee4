package model_test

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/experiment/model"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// saved returns the path of a new file with m.
func saved(t *testing.T, m *model.Model) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "model.safetensors")
	mattest.OK(t, m.Save(t.Context(), path))
	return path
}

// condensed returns the demo graph condensed to 14 nodes.
func condensed(t *testing.T, change func(*cgc.Config)) *condense.Condensed {
	t.Helper()
	config := cgc.Defaults()
	config.Nodes = 14
	change(&config)
	return mattest.Must(cgc.Condense(t.Context(), synth.Demo(), config))
}

// trained returns a model that was trained for a few epochs on a condensed demo graph with the given settings.
func trained(t *testing.T, kind gnn.Model, change func(*cgc.Config)) (*model.Model, *gnn.Result) {
	t.Helper()
	small := condensed(t, change)
	training := gnn.Defaults()
	training.Epochs, training.Hidden = 5, 9
	e := experiment.Evaluation{Models: []gnn.Model{kind}, Training: training, Trainings: 2}
	best := mattest.Must(e.Best(t.Context(), small, synth.Demo()))
	return model.Of(small, best), best
}

// TestFile checks for each model that a file keeps everything, and that the loaded model predicts the same as in
// training.
func TestFile(t *testing.T) {
	models := gnn.All()
	for _, name := range []string{"gcn:layers=3", "sgc:hops=3", "appnp:hops=4", "cheby:layers=3:order=1", "gat:heads=2"} {
		models = append(models, mattest.Must(gnn.Parse(name)))
	}
	for _, kind := range models {
		t.Run(kind.Name(), func(t *testing.T) {
			m, result := trained(t, kind, func(c *cgc.Config) {
				c.Standardize, c.NormalizeFeatures = kind.Name() != "gcn", kind.Name() == "gcn"
			})
			again := mattest.Must(model.Load(saved(t, m)))
			mattest.Equal(t, again, m, "model after reading")
			g := synth.Demo()
			p := mattest.Must(again.Probabilities(t.Context(), g, g.Split.Test, 0))
			for at, i := range g.Split.Test {
				row, sum := p.Row(at), 0.0
				for _, v := range row {
					sum += float64(v)
				}
				if class := slices.Index(row, slices.Max(row)); class != int(result.Predicted[at]) || math.Abs(sum-1) > 1e-5 {
					t.Fatalf("node %d: class %d with probabilities %v, the training predicted %d", i, class, row,
						result.Predicted[at])
				}
			}
		})
	}
}

// TestBest checks that the training run with the best validation accuracy is kept.
func TestBest(t *testing.T) {
	small := condensed(t, func(*cgc.Config) {})
	training := gnn.Defaults()
	training.Epochs, training.Hidden = 3, 4
	e := experiment.Evaluation{Models: []gnn.Model{gnn.SGC(), gnn.GCN()}, Training: training, Trainings: 3}
	best := mattest.Must(e.Best(t.Context(), small, synth.Demo()))
	for _, score := range mattest.Must(e.Run(t.Context(), small, synth.Demo())) {
		for _, v := range score.Val {
			if v > best.Validation {
				t.Errorf("%s reaches %v, and %s with %v was kept", score.Model, v, best.Model, best.Validation)
			}
		}
	}
}

// TestRefuses checks the errors for files and graphs that do not fit.
func TestRefuses(t *testing.T) {
	m, _ := trained(t, gnn.GCN(), func(*cgc.Config) {})
	g := *synth.Demo()
	for _, nodes := range [][]int32{{3, 3}, {4, 3}, {3, 4000}} {
		mattest.Fails(t, "at position 1 of the nodes, must ascend")(m.Probabilities(t.Context(), &g, nodes, 0))
	}
	g.X = mat.NewDense(g.Nodes(), 5)
	mattest.Fails(t, "has 5 features, must have the 96 of graph demo")(m.Probabilities(t.Context(), &g, g.Split.Test, 0))
	huge := mat.NewDense(g.Nodes(), m.Features)
	for i := range huge.Data {
		huge.Data[i] = math.MaxFloat32
	}
	g.X = huge
	mattest.Fails(t, "of node", "must be a finite number")(m.Probabilities(t.Context(), &g, g.Split.Test, 0))
	write := func(change func()) string {
		t.Helper()
		kept := *m.Trained
		defer func() { *m.Trained = kept }()
		change()
		return saved(t, m)
	}
	hidden := write(func() { m.Hidden = 10 })
	mattest.Fails(t, `tensor "convs.0.lin.weight" has the shape [9 96], must have [10 96]`)(model.Load(hidden))
	wide := write(func() { m.Hidden = 1 << 40 })
	mattest.Fails(t, "must be 1 to 16777216")(model.Load(wide))
	whole := write(func() {})
	text := mattest.Must(os.ReadFile(whole))
	other := filepath.Join(t.TempDir(), "other.safetensors")
	mattest.OK(t, os.WriteFile(other, []byte(strings.Replace(string(text), "cgc-model", "cgc-mxdel", 1)), 0o600))
	mattest.Fails(t, "not a trained model")(model.Load(other))
	mattest.OK(t, os.WriteFile(other, text[:len(text)-8], 0o600))
	mattest.Fails(t, other)(model.Load(other))
}

// FuzzLoad checks that no file makes Load panic.
func FuzzLoad(f *testing.F) {
	header := `{"__metadata__":{"format":"cgc-model","model":"{\"model\":\"gcn\",\"features\":1}"}}`
	f.Add(append([]byte{byte(len(header)), 0, 0, 0, 0, 0, 0, 0}, header...))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "model.safetensors")
		mattest.OK(t, os.WriteFile(path, data, 0o600))
		if m, err := model.Load(path); (m == nil) == (err == nil) {
			t.Errorf("%v, %v", m, err)
		}
	})
}

// arrivals returns two new nodes of demo, and their edges to known nodes and to each other.
func arrivals() (x *mat.Dense, edges *mat.CSR) {
	g := synth.Demo()
	x = new(mat.Dense)
	if err := mat.Rows(x, g.X, []int32{5, 900}); err != nil {
		panic(err)
	}
	n := g.Nodes()
	return x, &mat.CSR{
		Rows: 2, Cols: n + 2, Indptr: []int64{0, 3, 5}, Indices: []int32{10, 700, int32(n + 1), 3, int32(n)},
	}
}

// TestSummaryFile checks that a file keeps the summary up to the rounding of its numbers, that the groups contain nodes
// of one predicted class, and that new nodes are predicted as before.
func TestSummaryFile(t *testing.T) {
	m, _ := trained(t, gnn.GCN(), func(c *cgc.Config) { c.Standardize = true })
	g := synth.Demo()
	with := mattest.Must(m.Summarize(t.Context(), g, 0, 1))
	mattest.Equal(t, with.Known.Means[0].Rows, 400, "groups") // a tenth of the nodes
	class := make([]int32, with.Known.Means[0].Rows)
	for k := range class {
		class[k] = -1
	}
	p := mattest.Must(m.Probabilities(t.Context(), g, memory.Range(0, g.Nodes()), 0))
	for i, k := range with.Known.Group {
		y := int32(slices.Index(p.Row(i), slices.Max(p.Row(i))))
		if class[k] >= 0 && class[k] != y {
			t.Fatalf("group %d has nodes of the classes %d and %d", k, class[k], y)
		}
		class[k] = y
	}
	with.IDs = make([]string, g.Nodes())
	for i := range with.IDs {
		with.IDs[i] = strings.Repeat("x", i%3) + "é"
	}
	again := mattest.Must(model.Load(saved(t, with)))
	mattest.Equal(t, again.IDs, with.IDs, "ids after reading")
	mattest.Equal(t, again.Known.Group, with.Known.Group, "groups after reading")
	x, edges := arrivals()
	before := mattest.Must(with.New(t.Context(), x, nil, edges))
	after := mattest.Must(again.New(t.Context(), x, nil, edges))
	for j, want := range before.Data {
		mattest.Near(t, float64(after.Data[j]), float64(want), 1e-3, "probability after reading")
	}
	mattest.Fails(t, "1 names for 96 features")(with.New(t.Context(), x, []string{"a"}, edges))
	mattest.Fails(t, "no summary of a graph")(m.New(t.Context(), x, nil, edges))
}

// TestLargeSummary checks that numbers beyond the range of float16 survive.
func TestLargeSummary(t *testing.T) {
	m, _ := trained(t, gnn.SGC(), func(*cgc.Config) {})
	with := mattest.Must(m.Summarize(t.Context(), synth.Demo(), 20, 1))
	with.Known.Degree[3], with.Known.Means[1].Data[2] = 1e6, -7e4
	again := mattest.Must(model.Load(saved(t, with)))
	mattest.Equal(t, again.Known.Degree[3], 1e6, "degree after reading")
	mattest.Equal(t, again.Known.Means[1].Data[2], -7e4, "mean after reading")
}

// TestSummaryFileRefuses checks the errors for summaries that do not fit.
func TestSummaryFileRefuses(t *testing.T) {
	m, _ := trained(t, gnn.GCN(), func(*cgc.Config) {})
	whole := mattest.Must(m.Summarize(t.Context(), synth.Demo(), 20, 1))
	for sentence, change := range map[string]func(m *model.Model){
		"node 7 is in group 20, must be 0 to 19":                func(m *model.Model) { m.Known.Group[7] = 20 },
		`"known.degree" has the shape [3999], must have [4000]`: func(m *model.Model) { m.Known.Degree = m.Known.Degree[1:] },
		"node 2 has the degree -1, must be at least 0":          func(m *model.Model) { m.Known.Degree[2] = -1 },
		"1 ids, must be 4000":                                   func(m *model.Model) { m.IDs = []string{"a"} },
		`"known.means.1" has the shape [19 7]`: func(m *model.Model) {
			m.Known.Means[1] = &mat.Dense{Rows: 19, Cols: 7, Data: m.Known.Means[1].Data[7:]}
		},
	} {
		with := *whole
		known := *whole.Known
		known.Group, known.Degree = slices.Clone(known.Group), slices.Clone(known.Degree)
		known.Means = slices.Clone(known.Means)
		with.Known = &known
		change(&with)
		mattest.Fails(t, sentence)(model.Load(saved(t, &with)))
	}
	mattest.Fails(t, "groups 6, must be from 7 (the predicted classes) to 4000 (the nodes)")(
		m.Summarize(t.Context(), synth.Demo(), 6, 1))
}

// BenchmarkNew predicts one new node with a summary.
func BenchmarkNew(b *testing.B) {
	g, m := synth.Demo(), &model.Model{Trained: &gnn.Trained{Model: gnn.GCN(), Features: 96, Hidden: 256, Classes: 7}}
	m.Parameters = gnn.Initial(gnn.GCN(), 96, 256, 7, rand.NewPCG(1, 2))
	with := mattest.Must(m.Summarize(b.Context(), g, 400, 1))
	x, edges := arrivals()
	one, alone := &mat.Dense{Rows: 1, Cols: x.Cols, Data: x.Row(0)}, &mat.CSR{
		Rows: 1, Cols: g.Nodes() + 1, Indptr: []int64{0, 2}, Indices: edges.Indices[:2],
	}
	for b.Loop() {
		mattest.Must(with.New(b.Context(), one, nil, alone))
	}
}
