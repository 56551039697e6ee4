package auto

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/internal/judge"
	"github.com/graph-condensation/cgc/progress"
)

// Size is a number of condensed nodes that was tried for Method.Lossless.
type Size struct {
	Nodes int `json:"nodes"`
	// Chosen is the chosen candidate. Accuracy is the validation accuracy of a GCN trained briefly on it, in percent.
	Chosen   string  `json:"chosen"`
	Accuracy float64 `json:"accuracy"`
	// Loss is Account.Whole − Accuracy, in points, and Error is its standard error.
	Loss  float64 `json:"loss"`
	Error float64 `json:"error"`
}

// mostError is the maximum standard error of the loss at an accepted size, in points. With a larger one, the trials
// differ too much, or the validation nodes are too few, for an estimate of the loss.
const mostError = 10

// smallest returns the choice for the smallest tried size whose estimated loss is at most Lossless, with a standard
// error of at most mostError. most is the largest size.
func (p *prepared) smallest(ctx context.Context, most int) (made choice, err error) {
	g := p.field.shared.graph
	train := g.Split.Train
	most = min(most, judge.MostNodes, len(train))
	if p.field.judge == nil {
		return made, fmt.Errorf("the loss cannot be estimated: %s", p.field.why)
	}
	present := g.TrainClasses()
	list := sizes(present, most)
	quiet := progress.With(ctx, nil)
	counter := progress.NewCounter(0, len(list))
	var judged []Size
	var whole []judge.Verdict
	for _, nodes := range list {
		counter.Add(ctx, "sizes")
		if made, err = p.chooseAt(quiet, nodes); err != nil {
			return made, err
		}
		if whole == nil {
			if whole, err = p.field.whole(quiet, made); err != nil {
				return made, err
			}
		}
		verdicts := made.trained
		if verdicts == nil {
			verdicts, err = p.field.trained(quiet, made.trials, made.shares)
		}
		if errors.Is(err, gnn.ErrDiverged) {
			continue
		}
		if err != nil {
			return made, err
		}
		gain, deviation := compared(verdicts, whole, func(v judge.Verdict) []float64 { return v.Hits })
		judged = append(judged, Size{
			Nodes: nodes, Chosen: made.account.Chosen, Accuracy: judge.Mean(verdicts...).Accuracy, Loss: -gain,
			Error: deviation,
		})
		if -gain <= p.method.Lossless && deviation <= mostError {
			a := made.account
			a.Whole, a.Sizes = judge.Mean(whole...).Accuracy, judged
			a.Why += p.method.sizeReason(a)
			return made, nil
		}
	}
	if len(judged) == 0 {
		return made, fmt.Errorf("the loss cannot be estimated: %w at each size", gnn.ErrDiverged)
	}
	best := slices.MinFunc(judged, func(a, b Size) int { return cmp.Compare(a.Loss, b.Loss) })
	return made, fmt.Errorf("no size from %d to %d condensed nodes has an estimated loss of at most %g points with a "+
		"standard error of at most %d: the smallest loss is %.1f ± %.1f, with %s",
		present, most, p.method.Lossless, mostError, best.Loss, best.Error, counted(best.Nodes))
}

// counted writes a number of nodes.
func counted(nodes int) string {
	if nodes == 1 {
		return "1 node"
	}
	return fmt.Sprintf("%d nodes", nodes)
}

// sizeReason says why the last of the tried sizes was chosen.
func (m Method) sizeReason(a *Account) string {
	size := a.Sizes[len(a.Sizes)-1]
	side := "below"
	if size.Loss < 0 {
		side = "above"
	}
	whole := "one trained on all training nodes"
	if a.HeldOut {
		whole = "one trained on the training nodes that were not held out"
	}
	reason := fmt.Sprintf("; with %s, a GCN trained briefly is %.1f ± %.1f points %s the %.1f%% of %s",
		counted(size.Nodes), math.Abs(size.Loss), size.Error, side, a.Whole, whole)
	switch n := len(a.Sizes); {
	case n > 1 && a.Sizes[n-2].Loss > m.Lossless:
		reason += fmt.Sprintf(", and the next smaller size tried loses more than %g", m.Lossless)
	case n > 1:
		reason += fmt.Sprintf(", and at the next smaller size tried, the standard error is above %d points", mostError)
	}
	return reason
}

// sizes returns c, 1.5c, 2c, 3c, 4c, 6c and so on below most, and then most.
func sizes(c, most int) (list []int) {
	for step := 2; c*step/2 < most; step *= 2 {
		list = append(list, c*step/2)
		if next := c * step * 3 / 4; next > c*step/2 && next < most {
			list = append(list, next)
		}
	}
	return append(list, most)
}

// whole returns the verdicts on a condensed graph with all training nodes, one for each trial of made. cgc-x makes it:
// each node keeps its propagated features. If there are more than judge.MostNodes training nodes, they are condensed to
// that many, by cgc-x or by the method of made, whichever is more accurate.
func (f *field) whole(ctx context.Context, made choice) (best []judge.Verdict, err error) {
	candidates := made.account.Candidates
	methods := []condense.Method{
		candidates[slices.IndexFunc(candidates, func(c Candidate) bool { return c.Method == "cgc-x" })].method,
	}
	nodes := len(f.shared.graph.Split.Train)
	if nodes > judge.MostNodes {
		nodes, methods = judge.MostNodes, append(methods, f.trial(made.method))
	}
	for _, m := range methods {
		small, err := f.shared.condense(ctx, m, nodes, trialSeeds)
		if err != nil {
			return nil, err
		}
		verdicts, err := f.trained(ctx, slices.Repeat([]*condense.Condensed{small}, len(made.trials)), made.shares)
		if err != nil {
			return nil, err
		}
		if best == nil || judge.Mean(verdicts...).Accuracy > judge.Mean(best...).Accuracy {
			best = verdicts
		}
	}
	return best, nil
}
