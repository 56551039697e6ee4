package condensetest_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/condense/condensetest"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/partition"
)

// method selects training nodes at random. Its functions, if set, break the contract.
type method struct {
	before func(g *graph.Graph, seed *uint64)
	after  func(g *graph.Graph, small *condense.Condensed)
	budget func(counts []int, nodes int) []int
	deaf   bool // it ignores ctx
}

func (method) Name() string { return "draw" }

func (method) MarshalJSON() ([]byte, error) { return []byte(`{}`), nil }

func (m method) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	done := condense.StartClock(ctx).Step("draw")
	defer done()
	if m.before != nil {
		m.before(g, &seed)
	}
	counts := g.Counts(g.Split.Train)
	budget, err := partition.Budgets(counts, nodes)
	if err != nil {
		return nil, err
	}
	if m.budget != nil {
		budget = m.budget(counts, nodes)
	}
	random := rand.New(rand.NewPCG(seed, 0))
	var picked []int32
	for c, n := range budget {
		own := slices.DeleteFunc(slices.Clone(g.Split.Train), func(v int32) bool { return int(g.Y[v]) != c })
		random.Shuffle(len(own), func(i, j int) { own[i], own[j] = own[j], own[i] })
		for i := range n {
			picked = append(picked, own[i%len(own)])
		}
	}
	small := &condense.Condensed{
		X: new(mat.Dense), Y: g.Labels(picked), Classes: g.Classes, Budget: budget,
		Members: condense.FromRows(picked, g.Nodes()),
		Graph:   g.Name, GraphNodes: g.Nodes(), Method: m.Name(),
	}
	if err := g.X.ReadBlock(small.X, picked, 0, g.Features()); err != nil {
		return nil, err
	}
	small.Config, err = condense.Configuration(m, nodes, seed)
	if m.after != nil {
		m.after(g, small)
	}
	if !m.deaf {
		err = errors.Join(err, ctx.Err())
	}
	if err != nil {
		return nil, err
	}
	return small, nil
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
		{"output", "nodes of class", method{budget: func(counts []int, nodes int) []int { // all for one class
			budget := make([]int, len(counts))
			budget[0] = nodes
			return budget
		}}},
		{"output", "nodes, expected", method{budget: func(counts []int, nodes int) []int { // one too few
			budget, _ := partition.Budgets(counts, nodes)
			budget[slices.Index(budget, slices.Max(budget))]--
			return budget
		}}},
		{"proportions", "have class", method{budget: func(counts []int, nodes int) []int { // classes share equally
			budget := make([]int, len(counts))
			for c := 0; nodes > 0; c = (c + 1) % len(counts) {
				if budget[c] < counts[c] {
					budget[c]++
					nodes--
				}
			}
			return budget
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
		{"cancellation", "at draw", method{deaf: true}},
		{"sizes", "panic", method{before: func(*graph.Graph, *uint64) { panic("no") }}},
		{"output", `Config is read back as {"method":"draw",`, method{after: func(_ *graph.Graph, small *condense.Condensed) {
			small.Inductive = true
		}}},
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
