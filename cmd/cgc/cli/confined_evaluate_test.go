package cli_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/internal/confine"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/paneled"
	"github.com/graph-condensation/cgc/internal/slow"
	"github.com/graph-condensation/cgc/mat"
)

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
	var err error
	if stored.X, err = paneled.Copy(g.X, 16, mat.F32); err != nil {
		t.Fatal(err)
	}
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
	if len(r.Results) != 1 || r.Results[0].ValMean != val || r.Results[0].TestMean != test {
		t.Errorf("%+v, want validation %v and test %v", r.Results, val, test)
	}
	if m := r.Testing.Models; len(m) != 1 || m[0].Passes[0] < 2 || m[0].Expected.Memory > limit {
		t.Errorf("plan %+v, want several passes within %d bytes", r.Testing, limit)
	}
}

// TestRefusesTooLittleMemory checks that a limit that is too small is rejected before any computation, with the
// smallest limit that works.
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
