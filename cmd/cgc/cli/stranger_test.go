package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
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
		"cgc": cli.Main,
		"ourcg": func() {
			condense.Register(first{})
			gnn.Register(linear{})
			cli.Main()
		},
	})
}
