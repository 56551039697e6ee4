package condensetest_test

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/condense/condensetest"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
	_ "github.com/graph-condensation/cgc/rival/all"
)

// method is the registered method "random". Its functions, if set, break the contract.
type method struct {
	before func(g *graph.Graph, seed *uint64)
	after  func(g *graph.Graph, small *condense.Condensed)
	deaf   bool // it ignores ctx
}

var random = mattest.Must(condense.New("random", nil))

func (method) Name() string { return "random" }

func (method) MarshalJSON() ([]byte, error) { return []byte(`{}`), nil }

func (m method) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	if m.before != nil {
		m.before(g, &seed)
	}
	if m.deaf {
		ctx = context.WithoutCancel(ctx)
	}
	small, err := random.Condense(ctx, g, nodes, seed)
	if err == nil && m.after != nil {
		m.after(g, small)
	}
	return small, err
}

var claims = []condensetest.Claim{condensetest.Proportional, condensetest.Random}

func TestKeptContract(t *testing.T) { condensetest.Test(t, method{}, claims...) }

// Each violation is found by its own rule.
func TestBrokenContract(t *testing.T) {
	shift := func(small *condense.Condensed, by int) { small.X.Data[0] += float32(by) }
	sum := func(g *graph.Graph, nodes []int32) (sum int) {
		for _, y := range g.Labels(nodes) {
			sum += int(y + 1)
		}
		return sum
	}
	calls := 0
	for _, c := range []struct {
		rule, says string
		broken     method
	}{
		{"test labels", "of test nodes, moved", method{after: func(g *graph.Graph, small *condense.Condensed) {
			shift(small, sum(g, g.Split.Test))
		}}},
		{"validation labels", "of validation nodes, moved", method{after: func(g *graph.Graph, small *condense.Condensed) {
			shift(small, sum(g, g.Split.Val))
		}}},
		{"output", "nodes of class", method{after: func(_ *graph.Graph, small *condense.Condensed) { // all of one class
			clear(small.Y)
			small.Budget = condense.CountBudget(small.Y, small.Classes)
		}}},
		{"output", "nodes, expected", method{after: func(_ *graph.Graph, small *condense.Condensed) { // one too few
			cut, _ := small.Cut(context.Background(), small.Nodes()-1)
			*small = *cmp.Or(cut, small)
		}}},
		{"proportions", "have class", method{after: func(_ *graph.Graph, small *condense.Condensed) { // classes share equally
			for j := range small.Y {
				small.Y[j] = int32(j * small.Classes / len(small.Y))
			}
			small.Budget = condense.CountBudget(small.Y, small.Classes)
		}}},
		{"output", "finite", method{after: func(_ *graph.Graph, small *condense.Condensed) {
			small.X.Data[0] = float32(math.NaN())
		}}},
		{"output", "was changed", method{after: func(g *graph.Graph, _ *condense.Condensed) {
			if x, is := g.X.(*mat.Dense); is {
				x.Data[0]++
			}
		}}},
		{"output", "configuration", method{after: func(_ *graph.Graph, small *condense.Condensed) { small.Config = nil }}},
		{"threads", "threads give another", method{after: func(_ *graph.Graph, small *condense.Condensed) {
			shift(small, runtime.GOMAXPROCS(0))
		}}},
		{"seed", "two condensed graphs", method{after: func(_ *graph.Graph, small *condense.Condensed) {
			calls++
			shift(small, calls)
		}}},
		{"seed", "not read", method{before: func(_ *graph.Graph, seed *uint64) { *seed = 0 }}},
		{"cancellation", "before the call", method{deaf: true}},
		{"cancellation", "at select", method{deaf: true}},
		{"sizes", "panic", method{before: func(*graph.Graph, *uint64) { panic("no") }}},
		{"output", `Config is read back as {"method":"random",`, method{
			after: func(_ *graph.Graph, small *condense.Condensed) { small.Inductive = true },
		}},
	} {
		if err := condensetest.Violations(t.Context(), c.broken, claims...); !found(err, c.rule, c.says) {
			t.Errorf("want an error of rule %q with %q, got\n%v", c.rule, c.says, err)
		}
	}
	if err := condensetest.Violations(t.Context(), generous{}); !found(err, "sizes", "error <nil>") {
		t.Errorf("want an error of rule sizes, got\n%v", err)
	}
}

// generous returns as many nodes as it can if too many are requested.
type generous struct{ method }

func (generous) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	return method{}.Condense(ctx, g, min(nodes, len(g.Split.Train)), seed)
}

// found reports whether err contains the given words at or after the first line of the rule.
func found(err error, rule, words string) bool {
	if err == nil {
		return false
	}
	_, rest, has := strings.Cut("\n"+err.Error(), "\n"+rule+": ")
	return has && strings.Contains(rest, words)
}
