package cgc

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc/internal/generate"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
)

// This file contains extensions beyond the paper. All of them are off by default.

// HopWeights are the w_0 … w_K of Config.HopWeights.
type HopWeights []float64

// String returns the weights, separated by commas.
func (w HopWeights) String() string {
	words := make([]string, len(w))
	for i, v := range w {
		words[i] = strconv.FormatFloat(v, 'g', -1, 64)
	}
	return strings.Join(words, ",")
}

// fit reports whether w is empty or contains valid weights for H⁽⁰⁾ … H⁽ʰᵒᵖˢ⁾.
func (w HopWeights) fit(hops int) bool {
	sum := 0.0
	for _, v := range w {
		if !(v >= 0) {
			return false
		}
		sum += v
	}
	return len(w) == 0 || len(w) == hops+1 && sum > 0 && !math.IsInf(sum, 1)
}

// shares returns the hop weights divided by their sum. Without weights, the last hop has weight 1.
func (c Config) shares() []float64 {
	shares := make([]float64, c.Hops+1)
	if len(c.HopWeights) == 0 {
		shares[c.Hops] = 1
		return shares
	}
	sum := 0.0
	for _, v := range c.HopWeights {
		sum += v
	}
	for l, v := range c.HopWeights {
		shares[l] = v / sum
	}
	return shares
}

// mixed returns H⁽⁰⁾ … H⁽ᴷ⁾ and their confidence. With hop weights, Σ_l w_l·H⁽ˡ⁾ replaces H⁽ᴷ⁾. drawn says that
// augmentation draws from the lower hops.
func (p *Prepared) mixed(config Config, drawn bool) (h []mat.View, confidence [][]float32) {
	h, confidence = p.h, p.confidence(drawn)
	if len(config.HopWeights) == 0 {
		return h, confidence
	}
	mixture := propagate.Mix(h, config.shares()).View()
	last := len(h) - 1
	h = append(h[:last:last], mixture)
	confidence[last] = p.assessment.Of(mixture, p.y)
	return h, confidence
}

// pseudoLabel adds nodes outside the training split to the pool. Their classes come from the ridge classifier, and
// their confidence from the classifier of the assessment.
func (p *Prepared) pseudoLabel(ctx context.Context, config Config, pool *pool, account *Assessed) error {
	if config.PseudoLabels == 0 {
		return nil
	}
	picked, err := p.labeller.Pseudo(ctx, config.PseudoLabels)
	if err != nil || len(picked.Nodes) == 0 {
		return err
	}
	h := picked.H[len(picked.H)-1]
	if len(config.HopWeights) > 0 {
		h = propagate.Mix(picked.H, config.shares()).View()
	}
	pool.join(picked.Nodes, h, picked.Y, p.assessment.Of(h, picked.Y))
	account.PseudoLabelled = len(picked.Nodes)
	return nil
}

// softLabels returns a distribution over the classes for each condensed node, or nil if soft labels are off.
func (p *Prepared) softLabels(ctx context.Context, config Config, pool pool, groups *mat.CSR) (*mat.Dense, error) {
	if !config.SoftLabels {
		return nil, nil
	}
	return p.labeller.Soft(ctx, pool.rows, groups)
}

// edges returns A′ and its threshold. A′ comes from similarity (eq. 16) or from the edges of the graph.
func (p *Prepared) edges(ctx context.Context, config Config, small *Condensed) (*mat.CSR, float64, error) {
	switch config.Edges {
	case SimilarEdges:
		return generate.Adjacency(ctx, small.X, config.Threshold, config.Degree)
	case RealEdges:
		return generate.Aggregated(ctx, small.Members, p.view.Adj, config.Degree)
	}
	return nil, 0, fmt.Errorf("edges %q, must be one of %v", config.Edges, EdgeKinds())
}
