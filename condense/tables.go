package condense

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// Metadata keys of the scaling, which tables store as JSON lists and arrays store as separate arrays.
const scalingMean, scalingStd = "scaling_mean", "scaling_std"

// tables returns c as tables.
//
//	nodes: id (from 0), label (the name of the class, or its number), x (d values)
//	       weight (the number of source nodes), if c has members
//	       y_soft (a value for each class), if c has soft labels
//	       members, member_weights (lists), if c has members; member_ids (lists), if the nodes of the graph have names
//	edges: source, target, weight
//
// The metadata is the same as in arrays, plus the scaling as two JSON lists.
func (c *Condensed) tables(meta map[string]string) *format.Tables {
	n := c.Nodes()
	label := format.Column{Name: "label", Data: c.Y}
	if distinct(c.ClassNames) {
		label.Dictionary = c.ClassNames
	}
	nodes := format.Table{Rows: n, Columns: []format.Column{
		{Name: "id", Data: memory.Range(0, n)}, label, {Name: "x", Width: c.X.Cols, Data: c.X.Data},
	}}
	add := func(column format.Column) { nodes.Columns = append(nodes.Columns, column) }
	if c.Soft != nil {
		add(format.Column{Name: "y_soft", Width: c.Soft.Cols, Data: c.Soft.Data})
	}
	if m := c.Members; m != nil {
		add(format.Column{Name: "weight", Data: c.Weights()})
		add(format.Column{Name: "members", Offsets: m.Indptr, Data: m.Indices})
		add(format.Column{Name: "member_weights", Offsets: m.Indptr, Data: c.memberWeights()})
		if c.MemberIDs != nil {
			add(format.Column{Name: "member_ids", Offsets: m.Indptr, Data: c.MemberIDs})
		}
	}
	a := c.edgeMatrix()
	if a.Data == nil {
		a = &mat.CSR{Rows: n, Cols: n, Indptr: a.Indptr, Indices: a.Indices, Data: slices.Repeat([]float32{1}, a.NNZ())}
	}
	if c.Scaling != nil {
		for key, values := range map[string][]float32{scalingMean: c.Scaling.Mean, scalingStd: c.Scaling.Std} {
			list := format.Column{Width: len(values), Data: values}
			meta[key] = list.Text(0)
		}
	}
	return &format.Tables{Metadata: meta, Nodes: nodes, Edges: format.EdgeTable(a, nil)}
}

// distinct reports whether names is not nil and has no duplicates.
func distinct(names []string) bool {
	return names != nil && len(slices.Compact(slices.Sorted(slices.Values(names)))) == len(names)
}

// ofTables is the inverse of tables: it returns the condensed graph stored in t.
func ofTables(t *format.Tables) (*Condensed, error) {
	c, err := ofMetadata(t.Metadata)
	if err != nil {
		return nil, err
	}
	if err := t.Check(); err != nil {
		return nil, err
	}
	if err := c.takeNodes(&t.Nodes); err != nil {
		return nil, fmt.Errorf("nodes: %w", err)
	}
	if err := c.takeEdges(t); err != nil {
		return nil, fmt.Errorf("edges: %w", err)
	}
	if c.FeatureNames, err = format.NamesOf(t.Metadata, format.FeatureNames, c.X.Cols); err != nil {
		return nil, err
	}
	if mean, scaled := t.Metadata[scalingMean]; scaled {
		c.Scaling = &graph.Scaling{}
		if err := json.Unmarshal([]byte(mean), &c.Scaling.Mean); err != nil {
			return nil, fmt.Errorf("%s in the metadata: %w", scalingMean, err)
		}
		if err := json.Unmarshal([]byte(t.Metadata[scalingStd]), &c.Scaling.Std); err != nil {
			return nil, fmt.Errorf("%s in the metadata: %w", scalingStd, err)
		}
	}
	return c, c.Validate()
}

// column returns the column of that name, or an error if it is missing.
func column(t *format.Table, name string) (*format.Column, error) {
	c := t.Find(name)
	if c == nil {
		return nil, fmt.Errorf("column %s is missing", name)
	}
	return c, nil
}

// takeNodes sets the fields of c that are in the table of nodes.
func (c *Condensed) takeNodes(t *format.Table) (err error) {
	if c.X, err = matrix(t, "x"); err != nil {
		return err
	}
	if t.Find("y_soft") != nil {
		if c.Soft, err = matrix(t, "y_soft"); err != nil {
			return err
		}
	}
	label, err := column(t, "label")
	if err != nil {
		return err
	}
	if c.Y, err = c.labels(label); err != nil || t.Find("members") == nil {
		return err
	}
	offsets, members, err := format.Lists[int64](t.Find("members"))
	if err != nil {
		return err
	}
	c.Members = &mat.CSR{Rows: t.Rows, Cols: c.GraphNodes, Indptr: offsets}
	if c.Members.Indices, err = narrow(members, c.GraphNodes, "column members: node %[2]d"); err != nil {
		return err
	}
	weights, err := column(t, "member_weights")
	if err != nil {
		return err
	}
	if _, c.Members.Data, err = format.Lists[float32](weights); err != nil {
		return err
	}
	if ids := t.Find("member_ids"); ids != nil {
		_, c.MemberIDs, err = format.Lists[string](ids)
	}
	return err
}

// matrix returns a column of equally long lists as a matrix.
func matrix(t *format.Table, name string) (*mat.Dense, error) {
	c, err := column(t, name)
	if err != nil {
		return nil, err
	}
	offsets, values, err := format.Lists[float32](c)
	if err != nil {
		return nil, err
	}
	width := int(offsets[1])
	for i := range t.Rows {
		if int(offsets[i+1]-offsets[i]) != width {
			return nil, fmt.Errorf("column %s: row %d has %d values, expected %d", name, i, offsets[i+1]-offsets[i], width)
		}
	}
	return &mat.Dense{Rows: t.Rows, Cols: width, Data: values}, nil
}

// labels returns the class of each node. If class names are distinct, the column contains names, otherwise numbers.
func (c *Condensed) labels(column *format.Column) ([]int32, error) {
	if !distinct(c.ClassNames) {
		classes, err := format.Scalars[int64](column)
		if err != nil {
			return nil, err
		}
		return narrow(classes, c.Classes, "column label: row %d is %d")
	}
	return numbers(column, numbered(c.ClassNames), "name of a class")
}

// numbered returns the position of each name.
func numbered(names []string) map[string]int32 {
	position := make(map[string]int32, len(names))
	for i, name := range names {
		position[name] = int32(i)
	}
	return position
}

// numbers returns the position of each name in a column. what describes the names in errors.
func numbers(column *format.Column, position map[string]int32, what string) ([]int32, error) {
	names, err := format.Scalars[string](column)
	list := make([]int32, 0, len(names))
	for i, name := range names {
		k, known := position[name]
		if !known {
			return nil, fmt.Errorf("column %s: row %d is %.40q, must be the %s", column.Name, i, name, what)
		}
		list = append(list, k)
	}
	return list, err
}

// takeEdges sets A′ from the table of edges, which has each edge in one direction or both. Its nodes are identified by
// id.
func (c *Condensed) takeEdges(t *format.Tables) error {
	if t.Edges.Rows == 0 {
		return nil
	}
	ids, err := column(&t.Nodes, "id")
	if err != nil {
		return err
	}
	names, err := format.Scalars[string](ids)
	if err != nil {
		return err
	}
	row := numbered(names)
	var edges graph.Edges
	for _, end := range []struct {
		name  string
		nodes *[]int32
	}{{"source", &edges.From}, {"target", &edges.To}} {
		names, err := column(&t.Edges, end.name)
		if err != nil {
			return err
		}
		if *end.nodes, err = numbers(names, row, "id of a node"); err != nil {
			return err
		}
	}
	if weight := t.Edges.Find("weight"); weight != nil {
		if edges.Weight, err = format.Scalars[float32](weight); err != nil {
			return err
		}
	}
	if c.Adj, _, err = graph.Adjacency(context.Background(), t.Nodes.Rows, edges); err != nil {
		return err
	}
	if c.Adj.Data == nil {
		c.Adj.Data = slices.Repeat([]float32{1}, c.Adj.NNZ())
	}
	return nil
}
