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
)

// first is another module's method. It keeps training nodes chosen at random with the seed plus Skip. It has a bug if
// Fewer is set: it returns too few nodes.
type first struct {
	Skip  int    `json:"skip"`
	Note  string `json:"note"`
	Fewer int    `json:"fewer,omitempty"`
}

func (first) Name() string { return "first" }

func (f first) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	if f.Skip < 0 || f.Skip > 9 {
		return nil, &condense.FieldError{Field: "skip", Value: f.Skip, Want: "0 to 9"}
	}
	random, err := condense.New("random", nil)
	if err != nil {
		return nil, err
	}
	small, err := random.Condense(ctx, g, nodes-f.Fewer, seed+uint64(f.Skip))
	if err != nil {
		return nil, err
	}
	small.Method = "first"
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
// model. It clears the CGC_* environment variables, except CGC_DATA; a script may set its own.
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
