package cgc

import (
	"context"
	"sync"

	"github.com/graph-condensation/cgc/assess"
	"github.com/graph-condensation/cgc/augment"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// labeller is what Config.PseudoLabels and Config.SoftLabels read labels from: a ridge classifier of H⁽ᴷ⁾ of the training nodes. It depends on what Prepare depends on and on nothing
// else, is made when it is first asked for, and kept.
type labeller struct {
	mu      sync.Mutex
	ridge   *assess.Ridge
	rest    []int32    // the nodes that do not train
	outputs *mat.Dense // what the classifier says of them
	latest  *pseudo    // what was picked last: many condensations ask for the same
}

// pseudo is the nodes that take part with a label that was guessed.
type pseudo struct {
	multiple float64
	nodes    []int32    // ascending
	y        []int32    // their classes, as guessed
	h        []mat.View // their H⁽⁰⁾ … H⁽ᴷ⁾
}

// classifier returns the ridge classifier. The lock must be held.
func (p *Prepared) classifier(ctx context.Context) (*assess.Ridge, error) {
	l := &p.labeller
	if l.ridge == nil {
		ridge, err := assess.FitRidge(ctx, p.h[len(p.h)-1].Dense(), p.y, p.classes)
		if err != nil {
			return nil, err
		}
		l.ridge = ridge
	}
	return l.ridge, nil
}

// pseudoLabels returns the nodes outside the training split of whose class the classifier is surest, as many times the training nodes. Labels of other nodes than those that train are not
// read. A failure, that of ctx most likely, is not kept.
//
// Propagation is linear, so H⁽ᴷ⁾W is the propagation of XW: all nodes are classified for the price of as many columns as there are classes, and only those that are taken
// have their embeddings computed.
func (p *Prepared) pseudoLabels(ctx context.Context, config Config) (*pseudo, error) {
	l := &p.labeller
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.latest != nil && l.latest.multiple == config.PseudoLabels {
		return l.latest, nil
	}
	ridge, err := p.classifier(ctx)
	if err != nil {
		return nil, err
	}
	g := p.graph
	if p.scaling != nil {
		g = g.Scaled(*p.scaling)
	}
	if l.outputs == nil {
		rest := others(p.train, g.Nodes())
		outputs := new(mat.Dense)
		switch x := g.X.(type) {
		case *mat.Dense:
			mat.Mul(outputs, x, ridge.W)
		case *mat.CSR:
			mat.MulSparse(outputs, x, ridge.W)
		}
		h, err := config.embeddings(ctx, g, outputs, rest, nil)
		if err != nil {
			return nil, err
		}
		l.rest, l.outputs = rest, h[len(h)-1].Dense()
	}
	rows, y, err := augment.Confident(l.outputs, p.counts, config.PseudoLabels)
	if err != nil {
		return nil, err
	}
	picked := &pseudo{multiple: config.PseudoLabels, y: y}
	for _, i := range rows {
		picked.nodes = append(picked.nodes, l.rest[i])
	}
	if picked.h, err = config.embeddings(ctx, g, g.X, picked.nodes, picked.y); err != nil {
		return nil, err
	}
	l.latest = picked
	return picked, nil
}

// others returns the nodes below n that are not among the given ones, ascending.
func others(nodes []int32, n int) []int32 {
	among := make([]bool, n)
	for _, v := range nodes {
		among[v] = true
	}
	rest := make([]int32, 0, n-len(nodes))
	for v := range int32(n) {
		if !among[v] {
			rest = append(rest, v)
		}
	}
	return rest
}

// embeddings propagates x over the edges of g, and returns H⁽⁰⁾ … H⁽ᴷ⁾ of the given rows. classes are theirs, or nil.
func (c Config) embeddings(
	ctx context.Context, g *graph.Graph, x mat.Matrix, rows, classes []int32,
) ([]mat.View, error) {
	p := propagate.Propagation{Rule: c.Propagation, Hops: c.Hops, Teleport: c.Teleport}
	in := propagate.Input{Adj: g.Adj, X: x, Rows: rows, Classes: classes}
	return propagate.Run(ctx, blocked.Engine{Memory: c.Memory}, p, in)
}

// join adds the pseudo-labelled nodes to the pool, with the embeddings that the configuration condenses and their confidence as the assessment has it of any embedding.
func (p *Prepared) join(pool *pool, picked *pseudo, config Config) {
	if len(picked.nodes) == 0 {
		return
	}
	h := picked.h[len(picked.h)-1]
	if len(config.HopWeights) > 0 {
		h = propagate.Mix(picked.h, config.HopWeights.shares(config.Hops)).View()
	}
	pool.rows = append(pool.rows, h.Rows()...)
	pool.y = append(pool.y[:len(pool.y):len(pool.y)], picked.y...)
	pool.confidence = append(pool.confidence[:len(pool.confidence):len(pool.confidence)], p.assessment.Of(h, picked.y)...)
	for i := range picked.nodes {
		pool.row = append(pool.row, int32(len(p.train)+i))
	}
}

// softLabels returns Σ_i R̂_ji·q_i for each condensed node j, N′×classes, q_i being the classifier's distribution over the classes of embedding i of the pool.
func (p *Prepared) softLabels(ctx context.Context, pool pool, groups *mat.CSR) (*mat.Dense, error) {
	p.labeller.mu.Lock()
	ridge, err := p.classifier(ctx)
	p.labeller.mu.Unlock()
	if err != nil {
		return nil, err
	}
	q := mat.NewDense(len(pool.rows), p.classes)
	const block = 4096 // rows that are copied at a time
	var rows, outputs mat.Dense
	for lo := 0; lo < q.Rows; lo += block {
		hi := min(lo+block, q.Rows)
		rows.Reshape(hi-lo, len(pool.rows[0]))
		for i := lo; i < hi; i++ {
			copy(rows.Row(i-lo), pool.rows[i])
		}
		mat.Mul(&outputs, &rows, ridge.W)
		copy(q.Data[lo*q.Cols:], outputs.Data)
	}
	ridge.Distribution(q, q)
	soft := new(mat.Dense)
	mat.MulSparse(soft, groups, q)
	return soft, nil
}
