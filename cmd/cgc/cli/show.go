package cli

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/bench"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/overview"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/graph"
)

// shown is a condensation to be shown on the report page.
type shown struct {
	name   string // name or path of the graph, as the user gave it
	graph  *graph.Graph
	method condense.Method
	nodes  int
	seed   uint64
	// small and whole are the scores of models trained on such condensed graphs and on the full graph.
	small, whole []experiment.Score
}

// show repeats a condensation, and returns a heading and the blocks that cgc run --report shows. Condensing again takes
// seconds, and the same seed gives the same condensed graph.
func (c *command) show(ctx context.Context, s shown) ([]report.Block, error) {
	c.progress.step("condensing for the report")
	small, err := s.method.Condense(ctx, s.graph, s.nodes, s.seed)
	if err != nil {
		return nil, err
	}
	file := defaultName(s.graph, small.Nodes())
	d, err := c.document(ctx, &overview.Subject{
		Graph: s.graph, Condensed: small, Small: s.small, Whole: s.whole, Over: overCondensations,
		Command: repeat(s.name, file, small), Source: s.name, File: file,
	}, true)
	if err != nil {
		return nil, err
	}
	heading := report.Heading(fmt.Sprintf("%s by %s, seed %d", d.Title, small.Method, s.seed))
	return append([]report.Block{heading}, d.Blocks...), nil
}

// measure is bench.Measure, which uses all cores for two seconds. Quick tests replace it.
var measure = bench.Measure

// ceilings measures the machine, but at most once per command line.
func (c *command) ceilings(ctx context.Context) (bench.Ceilings, error) {
	if c.measured == nil {
		c.progress.step("measuring the machine")
		measured, err := measure(ctx, rand.NewPCG(0, 0))
		if err != nil {
			return bench.Ceilings{}, err
		}
		c.measured = &measured
	}
	return *c.measured, nil
}

// scoresOf returns the scores of an arm of an experiment, and the scores of training on the full graph for comparison.
// All summaries belong to one graph.
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
