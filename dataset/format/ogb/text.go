package ogb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/csvfile"
	"github.com/graph-condensation/cgc/dataset/format/internal/decimal"
	"github.com/graph-condensation/cgc/dataset/format/internal/lines"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
)

// What a folder without a file lacks.
const (
	needFeatures = "cgc needs features of the nodes"
	needLabels   = "a data set for nodes has a label for each, one for links or graphs is not read"
)

// readCounts reads the numbers of nodes and of edges.
func readCounts(raw string) (nodes, entries int, err error) {
	if nodes, err = readCount(csvfile.Path(raw, "num-node-list"), "nodes"); err != nil {
		return 0, 0, err
	}
	if nodes > graph.MaxNodes {
		return 0, 0, &format.ReadError{File: csvfile.Path(raw, "num-node-list"), Line: 1,
			Err: fmt.Errorf("%d nodes, want at most %d", nodes, graph.MaxNodes)}
	}
	entries, err = readCount(csvfile.Path(raw, "num-edge-list"), "edges")
	return nodes, entries, err
}

// readText reads the .csv files of raw. They have no headers.
func readText(ctx context.Context, raw string) (p parts, err error) {
	nodes, entries, err := readCounts(raw)
	if err != nil {
		return p, err
	}
	p.Nodes = nodes
	p.locate(raw)
	if p.X, err = lines.Matrix(ctx, p.features, nodes, false); err != nil {
		return p, missing(err, p.features, needFeatures)
	}
	if p.Y, err = readLabels(ctx, p.labels, nodes); err != nil {
		return p, missing(err, p.labels, needLabels)
	}
	if p.Edges, err = readEdges(ctx, p.edges, entries, nodes); err != nil {
		return p, err
	}
	if file := csvfile.Path(raw, "edge-feat"); csvfile.Exists(file) {
		p.ignoresEdgeFeatures(file)
	}
	return p, nil
}

// missing turns the error of a file that is not there into one that says what it is for.
func missing(err error, file, why string) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !strings.HasSuffix(file, ".npz") {
		file = strings.TrimSuffix(file, ".gz") + ".gz"
	}
	return &format.ReadError{File: file, Err: errors.New("missing: " + why)}
}

// readCount reads the one number of num-node-list.csv or num-edge-list.csv, which has a line for each graph.
func readCount(file, what string) (int, error) {
	t, err := lines.Open(file)
	if err != nil {
		return 0, missing(err, file, "it holds the number of "+what)
	}
	defer t.Close()
	line, err := t.Next()
	if err == io.EOF {
		return 0, t.Fail(0, "the file is empty, want the number of %s", what)
	}
	if err != nil {
		return 0, err
	}
	v, err := decimal.Int(bytes.TrimSpace(line))
	if err != nil || v < 0 {
		return 0, t.Fail(1, "%.50q, want the number of %s", line, what)
	}
	switch line, err = t.Next(); {
	case err == io.EOF || err == nil && len(bytes.TrimSpace(line)) == 0:
		return int(v), nil
	case err != nil:
		return 0, err
	}
	return 0, t.Fail(2, "a second number of %s: the folder holds several graphs, want one", what)
}

var comma = []byte(",")

// readLabels reads the label of each of n nodes.
func readLabels(ctx context.Context, file string, n int) ([]int32, error) {
	t, err := lines.Open(file)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	if err := t.Fits(n, 1, "nodes"); err != nil {
		return nil, err
	}
	y := memory.Make[int32](n)
	return y, t.Rows(ctx, n, 1, "nodes", func(i int, line []byte) (err error) {
		if columns := bytes.Count(line, comma) + 1; columns > 1 {
			return fmt.Errorf("%d labels, want one: a node of several labels is not understood", columns)
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 || string(line) == `""` {
			y[i] = graph.Unlabelled
			return nil
		}
		v, err := decimal.Float(line)
		if err != nil {
			return fmt.Errorf("label %.50q is not a number", line)
		}
		y[i], err = label(float64(v))
		return err
	})
}

// readEdges reads a line of source and target for each edge of n nodes.
func readEdges(ctx context.Context, file string, count, n int) (e graph.Edges, err error) {
	t, err := lines.Open(file)
	if err != nil {
		return e, missing(err, file, "it holds the edges")
	}
	defer t.Close()
	if err := t.Fits(count, 4, "edges"); err != nil {
		return e, err
	}
	e.From, e.To = memory.Make[int32](count), memory.Make[int32](count)
	return e, t.Rows(ctx, count, 4, "edges", func(i int, line []byte) (err error) {
		source, target, _ := bytes.Cut(line, comma)
		if e.From[i], err = node(source, n); err == nil {
			e.To[i], err = node(target, n)
		}
		return err
	})
}

// node returns the node in field, one of n.
func node(field []byte, n int) (int32, error) {
	v, err := decimal.Int(field)
	if err != nil {
		if v, err = decimal.Int(bytes.TrimSpace(field)); err != nil {
			return 0, fmt.Errorf("node %w", err)
		}
	}
	if v < 0 || v >= int64(n) {
		return 0, fmt.Errorf("node %d, want 0 to %d", v, n-1)
	}
	return int32(v), nil
}
