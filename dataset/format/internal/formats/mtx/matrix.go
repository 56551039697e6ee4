package mtx

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format/internal/csr"
	"github.com/graph-condensation/cgc/dataset/format/internal/lines"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/content"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

type header struct {
	coordinate bool // otherwise an array
	field      string
	symmetry   string
	rows, cols int
	entries    int
}

// open opens a matrix and reads its head.
func open(file string) (t *lines.File, h header, err error) {
	if t, err = lines.Open(file); err != nil {
		return nil, h, err
	}
	if h, err = readHeader(t); err != nil {
		t.Close()
	}
	return t, h, err
}

// readHeader reads the banner, comments and the size line.
func readHeader(t *lines.File) (h header, err error) {
	line, err := t.Next()
	if err != nil && err != io.EOF {
		return h, err
	}
	words := strings.Fields(strings.ToLower(string(line[:min(len(line), 1000)])))
	if len(words) != 5 || words[0] != "%%matrixmarket" || words[1] != "matrix" {
		return h, t.Fail(1, "the line %.60q, expected %%%%MatrixMarket matrix coordinate real general, or alike", line)
	}
	h.coordinate, h.field, h.symmetry = words[2] == "coordinate", words[3], words[4]
	switch {
	case !h.coordinate && words[2] != "array":
		return h, t.Fail(1, "a matrix as %.20q, must be coordinate or array", words[2])
	case !slices.Contains([]string{"real", "double", "integer", "unsigned-integer", "pattern"}, h.field):
		return h, t.Fail(1, "a matrix of %.20q, must be real, integer or pattern", h.field)
	case h.symmetry != "general" && h.symmetry != "symmetric":
		return h, t.Fail(1, "a %.20s matrix, must be general or symmetric", h.symmetry)
	case h.field == "pattern" && !h.coordinate:
		return h, t.Fail(1, "a pattern as array, must be as coordinate")
	}
	for {
		line, err = t.Next()
		if err == io.EOF {
			return h, t.Fail(t.Line, "the file ends before the sizes of the matrix")
		}
		if err != nil {
			return h, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '%' {
			break
		}
	}
	sizes := []*int{&h.rows, &h.cols}
	if h.coordinate {
		sizes = append(sizes, &h.entries)
	}
	fields := bytes.Fields(line)
	if len(fields) != len(sizes) {
		return h, t.Fail(t.Line, "%d sizes, expected %d", len(fields), len(sizes))
	}
	for i, field := range fields {
		v, err := content.Int(field)
		if err != nil || v < 0 || i < 2 && v > graph.MaxNodes {
			return h, t.Fail(t.Line, "size %.30q, must be an integer up to %d", field, graph.MaxNodes)
		}
		*sizes[i] = int(v)
	}
	return h, nil
}

// entries are the entries of a coordinate matrix, counted from 0.
type entries struct {
	row, col []int32
	value    []float32 // nil if the matrix is a pattern
}

// readEntries reads the entries of a coordinate matrix.
func readEntries(ctx context.Context, t *lines.File, h header) (e entries, err error) {
	least := len("1 1\n")
	if h.field != "pattern" {
		least = len("1 1 1\n")
	}
	if err := t.Fits(h.entries, least, "entries"); err != nil {
		return e, err
	}
	e.row, e.col = memory.Make[int32](h.entries), memory.Make[int32](h.entries)
	if h.field != "pattern" {
		e.value = memory.Make[float32](h.entries)
	}
	return e, t.Rows(ctx, h.entries, least, "entries", func(i int, line []byte) (err error) {
		field, rest := word(line)
		if e.row[i], err = position(field, h.rows, "row"); err != nil {
			return err
		}
		field, rest = word(rest)
		if e.col[i], err = position(field, h.cols, "column"); err != nil || e.value == nil {
			return err
		}
		field, _ = word(rest)
		e.value[i], err = finite(field)
		return err
	})
}

// word returns the first word of a line, and the rest.
func word(line []byte) (first, rest []byte) {
	at := 0
	for at < len(line) && (line[at] == ' ' || line[at] == '\t') {
		at++
	}
	end := at
	for end < len(line) && line[end] != ' ' && line[end] != '\t' {
		end++
	}
	return line[at:end], line[end:]
}

// position returns a row or a column, counted from 0.
func position(field []byte, n int, what string) (int32, error) {
	v, err := content.Int(field)
	if err != nil || v < 1 || v > int64(n) {
		return 0, fmt.Errorf("%s %.30q, must be 1 to %d", what, field, n)
	}
	return int32(v - 1), nil
}

func finite(field []byte) (float32, error) {
	v, err := content.Float(field)
	if err != nil || math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
		return 0, fmt.Errorf("value %.50q, must be a finite number", field)
	}
	return v, nil
}

// readArray reads the numbers of an array, which is in column-major order.
func readArray(ctx context.Context, t *lines.File, h header) (*mat.Dense, error) {
	if h.symmetry != "general" {
		return nil, t.Fail(1, "a symmetric array, must be a general one")
	}
	if int64(h.rows)*int64(h.cols) > math.MaxInt32 {
		return nil, t.Fail(t.Line, "an array of %d × %d numbers, must be at most %d", h.rows, h.cols, math.MaxInt32)
	}
	if err := t.Fits(h.rows*h.cols, 2, "numbers"); err != nil {
		return nil, err
	}
	x := mat.NewDense(h.rows, h.cols)
	return x, t.Rows(ctx, h.rows*h.cols, 2, "numbers", func(i int, line []byte) error {
		field, _ := word(line)
		v, err := finite(field)
		x.Data[i%h.rows*h.cols+i/h.rows] = v
		return err
	})
}

// readEdges reads the adjacency of n nodes. Entries of 0 are not edges.
func readEdges(ctx context.Context, file string, n int) (edges graph.Edges, err error) {
	t, h, err := open(file)
	if err != nil {
		return edges, err
	}
	defer t.Close()
	switch {
	case h.rows != h.cols:
		return edges, t.Fail(t.Line, "the adjacency is %d×%d, must be square", h.rows, h.cols)
	case h.rows != n:
		return edges, t.Fail(t.Line, "the adjacency is %d×%d, and there are %d labels", h.rows, h.cols, n)
	case !h.coordinate:
		return edges, t.Fail(1, "the adjacency is an array, must be as coordinate (scipy: mmwrite of a sparse matrix)")
	}
	e, err := readEntries(ctx, t, h)
	if err != nil {
		return edges, err
	}
	edges = graph.Edges{From: e.row, To: e.col, Weight: e.value}
	bad, err := csr.Positive(ctx, &edges)
	if bad >= 0 {
		err = t.Fail(0, "entry %d: weight %v of edge %d–%d, must be a positive number",
			bad+1, edges.Weight[bad], edges.From[bad]+1, edges.To[bad]+1)
	}
	return edges, err
}

// readMatrix reads the features of n nodes. A coordinate matrix is kept sparse.
func readMatrix(ctx context.Context, file string, n int) (mat.Matrix, error) {
	t, h, err := open(file)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	if h.rows != n {
		return nil, t.Fail(t.Line, "%d rows of features, and there are %d labels", h.rows, n)
	}
	if !h.coordinate {
		return readArray(ctx, t, h)
	}
	if h.symmetry != "general" {
		return nil, t.Fail(1, "symmetric features, must be a general matrix")
	}
	e, err := readEntries(ctx, t, h)
	if err != nil {
		return nil, err
	}
	p := csr.Parts{Layout: "coo", Rows: n, Cols: h.cols, Row: e.row, Col: e.col, Values: e.value}
	x, err := p.CSR(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(x.Data, func(v float32) bool { return v != 1 }) {
		x.Data = nil
	}
	return x, nil
}
