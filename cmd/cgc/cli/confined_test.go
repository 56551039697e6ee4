package cli_test

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/stored"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/npy"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/confine"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/paneled"
	"github.com/graph-condensation/cgc/internal/slow"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// wide returns a graph of n nodes. Node v has the neighbours v ± s, with the same random steps s for all nodes. With
// many steps, two hops from the training nodes reach all nodes.
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

// TestCondensesWithinMemory checks that the command can condense a graph several times larger than the memory of its
// control group, which also counts pages of files. The output equals that of an unlimited run.
func TestCondensesWithinMemory(t *testing.T) {
	slow.Test(t, "it makes graphs of 240 MB")
	dir := t.TempDir()
	g := wide(330_000, 16, 120)
	for _, c := range []struct {
		name  string
		g     *graph.Graph
		limit int64
		width int // of a panel; 0 stores rows
		as    mat.Storage
	}{
		{"rows", g, 100 << 20, 0, ""},
		{"panels", g, 60 << 20, 16, mat.F32},
		{"panels of 16 bits", g, 60 << 20, 15, mat.F16},
		{"edges of 107 MB", wide(330_000, 40, 100), 90 << 20, 16, mat.F16},
	} {
		t.Run(c.name, func(t *testing.T) {
			file, small := filepath.Join(dir, "graph.safetensors"), filepath.Join(dir, "small.safetensors")
			whole := *c.g
			if c.width > 0 {
				whole.X = mattest.Must(paneled.Copy(c.g.X, c.width, c.as))
			}
			onDisk(t, file, &whole)
			u, err := confined(t, c.limit, nil, "cgc", "condense", file, "--method", "cgc", "--nodes",
				"40", "--memory", fmt.Sprint(c.limit)+"B", "-o", small, "--force", "--json")
			mattest.OK(t, err)
			tell(t, u, file)
			config := cgc.Defaults()
			config.Nodes, config.Memory = 40, c.limit
			whole.Mapped = true
			plan := mattest.Must(cgc.Expect(&whole, config))
			said, read := plan.Propagation.Read+plan.Propagation.Scratch, int64(0)
			for _, p := range u.Phases {
				if p.Name == "propagate" {
					read = p.Read + p.Written
				}
			}
			t.Logf("the plan says %.1f MB read and %.1f MB through files, in %d passes", float64(plan.Propagation.Read)/1e6,
				float64(plan.Propagation.Scratch)/1e6, plan.Propagation.Passes)
			if read > 2*said { // usually 1.0 to 1.2 because of discarded read-ahead; more on a busy machine
				t.Errorf("propagation read and wrote %d bytes, and the plan said %d", read, said)
			}
			whole.Mapped, config.Memory = false, 0
			want := mattest.Must(cgc.Condense(t.Context(), &whole, config))
			got := mattest.Must(cgc.Load(small))
			got.Config = want.Config
			mattest.True(t, bytes.Equal(saved(t, got), saved(t, want)), "another file than without a bound")
		})
	}
}

// TestCondensesEmbeddingsWithinMemory checks that the command can merge and condense embeddings several times larger
// than the memory of its control group, as the driver of a cluster does. The output equals that of an unlimited run.
func TestCondensesEmbeddingsWithinMemory(t *testing.T) {
	slow.Test(t, "it makes embeddings of 120 MB")
	const limit = 64 << 20
	dir := t.TempDir()
	g := wide(100_000, 2, 100)
	g.Split = graph.Split{Train: memory.Range(0, g.Nodes())}
	origin := stored.Origin{Rule: propagate.SGC, Hops: 2}
	merge, merged := []string{"cgc", "propagate", "--merge"}, filepath.Join(dir, "merged.safetensors")
	for _, cut := range [][2]int{{0, 48}, {48, g.Features()}} {
		f := mattest.Must(stored.Compute(t.Context(), blocked.Engine{}, origin, g, cut[0], cut[1]))
		part := filepath.Join(dir, fmt.Sprintf("part-%d.safetensors", cut[0]))
		mattest.OK(t, f.Write(t.Context(), part))
		mattest.OK(t, confine.Forget(part))
		merge = append(merge, part)
	}
	u := mattest.Must(confined(t, limit, nil, append(merge, "-o", merged)...))
	tell(t, u, merged)
	mattest.OK(t, confine.Forget(merged))
	var results [][]byte
	for _, flag := range []string{"--memory=" + strconv.Itoa(limit) + "B", "--memory=4GB"} {
		out, bound := filepath.Join(dir, "small.safetensors"), int64(limit)
		if len(results) > 0 {
			bound = 4e9
		}
		u, err := confined(t, bound, nil, "cgc", "condense", "--embeddings", merged, "--nodes", "60",
			"--augment", "0.2", "--standardize=false", flag, "-o", out, "--force")
		mattest.OK(t, err)
		tell(t, u, merged)
		small := mattest.Must(cgc.Load(out))
		small.Config = nil // it records --memory
		results = append(results, saved(t, small))
	}
	mattest.True(t, bytes.Equal(results[0], results[1]), "another file than without a bound")
}

// TestConvertsWithinMemory checks that the command can convert text and arrays several times larger than the memory of
// its control group. The output equals that for the same graph in memory.
func TestConvertsWithinMemory(t *testing.T) {
	slow.Test(t, "it makes graphs of 300 MB")
	for _, c := range []struct {
		name     string
		nodes    int
		limit    int64
		from     func(t *testing.T, g *graph.Graph, dir string)
		expected int64 // minimum size of the files in bytes
	}{
		{"text", 150_000, 80 << 20, writeText, 3 * 80 << 20},
		{"OGB's arrays", 340_000, 80 << 20, writeArrays, 4 * 80 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			g := wide(c.nodes, 16, 120)
			from := filepath.Join(dir, "wide")
			to, want := filepath.Join(dir, "to.safetensors"), filepath.Join(dir, "want.safetensors")
			mattest.OK(t, os.MkdirAll(filepath.Join(from, "raw"), 0o755))
			c.from(t, g, from)
			mattest.OK(t, dataset.Write(t.Context(), want, g))
			size := int64(0)
			for _, folder := range []string{from, filepath.Join(from, "raw")} {
				files, _ := filepath.Glob(filepath.Join(folder, "*.*"))
				for _, file := range files {
					mattest.OK(t, confine.Forget(file))
					size += mattest.Must(os.Stat(file)).Size()
				}
			}
			if size < c.expected {
				t.Fatalf("the files hold %d bytes, want %d", size, c.expected)
			}
			u := mattest.Must(confined(t, c.limit, nil, "cgc", "convert", from, to, "--memory", fmt.Sprint(c.limit)+"B"))
			t.Logf("%.0f MB of files", float64(size)/1e6)
			tell(t, u, to)
			mattest.True(t, sameContents(t, to, want), "another file than that of the graph in memory")
		})
	}
}

// sameContents reports whether two files contain the same bytes.
func sameContents(t *testing.T, one, other string) bool {
	t.Helper()
	return bytes.Equal(mattest.Must(os.ReadFile(one)), mattest.Must(os.ReadFile(other)))
}

// writeText writes g as a folder of CSV files.
func writeText(t *testing.T, g *graph.Graph, dir string) {
	t.Helper()
	x := g.X.(*mat.Dense)
	part := make([]string, g.Nodes())
	for _, p := range []struct {
		name  string
		nodes []int32
	}{{"train", g.Split.Train}, {"val", g.Split.Val}, {"test", g.Split.Test}} {
		for _, v := range p.nodes {
			part[v] = p.name
		}
	}
	for name, row := range map[string]func(line []byte, v int) []byte{
		"edges.csv": func(line []byte, v int) []byte {
			for _, u := range g.Adj.Indices[g.Adj.Indptr[v]:g.Adj.Indptr[v+1]] {
				line = fmt.Appendf(line, "%d,%d\n", v, u)
			}
			return line
		},
		"features.csv": func(line []byte, v int) []byte {
			for _, f := range x.Row(v) {
				line = append(strconv.AppendFloat(line, float64(f), 'g', -1, 32), ',')
			}
			line[len(line)-1] = '\n'
			return line
		},
		"labels.csv": func(line []byte, v int) []byte { return fmt.Appendf(line, "%d,%s\n", g.Y[v], part[v]) },
	} {
		var text []byte
		for v := range g.Nodes() {
			text = row(text, v)
		}
		mattest.OK(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
}

// writeArrays writes g as OGB's data.npz, uncompressed.
func writeArrays(t *testing.T, g *graph.Graph, dir string) {
	t.Helper()
	n, entries := g.Nodes(), g.Adj.NNZ()
	from, to := make([]int64, 0, entries), make([]int64, 0, entries)
	for v := range n {
		for _, u := range g.Adj.Indices[g.Adj.Indptr[v]:g.Adj.Indptr[v+1]] {
			from, to = append(from, int64(v)), append(to, int64(u))
		}
	}
	labels := make([]float32, n)
	for v, c := range g.Y {
		labels[v] = float32(c)
	}
	for name, arrays := range map[string][]format.Array{
		"data.npz": {
			{Name: "edge_index", Shape: []int{2, entries}, Data: append(from, to...)},
			{Name: "node_feat", Data: g.X}, {Name: "num_nodes_list", Data: []int64{int64(n)}},
		},
		"node-label.npz": {{Name: "node_label", Shape: []int{n, 1}, Data: labels}},
	} {
		file := mattest.Must(os.Create(filepath.Join(dir, "raw", name)))
		z := zip.NewWriter(file)
		for _, a := range arrays {
			w := mattest.Must(z.CreateHeader(&zip.FileHeader{Name: a.Name + ".npy", Method: zip.Store}))
			mattest.OK(t, npy.Write(w, a, mat.F32))
		}
		mattest.OK(t, errors.Join(z.Close(), file.Close()))
	}
	split := filepath.Join(dir, "split", "time")
	mattest.OK(t, os.MkdirAll(split, 0o755))
	for name, nodes := range map[string][]int32{"train": g.Split.Train, "valid": g.Split.Val, "test": g.Split.Test} {
		var text []byte
		for _, v := range nodes {
			text = fmt.Appendln(text, v)
		}
		mattest.OK(t, os.WriteFile(filepath.Join(split, name+".csv"), text, 0o600))
	}
}

// saved returns the bytes of a condensed graph saved to a file.
func saved(t *testing.T, small *condense.Condensed) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "small.safetensors")
	mattest.OK(t, small.Save(t.Context(), path))
	return mattest.Must(os.ReadFile(path))
}

// tell logs the cost of a run that read or wrote a file.
func tell(t *testing.T, u confine.Usage, file string) {
	t.Helper()
	t.Logf("file %d bytes: %+v", mattest.Must(os.Stat(file)).Size(), u)
}

// TestEvaluatesWithinMemory checks that the command can test a GCN on a graph larger than the memory of its control
// group. The accuracies equal those of an unlimited run on the same features stored by rows. The results contain the
// plan, and the process keeps to it.
func TestEvaluatesWithinMemory(t *testing.T) {
	slow.Test(t, "it makes a graph of 200 MB")
	const limit = 128 << 20
	dir := t.TempDir()
	file, found := filepath.Join(dir, "graph.safetensors"), filepath.Join(dir, "found.json")
	g := wide(330_000, 16, 120)
	stored := *g
	stored.X = mattest.Must(paneled.Copy(g.X, 16, mat.F32))
	mattest.OK(t, dataset.Write(t.Context(), file, &stored))
	config := cgc.Defaults()
	config.Nodes = 40
	small := mattest.Must(cgc.Condense(t.Context(), g, config))
	condensed := filepath.Join(dir, "small.safetensors")
	mattest.OK(t, small.Save(t.Context(), condensed))
	mattest.OK(t, confine.Forget(file))
	line := []string{
		"cgc", "evaluate", condensed, "--on", file, "--memory", fmt.Sprint(limit) + "B", "--seeds", "2", "--epochs", "20",
		"--hidden", "32", "--json",
	}
	u := mattest.Must(confined(t, limit, nil, append([]string{"sh", "-c", `exec "$@" > "$0"`, found}, line...)...))
	tell(t, u, file)
	var r struct {
		Results []struct {
			ValMean  float64 `json:"val_mean"`
			TestMean float64 `json:"test_mean"`
		}
		Testing struct {
			Models []struct {
				Passes   [2]int
				Expected struct {
					Memory int64 `json:"memory_bytes"`
				}
			}
		}
	}
	text := mattest.Must(os.ReadFile(found))
	mattest.OK(t, json.Unmarshal(text, &r))
	evaluation := experiment.Evaluation{Models: []gnn.Model{gnn.GCN()}, Training: gnn.Defaults(), Trainings: 2}
	evaluation.Training.Epochs, evaluation.Training.Hidden, evaluation.Training.Weighted = 20, 32, true
	want := mattest.Must(evaluation.Run(t.Context(), small, g))
	val, _ := want[0].ValMean()
	test, _ := want[0].TestMean()
	mattest.True(t, len(r.Results) == 1 && r.Results[0].ValMean == val && r.Results[0].TestMean == test,
		"%+v, want validation %v and test %v", r.Results, val, test)
	if m := r.Testing.Models; len(m) != 1 || m[0].Passes[0] < 2 || m[0].Expected.Memory > limit {
		t.Errorf("plan %+v, want several passes within %d bytes", r.Testing, limit)
	}
}

// TestRefusesTooLittleMemory checks that a limit that is too small is rejected before any computation, and that the
// error names the smallest limit that works.
func TestRefusesTooLittleMemory(t *testing.T) {
	slow.Test(t, "it makes a graph of 200 MB")
	dir := t.TempDir()
	file, small := filepath.Join(dir, "graph.safetensors"), filepath.Join(dir, "small.safetensors")
	mattest.OK(t, dataset.Write(t.Context(), file, wide(80_000, 4, 300)))
	run := func(bound string, args ...string) (out, said string, err error) {
		var stdout, stderr strings.Builder
		cmd := exec.CommandContext(t.Context(), "cgc", append(args, "--quiet", "--memory", bound)...)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err = cmd.Run()
		return stdout.String(), stderr.String(), err
	}
	least := func(args ...string) string {
		t.Helper()
		_, said, err := run("1MB", args...)
		found := regexp.MustCompile(`at least (\d+)(MB)?`).FindStringSubmatch(said)
		if err == nil || found == nil {
			t.Fatalf("%v: %s", err, said)
		}
		return found[1] + cmp.Or(found[2], "B")
	}
	condense := []string{"condense", file, "--nodes", "40", "-o", small}
	if _, said, err := run(least(condense...), condense...); err != nil {
		t.Fatal(err, said)
	}
	evaluate := []string{"evaluate", small, "--on", file, "--epochs", "10", "--seeds", "1"}
	bound := least(evaluate...)
	out, said, err := run(bound, append(evaluate, "--dry-run")...)
	if err != nil || !strings.Contains(out, "plan of testing gcn") {
		t.Fatal(err, out, said)
	}
	if out, said, err = run(bound, evaluate...); err != nil || !strings.Contains(out, "testing within") {
		t.Fatal(err, out, said)
	}
}
