package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/graph-condensation/cgc/cmd/cgc/cli"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/slow"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/partition"
)

// first is another module's method. From each class it keeps training nodes, starting at index Skip.
type first struct {
	Skip int    `json:"skip"`
	Note string `json:"note"`
}

func (first) Name() string { return "first" }

func (f first) Condense(_ context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	if f.Skip < 0 || f.Skip > 9 {
		return nil, &condense.FieldError{Field: "skip", Value: f.Skip, Want: "0 to 9"}
	}
	left, err := partition.Budgets(g.Counts(g.Split.Train), nodes)
	if err != nil {
		return nil, err
	}
	small := &condense.Condensed{
		Classes: g.Classes, Graph: g.Name, GraphNodes: g.Nodes(), Method: "first", Budget: append([]int{}, left...),
	}
	var kept []int32
	for i := range g.Split.Train {
		v := g.Split.Train[(i+f.Skip)%len(g.Split.Train)]
		if y := g.Y[v]; left[y] > 0 {
			left[y]--
			kept, small.Y = append(kept, v), append(small.Y, y)
		}
	}
	small.X = mat.NewDense(nodes, g.Features())
	for j, v := range kept {
		row := mat.Dense{Rows: 1, Cols: small.X.Cols, Data: small.X.Row(j)}
		if err := g.X.ReadBlock(&row, []int32{v}, 0, row.Cols); err != nil {
			return nil, err
		}
	}
	if f.Note != "" {
		small.Warnings = []string{f.Note}
	}
	small.Config, err = condense.Configuration(f, nodes, seed)
	return small, err
}

// linear is another module's model: Z = X·W.
type linear struct{}

func (linear) Name() string { return "linear" }

func (linear) Shapes(features, _, classes int) []gnn.Shape {
	return []gnn.Shape{{Rows: features, Cols: classes}}
}

func (linear) Forward(_ *autodiff.Tape, in *gnn.Input, p []*autodiff.Var) *autodiff.Var {
	return in.Times(p[0])
}

var register = sync.OnceFunc(func() {
	condense.Register(first{})
	gnn.Register(linear{})
})

// TestMain lets scripts and tests run two programs: cgc, and ourcg, which has an additional method and an additional
// model. It clears the CGC_* environment variables; a script may set its own.
func TestMain(m *testing.M) {
	if name := filepath.Base(os.Args[0]); name != "cgc" && name != "ourcg" {
		for _, entry := range os.Environ() {
			if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "CGC_") && name != "CGC_DATA" {
				os.Unsetenv(name)
			}
		}
		os.Setenv("CGC_CONFIG", os.DevNull)
	}
	if !slow.On() {
		cli.DoNotMeasure()
	}
	testscript.Main(m, map[string]func(){
		"cgc":   cli.Main,
		"ourcg": func() { register(); cli.Main() },
	})
}

// TestStranger checks that another module's method and model can be used like those of cgc.
func TestStranger(t *testing.T) {
	register()
	dir := t.TempDir()
	small, folder := filepath.Join(dir, "first.safetensors"), filepath.Join(dir, "results")
	run := func(args ...string) (stdout string) {
		t.Helper()
		var out, notes bytes.Buffer
		if code := cli.Run(t.Context(), args, &out, &notes); code != 0 {
			t.Fatalf("%v: exit code %d, %s", args, code, &notes)
		}
		return out.String()
	}
	said := run("condense", "demo", "--method", "first", "--param", "skip=2", "--nodes", "14", "-o", small, "--json")
	var object struct {
		Config struct {
			Method string
			Nodes  int
			Skip   int
		}
	}
	if err := json.Unmarshal([]byte(said), &object); err != nil {
		t.Fatal(err)
	}
	if c := object.Config; c.Method != "first" || c.Nodes != 14 || c.Skip != 2 {
		t.Errorf("configuration %+v", c)
	}
	said = run("evaluate", small, "--on", "demo", "--models", "linear,sgc", "--seeds", "1", "--epochs", "3")
	if !strings.Contains(said, "\nlinear ") || !strings.Contains(said, "\nsgc ") {
		t.Errorf("evaluate prints\n%s", said)
	}
	said = run("experiment", "demo", "--methods", "cgc,first", "--nodes", "14", "--models", "linear", "--seeds", "2",
		"--epochs", "3", "--whole", "0", "-o", folder)
	if !strings.Contains(said, "\nfirst − cgc ") {
		t.Errorf("experiment prints\n%s", said)
	}
	said = run("run", "demo", "--method", "first", "--nodes", "14", "--models", "linear", "--seeds", "1", "--epochs", "3",
		"--whole", "0", "-o", small)
	if !strings.Contains(said, "method: first") {
		t.Errorf("run prints\n%s", said)
	}
}
