package table

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/graph-condensation/cgc/graph"
)

// batch is the number of edges whose nodes are looked up together.
const batch = 1 << 14

// ends reads the edges in a run of rows.
type ends struct {
	Rows
	nodes                  *nodes
	source, target, weight int // column indices; −1 if there is none

	graph.Edges
	// Edges whose nodes have not been looked up: names holds their sources and targets, places their rows, and numbers the
	// text of ids that are integers.
	names   [][]byte
	places  []int
	numbers []byte
	found   []int32
}

// edges delivers the edges of t.
func (n *nodes) edges(ctx context.Context, t Table, e ends, add func(graph.Edges) error) error {
	columns := []int{e.source, e.target}
	if e.weight >= 0 {
		columns = append(columns, e.weight)
	}
	return t.Runs(ctx, columns, func(_ int, r Rows) error {
		p := e
		p.Rows, p.nodes = r, n
		return p.read(add)
	})
}

// fail returns an error about the row at a position.
func (p *ends) fail(at int, text string, args ...any) error {
	return p.Fail(at, fmt.Errorf(text, args...))
}

// read reads all rows, and passes the edges to add.
func (p *ends) read(add func(graph.Edges) error) error {
	for {
		cells, err := p.Read()
		if err == nil {
			err = p.add(cells)
		}
		if err != nil || len(p.places) == batch {
			if wrong := p.find(); wrong != nil {
				return wrong // this error is about the row of err or an earlier row
			}
			if err == nil || err == io.EOF {
				if wrong := add(p.Edges); wrong != nil {
					return wrong
				}
				p.From, p.To, p.Weight = p.From[:0], p.To[:0], p.Weight[:0]
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// add adds the edge of a row.
func (p *ends) add(cells []Cell) error {
	at := p.At()
	for what, c := range [...]int{p.source, p.target} {
		id, numbers, ok := cells[c].text(p.numbers)
		p.numbers = numbers
		if !ok || len(id) == 0 && cells[c].Kind != Text {
			p.names = p.names[:2*len(p.places)]
			return p.fail(at, "%s is %v, must be an id in %s", [...]string{"source", "target"}[what], &cells[c], p.nodes.Name())
		}
		p.names = append(p.names, id)
	}
	p.places = append(p.places, at)
	if p.weight < 0 {
		return nil
	}
	w, ok := cells[p.weight].number()
	if !ok || !(w > 0) {
		return p.fail(at, "weight %v, must be a positive finite number", &cells[p.weight])
	}
	p.Weight = append(p.Weight, w)
	return nil
}

// find looks up the ends of the last edges.
func (p *ends) find() error {
	p.found = slices.Grow(p.found[:0], len(p.names))[:len(p.names)]
	p.nodes.at.Find(p.names, p.found)
	for i, at := range p.places {
		for j, what := range [...]string{"source", "target"} {
			v := p.found[2*i+j]
			if v < 0 {
				return p.unknown(at, what, string(p.names[2*i+j]))
			}
			if old := p.nodes.old; p.nodes.order != nil && v >= old {
				p.found[2*i+j] = old + p.nodes.order[v-old]
			}
		}
		if from, to := p.found[2*i], p.found[2*i+1]; max(from, to) < p.nodes.old {
			return p.fail(at, "an edge joins two known nodes, %.50q and %.50q: one must be new", p.names[2*i], p.names[2*i+1])
		}
		p.From, p.To = append(p.From, p.found[2*i]), append(p.To, p.found[2*i+1])
	}
	p.names, p.places, p.numbers = p.names[:0], p.places[:0], p.numbers[:0]
	return nil
}

// unknown returns the error for a source or a target that is not a node.
func (p *ends) unknown(at int, what, id string) error {
	table := p.nodes.among
	if like, found := p.nodes.like(id); found && id != "" {
		return p.fail(at, "%s %.50q is not an id in %s, which has %.50q: ids are compared as text", what, id, table, like)
	}
	return p.fail(at, "%s %.50q is not an id in %s", what, id, table)
}
