package cgc

import (
	"slices"

	"github.com/graph-condensation/cgc/internal/assess"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// pool is H_cond, y_cond and their confidence (§3.3): the embeddings of the training nodes, then the sampled ones.
type pool struct {
	rows       [][]float32 // views of the embeddings, which are not copied
	y          []int32
	confidence []float32
	source     []int32 // train[source[i]] is the node of embedding i
	train      []int32 // the training nodes, ascending
}

// gather returns the pool of H⁽ᴷ⁾ of the training nodes and the picked shallower embeddings.
func gather(h []mat.View, y []int32, confidence [][]float32, picks []assess.Pick, train []int32) pool {
	last := len(h) - 1
	p := pool{
		rows: h[last].Rows(), y: y, confidence: confidence[last], train: train, source: memory.Range(0, len(y)),
	}
	if len(picks) == 0 {
		return p
	}
	p.y, p.confidence = slices.Clone(y), slices.Clone(p.confidence)
	for _, pick := range picks {
		p.rows = append(p.rows, h[pick.Hop].Row(int(pick.Row)))
		p.y = append(p.y, y[pick.Row])
		p.confidence = append(p.confidence, confidence[pick.Hop][pick.Row])
		p.source = append(p.source, pick.Row)
	}
	return p
}

// members converts R̂, the groups of embeddings, into P̂, the groups of the n nodes of the graph. If a group contains
// several embeddings of a node, their weights are summed.
func (p *pool) members(groups *mat.CSR, n int) *mat.CSR {
	m := &mat.CSR{Rows: groups.Rows, Cols: n, Indptr: make([]int64, 1, groups.Rows+1), Data: []float32{}}
	weight := make([]float32, len(p.train))
	in := make([]int, len(p.train)) // 1 + the last group with that node
	var inside []int32
	for j := range groups.Rows {
		inside = inside[:0]
		for e, w := range groups.Row(j) {
			i := p.source[e]
			if in[i] != j+1 {
				in[i], weight[i] = j+1, 0
				inside = append(inside, i)
			}
			weight[i] += w
		}
		slices.Sort(inside)
		for _, i := range inside {
			m.Indices = append(m.Indices, p.train[i])
			m.Data = append(m.Data, weight[i])
		}
		m.Indptr = append(m.Indptr, int64(len(m.Indices)))
	}
	return m
}
