package mtx

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/classes"
	"github.com/graph-condensation/cgc/dataset/format/internal/csvfile"
	"github.com/graph-condensation/cgc/dataset/format/internal/lines"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/content"
	"github.com/graph-condensation/cgc/mat"
)

// readLabels sets the labels and the split of b, and returns the path of the split file.
func readLabels(ctx context.Context, file, folder string, b *graph.Builder) (split string, err error) {
	var x *mat.Dense
	if _, is := cut(file); is {
		x, err = readColumn(ctx, file)
	} else if filepath.Ext(file) == ".npy" {
		x, err = numpy.Read(ctx, file)
	} else {
		err = readText(ctx, file, b)
	}
	if err == nil && x != nil {
		b.Y, b.ClassNames, err = column(file, x)
	}
	if err != nil {
		return file, err
	}
	if own := csvfile.Path(folder, "split"); csvfile.Exists(own) {
		file, b.Split = own, graph.Split{}
		err = eachLine(ctx, file, func(_, node int, line []byte) error {
			if node >= len(b.Y) && len(line) > 0 {
				return fmt.Errorf("one line too many, expected %d, one for each label", len(b.Y))
			}
			return classes.Part(&b.Split, int32(node), strings.ToLower(string(line)))
		})
	}
	return file, err
}

// readColumn reads labels from an array of one column or one row.
func readColumn(ctx context.Context, file string) (*mat.Dense, error) {
	t, h, err := open(file)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	if h.coordinate {
		return nil, t.Fail(1, "labels as coordinate, must be an array of one column (scipy: mmwrite of a dense column)")
	}
	return readArray(ctx, t, h)
}

// column returns the labels in the only column, or row, of x, and the names of the classes, if they have names.
func column(file string, x *mat.Dense) (y []int32, names []string, err error) {
	if min(x.Rows, x.Cols) != 1 {
		return nil, nil, format.Wrong(file, "labels are %d×%d, expected one column", x.Rows, x.Cols)
	}
	labels := make([]int64, len(x.Data))
	for i, v := range x.Data {
		if labels[i] = int64(v); float32(labels[i]) != v {
			return nil, nil, format.Wrong(file, "label %v of node %d, must be an integer", v, i)
		}
	}
	if y, err = content.Labels(labels); err != nil {
		return nil, nil, format.Wrong(file, "%w", err)
	}
	return y, content.ShiftLabels(y), nil
}

// readText reads label[,part] for each node. A first line that begins with label, class or y is a header.
func readText(ctx context.Context, file string, b *graph.Builder) error {
	labels := classes.Labels{Loose: true}
	err := eachLine(ctx, file, func(number, node int, line []byte) error {
		label, part, _ := bytes.Cut(line, []byte(","))
		labels.Add(bytes.TrimSpace(label), number)
		return classes.Part(&b.Split, int32(node), strings.ToLower(string(bytes.TrimSpace(part))))
	})
	if err != nil {
		return err
	}
	line := 0
	if b.Y, b.ClassNames, line, err = labels.Classes(classes.Line); err != nil {
		return &format.ReadError{File: file, Line: line, Err: err}
	}
	return nil
}

// eachLine calls take with each line of a file, its number and its node. It skips the header and trailing empty lines.
func eachLine(ctx context.Context, file string, take func(number, node int, line []byte) error) error {
	node, empty := 0, 0
	return lines.Read(ctx, file, func(number int, line []byte) error {
		line = bytes.TrimSpace(line)
		if first, _, _ := bytes.Cut(bytes.ToLower(line), []byte(",")); number == 1 &&
			slices.Contains([]string{"label", "labels", "class", "y", "split", "part"}, string(first)) {
			return nil // a header
		}
		if len(line) == 0 {
			empty++
			return nil
		}
		for ; empty > 0; empty-- {
			if err := take(number, node, nil); err != nil {
				return err
			}
			node++
		}
		node++
		return take(number, node-1, line)
	})
}

// readFeatures reads the features of n nodes from a matrix, an .npy file or a .csv file.
func readFeatures(ctx context.Context, file string, n int) (mat.Matrix, error) {
	if _, is := cut(file); is {
		return readMatrix(ctx, file, n)
	}
	if filepath.Ext(file) == ".npy" {
		return numpy.Read(ctx, file)
	}
	return lines.Matrix(ctx, file, n, true)
}
