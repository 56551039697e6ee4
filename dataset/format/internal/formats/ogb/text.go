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
	"github.com/graph-condensation/cgc/dataset/format/internal/lines"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/content"
	"github.com/graph-condensation/cgc/internal/memory"
)

// Reasons why a missing file is needed.
const (
	needFeatures = "cgc needs features of the nodes"
	needLabels   = "a data set for nodes has a label for each, one for links or graphs is not read"
)

// missing turns the error for a missing file into one that explains why the file is needed.
func missing(err error, file, why string) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !strings.HasSuffix(file, ".npz") {
		file = strings.TrimSuffix(file, ".gz") + ".gz"
	}
	return &format.ReadError{File: file, Err: errors.New("missing: " + why)}
}

// readCount reads the number in num-node-list.csv or num-edge-list.csv; it must not exceed most. These files have a
// line for each graph, and one graph is expected.
func readCount(file, what string, most int) (int, error) {
	t, err := lines.Open(file)
	if err != nil {
		return 0, missing(err, file, "it holds the number of "+what)
	}
	defer t.Close()
	line, err := t.Next()
	if err == io.EOF {
		return 0, t.Fail(0, "the file is empty, must begin with the number of %s", what)
	}
	if err != nil {
		return 0, err
	}
	v, err := content.Int(bytes.TrimSpace(line))
	if err != nil || v < 0 {
		return 0, t.Fail(1, "%.50q, must be the number of %s", line, what)
	}
	switch line, err = t.Next(); {
	case err != nil && err != io.EOF:
		return 0, err
	case len(bytes.TrimSpace(line)) > 0:
		return 0, t.Fail(2, "a second number of %s: the folder holds several graphs, expected one", what)
	case v > int64(most):
		return 0, t.Fail(1, "%d %s, must be at most %d", v, what, most)
	}
	return int(v), nil
}

var comma = []byte(",")

// readLabels reads the label of each of n nodes.
func readLabels(ctx context.Context, file string, n int) ([]int32, error) {
	t, err := lines.Open(file)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	if err := t.Fits(n, 1, "nodes"); err != nil { // before memory is allocated
		return nil, err
	}
	y := memory.Make[int32](n)
	return y, t.Rows(ctx, n, 1, "nodes", func(i int, line []byte) (err error) {
		if columns := bytes.Count(line, comma) + 1; columns > 1 {
			return fmt.Errorf("%d labels, expected one: multi-label nodes are not supported", columns)
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 || string(line) == `""` {
			y[i] = graph.Unlabelled
			return nil
		}
		v, err := content.Float(line)
		if err != nil {
			return fmt.Errorf("label %.50q is not a number", line)
		}
		y[i], err = label(float64(v))
		return err
	})
}
