// Package csvfile finds and reads the .csv files of a folder, gzip-compressed or not.
package csvfile

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/lines"
	"github.com/graph-condensation/cgc/dataset/format/table"
	"github.com/graph-condensation/cgc/internal/content"
)

// Exists reports whether there is a file or a folder at path.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Path returns the path of name.csv.gz in dir if that exists, else of name.csv.
func Path(dir, name string) string {
	if file := filepath.Join(dir, name+".csv.gz"); Exists(file) {
		return file
	}
	return filepath.Join(dir, name+".csv")
}

// Table is a .csv file with a header (RFC 4180), and implements table.Table. Semicolons or tabs may also separate
// fields (see separator).
type Table struct {
	path   string
	header []string
}

// blockSize is the minimum size of a block of text in bytes, and mostRecord is the maximum size of a record.
const (
	blockSize  = 1 << 20
	mostRecord = 1 << 26
)

// OpenTable reads the header of a file.
func OpenTable(path string) (*Table, error) {
	t := &Table{path: path}
	b, err := t.Open()
	if err != nil {
		return nil, err
	}
	t.header = b.header
	return t, b.Close()
}

// Name returns the name of the file, without .gz.
func (t *Table) Name() string { return strings.TrimSuffix(filepath.Base(t.path), ".gz") }

// File returns the path of the file.
func (t *Table) File() string { return t.path }

// Header returns the names of the columns. No two are equal.
func (t *Table) Header() []string { return t.header }

// Column returns the index of the column with one of the names, or −1 (content.Column).
func (t *Table) Column(names ...string) int { return content.Column(t.header, names) }

// Bytes returns the size of the file.
func (t *Table) Bytes() int64 { return content.SizeOf(t.path) }

// Most estimates the number of records.
func (t *Table) Most() (int64, error) {
	f, err := lines.Open(t.path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return f.About()
}

// FailAt returns an error about a line.
func (t *Table) FailAt(line int, err error) error {
	return &format.ReadError{File: t.path, Line: line, Err: err}
}

// Place names the line of a record.
func (t *Table) Place(record int) string { return fmt.Sprintf("line %d", t.line(record)) }

// Fail returns an error about a record, or about the header if record is −1.
func (t *Table) Fail(record int, err error) error {
	if record < 0 {
		return t.FailAt(1, err)
	}
	return t.FailAt(t.line(record), err)
}

// Blocks is a file whose blocks are being read.
type Blocks struct {
	table  *Table
	text   *lines.File
	header []string
	comma  byte   // the separator of fields
	held   []byte // bytes that were read but not returned yet
	line   int    // the line number at the start of held
	ended  bool
}

// Open begins to read the records. Close the blocks after use.
func (t *Table) Open() (b *Blocks, err error) {
	f, err := lines.Open(t.path)
	if err != nil {
		return nil, err
	}
	b = &Blocks{table: t, text: f, line: 1}
	for size := 1 << 16; ; size *= 2 {
		if err = b.fill(size); err != nil {
			break
		}
		data := bytes.TrimPrefix(b.held, []byte(content.BOM))
		r := &Reader{file: t.path, data: data, next: 1, comma: separator(bytes.TrimLeft(data, "\r\n"))}
		fields, wrong := r.record()
		if (len(r.data) == 0 || wrong != nil) && !b.ended {
			continue // the header may continue
		}
		b.header, err = r.header(fields, wrong)
		b.held, b.line, b.comma = r.data, r.next, r.comma
		break
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return b, nil
}

// fill reads until size bytes are held, or to the end of the file.
func (b *Blocks) fill(size int) error {
	if size > mostRecord {
		return b.table.FailAt(b.line, fmt.Errorf("a record of more than %d bytes", mostRecord))
	}
	held := len(b.held)
	if b.ended || held >= size {
		return nil
	}
	grown := make([]byte, size)
	copy(grown, b.held)
	n, err := io.ReadFull(b.text, grown[held:])
	b.held = grown[:held+n]
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		b.ended, err = true, nil
	}
	return err
}

// Close closes the file.
func (b *Blocks) Close() error { return b.text.Close() }

// Next returns a reader of the next block, about a megabyte of complete records. more is false at the end.
func (b *Blocks) Next() (r *Reader, more bool, err error) {
	end := 0
	for size := 2 * blockSize; ; size *= 2 {
		if err := b.fill(size); err != nil {
			return nil, false, err
		}
		if end = len(b.held); end > blockSize {
			end = quotedEnd(b.held, blockSize, b.comma)
		}
		if b.ended || end < len(b.held) {
			break
		}
	}
	if end == 0 {
		return nil, false, nil
	}
	r = &Reader{
		file: b.table.path, columns: len(b.table.header), comma: b.comma, data: b.held[:end:end], next: b.line,
	}
	b.line += bytes.Count(r.data, []byte("\n"))
	b.held = b.held[end:]
	return r, true, nil
}

// Each calls use with each record and its line. If use fails, the error names the record.
func (t *Table) Each(ctx context.Context, use func(fields [][]byte, line int) error) error {
	b, err := t.Open()
	if err != nil {
		return err
	}
	defer b.Close()
	for {
		r, more, err := b.Next()
		if err == nil && more {
			err = ctx.Err()
		}
		if err != nil || !more {
			return err
		}
		for {
			fields, err := r.Read()
			if err == io.EOF {
				break
			}
			if err != nil {
				return err
			}
			if err := use(fields, r.Line); err != nil {
				return t.FailAt(r.Line, err)
			}
		}
	}
}

// Runs implements table.Table. Each cell holds the text of a field.
func (t *Table) Runs(ctx context.Context, _ []int, use func(run int, r table.Rows) error) error {
	return t.RunsOf(ctx, len(t.header), use, func(cells []table.Cell, fields [][]byte) error {
		for i, text := range fields {
			cells[i].Kind, cells[i].Text = table.Text, text
		}
		return nil
	})
}

// RunsOf is like Runs, with a run for each block. A row has width cells, which fill sets to the fields of a record. If
// fill fails, the error names the record.
func (t *Table) RunsOf(
	ctx context.Context, width int, use func(run int, r table.Rows) error,
	fill func(cells []table.Cell, fields [][]byte) error,
) error {
	b, err := t.Open()
	if err != nil {
		return err
	}
	defer b.Close()
	return table.Each(ctx, b.Next, func(run int, r *Reader) error {
		return use(run, &rows{Reader: r, table: t, fill: fill, cells: make([]table.Cell, width)})
	})
}

// rows reads records as rows.
type rows struct {
	*Reader
	table *Table
	fill  func(cells []table.Cell, fields [][]byte) error
	cells []table.Cell
}

// Read implements table.Rows.
func (r *rows) Read() ([]table.Cell, error) {
	fields, err := r.Reader.Read()
	if err != nil {
		return nil, err
	}
	if err := r.fill(r.cells, fields); err != nil {
		return nil, r.Fail(r.Line, err)
	}
	return r.cells, nil
}

// At returns the line of the last row.
func (r *rows) At() int { return r.Line }

// Fail returns an error about a line.
func (r *rows) Fail(line int, err error) error { return r.table.FailAt(line, err) }

// line returns the line of a record, counted from 0.
func (t *Table) line(record int) (line int) {
	_ = t.Each(context.Background(), func(_ [][]byte, at int) error { // these records were read without an error before
		if line = at; record == 0 {
			return io.EOF
		}
		record--
		return nil
	})
	return line
}

// after returns the index after the first c in data, or the length of data.
func after(data []byte, c byte) int {
	if at := bytes.IndexByte(data, c); at >= 0 {
		return at + 1
	}
	return len(data)
}

// quotedEnd returns the index after the first record that ends beyond least. data starts with a record. A line feed
// within quotes does not end a record. As in Reader, only a quote at the beginning of a field opens a quoted field.
func quotedEnd(data []byte, least int, comma byte) int {
	at, stop := 0, 0 // data[:at] is scanned; stop is after the first line feed at or after max(at, least)
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
		opens := at == 0 || data[at-1] == comma || len(before) == 0 || before[len(before)-1] == '\n'
		for at++; opens && at < len(data); {
			at += after(data[at:], '"')
			if opens = at < len(data) && data[at] == '"'; opens { // a doubled quote means one quote
				at++
			}
		}
	}
}
