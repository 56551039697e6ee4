package stored_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/stored"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/safetensors"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// compute returns the embeddings of g in columns lo to hi−1.
func compute(t testing.TB, o stored.Origin, g *graph.Graph, lo, hi int) *stored.File {
	t.Helper()
	return mattest.Must(stored.Compute(t.Context(), blocked.Engine{}, o, g, lo, hi))
}

// parts writes ranges of columns of g to separate files, and returns the paths.
func parts(t testing.TB, o stored.Origin, g *graph.Graph, cuts ...int) (paths []string) {
	t.Helper()
	for i := range cuts[1:] {
		path := filepath.Join(t.TempDir(), fmt.Sprintf("part-%d.safetensors", i))
		mattest.OK(t, compute(t, o, g, cuts[i], cuts[i+1]).Write(t.Context(), path))
		paths = append(paths, path)
	}
	return paths
}

// run returns the embeddings that an engine gives.
func run(t *testing.T, e propagate.Engine, o stored.Origin, in propagate.Input) []mat.View {
	t.Helper()
	return mattest.Must(propagate.Run(t.Context(), e, o.Propagation(), in))
}

// same checks that two lists of embeddings have the same bits.
func same(t *testing.T, got, want []mat.View, rows int) {
	t.Helper()
	for l := range want {
		for i := range rows {
			if !slices.Equal(want[l].Row(i), got[l].Row(i)) {
				t.Fatalf("hop %d of row %d differs", l, i)
			}
		}
	}
}

// Columns propagated separately and merged are bit-identical to columns from one process, in every setting.
func TestMergedIsWhole(t *testing.T) {
	g := synth.Demo()
	d := g.Features()
	for _, rule := range propagate.Rules() {
		for _, standardize := range []bool{false, true} {
			for _, inductive := range []bool{false, true} {
				o := stored.Origin{Rule: rule, Hops: 2, Teleport: 0.1, Setting: condense.Setting{
					NormalizeFeatures: inductive != standardize, Standardize: standardize, Inductive: inductive,
				}}
				paths := parts(t, o, g, 0, 7, d-3, d)
				merged := filepath.Join(t.TempDir(), "merged.safetensors")
				slices.Reverse(paths)
				mattest.OK(t, stored.Merge(t.Context(), merged, paths))
				f, want := mattest.Must(stored.Read(merged)), compute(t, o, g, 0, d)
				mattest.OK(t, f.Check(g))
				for l := range f.H {
					mattest.True(t, slices.Equal(f.H[l].Data, want.H[l].Data),
						"%s, standardize %v, inductive %v: hop %d differs", rule, standardize, inductive, l+1)
				}
			}
		}
	}
}

// The engine returns the file's embeddings for the training nodes, and an error for other rows or another propagation.
func TestEngine(t *testing.T) {
	g := synth.Demo()
	o := stored.Origin{Rule: propagate.SGC, Hops: 2}
	f := compute(t, o, g, 0, g.Features())
	p, in := o.Propagation(), propagate.Input{Adj: g.Adj, X: g.X, Rows: g.Split.Train}
	same(t, run(t, stored.Engine{File: f}, o, in), run(t, blocked.Engine{}, o, in), len(in.Rows))
	in.Rows = g.Split.Test
	mattest.Fails(t, "only training nodes")(propagate.Run(t.Context(), stored.Engine{File: f}, p, in))
	in.Rows, p.Hops = g.Split.Train, 3
	mattest.Fails(t, "hops 2")(propagate.Run(t.Context(), stored.Engine{File: f}, p, in))
}

// Embeddings above the memory limit are the same as without a limit, whether features come from the graph or from the
// file. The features may be scaled.
func TestEngineWithinMemory(t *testing.T) {
	whole := synth.Demo()
	for _, standardize := range []bool{false, true} {
		o := stored.Origin{Rule: propagate.SGC, Hops: 2, Setting: condense.Setting{
			NormalizeFeatures: standardize, Standardize: standardize,
		}}
		f := compute(t, o, whole, 0, whole.Features())
		alone := mattest.Must(f.Graph(t.Context()))
		for name, g := range map[string]*graph.Graph{"graph": whole, "file": alone} {
			t.Run(fmt.Sprintf("features of the %s, standardize %v", name, standardize), func(t *testing.T) {
				seen := mattest.First(o.Setting.Features(t.Context(), g))
				rows := seen.Split.Train
				in := propagate.Input{Adj: seen.Adj, X: seen.X, Rows: rows, Classes: seen.Labels(rows)}
				got := run(t, stored.Engine{File: f, Memory: 1 << 10}, o, in)
				same(t, got, run(t, stored.Engine{File: f}, o, in), len(rows))
			})
		}
	}
}

func TestRefuses(t *testing.T) {
	g := synth.Demo()
	d := g.Features()
	sgc := stored.Origin{Rule: propagate.SGC, Hops: 2}
	good := parts(t, sgc, g, 0, 8, d)
	other := parts(t, stored.Origin{Rule: propagate.SGC, Hops: 1}, g, 8, d)
	overlap := parts(t, sgc, g, 5, d)
	out := filepath.Join(t.TempDir(), "out.safetensors")
	for _, c := range []struct {
		paths []string
		want  string
	}{
		{good[:1], fmt.Sprintf("no file has columns 8:%d of %d", d, d)},
		{good[1:], "no file has columns 0:8"},
		{[]string{good[0], overlap[0]}, "both have column 5"},
		{[]string{good[0], other[0]}, "hops 2 and 1"},
		{nil, "no files"},
		{[]string{good[0], good[0]}, "both have column 0 of node"},
		{[]string{good[0], parts(t, sgc, g, 0, 9)[0]}, "both have column 0"},
	} {
		mattest.WantError(t, stored.Merge(t.Context(), out, c.paths), c.want)
		if _, err := os.Stat(out); err == nil {
			t.Error("a file was written")
		}
	}
	mattest.Fails(t, "must be an ascending range")(stored.Compute(t.Context(), blocked.Engine{}, sgc, g, 3, d+1))
	x := g.X.(*mat.Dense)
	changed := *g
	changed.X = &mat.Dense{Rows: x.Rows, Cols: x.Cols, Data: slices.Clone(x.Data)}
	changed.X.(*mat.Dense).Row(int(g.Split.Train[3]))[2]++
	f := mattest.Must(stored.Read(good[0]))
	mattest.WantError(t, f.Check(&changed), "feature 2 of training node")
	changed.X.(*mat.Dense).Row(int(g.Split.Train[3]))[2]--
	changed.X.(*mat.Dense).Row(0)[2]++ // node 0 is sampled, and does not train
	mattest.WantError(t, f.Check(&changed), "features other than those of graph demo")
	adj := *g.Adj
	changed.X, changed.Adj = g.X, &adj
	adj.Data = slices.Repeat([]float32{2}, len(adj.Indices))
	mattest.WantError(t, f.Check(&changed), "edges or weights other than those of graph demo")
}

// Damaged files are errors that name the file.
func TestDamaged(t *testing.T) {
	g := synth.Demo()
	path := parts(t, stored.Origin{Rule: propagate.SGC, Hops: 1}, g, 0, 4)[0]
	text := mattest.Must(os.ReadFile(path))
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		broken := slices.Clone(text)
		for range 3 {
			broken[random.IntN(900)] = byte(random.Uint32())
		}
		damaged := filepath.Join(t.TempDir(), "damaged.safetensors")
		mattest.OK(t, os.WriteFile(damaged, broken, 0o600))
		if _, err := stored.Read(damaged); err != nil && !strings.Contains(err.Error(), damaged) {
			t.Errorf("%v does not name the file", err)
		}
	}
	mattest.OK(t, safetensors.Write(t.Context(), path, nil, nil))
	mattest.Fails(t, "not a file of embeddings")(stored.Read(path))
}

// FuzzRead checks that reading a file of embeddings neither panics nor uses unbounded memory. A file that is read
// without an error is valid, and so is its graph.
func FuzzRead(f *testing.F) {
	path := parts(f, stored.Origin{Rule: propagate.SGC, Hops: 1}, synth.Demo(), 0, 2)[0]
	text := mattest.Must(os.ReadFile(path))
	f.Add(text)
	f.Add(text[:100])
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "part.safetensors")
		mattest.OK(t, os.WriteFile(path, text, 0o600))
		file, err := stored.Read(path)
		if err != nil {
			return
		}
		mattest.OK(t, file.Validate())
		if g, err := file.Graph(t.Context()); err == nil {
			mattest.OK(t, g.Validate(t.Context()))
		}
	})
}
