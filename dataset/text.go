package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// readText reads a folder of edges.csv (source,target[,weight]), features.csv or features.npy, labels.csv (label[,part]) and, if there,
// split.csv (part); any .csv may be a .csv.gz. Line i of features, labels and split is node i.
func (r *reader) readText(dir string) (*graph.Graph, error) {
	g := &graph.Graph{Name: filepath.Base(dir)}
	if err := r.readLabels(dir, g); err != nil {
		return nil, err
	}
	n := len(g.Y)
	file := filepath.Join(dir, "features.npy")
	var x *mat.Dense
	var err error
	if exists(file) {
		x, err = readNpy(file)
	} else {
		file = csvFile(dir, "features")
		x, err = readTable(file)
	}
	if err != nil {
		return nil, err
	}
	if err := checkFeatures(file, x, n); err != nil {
		return nil, err
	}
	g.X = x
	a, err := readEdges(csvFile(dir, "edges"), n)
	if err != nil {
		return nil, err
	}
	g.Adj = r.adjacency(g.Name, n, a)
	return g, nil
}

// csvFile returns the path of name.csv.gz if that is there, else of name.csv.
func csvFile(dir, name string) string {
	if file := filepath.Join(dir, name+".csv.gz"); exists(file) {
		return file
	}
	return filepath.Join(dir, name+".csv")
}

// textLine is what a line of labels.csv or split.csv says of its node.
type textLine struct {
	label int32
	part  byte // t, v, s for test, or 0
}

// readLabels fills in labels, classes and split.
func (r *reader) readLabels(dir string, g *graph.Graph) error {
	file := csvFile(dir, "labels")
	lines, err := parseLines(file, func(line []byte, out []textLine) ([]textLine, error) {
		field, part, _ := bytes.Cut(line, []byte(","))
		l := textLine{label: graph.Unlabelled}
		if field = bytes.TrimSpace(field); len(field) > 0 {
			label, err := parseInt(field)
			if err != nil {
				return nil, fmt.Errorf("label %w", err)
			}
			if err := checkLabel(int64(len(out)), label); err != nil {
				return nil, fmt.Errorf("label %d, want 0 to %d, or %d for none", label, maxClasses-1, graph.Unlabelled)
			}
			l.label = int32(label)
		}
		var err error
		l.part, err = parsePart(part)
		return append(out, l), err
	})
	if err != nil {
		return err
	}
	for _, l := range lines {
		g.Y = append(g.Y, l.label)
	}
	g.Classes = shiftLabels(g.Y)
	if split := csvFile(dir, "split"); exists(split) {
		file = split
		parts, err := parseLines(file, func(line []byte, out []textLine) ([]textLine, error) {
			part, err := parsePart(line)
			return append(out, textLine{part: part}), err
		})
		if err != nil {
			return err
		}
		if len(parts) != len(lines) {
			return &ReadError{File: file, Err: fmt.Errorf("%d lines for %d labels", len(parts), len(lines))}
		}
		lines = parts
	}
	for i, l := range lines {
		switch l.part {
		case 't':
			g.Split.Train = append(g.Split.Train, int32(i))
		case 'v':
			g.Split.Val = append(g.Split.Val, int32(i))
		case 's':
			g.Split.Test = append(g.Split.Test, int32(i))
		}
	}
	if len(g.Split.Train)+len(g.Split.Val)+len(g.Split.Test) == 0 {
		r.drawSplit(g)
	}
	return checkSplit(file, g, g.Split)
}

func parsePart(field []byte) (byte, error) {
	switch part := string(bytes.ToLower(bytes.TrimSpace(field))); part {
	case "train":
		return 't', nil
	case "val", "valid", "validation":
		return 'v', nil
	case "test":
		return 's', nil
	case "", "none":
		return 0, nil
	}
	return 0, fmt.Errorf("part %.50q, want train, val, test or nothing", field)
}

// readEdges reads source,target[,weight] for n nodes.
func readEdges(file string, n int) (arcs, error) {
	type edge struct {
		from, to int32
		weight   float32
	}
	edges, err := parseLines(file, func(line []byte, out []edge) ([]edge, error) {
		source, rest, _ := bytes.Cut(line, []byte(","))
		target, weight, weighted := bytes.Cut(rest, []byte(","))
		e := edge{weight: 1}
		var err error
		if e.from, err = parseNode(source, n); err != nil {
			return nil, err
		}
		if e.to, err = parseNode(target, n); err != nil {
			return nil, err
		}
		if weighted {
			w, err := parseFloat(weight)
			if err != nil || !(w > 0) || math.IsInf(float64(w), 0) {
				return nil, fmt.Errorf("weight %.50q, want a positive finite number", weight)
			}
			e.weight = w
		}
		return append(out, e), nil
	})
	if err != nil {
		return arcs{}, err
	}
	a := arcs{from: make([]int32, len(edges)), to: make([]int32, len(edges)), weight: make([]float32, len(edges))}
	for i, e := range edges {
		a.from[i], a.to[i], a.weight[i] = e.from, e.to, e.weight
	}
	if !slices.ContainsFunc(a.weight, func(w float32) bool { return w != 1 }) {
		a.weight = nil
	}
	return a, nil
}

// parseNode returns the node that field names, one of n.
func parseNode(field []byte, n int) (int32, error) {
	v, err := parseInt(field)
	if err != nil {
		if v, err = parseInt(bytes.TrimSpace(field)); err != nil {
			return 0, fmt.Errorf("node %w", err)
		}
	}
	if v < 0 || v >= int64(n) {
		return 0, fmt.Errorf("node %d, want 0 to %d (there are %d labels)", v, n-1, n)
	}
	return int32(v), nil
}

// readTable reads lines of equally many numbers.
func readTable(file string) (*mat.Dense, error) {
	const unknown = -1
	rows, err := parseLines(file, func(line []byte, out [][]float32) ([][]float32, error) {
		cols := unknown
		if len(out) > 0 {
			cols = len(out[0])
		}
		row := make([]float32, 0, max(cols, 8))
		for field := range bytes.SplitSeq(line, []byte(",")) {
			v, err := parseFloat(field)
			if err != nil {
				return nil, fmt.Errorf("column %d: %.50q is not a number", len(row)+1, field)
			}
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				return nil, fmt.Errorf("column %d: %.50q, want a finite number", len(row)+1, field)
			}
			row = append(row, v)
		}
		if cols != unknown && len(row) != cols {
			return nil, fmt.Errorf("%d columns, and %d in the lines above", len(row), cols)
		}
		return append(out, row), nil
	})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, &ReadError{File: file, Err: errors.New("no lines with numbers")}
	}
	x := mat.NewDense(len(rows), len(rows[0]))
	for i, row := range rows {
		if len(row) != x.Cols {
			return nil, &ReadError{File: file, Err: fmt.Errorf("node %d has %d columns, and node 0 has %d", i, len(row), x.Cols)}
		}
		copy(x.Row(i), row)
	}
	return x, nil
}

// parseLines calls parse for each line of a file, several blocks of the file at a time, and returns what it appended, in the order of
// the lines. A first line whose first field is a word is a header and left out; so are empty lines at the end.
func parseLines[T any](file string, parse func(line []byte, out []T) ([]T, error)) ([]T, error) {
	data, err := readAll(file)
	if err != nil {
		return nil, err
	}
	header := 0
	if line, rest, _ := bytes.Cut(data, []byte("\n")); isHeader(line) {
		data, header = rest, 1
	}
	data = bytes.TrimRight(data, "\r\n")
	const block = 1 << 20
	type result struct {
		out   []T
		lines int
		err   error
	}
	results := make([]result, (len(data)+block-1)/block)
	parallel.For(len(data), block, func(lo, hi int) {
		r := &results[lo/block]
		// A line belongs to the block in which it starts.
		if lo > 0 && data[lo-1] != '\n' {
			next := bytes.IndexByte(data[lo:hi], '\n')
			if next < 0 {
				return
			}
			lo += next + 1
		}
		for lo < hi && r.err == nil {
			end := bytes.IndexByte(data[lo:], '\n')
			if end < 0 {
				end = len(data) - lo
			}
			if r.out == nil {
				r.out = make([]T, 0, (hi-lo)/(end+1)+1) // if lines are about as long as the first
			}
			r.out, r.err = parse(bytes.TrimSuffix(data[lo:lo+end], []byte("\r")), r.out)
			lo += end + 1
			r.lines++
		}
	})
	total := 0
	for _, r := range results {
		total += len(r.out)
	}
	all := make([]T, 0, total)
	line := header
	for _, r := range results {
		line += r.lines
		if r.err != nil {
			return nil, &ReadError{File: file, Line: line, Err: r.err}
		}
		all = append(all, r.out...)
	}
	if len(all) == 0 {
		return nil, &ReadError{File: file, Err: errors.New("no lines with values")}
	}
	return all, nil
}

// isHeader says whether the first field of a line is a word and not a number.
func isHeader(line []byte) bool {
	field, _, _ := bytes.Cut(line, []byte(","))
	_, err := parseFloat(field)
	_, notPart := parsePart(field)
	return err != nil && notPart != nil
}

// readAll reads a file, unpacking it if its name ends in .gz.
func readAll(file string) ([]byte, error) {
	if !strings.HasSuffix(file, ".gz") {
		return os.ReadFile(file)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, &ReadError{File: file, Err: fmt.Errorf("unpacking gzip: %w", err)}
	}
	data, err := io.ReadAll(z)
	if err != nil {
		return nil, &ReadError{File: file, Err: fmt.Errorf("unpacking gzip: %w", err)}
	}
	return data, nil
}
