package parquet

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format/table"
	"github.com/graph-condensation/cgc/graph"
)

// metadata returns the key-value metadata of the first file of the table.
func (t *parts) metadata() map[string]string {
	meta := map[string]string{}
	for _, entry := range t.files[0].content.Metadata().KeyValueMetadata {
		meta[entry.Key] = entry.Value
	}
	return meta
}

// classes describes the classes of a graph that Write wrote. The label of a node is the name or the number of its
// class.
type classes struct {
	column int // the index of the label in the header
	names  []string
	place  map[string]int
	keys   [][]byte // strings in the order of the classes, which no reader mistakes for numbers
}

// newClasses returns the classes in the metadata.
func newClasses(meta map[string]string, header []string) (*classes, error) {
	n, err := strconv.Atoi(meta["classes"])
	if err != nil || n < 0 || n > graph.MaxClasses {
		return nil, fmt.Errorf("classes in the metadata: %.20q, must be 0 to %d", meta["classes"], graph.MaxClasses)
	}
	c := &classes{column: slices.Index(header, "label"), place: map[string]int{}}
	if c.column < 0 {
		return nil, errors.New("column label is missing")
	}
	if list, named := meta["class_names"]; named {
		if err := json.Unmarshal([]byte(list), &c.names); err != nil || len(c.names) != n {
			return nil, fmt.Errorf("class_names in the metadata: must be a list of %d names", n)
		}
	}
	for k, name := range c.names {
		c.place[name] = k
	}
	for k := range n {
		c.keys = append(c.keys, fmt.Appendf(nil, "class %09d", k))
	}
	return c, nil
}

// number replaces a label by the key of its class, or by null for an unlabelled node.
func (c *classes) number(label *table.Cell) error {
	class := int64(graph.Unlabelled)
	switch label.Kind {
	case table.Null:
	case table.Text:
		k, known := c.place[string(label.Text)]
		if !known {
			return fmt.Errorf("%.50q is not among the class_names in the metadata of the file", label.Text)
		}
		class = int64(k)
	case table.Int:
		class = label.Int
	default:
		return fmt.Errorf("%s, must be a class", label)
	}
	switch {
	case class == graph.Unlabelled:
		*label = table.Cell{Kind: table.Null}
	case class < 0 || class >= int64(len(c.keys)):
		return fmt.Errorf("%d, must be 0 to %d, or %d for none", class, len(c.keys)-1, graph.Unlabelled)
	default:
		label.Kind, label.Text = table.Text, c.keys[class]
	}
	return nil
}

// restore replaces the classes of g, which are keys, by the classes of the file.
func (c *classes) restore(g *graph.Graph) {
	class := make([]int32, len(g.ClassNames))
	for k, key := range g.ClassNames {
		place, _ := slices.BinarySearchFunc(c.keys, key, func(known []byte, key string) int {
			return strings.Compare(string(known), key)
		})
		class[k] = int32(place)
	}
	for i, k := range g.Y {
		if k != graph.Unlabelled {
			g.Y[i] = class[k]
		}
	}
	g.Classes, g.ClassNames = len(c.keys), c.names
}
