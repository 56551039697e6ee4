package model_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/experiment/model"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// trained returns a model that was trained for a few epochs on a condensed demo graph with the given settings.
func trained(t *testing.T, kind gnn.Model, change func(*cgc.Config)) (*model.Model, *gnn.Result) {
	t.Helper()
	config := cgc.Defaults()
	config.Nodes = 14
	change(&config)
	small := mattest.Must(cgc.Condense(t.Context(), synth.Demo(), config))
	training := gnn.Defaults()
	training.Epochs, training.Hidden = 5, 9
	e := experiment.Evaluation{Models: []gnn.Model{kind}, Training: training, Trainings: 2}
	best := mattest.Must(e.Best(t.Context(), small, synth.Demo()))
	return model.Of(small, best), best
}

// TestFile checks for each model that a file keeps everything, and that the predictions are those of the training.
func TestFile(t *testing.T) {
	for _, kind := range gnn.All() {
		t.Run(kind.Name(), func(t *testing.T) {
			m, result := trained(t, kind, func(c *cgc.Config) {
				c.Standardize, c.NormalizeFeatures = kind.Name() != "gcn", kind.Name() == "gcn"
			})
			path := filepath.Join(t.TempDir(), "model.safetensors")
			mattest.OK(t, m.Save(t.Context(), path))
			again := mattest.Must(model.Load(path))
			if !reflect.DeepEqual(again, m) {
				t.Fatalf("the file has %+v, want %+v", again, m)
			}
			g := synth.Demo()
			p := mattest.Must(again.Probabilities(t.Context(), g))
			for at, i := range g.Split.Test {
				row, sum := p.Row(int(i)), 0.0
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

// TestBest checks that the better of two trainings is kept.
func TestBest(t *testing.T) {
	small := mattest.Must(cgc.Condense(t.Context(), synth.Demo(), func() cgc.Config {
		c := cgc.Defaults()
		c.Nodes = 14
		return c
	}()))
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

// TestRefuses checks the errors about files and graphs that do not fit.
func TestRefuses(t *testing.T) {
	m, _ := trained(t, gnn.GCN(), func(*cgc.Config) {})
	g := *synth.Demo()
	g.X = mat.NewDense(g.Nodes(), 5)
	mattest.Fails(t, "has 5 features, must have the 96 of graph demo")(m.Probabilities(t.Context(), &g))
	write := func(change func()) string {
		t.Helper()
		path := filepath.Join(t.TempDir(), "model.safetensors")
		kept := *m.Trained
		change()
		mattest.OK(t, m.Save(context.Background(), path))
		*m.Trained = kept
		return path
	}
	hidden := write(func() { m.Hidden = 10 })
	mattest.Fails(t, `tensor "convs.0.lin.weight" has the shape [9 96], must have [10 96]`)(model.Load(hidden))
	huge := write(func() { m.Hidden = 1 << 40 })
	mattest.Fails(t, "must be 1 to 16777216")(model.Load(huge))
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
