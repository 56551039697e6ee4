package synth_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/native"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/paneled"
	"github.com/graph-condensation/cgc/internal/slow"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
)

// written returns the bytes of the file to which a graph of the shape is streamed.
func written(t *testing.T, s synth.Shape, seed uint64, o format.Storing) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "g.safetensors")
	g := mattest.Must(synth.Stream(t.Context(), s, rand.NewPCG(seed, 0)))
	mattest.Must(native.Format.WriteStream(t.Context(), path, g, o))
	content := mattest.Must(os.ReadFile(path))
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("beside the file stand %v", left)
	}
	return content
}

// TestStreamIsMake checks that the file of a stream equals the file of the graph made in memory, for any memory limit
// for sorting.
func TestStreamIsMake(t *testing.T) {
	for i, s := range []synth.Shape{
		like(t, "arxiv").Scale(0.01), like(t, "products").Scale(0.0005), like(t, "papers100m").Scale(0.00003),
		synth.DemoShape(),
		{Nodes: 200, Edges: 1900, Features: 3, Classes: 2, Train: 10}, // more must be drawn
		{Nodes: 200, Edges: 0, Features: 3, Classes: 2, Train: 10, Name: "none"},
	} {
		g := made(t, s, 3)
		dense := g.X
		kept := []format.Storing{
			{Memory: 1 << 20}, {Memory: 1 << 40}, {Width: 16, Storage: mat.F16, Memory: 1 << 21},
			{Storage: mat.BF16, Memory: 1 << 30}, {Width: 2, Storage: mat.F32, Memory: 1 << 30},
		}
		if i > 0 {
			kept = kept[:1]
		}
		if (i == 1 || i == 2) && !slow.On() {
			continue // the larger graphs
		}
		for _, o := range kept {
			g.X = dense
			if o.Storage != "" {
				g.X = mattest.Must(paneled.Copy(dense, o.Width, o.Storage))
			}
			path := filepath.Join(t.TempDir(), "g.safetensors")
			mattest.OK(t, dataset.Write(t.Context(), path, g))
			want := mattest.Must(os.ReadFile(path))
			if got := written(t, s, 3, o); !bytes.Equal(got, want) {
				t.Errorf("%+v: the file of the stream (%d bytes) is another than that of the graph (%d), kept as %+v",
					s, len(got), len(want), o)
			}
		}
	}
}

// TestPartialLabels checks that in a partial shape exactly the nodes of the split have labels.
func TestPartialLabels(t *testing.T) {
	for _, name := range []string{"papers100m", "mag240m"} {
		s := like(t, name).Scale(0.00005)
		g := made(t, s, 1)
		labelled := 0
		for _, y := range g.Y {
			if y != graph.Unlabelled {
				labelled++
			}
		}
		if want := s.Train + s.Val + s.Test; labelled != want || want > s.Nodes/10 || g.Validate(t.Context()) != nil {
			t.Errorf("%s: %d nodes of %d have labels, want %d; %v", name, labelled, s.Nodes, want, g.Validate(t.Context()))
		}
	}
}

// TestMakeStops checks that each stage ends with its context.
func TestMakeStops(t *testing.T) {
	s := like(t, "arxiv").Scale(0.05)
	stages := map[string]bool{}
	ctx := progress.With(t.Context(), func(e progress.Event) { stages[e.Stage] = true })
	mattest.Must(synth.Make(ctx, s, rand.NewPCG(1, 0)))
	if len(stages) < 2 {
		t.Errorf("stages %v, want some", stages)
	}
	for stage := range stages {
		ctx, cancel := context.WithCancel(t.Context())
		ctx = progress.With(ctx, func(e progress.Event) {
			if e.Stage == stage {
				cancel()
			}
		})
		if _, err := synth.Make(ctx, s, rand.NewPCG(1, 0)); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled while %s: error %v", stage, err)
		}
	}
}

// TestStreamStops checks that a write that is cancelled in any stage leaves no file.
func TestStreamStops(t *testing.T) {
	s := like(t, "arxiv").Scale(0.01)
	for _, stage := range []string{"adding edges", "sorting edges", "writing edges", "writing features"} {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		ctx = progress.With(ctx, func(e progress.Event) {
			if e.Stage == stage {
				cancel()
			}
		})
		g, err := synth.Stream(ctx, s, rand.NewPCG(1, 0))
		mattest.OK(t, err)
		_, err = native.Format.WriteStream(ctx, filepath.Join(dir, "g.safetensors"), g, format.Storing{Memory: 1 << 20})
		if left, _ := os.ReadDir(dir); !errors.Is(err, context.Canceled) || len(left) > 0 {
			t.Errorf("cancelled while %s: error %v, left %v", stage, err, left)
		}
	}
}

func TestStreamRefuses(t *testing.T) {
	if _, err := synth.Stream(t.Context(), like(t, "cora"), rand.NewPCG(1, 0)); err == nil {
		t.Error("sparse features are streamed")
	}
}
