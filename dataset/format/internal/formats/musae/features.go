package musae

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"

	"github.com/graph-condensation/cgc/dataset/format/internal/csvfile"
	"github.com/graph-condensation/cgc/dataset/format/internal/lines"
	"github.com/graph-condensation/cgc/dataset/format/internal/reading"
	"github.com/graph-condensation/cgc/dataset/format/table"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/content"
)

// readFeatures reads a file of features: JSON or a table.
func (n *nodes) readFeatures(ctx context.Context, path string) error {
	if filepath.Ext(path) == ".json" {
		return n.readLists(ctx, path)
	}
	t, err := csvfile.OpenTable(path)
	if err != nil {
		return err
	}
	header := t.Header()
	node, feature, value := t.Column(nodeNames...), t.Column(featureNames...), t.Column(valueNames...)
	if err := table.Missing(header, [][]string{nodeNames, featureNames, valueNames}, node, feature, value); err != nil {
		return t.FailAt(1, err)
	}
	return t.Each(ctx, func(fields [][]byte, _ int) error {
		i, err := content.Within("node", fields[node], int64(len(n.y)-1))
		if err != nil {
			return err
		}
		j, err := content.Within("feature", fields[feature], graph.MaxNodes-1)
		if err != nil {
			return err
		}
		v, err := content.Float(fields[value])
		if err != nil {
			return fmt.Errorf("value %.50q, must be a number", fields[value])
		}
		n.add(i, j, v)
		return nil
	})
}

// readLists reads {"node": [features], …}: the numbers of the features that are 1.
func (n *nodes) readLists(ctx context.Context, path string) error {
	return reading.Object(ctx, path, func(s *reading.Scanner, key []byte) error {
		node, err := content.Within("node", key, int64(len(n.y)-1))
		if err != nil {
			return err
		}
		return s.List(func() error {
			feature, err := s.Within("feature", graph.MaxNodes-1)
			if err != nil {
				return fmt.Errorf("node %d: %w", node, err)
			}
			n.add(node, feature, 1)
			return nil
		})
	})
}

// readEdges reads two nodes from each line, separated by a comma or a tab. The first line may be a header.
func readEdges(ctx context.Context, path string, n int) (e graph.Edges, err error) {
	err = lines.Read(ctx, path, func(line int, text []byte) error {
		fields := bytes.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '\t' || r == '\r' })
		if len(fields) == 0 {
			return nil
		}
		if line == 1 {
			if _, err := content.Int(bytes.TrimSpace(fields[0])); err != nil {
				return nil
			}
		}
		if len(fields) != 2 {
			return fmt.Errorf("%d fields, must be 2: the nodes of an edge", len(fields))
		}
		u, err := content.Within("node", fields[0], int64(n-1))
		if err != nil {
			return err
		}
		v, err := content.Within("node", fields[1], int64(n-1))
		e.From, e.To = append(e.From, u), append(e.To, v)
		return err
	})
	return e, err
}
