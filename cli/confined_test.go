package cli_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/confine"
	"github.com/graph-condensation/cgc/mat"
)

// A measurement of one's own graph: go test ./cli -run TestConfinedFigures -v -timeout 2h -confined.graph FILE
// -confined.memory 600000000 -confined.flags '--nodes 1238'.
var (
	confinedGraph  = flag.String("confined.graph", "", "condense this native `FILE` in a control group")
	confinedMemory = flag.Int64("confined.memory", 600e6, "memory of the group, `BYTES`")
	confinedFlags  = flag.String("confined.flags", "--nodes 1000", "flags of cgc condense, or cgc evaluate with its file")
	confinedOutput = flag.String("confined.output", "", "keep the condensed graph as `FILE`")
)

// wide returns a graph of n nodes in which node v is joined to v ± each of some steps, the same for all: all of it is
// within two hops of few nodes.
func wide(n, steps, features int) *graph.Graph {
	random := rand.New(rand.NewPCG(3, 0))
	var offsets []int
	for len(offsets) < 2*steps {
		if s := 1 + random.IntN(n/2-1); !slices.Contains(offsets, s) {
			offsets = append(offsets, s, n-s)
		}
	}
	adj := &mat.CSR{Rows: n, Cols: n, Indptr: make([]int64, n+1), Indices: make([]int32, 0, 2*steps*n)}
	for v := range n {
		for _, s := range offsets {
			adj.Indices = append(adj.Indices, int32((v+s)%n))
		}
		slices.Sort(adj.Indices[2*steps*v:])
		adj.Indptr[v+1] = int64(len(adj.Indices))
	}
	const classes = 8
	g := &graph.Graph{Name: "wide", Adj: adj, X: mat.NewDense(n, features), Y: make([]int32, n), Classes: classes}
	for v := range n {
		g.Y[v] = int32(v % classes)
		row := g.X.(*mat.Dense).Row(v)
		for j := range row {
			row[j] = random.Float32()
		}
		row[v%classes] += 0.5
		switch {
		case v%101 == 0:
			g.Split.Train = append(g.Split.Train, int32(v))
		case v%101 == 1:
			g.Split.Val = append(g.Split.Val, int32(v))
		case v%101 == 2:
			g.Split.Test = append(g.Split.Test, int32(v))
		}
	}
	return g
}

// The command condenses a graph that is several times larger than the memory of its control group, which counts the
// pages of files too. What it writes is what is condensed without a bound.
func TestCondensesWithinMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes graphs of 240 MB")
	}
	dir := t.TempDir()
	g := wide(330_000, 16, 120)
	for _, c := range []struct {
		name  string
		limit int64
		x     func() (mat.Matrix, error)
	}{
		{"rows", 100 << 20, func() (mat.Matrix, error) { return g.X, nil }},
		{"panels", 60 << 20, func() (mat.Matrix, error) { return mat.InPanels(g.X, 16, mat.F32) }},
		{"panels of 16 bits", 60 << 20, func() (mat.Matrix, error) { return mat.InPanels(g.X, 15, mat.F16) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			file, small := filepath.Join(dir, "graph.safetensors"), filepath.Join(dir, "small.safetensors")
			whole := *g
			var err error
			if whole.X, err = c.x(); err != nil {
				t.Fatal(err)
			}
			if err := dataset.Write(t.Context(), file, &whole); err != nil {
				t.Fatal(err)
			}
			if err := confine.Forget(file); err != nil {
				t.Fatal(err)
			}
			u, err := confine.Run(t.Context(), c.limit, nil, "cgc", "condense", file, "--nodes", "40", "--memory",
				fmt.Sprint(c.limit), "-o", small, "--force", "--json")
			if errors.Is(err, confine.ErrNone) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			tell(t, u, file, 0)
			config := cgc.Defaults()
			config.Nodes = 40
			want, err := cgc.Condense(t.Context(), &whole, config)
			if err != nil {
				t.Fatal(err)
			}
			got, err := cgc.Load(small)
			if err != nil {
				t.Fatal(err)
			}
			got.Config, got.Seconds, want.Seconds = want.Config, condense.Seconds{}, condense.Seconds{}
			if !bytes.Equal(saved(t, got), saved(t, want)) {
				t.Error("another file than without a bound")
			}
		})
	}
}

// saved returns the bytes of the file of a condensed graph.
func saved(t *testing.T, small *condense.Condensed) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "small.safetensors")
	if err := small.Save(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestConfinedFigures measures the graph of -confined.graph.
func TestConfinedFigures(t *testing.T) {
	if *confinedGraph == "" {
		t.Skip("no -confined.graph")
	}
	output := *confinedOutput
	if output == "" {
		output = filepath.Join(t.TempDir(), "small.safetensors")
	}
	if err := confine.Forget(*confinedGraph); err != nil {
		t.Fatal(err)
	}
	rate := diskRate(t, *confinedGraph)
	if err := confine.Forget(*confinedGraph); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"cgc", "condense", *confinedGraph, "-o", output, "--force"}, strings.Fields(*confinedFlags)...)
	if rest, evaluate := strings.CutPrefix(*confinedFlags, "evaluate "); evaluate {
		args = append([]string{"cgc", "evaluate", "--on", *confinedGraph}, strings.Fields(rest)...)
	}
	args = append(args, "--memory", fmt.Sprint(*confinedMemory))
	u, err := confine.Run(t.Context(), *confinedMemory, nil, args...)
	tell(t, u, *confinedGraph, rate)
	if err != nil {
		t.Fatal(err)
	}
}

// diskRate returns the bytes a second at which the beginning of a file is read in order.
func diskRate(t *testing.T, path string) float64 {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	begun := time.Now()
	n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, io.LimitReader(file, 1<<30), make([]byte, 8<<20))
	if err != nil {
		t.Fatal(err)
	}
	return float64(n) / time.Since(begun).Seconds()
}

// tell logs what a run took. rate is that of the disk, 0 if it was not measured.
func tell(t *testing.T, u confine.Usage, file string, rate float64) {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "file %.1f MB, peak of the group %.1f MB, %.2f s, %.2f s of processors\n", float64(info.Size())/1e6,
		float64(u.Peak)/1e6, u.Seconds, u.Processor.Seconds())
	if rate > 0 {
		fmt.Fprintf(&b, "disk: %.0f MB/s in order\n", rate/1e6)
	}
	var all confine.Phase
	line := func(p confine.Phase) {
		fmt.Fprintf(&b, "%-20s %8.2f s %10.1f MB read (%.2f of the file) %10.1f MB written %8.0f MB/s", p.Name, p.Seconds,
			float64(p.Read)/1e6, float64(p.Read)/float64(info.Size()), float64(p.Written)/1e6, float64(p.Read)/1e6/p.Seconds)
		if rate > 0 {
			fmt.Fprintf(&b, ", %.0f%% of the disk's", 100*float64(p.Read)/p.Seconds/rate)
		}
		b.WriteByte('\n')
	}
	for _, p := range u.Phases {
		all.Seconds, all.Read, all.Written = all.Seconds+p.Seconds, all.Read+p.Read, all.Written+p.Written
		line(p)
	}
	all.Name = "all"
	line(all)
	t.Log(b.String())
}
