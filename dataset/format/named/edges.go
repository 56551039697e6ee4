package named

import (
	"context"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format/internal/csvfile"
	"github.com/graph-condensation/cgc/dataset/format/internal/decimal"
	"github.com/graph-condensation/cgc/dataset/format/internal/ids"
	"github.com/graph-condensation/cgc/graph"
)

// readEdges reads edges.csv. at gives the node of each id.
func readEdges(ctx context.Context, file string, at *ids.Index) (e graph.Edges, err error) {
	t, err := csvfile.OpenTable(file)
	if err != nil {
		return e, err
	}
	columns := [...]int{t.Column("source", "src_id", "src"), t.Column("target", "dst_id", "dst"), t.Column("weight")}
	if columns[0] < 0 || columns[1] < 0 {
		return e, t.Fail("the columns are %.200q, want source, target and, if there are weights, weight",
			strings.Join(t.Header, ","))
	}
	parts, err := csvfile.Parse(ctx, t, func(r *csvfile.Reader) (edges, error) {
		p := edges{Reader: r, at: at}
		return p, p.read(columns[0], columns[1], columns[2])
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
	e.From, e.To = slices.Concat(from...), slices.Concat(to...)
	if !plain {
		e.Weight = slices.Concat(weight...)
	}
	return e, nil
}

// edges is what a part of edges.csv holds.
type edges struct {
	*csvfile.Reader
	graph.Edges
	at    *ids.Index
	plain bool // all weights are 1

	// What is read and not yet looked up: the source and the target of each edge, and its line.
	ends  [][]byte
	lines []int
	nodes []int32
}

// read reads all records. The arguments are columns.
func (p *edges) read(source, target, weight int) error {
	const batch = 512 // edges that are looked up together
	about := p.About()
	p.From, p.To, p.plain = make([]int32, 0, about), make([]int32, 0, about), true
	if weight >= 0 {
		p.Weight = make([]float32, 0, about)
	}
	for {
		fields, err := p.Read()
		if err == nil {
			p.ends, p.lines = append(p.ends, fields[source], fields[target]), append(p.lines, p.Line)
			if weight >= 0 {
				err = p.weigh(fields[weight])
			}
		}
		if err != nil || len(p.lines) == batch {
			if wrong := p.find(); wrong != nil {
				return wrong // in a line before that of err, or in the same
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

// weigh takes the weight of an edge.
func (p *edges) weigh(field []byte) error {
	w, err := decimal.Float(field)
	if err != nil || !(w > 0) || math.IsInf(float64(w), 0) {
		return p.Fail("weight %.50q, want a positive finite number", field)
	}
	p.Weight, p.plain = append(p.Weight, w), p.plain && w == 1
	return nil
}

// find looks up the ends of the last edges.
func (p *edges) find() error {
	p.nodes = slices.Grow(p.nodes[:0], len(p.ends))[:len(p.ends)]
	p.at.Find(p.ends, p.nodes)
	for i, line := range p.lines {
		for j, what := range [...]string{"source", "target"} {
			if p.nodes[2*i+j] < 0 {
				p.Line = line
				return p.unknown(what, p.ends[2*i+j])
			}
		}
		p.From, p.To = append(p.From, p.nodes[2*i]), append(p.To, p.nodes[2*i+1])
	}
	p.ends, p.lines = p.ends[:0], p.lines[:0]
	return nil
}

// unknown is the error for an end of an edge that nodes.csv does not have.
func (p *edges) unknown(what string, id []byte) error {
	if like := p.at.Like(string(id)); like >= 0 && len(id) > 0 {
		return p.Fail("%s %.50q is not an id in nodes.csv, which has %.50q: ids are compared as text",
			what, id, p.at.Name(like))
	}
	return p.Fail("%s %.50q is not an id in nodes.csv", what, id)
}
