package musae

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/csvfile"
	"github.com/graph-condensation/cgc/dataset/format/internal/lines"
	"github.com/graph-condensation/cgc/dataset/format/table"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/content"
)

// often is the number of lines between context checks.
const often = 1 << 14

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

// readLists reads {"node": [features], …}: the numbers of the features that are 1. Lists are read one number at a time,
// so memory is bounded by the size of the file.
func (n *nodes) readLists(ctx context.Context, path string) error {
	f, err := lines.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	d := json.NewDecoder(f)
	d.UseNumber()
	fail := func(text string, args ...any) error {
		return &format.ReadError{File: path, Err: fmt.Errorf("byte %d: "+text, append([]any{d.InputOffset()}, args...)...)}
	}
	expect := func(want json.Delim, what string) error {
		token, err := d.Token()
		if err == nil && token == want {
			return nil
		}
		if err != nil {
			return fail("not valid JSON: %w", noEnd(err))
		}
		return fail("found %.50q, must be %s", fmt.Sprint(token), what)
	}
	if err := expect('{', "an object of lists"); err != nil {
		return err
	}
	for count := 0; d.More(); count++ {
		if count%often == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		key, err := d.Token()
		if err != nil {
			return fail("not valid JSON: %w", noEnd(err))
		}
		name, _ := key.(string)
		node, err := content.Within("node", []byte(name), int64(len(n.y)-1))
		if err != nil {
			return fail("%w", err)
		}
		if err := expect('[', "a list of features"); err != nil {
			return err
		}
		for d.More() {
			token, err := d.Token()
			if err != nil {
				return fail("not valid JSON: %w", noEnd(err))
			}
			v, is := token.(json.Number)
			if !is {
				return fail("feature %.50q of node %d, must be a number", fmt.Sprint(token), node)
			}
			feature, err := content.Within("feature", []byte(v), graph.MaxNodes-1)
			if err != nil {
				return fail("node %d: %w", node, err)
			}
			n.add(node, feature, 1)
		}
		if err := expect(']', "the end of a list"); err != nil {
			return err
		}
	}
	return expect('}', "the end of the object")
}

// noEnd replaces io.EOF, which says that the file is cut short.
func noEnd(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
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
