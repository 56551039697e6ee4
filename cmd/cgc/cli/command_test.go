package cli_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/cli"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/overview"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/confine"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/slow"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// ok runs a command line, which must succeed.
func ok(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	code, stdout, stderr := cli.RunLine(t, args...)
	if code != 0 {
		t.Fatalf("%q ends with %d: %s", args, code, stderr)
	}
	return stdout, stderr
}

// confined runs a program in a control group with a memory limit. It skips the test if no such group can be created.
func confined(t *testing.T, limit int64, environment []string, words ...string) (confine.Usage, error) {
	t.Helper()
	u, err := confine.Run(t.Context(), limit, environment, words...)
	if errors.Is(err, confine.ErrNone) {
		t.Skip(err)
	}
	return u, err
}

// onDisk writes a graph to a file and removes the file from the page cache.
func onDisk(t *testing.T, file string, g *graph.Graph) {
	t.Helper()
	mattest.OK(t, dataset.Write(t.Context(), file, g))
	mattest.OK(t, confine.Forget(file))
}

// TestSameBytes checks that the file of a condensed graph depends only on the graph and the configuration, in each
// format: two runs write the same bytes with any number of threads. --timings adds only the seconds.
func TestSameBytes(t *testing.T) {
	folder, again := t.TempDir(), t.TempDir()
	condensed := func(file string, more ...string) {
		t.Helper()
		ok(t, append([]string{"condense", "demo", "--method", "cgc", "--nodes", "70", "-o", file}, more...)...)
	}
	for _, extension := range []string{"safetensors", "pt", "npz", "graphml", "graphml.gz", "dgl"} {
		condensed(filepath.Join(folder, "small."+extension), "--threads", "1")
		condensed(filepath.Join(again, "small."+extension), "--threads", "3")
	}
	if slow.On() {
		ok(t, "condense", "demo", "--nodes", "70", "-o", filepath.Join(folder, "auto.safetensors"), "--threads", "1")
		ok(t, "condense", "demo", "--nodes", "70", "-o", filepath.Join(again, "auto.safetensors"), "--threads", "3")
	}
	first, second := filepath.Join(folder, "run.safetensors"), filepath.Join(again, "run.safetensors")
	condensed(first)
	ok(t, "run", "demo", "--method", "cgc", "--nodes", "70", "-o", second, "--seeds", "2", "--models", "sgc", "--epochs",
		"1", "--whole", "0")
	timed := filepath.Join(again, "timed.safetensors")
	condensed(timed, "--timings")
	small := mattest.Must(condense.Load(timed))
	mattest.True(t, small.Timed && small.Seconds.Total > 0 && small.Seconds.Of("propagate") > 0,
		"--timings writes the seconds %+v", small.Seconds)
	small.Timed = false
	mattest.OK(t, small.Save(t.Context(), timed))
	condensed(filepath.Join(folder, "timed.safetensors"))
	files := mattest.Must(filepath.Glob(filepath.Join(folder, "*")))
	inside := mattest.Must(filepath.Glob(filepath.Join(folder, "*", "*")))
	for _, file := range append(files, inside...) {
		other := again + file[len(folder):]
		if info, err := os.Stat(file); err == nil && !info.IsDir() && !sameContents(t, file, other) {
			t.Errorf("%s and %s differ", file, other)
		}
	}
}

// TestShownCommand checks that the command line that pages show for a configuration gives the same configuration.
func TestShownCommand(t *testing.T) {
	g := synth.Demo()
	for name, change := range map[string]func(*cgc.Config){
		"defaults": func(*cgc.Config) {},
		"ratio":    func(c *cgc.Config) { c.Size = condense.Size{Ratio: 0.01} },
		"many": func(c *cgc.Config) {
			c.Hops, c.Standardize, c.Seed, c.Temperature = 1, true, 7, cgc.Infinite
		},
		"no edges": func(c *cgc.Config) { c.Variant, c.Partition = cgc.CGCX, "random" },
		"zeros":    func(c *cgc.Config) { c.Degree, c.Alpha, c.Augment = 0, 0.5, 0.25 },
	} {
		config := cgc.Defaults()
		config.Nodes = 21
		change(&config)
		if config.Ratio > 0 {
			config.Nodes = 0
		}
		small := mattest.Must(cgc.Condense(t.Context(), g, config))
		file := filepath.Join(t.TempDir(), "again.safetensors")
		line := overview.Command(file, small, "demo")
		ok(t, strings.Fields(line)[1:]...)
		again := mattest.Must(cgc.Load(file))
		mattest.Equal(t, string(again.Config), string(small.Config), "%s: %s gives the configuration", name, line)
	}
}

// TestOldFile checks that a file of an older version, which does not record its source, causes a note. Evaluating it on
// a split that tests on its source nodes still fails.
func TestOldFile(t *testing.T) {
	dir := t.TempDir()
	swapped, small := filepath.Join(dir, "swapped.safetensors"), filepath.Join(dir, "small.safetensors")
	g := *synth.Demo()
	g.Split.Train, g.Split.Test = g.Split.Test, g.Split.Train
	mattest.OK(t, dataset.Write(t.Context(), swapped, &g))
	ok(t, "condense", "demo", "--method", "cgc", "-o", small)
	old := mattest.Must(condense.Load(small))
	old.Source = nil
	mattest.OK(t, old.Save(t.Context(), small))
	_, said := ok(t, "evaluate", small, "--on", "demo", "--seeds", "1", "--epochs", "2", "--hidden", "4")
	mattest.Says(t, said, "does not say which graph it was made from")
	code, _, said := cli.RunLine(t, "evaluate", small, "--on", swapped)
	mattest.True(t, code == 1 && strings.Contains(said, "are test nodes of demo"),
		"an old file on another split: %d: %s", code, said)
}

// TestConvertSurvivesItsEnd checks that a killed or interrupted conversion writes nothing to its target, and that the
// next conversion removes the temporary files it left.
func TestConvertSurvivesItsEnd(t *testing.T) {
	slow.Test(t, "kills commands")
	if runtime.GOOS == "windows" {
		t.Skip("no SIGINT to send")
	}
	dir := t.TempDir()
	g := wide(60_000, 8, 20)
	from, to := filepath.Join(dir, "wide"), filepath.Join(dir, "to.safetensors")
	want := filepath.Join(dir, "want.safetensors")
	mattest.OK(t, os.Mkdir(from, 0o755))
	writeText(t, g, from)
	convert := func(to string) *exec.Cmd { return exec.Command("cgc", "convert", from, to, "--memory", "80MiB") }
	mattest.Run(t, convert(want))
	partial := filepath.Join(dir, ".to.safetensors.partial")
	for _, signal := range []os.Signal{os.Interrupt, os.Kill} {
		cmd := convert(to)
		mattest.OK(t, cmd.Start())
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for waiting := true; waiting; {
			select {
			case err := <-ended:
				t.Fatalf("it ended (%v) before its temporary files were seen: make the graph larger", err)
			case <-time.After(time.Millisecond):
				buckets, _ := filepath.Glob(filepath.Join(partial, "bucket*"))
				waiting = len(buckets) == 0
			}
		}
		mattest.OK(t, cmd.Process.Signal(signal))
		if err := <-ended; err == nil {
			t.Fatal("it ended before its time: make the graph larger")
		}
		if _, err := os.Stat(to); err == nil {
			t.Errorf("%v leaves %s", signal, to)
		}
		if _, err := os.Stat(partial); (err == nil) != (signal == os.Kill) {
			t.Errorf("after %v: temporary files: %v", signal, err)
		}
	}
	mattest.Run(t, convert(to))
	mattest.True(t, sameContents(t, to, want), "another file than that of an undisturbed run")
	mattest.Equal(t, mattest.Must(filepath.Glob(filepath.Join(dir, ".*"))), nil, "left behind:")
}

// TestBoard checks that a second run of a board trains nothing, that row-normalised runs extend the same log, and that
// the table and board.csv have all methods.
func TestBoard(t *testing.T) {
	slow.Test(t, "trains about a hundred times")
	folder := t.TempDir()
	args := []string{"paper", "board", "demo", "--methods", "herding", "--models", "sgc", "--seeds", "1", "--whole",
		"1", "-o", folder}
	records := func() []byte { return mattest.Must(os.ReadFile(filepath.Join(folder, "demo.jsonl"))) }
	table, _ := ok(t, args...)
	first := records()
	again, _ := ok(t, args...)
	mattest.True(t, again == table && bytes.Equal(first, records()),
		"a second run trained again, or printed another table:\n%s\n%s", table, again)
	file := string(mattest.Must(os.ReadFile(filepath.Join(folder, "board.csv"))))
	for _, text := range []string{table, file} {
		mattest.Says(t, text, "cgc-paper", "herding", "full graph")
	}
	ok(t, append(args, "--normalize-features")...)
	lines := func(text []byte) int { return bytes.Count(text, []byte("\n")) }
	if more := records(); !bytes.HasPrefix(more, first) || lines(more) != 2*lines(first) {
		t.Errorf("row-normalised features: %d bytes of records after %d", len(more), len(first))
	}
}

// TestSearchCommand checks the files of a search with a comparison, that a second run repeats no training on the full
// graph, and that cgc train accepts the flags it prints.
func TestSearchCommand(t *testing.T) {
	folder := t.TempDir()
	small, space := filepath.Join(folder, "small.safetensors"), filepath.Join(folder, "space.json")
	mattest.OK(t, os.WriteFile(space, []byte(`{"hidden": [8], "learning_rate": [0.01], "models": ["sgc", "gcn"]}`), 0o666))
	ok(t, "condense", "demo", "--nodes", "14", "-o", small)
	args := []string{"search", "demo", "--condensed", small, "--space", space, "--trials", "9", "--epochs", "9",
		"--finalists", "1", "--compare", "4", "-o", filepath.Join(folder, "out")}
	text, _ := ok(t, args...)
	whole := filepath.Join(folder, "out", "whole.jsonl")
	first := mattest.Must(os.ReadFile(whole))
	if n := strings.Count(string(first), "\n"); n < 1 || n > 5 { // equal candidates share a training run
		t.Errorf("%d trainings on the full graph", n)
	}
	ok(t, args...)
	second, err := os.ReadFile(whole)
	mattest.True(t, err == nil && string(second) == string(first), "the second run trained again: %v", err)
	var r struct {
		Trials    []any
		Finalists []any
		Agreement struct{ Compared []any }
	}
	mattest.OK(t, json.Unmarshal(mattest.Must(os.ReadFile(filepath.Join(folder, "out", "result.json"))), &r))
	got := [...]int{len(r.Trials), len(r.Finalists), len(r.Agreement.Compared)}
	mattest.Equal(t, got, [...]int{9, 1, 4}, "trials, finalists and compared candidates:")
	_, flags, found := strings.Cut(text, "best: ")
	if !found {
		t.Fatalf("no best candidate in\n%s", text)
	}
	flags, _, _ = strings.Cut(flags, "\n")
	ok(t, append([]string{"train", small, "--on", "demo", "-o", filepath.Join(folder, "model.safetensors")},
		strings.Fields(flags)...)...)
}

// TestPropagateFolder compares the written arrays with embeddings: of all nodes, then of the validation nodes in f16.
func TestPropagateFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "propagated")
	array := func(name string) []byte {
		t.Helper()
		text := mattest.Must(os.ReadFile(filepath.Join(folder, name+".npy")))
		return text[10+int(binary.LittleEndian.Uint16(text[8:])):]
	}
	g := synth.Demo()
	p, all := propagate.Propagation{Rule: propagate.SGC, Hops: 2}, memory.Range(0, g.Nodes())
	in := propagate.Input{Adj: g.Adj, X: g.X, Rows: all}
	views := mattest.Must(propagate.Run(t.Context(), blocked.Engine{}, p, in))

	ok(t, "propagate", "demo", "--hops", "2", "-o", folder)
	for k, name := range []string{"hop0", "hop1", "hop2"} {
		raw := array(name)
		for i := range all {
			for j, want := range views[k].Row(i) {
				if got := math.Float32frombits(binary.LittleEndian.Uint32(raw[4*(i*g.Features()+j):])); got != want {
					t.Fatalf("%s (%d, %d) is %v, want %v", name, i, j, got, want)
				}
			}
		}
	}
	y := int64(binary.LittleEndian.Uint64(array("y")[8*7:]))
	mattest.Equal(t, y, int64(g.Y[7]), "the label of node 7 is")

	ok(t, "propagate", "demo", "--hops", "1", "--part", "val", "--store", "f16", "-o", folder) // replaces the folder
	_, err := os.Stat(filepath.Join(folder, "hop2.npy"))
	mattest.True(t, err != nil, "hop2.npy of the first run is still there")
	mattest.Equal(t, len(array("hop1")), 2*len(g.Split.Val)*g.Features(), "bytes of hop1.npy in f16:")
	nodes, val := array("nodes"), array("val")
	for i, v := range g.Split.Val {
		row := binary.LittleEndian.Uint64(val[8*i:])
		mattest.Equal(t, binary.LittleEndian.Uint64(nodes[8*row:]), uint64(v), "row %d of the validation nodes is node", row)
	}
	mattest.Equal(t, len(array("train")), 0, "bytes of rows of training nodes:")
}
