package experiment_test

import (
	"context"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// careless is Picked with a bug: it returns a graph with fewer nodes, or one altered by change.
type careless struct {
	Picked
	change func(*condense.Condensed)
	fewer  int
}

func (c careless) MarshalJSON() ([]byte, error) { return []byte("{}"), nil }
func (c careless) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	small, err := c.Picked.Condense(ctx, g, nodes-c.fewer, seed)
	if err == nil && c.change != nil {
		c.change(small)
	}
	return small, err
}

// plannedFor returns a plan of one condensation by m, with one training.
func plannedFor(m condense.Method) experiment.Plan {
	return plan(func(p *experiment.Plan) { p.Method, p.Seeds, p.Models, p.Whole = m, 1, []gnn.Model{gnn.SGC()}, 0 })
}

// TestPlanRefusesWhatIsNotPromised checks the error for a method that returns a wrong size or setting. A graph with a
// wrong setting would be tested on other features.
func TestPlanRefusesWhatIsNotPromised(t *testing.T) {
	for want, m := range map[string]condense.Method{
		"11 nodes in the setting {NormalizeFeatures:false Standardize:false Inductive:false}, expected 12": careless{
			fewer: 1,
		},
		"in the setting {NormalizeFeatures:false Standardize:false Inductive:true}, expected 12 in": careless{
			change: func(c *condense.Condensed) { c.Inductive = true },
		},
	} {
		mattest.Fails(t, want)(plannedFor(m).Run(t.Context(), tiny(t)))
	}
}

// TestPlanUnderASetting checks that a method that ignores settings works in each of them, and that Members may be
// missing.
func TestPlanUnderASetting(t *testing.T) {
	loose := careless{change: func(c *condense.Condensed) { c.Members = nil }}
	for _, m := range []condense.Method{
		condense.Under(condense.Setting{Standardize: true}, Picked{}),
		condense.Under(condense.Setting{Inductive: true}, Picked{}),
		loose,
	} {
		p := plannedFor(m)
		p.Training.Weighted = true
		r := mattest.Must(p.Run(t.Context(), tiny(t)))
		small := r.Condensed[0]
		is, want := condense.Setting{Standardize: small.Scaling != nil, Inductive: small.Inductive}, condense.SettingOf(m)
		if is != want {
			t.Errorf("condensed in %+v, want %+v", is, want)
		}
		if weights := experiment.Sample(small).Weights; (weights == nil) != (small.Members == nil) {
			t.Errorf("weights %v with members %v", weights, small.Members)
		}
	}
}
