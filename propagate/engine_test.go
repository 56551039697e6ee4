package propagate_test

import (
	"context"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
)

// broken is an engine that violates its contract.
type broken []mat.View

func (b broken) Embeddings(context.Context, propagate.Propagation, propagate.Input) ([]mat.View, error) {
	return b, nil
}

func TestRunNamesWhatIsWrong(t *testing.T) {
	a := &mat.CSR{Rows: 2, Cols: 2, Indptr: []int64{0, 1, 2}, Indices: []int32{1, 0}}
	of := func(rows, columns int) mat.View { return mat.NewDense(rows, columns).View() }
	type change struct {
		p      *propagate.Propagation
		in     *propagate.Input
		engine *propagate.Engine
	}
	for want, spoil := range map[string]func(change){
		`propagation rule "gcn", must be one of sgc, ppr, sage`: func(c change) { c.p.Rule = "gcn" },
		"hops -1, must be at least 0":                           func(c change) { c.p.Hops = -1 },
		"hops 1001, must be at most 1000":                       func(c change) { c.p.Hops = 1001 },
		"teleport 0, must be above 0 and at most 1":             func(c change) { c.p.Rule = propagate.PPR },
		"no adjacency or no features (nil)":                     func(c change) { c.in.Adj = nil },
		"adjacency is 2×2 for features of 3 nodes":              func(c change) { c.in.X = mat.NewDense(3, 3) },
		"row 0 is node 2, must be 0 to 1":                       func(c change) { c.in.Rows = []int32{2} },
		"3 degrees for 2 nodes":                                 func(c change) { c.in.Degrees = make([]float64, 3) },
		"2 classes for 1 rows":                                  func(c change) { c.in.Classes = []int32{0, 1} },
		"class -1 of row 0":                                     func(c change) { c.in.Classes = []int32{-1} },
		"broken delivered 1 embeddings, expected 2":             func(c change) { *c.engine = broken{of(1, 3)} },
		"broken delivered 2×3 for hop 1, expected 1×3":          func(c change) { *c.engine = broken{of(1, 3), of(2, 3)} },
		"broken delivered 1×4 for hop 1, expected 1×3":          func(c change) { *c.engine = broken{of(1, 3), of(1, 4)} },
		"broken delivered 0×0 for hop 0, expected 1×3":          func(c change) { *c.engine = broken{mat.View{}, of(1, 3)} },
	} {
		p := propagate.Propagation{Rule: propagate.SGC, Hops: 1}
		in := propagate.Input{Adj: a, X: mat.NewDense(2, 3), Rows: []int32{1}}
		var engine propagate.Engine = propagate.Plain{}
		spoil(change{&p, &in, &engine})
		mattest.Fails(t, want)(propagate.Run(t.Context(), engine, p, in))
	}
}

func TestRunStops(t *testing.T) {
	ctx := mattest.Cancelled(t)
	g := synth.Demo()
	in := propagate.Input{Adj: g.Adj, X: g.X, Rows: g.Split.Train}
	p := propagate.Propagation{Rule: propagate.SGC, Hops: 1}
	_, err := propagate.Run(ctx, propagate.Plain{}, p, in)
	mattest.WantIs(t, err, context.Canceled)
}

// Callers may modify the slice that Rules returns.
func TestRulesAreTheCallersOwn(t *testing.T) {
	propagate.Rules()[0] = "changed"
	mattest.Equal(t, propagate.Rules(), []propagate.Rule{propagate.SGC, propagate.PPR, propagate.SAGE}, "rules")
}

func TestByClass(t *testing.T) {
	in := propagate.Input{Classes: []int32{2, 0, 2, 4, 0}}
	if got := in.ByClass(); !slices.Equal(got, []int32{2, 0, 3, 4, 1}) || (propagate.Input{}).ByClass() != nil {
		t.Errorf("positions %v, want 2, 0, 3, 4, 1", got)
	}
}
