package csvfile

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/internal/parallel"
)

// Table is a .csv file with a header, as RFC 4180 describes it.
type Table struct {
	// File is the path of the file.
	File string
	// Header holds the names of the columns. No two are equal.
	Header []string

	data []byte // the records
	line int    // of the first of them
}

// OpenTable reads a file and its header, as Read does.
func OpenTable(ctx context.Context, file string) (*Table, error) {
	data, err := Read(ctx, file)
	if err != nil {
		return nil, err
	}
	r := &Reader{file: file, data: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), next: 1}
	fields, err := r.record()
	if err == io.EOF {
		return nil, r.fail("the file is empty, want a header")
	}
	t := &Table{File: file}
	for _, f := range fields {
		name := string(f)
		if slices.Contains(t.Header, name) {
			return nil, r.fail("the header has the column %.50q twice", name)
		}
		t.Header = append(t.Header, name)
	}
	t.data, t.line = r.data, r.next
	return t, err
}

// FailAt returns an error about a line.
func (t *Table) FailAt(line int, err error) error {
	return &format.ReadError{File: t.File, Line: line, Err: err}
}

// Place names the line of a record.
func (t *Table) Place(record int) string { return fmt.Sprintf("line %d", t.Line(record)) }

// Fail returns an error about a record, −1 for the header.
func (t *Table) Fail(record int, err error) error {
	if record < 0 {
		return t.FailAt(1, err)
	}
	return t.FailAt(t.Line(record), err)
}

// Blocks returns readers of the parts of the file, each about a megabyte and with whole records, in their order.
func (t *Table) Blocks() (blocks []*Reader) {
	const size = 1 << 20
	quoted := bytes.IndexByte(t.data, '"') >= 0
	for rest := t.data; len(rest) > 0; {
		end := len(rest)
		if end > size && quoted {
			end = quotedEnd(rest, size)
		} else if end > size {
			end = size + after(rest[size:], '\n')
		}
		blocks = append(blocks, &Reader{file: t.File, columns: len(t.Header), data: rest[:end]})
		rest = rest[end:]
	}
	lines := make([]int, len(blocks))
	parallel.For(len(blocks), 1, func(k, _ int) { lines[k] = bytes.Count(blocks[k].data, []byte("\n")) })
	line := t.line
	for k, r := range blocks {
		r.next, line = line, line+lines[k]
	}
	return blocks
}

// after returns the place after the first c in data, or the length of data.
func after(data []byte, c byte) int {
	if at := bytes.IndexByte(data, c); at >= 0 {
		return at + 1
	}
	return len(data)
}

// quotedEnd returns the place after the first record that ends beyond least. data begins with a record. A line feed
// within quotes ends no record. As in Reader, a quote opens a field only at its beginning.
func quotedEnd(data []byte, least int) int {
	at, stop := 0, 0 // all before at is read; stop is behind the first line feed from max(at, least) on
	for {
		if from := max(at, least); stop <= from {
			if from >= len(data) {
				return len(data)
			}
			stop = from + after(data[from:], '\n')
		}
		quote := bytes.IndexByte(data[at:stop], '"')
		if quote < 0 {
			return stop
		}
		at += quote
		before := bytes.TrimRight(data[:at], "\r")
		opens := at == 0 || data[at-1] == ',' || len(before) == 0 || before[len(before)-1] == '\n'
		for at++; opens && at < len(data); {
			at += after(data[at:], '"')
			if opens = at < len(data) && data[at] == '"'; opens { // doubled: it stands for one
				at++
			}
		}
	}
}

// Line returns the line of a record, counted from 0.
func (t *Table) Line(record int) int {
	r := &Reader{file: t.File, data: t.data, next: t.line}
	for range record + 1 {
		if _, err := r.record(); err != nil {
			break
		}
	}
	return r.Line
}
