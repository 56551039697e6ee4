package table

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format/internal/ids"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
)

// readEdges reads a table of edges. at gives the node of each id, and table is the name of the table that has them.
func readEdges(ctx context.Context, t Table, table string, at *ids.Index) (e graph.Edges, err error) {
	columns, err := findEnds(t)
	if err != nil {
		return e, err
	}
	columns.table, columns.at = table, at
	parts, err := collect(ctx, t, func(r Rows) (edges, error) {
		p := columns
		p.Rows = r
		return p, p.read()
	})
	if err != nil {
		return e, err
	}
	var from, to [][]int32
	var weight [][]float32
	plain := true
	for _, p := range parts {
		from, to, weight = append(from, p.From), append(to, p.To), append(weight, p.Weight)
		plain = plain && p.plain
	}
	if e.From, err = memory.Join(ctx, from...); err != nil {
		return e, err
	}
	if e.To, err = memory.Join(ctx, to...); err == nil && !plain {
		e.Weight, err = memory.Join(ctx, weight...)
	}
	return e, err
}

// findEnds looks at the header of a table of edges.
func findEnds(t Table) (e edges, err error) {
	header := t.Header()
	e = edges{
		plain:  true,
		source: column(header, sourceNames), target: column(header, targetNames), weight: column(header, weightNames),
	}
	if e.source < 0 || e.target < 0 {
		return e, failHeader(t, "the columns are %.200q, want source, target and, if there are weights, weight",
			strings.Join(header, ","))
	}
	return e, nil
}

// index gives the node of each id, as ids.Index does.
type index interface {
	Find(names [][]byte, nodes []int32)
	// Like returns a node whose id differs in form alone, or −1, and Name the id of a node.
	Like(name string) (node int)
	Name(node int) string
}

// edges is what a part of a table of edges holds.
type edges struct {
	Rows
	graph.Edges
	table                  string
	at                     index
	take                   func(graph.Edges) error // takes edges some at a time; nil: they stay
	source, target, weight int                     // columns; −1 if there is none
	plain                  bool                    // all weights are 1

	// What is read and not yet looked up: the source and the target of each edge, and the text of those that are numbers.
	ends    [][]byte
	places  []int
	numbers []byte
	nodes   []int32
}

// fail returns an error about the row at a place.
func (p *edges) fail(at int, text string, args ...any) error {
	return p.Fail(at, fmt.Errorf(text, args...))
}

// read reads all rows.
func (p *edges) read() error {
	batch := 512 // edges that are looked up together
	if p.take != nil {
		batch = 1 << 14 // and taken
	}
	about := min(p.About(), most)
	if p.take != nil {
		about = batch
	}
	p.From, p.To = make([]int32, 0, about), make([]int32, 0, about)
	if p.weight >= 0 {
		p.Weight = make([]float32, 0, about)
	}
	for {
		cells, err := p.Read()
		if err == nil {
			err = p.add(cells)
		}
		if err != nil || len(p.places) == batch {
			if wrong := p.find(); wrong != nil {
				return wrong // in a row before that of err, or in the same
			}
			if err == nil || err == io.EOF {
				if wrong := p.pass(); wrong != nil {
					return wrong
				}
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

// add takes a row.
func (p *edges) add(cells []Cell) error {
	at := p.At()
	for what, c := range [...]int{p.source, p.target} {
		id, numbers, ok := cells[c].text(p.numbers)
		p.numbers = numbers
		if !ok || len(id) == 0 && cells[c].Kind != Text {
			p.ends = p.ends[:2*len(p.places)]
			return p.fail(at, "%s is %v, want an id in %s", [...]string{"source", "target"}[what], &cells[c], p.table)
		}
		p.ends = append(p.ends, id)
	}
	p.places = append(p.places, at)
	if p.weight < 0 {
		return nil
	}
	w, ok := cells[p.weight].number()
	if !ok || !(w > 0) {
		return p.fail(at, "weight %v, want a positive finite number", &cells[p.weight])
	}
	p.Weight, p.plain = append(p.Weight, w), p.plain && w == 1
	return nil
}

// find looks up the ends of the last edges.
func (p *edges) find() error {
	p.nodes = slices.Grow(p.nodes[:0], len(p.ends))[:len(p.ends)]
	p.at.Find(p.ends, p.nodes)
	for i, at := range p.places {
		for j, what := range [...]string{"source", "target"} {
			if p.nodes[2*i+j] < 0 {
				return p.unknown(at, what, p.ends[2*i+j])
			}
		}
		p.From, p.To = append(p.From, p.nodes[2*i]), append(p.To, p.nodes[2*i+1])
	}
	p.ends, p.places, p.numbers = p.ends[:0], p.places[:0], p.numbers[:0]
	return nil
}

// pass hands on the edges that were looked up.
func (p *edges) pass() error {
	if p.take == nil {
		return nil
	}
	e := p.Edges
	p.From, p.To, p.Weight = p.From[:0], p.To[:0], p.Weight[:0]
	if p.weight < 0 {
		e.Weight = nil
	}
	return p.take(e)
}

// unknown is the error for an end of an edge that is no node.
func (p *edges) unknown(at int, what string, id []byte) error {
	if like := p.at.Like(string(id)); like >= 0 && len(id) > 0 {
		return p.fail(at, "%s %.50q is not an id in %s, which has %.50q: ids are compared as text",
			what, id, p.table, p.at.Name(like))
	}
	return p.fail(at, "%s %.50q is not an id in %s", what, id, p.table)
}
