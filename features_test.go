package cgc_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/condense/auto"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/experiment/search"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/paneled"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
)

// onDisk reads features on demand from a file of little-endian float32, row by row.
type onDisk struct {
	rows, cols int
	file       io.ReaderAt
}

func (f onDisk) Dims() (rows, cols int) { return f.rows, f.cols }

func (f onDisk) ReadBlock(dst *mat.Dense, rows []int32, lo, hi int) error {
	dst.Reshape(len(rows), hi-lo)
	raw := make([]byte, 4*(hi-lo))
	for r, i := range rows {
		if _, err := f.file.ReadAt(raw, 4*(int64(i)*int64(f.cols)+int64(lo))); err != nil {
			return err
		}
		for j := range dst.Row(r) {
			dst.Row(r)[j] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*j:]))
		}
	}
	return nil
}

// The same feature values give the same bytes, wherever and in whatever type they are stored.
func TestFeaturesLiveAnywhere(t *testing.T) {
	g, _ := fewLabels(900, 70, 3, false, rand.New(rand.NewPCG(60, 0)))
	dense := g.X.(*mat.Dense)
	var raw []byte
	for i, v := range dense.Data {
		dense.Data[i] = math.Float32frombits(math.Float32bits(v) &^ 0xffff) // a bfloat16
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(dense.Data[i]))
	}
	panels := mattest.Must(paneled.Copy(dense, 16, mat.BF16))
	path := filepath.Join(t.TempDir(), "features")
	mattest.OK(t, os.WriteFile(path, raw, 0o666))
	file := mattest.Must(os.Open(path))
	defer file.Close()
	for name, change := range map[string]func(*cgc.Config){
		"defaults":     func(*cgc.Config) {},
		"no hops":      func(c *cgc.Config) { c.Hops = 0 },
		"ppr, memory":  func(c *cgc.Config) { c.Propagation, c.Teleport, c.Memory = "ppr", 0.3, 1 },
		"sage":         func(c *cgc.Config) { c.Propagation, c.Augment = "sage", 1 },
		"standardized": func(c *cgc.Config) { c.Standardize = true },
		"inductive":    func(c *cgc.Config) { c.Inductive, c.Standardize = true, true },
	} {
		config := configured(12, change)
		want := bytesOf(t, mustCondense(t, g, config))
		for _, x := range []mat.Matrix{panels, onDisk{dense.Rows, dense.Cols, file}} {
			other := *g
			other.X = x
			if !bytes.Equal(bytesOf(t, mustCondense(t, &other, config)), want) {
				t.Errorf("%s: other bytes from a %T", name, x)
			}
		}
	}
}

// Condense returns the error of a feature reader, whichever step it occurs in.
func TestErrorsOfFeaturesArePassedOn(t *testing.T) {
	g, _ := fewLabels(200, 9, 3, false, rand.New(rand.NewPCG(61, 0)))
	failed := errors.New("the disk is on fire")
	for reads := range int64(40) {
		other := *g
		other.X = &failing{g.X, reads, failed}
		config := configured(12, func(c *cgc.Config) { c.Standardize = reads%2 == 0 })
		if _, err := cgc.Condense(t.Context(), &other, config); err == nil {
			if reads < 4 {
				t.Errorf("no error after %d blocks", reads)
			}
			return
		} else if !errors.Is(err, failed) {
			t.Fatalf("after %d blocks: error %v", reads, err)
		}
	}
	t.Error("40 blocks are not enough")
}

// Every entry point rejects an invalid graph that was built by hand.
func TestInvalidGraphsAreRefused(t *testing.T) {
	for want, spoil := range map[string]func(*graph.Graph){
		"must be 0 to 39":           func(g *graph.Graph) { g.Adj.Indices[0] = 1 << 20 },
		"split train: must be 0 to": func(g *graph.Graph) { g.Split.Train = append(g.Split.Train, 40) },
		"must be 0 to 2":            func(g *graph.Graph) { g.Y[5] = 3 },
	} {
		g, _ := smallGraph(40, 7, 3, false, false, rand.New(rand.NewPCG(62, 0)))
		config := configured(6, nil)
		small := mattest.Must(cgc.Condense(t.Context(), g, config))
		spoil(g)
		mattest.Fails(t, "not valid", want)(cgc.Condense(t.Context(), g, config))
		mattest.Fails(t, "not valid", want)(cgc.Prepare(t.Context(), g, config))
		mattest.Fails(t, "not valid", want)(cgc.Expect(g, config))
		mattest.Fails(t, "not valid", want)(auto.New().Condense(t.Context(), g, 6, 0))
		under := condense.Under(condense.Setting{Standardize: true}, cgc.Defaults())
		mattest.Fails(t, "not valid", want)(under.Condense(t.Context(), g, 6, 0))
		models := []gnn.Model{gnn.SGC()}
		plan := experiment.Plan{Method: config, Size: config.Size, Training: gnn.Defaults(), Seeds: 1, Models: models}
		mattest.Fails(t, "not valid", want)(plan.Run(t.Context(), g))
		mattest.Fails(t, "not valid", want)(experiment.Grid{}.Run(t.Context(), g, nil))
		evaluation := experiment.Evaluation{Models: models, Training: gnn.Defaults(), Trainings: 1}
		mattest.Fails(t, "not valid", want)(evaluation.Run(t.Context(), small, g))
		space := search.Search{Space: search.DefaultSpace(), Trials: 1, Epochs: 1}
		mattest.Fails(t, "not valid", want)(space.Run(t.Context(), small, g))
	}
}

// AccountOf rejects the account of another method, whose keys it does not know.
func TestAccountOfAnotherMethod(t *testing.T) {
	other := &cgc.Condensed{Method: "auto", Account: []byte(`{"chosen":"cgc"}`)}
	mattest.Fails(t, `the graph was condensed by "auto", must be one of [cgc`)(cgc.AccountOf(other))
}

// failing holds features that can be read only a limited number of times.
type failing struct {
	mat.Matrix
	left int64
	err  error
}

func (f *failing) ReadBlock(dst *mat.Dense, rows []int32, lo, hi int) error {
	if atomic.AddInt64(&f.left, -1) < 0 {
		return f.err
	}
	return f.Matrix.ReadBlock(dst, rows, lo, hi)
}

// listening is an engine that records its inputs.
type listening struct{ asked *[]propagate.Input }

func (l listening) Embeddings(ctx context.Context, p propagate.Propagation, in propagate.Input) ([]mat.View, error) {
	*l.asked = append(*l.asked, in)
	return propagate.Plain{}.Embeddings(ctx, p, in)
}

// The input of an engine says whether features are mapped from a file. Features computed from them are in memory.
func TestEnginesAreToldOfMappedGraphs(t *testing.T) {
	g, _ := fewLabels(200, 9, 3, false, rand.New(rand.NewPCG(63, 0)))
	for _, mapped := range []bool{false, true} {
		for _, standardize := range []bool{false, true} {
			var asked []propagate.Input
			g.Mapped = mapped
			mustCondense(t, g, configured(12, func(c *cgc.Config) {
				c.Engine, c.Standardize = listening{&asked}, standardize
			}))
			if len(asked) != 1 {
				t.Fatalf("the engine was asked %d times, want once", len(asked))
			}
			if want := mapped && !standardize; asked[0].Mapped != want {
				t.Errorf("mapped %v, standardize %v: the engine is told %v", mapped, standardize, asked[0].Mapped)
			}
		}
	}
}
