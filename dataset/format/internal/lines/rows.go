package lines

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/graph-condensation/cgc/dataset/format/internal/decimal"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// Rows calls parse for each of the n lines that are left, several at a time, with the number of the line, from 0. Empty
// lines at the end do not count. least is the least length of a line, its end included: if the file is too short for n
// lines, Rows returns an error before it reads. what names the lines in errors: "nodes".
func (t *File) Rows(ctx context.Context, n, least int, what string, parse func(i int, line []byte) error) error {
	return t.Blocks(ctx, n, least, what, func(int, int) (func(int, []byte) error, func() error) { return parse, nil })
}

// Blocks is Rows for what is done with many lines at a time. It calls begin for each block of lines, with the number of
// its first line and an upper bound of their number. For each line of the block it calls parse, which begin returns.
// Then it calls end, unless that is nil. An error of end is returned as it is.
func (t *File) Blocks(
	ctx context.Context, n, least int, what string,
	begin func(first, most int) (parse func(i int, line []byte) error, end func() error),
) error {
	if err := t.Fits(n, least, what); err != nil {
		return err
	}
	read := make(chan int, 1)
	read <- 0
	var ended failure
	err := t.Each(ctx, func(first int, text []byte) (int, error) {
		at := first
		parse, end := begin(first, min(n-first, len(text)/least+1))
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
		return 0, ended.of(end)
	})
	if ended.err != nil {
		return ended.err
	}
	if count := <-read; err == nil && count < n {
		return t.Fail(0, "%d lines, want %d, one for each of the %s", count, n, what)
	}
	return err
}

// failure keeps the first error that has its own place.
type failure struct {
	mu  sync.Mutex
	err error
}

// of calls end, unless it is nil, and keeps its error.
func (f *failure) of(end func() error) error {
	if end == nil {
		return nil
	}
	err := end()
	if err == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
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

// Table is a file with a line of numbers for each node, with commas between them.
type Table struct {
	Path string
	// Nodes is the number of lines, Columns that of the numbers in a line.
	Nodes, Columns int
	header         bool // a first line that is left out
}

// OpenTable looks at the first line of a file with a line for each of n nodes. If header is true, a first line that
// begins with a word is left out. An error says that the file is too short for n lines.
func OpenTable(path string, n int, header bool) (t Table, err error) {
	f, err := Open(path)
	if err != nil {
		return t, err
	}
	defer f.Close()
	line, err := f.Next()
	if err != nil && err != io.EOF {
		return t, err
	}
	t = Table{Path: path, Nodes: n, Columns: bytes.Count(line, comma) + 1}
	first, _, _ := bytes.Cut(line, comma)
	_, wrong := decimal.Float(first)
	t.header = header && wrong != nil && len(bytes.TrimSpace(first)) > 0
	return t, f.Fits(n, 2*t.Columns, fmt.Sprintf("nodes with %d features", t.Columns))
}

// open opens the file after its header.
func (t Table) open() (*File, error) {
	f, err := Open(t.Path)
	if err != nil || !t.header {
		return f, err
	}
	if _, err := f.Next(); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Rows calls put with blocks of the rows, as format.Stream.Rows does. Several blocks are put at a time.
func (t Table) Rows(ctx context.Context, put func(first int, block *mat.Dense) error) error {
	f, err := t.open()
	if err != nil {
		return err
	}
	defer f.Close()
	var blocks sync.Pool
	return f.Blocks(ctx, t.Nodes, 2*t.Columns, "nodes", func(first, most int) (func(int, []byte) error, func() error) {
		block, _ := blocks.Get().(*mat.Dense)
		if block == nil {
			block = new(mat.Dense)
		}
		block.Reshape(max(0, most), t.Columns)
		rows := 0
		parse := func(i int, line []byte) error {
			rows = i - first + 1
			return numbers(block.Row(i-first), line)
		}
		return parse, func() error {
			defer blocks.Put(block)
			if rows == 0 {
				return nil
			}
			block.Reshape(rows, t.Columns)
			return put(first, block)
		}
	})
}

// Matrix reads a file with a line of numbers for each of n nodes, with commas between them. If header is true, a first
// line that begins with a word is left out.
func Matrix(ctx context.Context, path string, n int, header bool) (*mat.Dense, error) {
	t, err := OpenTable(path, n, header)
	if err != nil {
		return nil, err
	}
	f, err := t.open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	x := &mat.Dense{Rows: n, Cols: t.Columns, Data: memory.Uncleared[float32](n * t.Columns)} // Rows sets each row
	return x, f.Rows(ctx, n, 2*t.Columns, "nodes", func(i int, line []byte) error { return numbers(x.Row(i), line) })
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
