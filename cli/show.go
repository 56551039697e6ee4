package cli

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/bench"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/overview"
	"github.com/graph-condensation/cgc/report"
)

// shown is one condensation of a result, for the page that shows the result.
type shown struct {
	name   string // of the graph, as the user gave it
	graph  *graph.Graph
	method condense.Method
	nodes  int
	seed   uint64
	// small and whole are the scores of models that were trained on such condensed graphs and on the whole graph.
	small, whole []experiment.Score
}

// show condenses once more, and returns what cgc run --report shows of it, under a heading. Condensing is seconds, and
// the same seed gives the same condensed graph.
func (c *command) show(ctx context.Context, s shown) ([]report.Block, error) {
	c.progress.step("condensing for the report")
	small, err := s.method.Condense(ctx, s.graph, s.nodes, s.seed)
	if err != nil {
		return nil, err
	}
	d, err := c.document(ctx, &overview.Subject{
		Graph: s.graph, Condensed: small, Small: s.small, Whole: s.whole, Over: overCondensations,
		Command: repeat(s.name, defaultName(s.graph, small.Nodes()), small),
	}, true)
	if err != nil {
		return nil, err
	}
	heading := report.Heading(fmt.Sprintf("%s by %s, seed %d", d.Title, small.Method, s.seed))
	return append([]report.Block{heading}, d.Blocks...), nil
}

// ceilings measures the machine, once for each command line.
func (c *command) ceilings(ctx context.Context) (bench.Ceilings, error) {
	if c.measured == nil {
		c.progress.step("measuring the machine")
		measured, err := bench.Measure(ctx, rand.NewPCG(0, 0))
		if err != nil {
			return bench.Ceilings{}, err
		}
		c.measured = &measured
	}
	return *c.measured, nil
}

// scoresOf returns the scores of an arm of an experiment on one graph, and of the trainings on the whole graph that it
// is compared with. All summaries are of that graph.
func scoresOf(summaries []experiment.Summary, arm string, nodes int) (small, whole []experiment.Score) {
	of := func(s experiment.Summary) experiment.Score {
		score := experiment.Score{Model: s.Model, Seconds: s.Train}
		for _, seed := range s.Seeds {
			score.Val, score.Test = append(score.Val, seed.Val), append(score.Test, seed.Test)
		}
		return score
	}
	for _, s := range summaries {
		if s.Arm != arm || s.Nodes != nodes || s.IsWhole() {
			continue
		}
		small = append(small, of(s))
		for _, w := range summaries {
			if w.IsWhole() && w.Model == s.Model && w.Standardize == s.Standardize && w.Inductive == s.Inductive {
				whole = append(whole, of(w))
				break
			}
		}
	}
	return small, whole
}
