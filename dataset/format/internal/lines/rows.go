package lines

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"

	"github.com/graph-condensation/cgc/dataset/format/internal/decimal"
	"github.com/graph-condensation/cgc/mat"
)

// Rows calls parse for each of the n lines that are left, several at a time, with the number of the line, from 0. Empty
// lines at the end do not count. least is the least length of a line, its end included: if the file is too short for n
// lines, Rows returns an error before it reads. what names the lines in errors: "nodes".
func (t *File) Rows(ctx context.Context, n, least int, what string, parse func(i int, line []byte) error) error {
	if err := t.Fits(n, least, what); err != nil {
		return err
	}
	read := make(chan int, 1)
	read <- 0
	err := t.Each(ctx, func(first int, text []byte) (int, error) {
		at := first
		for ; len(text) > 0; at++ {
			var line []byte
			line, text = Cut(text)
			if at < n {
				if err := parse(at, line); err != nil {
					return at - first, err
				}
			} else if len(bytes.TrimSpace(line)) > 0 {
				return at - first, fmt.Errorf("a line more than there are %s (%d)", what, n)
			}
		}
		read <- max(at, <-read)
		return 0, nil
	})
	if count := <-read; err == nil && count < n {
		return t.Fail(0, "%d lines, want %d, one for each of the %s", count, n, what)
	}
	return err
}

// Fits returns an error if the file is too short for n lines of least bytes. A caller that makes room for n lines asks
// it first.
func (t *File) Fits(n, least int, what string) error {
	if int64(n) > (t.size+1)/int64(least) {
		return t.Fail(0, "the file is too short for %d %s", n, what)
	}
	return nil
}

// Matrix reads a file with a line of numbers for each of n nodes, with commas between them. If header is true, a first
// line that begins with a word is left out.
func Matrix(ctx context.Context, path string, n int, header bool) (*mat.Dense, error) {
	head, err := Open(path)
	if err != nil {
		return nil, err
	}
	line, err := head.Next()
	head.Close()
	if err != nil && err != io.EOF {
		return nil, err
	}
	t, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	first, _, _ := bytes.Cut(line, comma)
	if _, err := decimal.Float(first); header && err != nil && len(bytes.TrimSpace(first)) > 0 {
		if _, err := t.Next(); err != nil {
			return nil, err
		}
	}
	columns := bytes.Count(line, comma) + 1
	if err := t.Fits(n, 2*columns, fmt.Sprintf("nodes with %d features", columns)); err != nil {
		return nil, err
	}
	x := mat.NewDense(n, columns)
	return x, t.Rows(ctx, n, 2*columns, "nodes", func(i int, line []byte) error { return numbers(x.Row(i), line) })
}

var comma = []byte(",")

// numbers sets row to the numbers of a line.
func numbers(row []float32, line []byte) error {
	rest := line
	for j := range row {
		field, after, more := bytes.Cut(rest, comma)
		if more != (j < len(row)-1) {
			return fmt.Errorf("%d columns, and the first line has %d", bytes.Count(line, comma)+1, len(row))
		}
		v, err := decimal.Float(field)
		if err != nil || math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("column %d: %.50q, want a finite number", j+1, field)
		}
		row[j], rest = v, after
	}
	return nil
}
