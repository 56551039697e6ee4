package named

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/decimal"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// nodes is what nodes.csv holds.
type nodes struct {
	*table
	id, label, split int   // columns; −1 if there is none
	features         []int // the other columns

	ids    []string
	at     map[string]int32 // the node of each id
	lines  []int            // of each node
	labels []int32          // of each node, as a place in names, or graph.Unlabelled
	names  []string         // the labels, in the order of the file
	first  []int            // the line in which each label comes first
	x      []float32
	parts  graph.Split
}

// readNodes reads nodes.csv.
func readNodes(ctx context.Context, file string) (*nodes, error) {
	t, err := openTable(file)
	if err != nil {
		return nil, err
	}
	n := &nodes{
		table: t, at: map[string]int32{},
		id: t.column("id", "node_id", "node"), label: t.column("label", "class", "y"), split: t.column("split", "part"),
	}
	if n.id < 0 || n.label < 0 {
		return nil, t.fail("the columns are %.200q, want id, label and features", strings.Join(t.header, ","))
	}
	for c := range t.header {
		if c != n.id && c != n.label && c != n.split {
			n.features = append(n.features, c)
		}
	}
	if len(n.features) == 0 {
		return nil, t.fail("no column besides id, label and split, want at least one feature")
	}
	seen := map[string]int32{} // the place of each label in names
	for {
		fields, err := t.read()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = n.add(fields, seen)
		}
		if err == nil && len(n.ids)&0xffff == 0 {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
	}
	if len(n.ids) == 0 {
		return nil, &format.ReadError{File: file, Err: errors.New("no lines with nodes after the header")}
	}
	return n, nil
}

// add takes a record.
func (n *nodes) add(fields [][]byte, seen map[string]int32) error {
	id := string(fields[n.id])
	switch first, repeated := n.at[id]; {
	case id == "":
		return n.fail("the id is empty")
	case repeated:
		return n.fail("the id %.50q is there twice, first in line %d", id, n.lines[first])
	case !utf8.ValidString(id) || !utf8.Valid(fields[n.label]):
		return n.fail("the id or the label is not UTF-8 text")
	case len(n.ids) == graph.MaxNodes:
		return n.fail("more than %d nodes", graph.MaxNodes)
	}
	node := int32(len(n.ids))
	n.at[id], n.ids, n.lines = node, append(n.ids, id), append(n.lines, n.line)
	if label := fields[n.label]; len(label) == 0 {
		n.labels = append(n.labels, graph.Unlabelled)
	} else {
		k, known := seen[string(label)]
		if !known {
			k = int32(len(n.names))
			if k > graph.MaxClasses {
				return n.fail("more than %d labels", graph.MaxClasses)
			}
			seen[string(label)] = k
			n.names, n.first = append(n.names, string(label)), append(n.first, n.line)
		}
		n.labels = append(n.labels, k)
	}
	for _, c := range n.features {
		v, err := decimal.Float(fields[c])
		if err != nil || math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return n.fail("column %s: %.50q, want a finite number", n.header[c], fields[c])
		}
		n.x = append(n.x, v)
	}
	if n.split < 0 {
		return nil
	}
	switch part := strings.ToLower(string(fields[n.split])); part {
	case "train":
		n.parts.Train = append(n.parts.Train, node)
	case "val", "valid", "validation":
		n.parts.Val = append(n.parts.Val, node)
	case "test":
		n.parts.Test = append(n.parts.Test, node)
	case "", "none":
	default:
		return n.fail("split %.50q, want train, val, test or nothing", part)
	}
	return nil
}

// fill sets all of b but the edges, and returns notes.
func (n *nodes) fill(b *graph.Builder) (notes []string, err error) {
	b.Nodes, b.Split = len(n.ids), n.parts
	b.X = &mat.Dense{Rows: b.Nodes, Cols: len(n.features), Data: n.x}
	if b.Y, b.ClassNames, err = n.classes(); err != nil {
		return nil, err
	}
	whole, odd := 0, -1
	numbered := true
	for i, id := range n.ids {
		numbered = numbered && id == strconv.Itoa(i)
		if _, err := decimal.Int([]byte(id)); err == nil {
			whole++
		} else if odd < 0 {
			odd = i
		}
	}
	if !numbered {
		b.IDs = n.ids
	}
	if whole > 0 && odd >= 0 {
		notes = append(notes, fmt.Sprintf("%s:%d: the id %.50q is a name, and %d of %d ids are whole numbers: "+
			"all are compared as text", n.file, n.lines[odd], n.ids[odd], whole, len(n.ids)))
	}
	return notes, nil
}

// classes returns the class of each node: the labels themselves if they are whole numbers, else their places in sorted
// order, with their names.
func (n *nodes) classes() (y []int32, names []string, err error) {
	values, whole := make([]int64, len(n.names)), true
	for k, name := range n.names {
		v, err := decimal.Int([]byte(name))
		if k == 0 {
			whole = err == nil
		}
		if whole != (err == nil) {
			return nil, nil, &format.ReadError{File: n.file, Line: n.first[k], Err: fmt.Errorf(
				"label %.50q, and label %.50q in line %d: want only whole numbers, or only names",
				name, n.names[0], n.first[0])}
		}
		values[k] = v
	}
	class := make([]int32, len(n.names))
	if !whole {
		names = slices.Sorted(slices.Values(n.names))
		for k, name := range n.names {
			place, _ := slices.BinarySearch(names, name)
			class[k] = int32(place)
		}
	}
	for k, v := range values {
		if !whole {
			break
		}
		if v < graph.Unlabelled || v >= graph.MaxClasses {
			return nil, nil, &format.ReadError{File: n.file, Line: n.first[k], Err: fmt.Errorf(
				"label %d, want 0 to %d, or %d for none", v, graph.MaxClasses-1, graph.Unlabelled)}
		}
		class[k] = int32(v)
	}
	for _, k := range n.labels {
		if k != graph.Unlabelled {
			k = class[k]
		}
		y = append(y, k)
	}
	if whole {
		format.ShiftLabels(y)
	}
	return y, names, nil
}
