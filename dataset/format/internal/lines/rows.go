package lines

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/internal/content"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
)

// Rows calls parse for each of the n remaining lines, from several goroutines, with the line number counted from 0.
// Trailing empty lines do not count. least is the minimum length of a line, including its end. If the file is too short
// for n lines, Rows returns an error before it reads. what is the word for the lines in errors, such as "nodes".
func (t *File) Rows(ctx context.Context, n, least int, what string, parse func(i int, line []byte) error) error {
	return t.Blocks(ctx, n, least, what, func(int, int) (func(int, []byte) error, func() error) { return parse, nil })
}

// Blocks is like Rows, with callbacks for blocks of lines. It calls begin for each block, with the number of its first
// line and an upper bound on the number of its lines. For each line of the block it calls parse, which begin returns.
// Then it calls end, unless end is nil. An error from end is returned unchanged.
func (t *File) Blocks(
	ctx context.Context, n, least int, what string,
	begin func(first, most int) (parse func(i int, line []byte) error, end func() error),
) error {
	if err := t.Fits(n, least, what); err != nil {
		return err
	}
	count, err := t.Sections(ctx, func(first int, text []byte) (func(int, []byte) error, func() error) {
		parse, end := begin(first, min(n-first, len(text)/least+1))
		return func(i int, line []byte) error {
			if i < n {
				return parse(i, line)
			}
			if len(bytes.TrimSpace(line)) > 0 {
				return fmt.Errorf("one line too many, expected %d, one for each of the %s", n, what)
			}
			return nil
		}, end
	})
	if err == nil && count < n {
		return t.Fail(0, "%d lines, expected %d, one for each of the %s", count, n, what)
	}
	return err
}

// Sections reads the remaining lines in blocks, from several goroutines, and returns their number. It calls begin for
// each block, with the number of its first line, counted from 0, and its text. For each line of the block it calls
// parse, which begin returns. Then it calls end, unless end is nil. The error is about the first invalid line, or comes
// from the first end that fails. Sections reports the bytes read from the file, which may be compressed, to package
// progress.
func (t *File) Sections(
	ctx context.Context, begin func(first int, text []byte) (parse func(i int, line []byte) error, end func() error),
) (count int, err error) {
	type block struct {
		first int
		text  []byte
	}
	ended := false
	next := func() (b block, more bool, err error) {
		if ended {
			return b, false, nil
		}
		err = t.more()
		text := t.rest
		switch err {
		case nil:
			end := bytes.LastIndexByte(text, '\n') + 1
			text, t.rest = text[:end], text[end:]
		case io.EOF:
			ended, t.rest = true, nil
		default:
			return b, false, err
		}
		if at, err := t.file.Seek(0, io.SeekCurrent); err == nil && t.onDisk > 0 {
			progress.Report(ctx, progress.Event{Stage: "reading " + filepath.Base(t.Path), Done: at, Total: t.onDisk})
		}
		b = block{count, text}
		if count += bytes.Count(text, []byte("\n")); len(text) > 0 && text[len(text)-1] != '\n' {
			count++ // the last line of the file
		}
		return b, true, nil
	}
	err = parallel.Each(ctx, next, func(_ int, b block) error {
		if len(b.text) == 0 {
			return nil
		}
		parse, end := begin(b.first, b.text)
		for at, text := b.first, b.text; len(text) > 0; at++ {
			line, rest, _ := bytes.Cut(text, []byte("\n"))
			text = rest
			if err := parse(at, bytes.TrimSuffix(line, []byte("\r"))); err != nil {
				return &format.ReadError{File: t.Path, Line: t.Line + at + 1, Err: err}
			}
		}
		if end == nil {
			return nil
		}
		return end()
	})
	return count, err
}

// Fits returns an error if the file is too short for n lines of least bytes. Call it before allocating memory for n
// lines.
func (t *File) Fits(n, least int, what string) error {
	if int64(n) > (t.size+1)/int64(least) {
		return t.Fail(0, "the file is too short for %d %s", n, what)
	}
	return nil
}

// Table is a file with a line of numbers for each node, separated by commas.
type Table struct {
	Path string
	// Nodes is the number of lines, and Columns is the number of values in a line.
	Nodes, Columns int
	header         bool // whether the first line is a header
}

// OpenTable reads the first line of a file that has a line for each of n nodes. If header is true, a first line that
// begins with a word is skipped, and column numbers that pandas wrote and columns of ids or labels are errors. A file
// that is too short for n lines is an error, too.
func OpenTable(path string, n int, header bool) (t Table, err error) {
	f, err := Open(path)
	if err != nil {
		return t, err
	}
	defer f.Close()
	line, err := f.Peek()
	if err != nil && err != io.EOF {
		return t, err
	}
	t = Table{Path: path, Nodes: n, Columns: bytes.Count(line, comma) + 1}
	first, _, _ := bytes.Cut(line, comma)
	t.header = header && isWord(first)
	if header {
		if err := f.CheckIndex(line, isWord); err != nil {
			return t, err
		}
		names := Fields(line)
		for _, name := range []string{names[0], names[len(names)-1]} { // the others may be words of a vocabulary
			if content.Repeats(name) != "" {
				return t, f.Fail(1, "the column %.50q would be a feature: leave it out (line i is node i; nodes.csv may have ids "+
					"and labels), or rename it if it is a feature", name)
			}
		}
		if numbered(line) {
			return t, f.Fail(1, "the numbers 0 to %d look like the column names that pandas wrote, and must not be there: "+
				"write the file with to_csv(…, header=False), or name the columns", t.Columns-1)
		}
	}
	if err := f.Fits(n, 2*t.Columns, fmt.Sprintf("nodes with %d features", t.Columns)); err != nil {
		return t, cmp.Or(f.ragged(t.Columns), err)
	}
	return t, nil
}

// ragged returns an error about the first line with another number of columns, or nil. If a file is too short, a line
// with missing columns is a better explanation than the size.
func (t *File) ragged(columns int) error {
	for {
		line, err := t.Next()
		if err != nil || len(bytes.TrimSpace(line)) == 0 {
			return nil
		}
		if found := bytes.Count(line, comma) + 1; found != columns {
			return t.Fail(t.Line, "%d columns, and the first line has %d", found, columns)
		}
	}
}

// CheckIndex returns an error if the first line of a file is a header whose first column is an index that pandas wrote:
// the column has the name that pandas gives to an index, or it has no name and another column has one, or the others
// are numbered. isWord reports whether a field is a name, not a value.
func (t *File) CheckIndex(line []byte, isWord func(field []byte) bool) error {
	word := slices.ContainsFunc(bytes.Split(line, comma), isWord)
	if (word || numbered(bytes.TrimPrefix(line, comma))) && content.IsIndex(Fields(line), 0) {
		return t.Fail(1, "the first column looks like an index that pandas wrote, and must not be there: write the file "+
			"with to_csv(…, index=False)")
	}
	return nil
}

// Fields returns the names in a header, without spaces and quotes around them.
func Fields(line []byte) []string {
	names := strings.Split(string(line), ",")
	for i, name := range names {
		names[i] = strings.Trim(name, " \t\r\"")
	}
	return names
}

// numbered reports whether a line holds 0, 1, 2 and so on: the names that pandas gives to columns without names. Fewer
// than three numbers may be the features of a node.
func numbered(line []byte) bool {
	k := 0
	for field := range bytes.SplitSeq(bytes.TrimSpace(line), comma) {
		if string(field) != strconv.Itoa(k) {
			return false
		}
		k++
	}
	return k > 2
}

// isWord reports whether a field is neither a number nor empty.
func isWord(field []byte) bool {
	_, err := content.Float(field)
	return err != nil && len(bytes.TrimSpace(field)) > 0
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

// Rows calls put with blocks of the rows, as format.Stream.Rows does. put is called from several goroutines.
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

// Matrix reads a file with a line of numbers for each of n nodes, separated by commas. If header is true, a first line
// that begins with a word is skipped.
func Matrix(ctx context.Context, path string, n int, header bool) (*mat.Dense, error) {
	t, err := OpenTable(path, n, header)
	if err != nil {
		return nil, err
	}
	x := &mat.Dense{Rows: n, Cols: t.Columns, Data: memory.Make[float32](n * t.Columns)} // Rows sets each row
	return x, t.Rows(ctx, func(first int, block *mat.Dense) error {
		copy(x.Data[first*x.Cols:], block.Data)
		return nil
	})
}

var comma = []byte(",")

// Commas returns a hint for a field that contains one of the given other separators, and "" otherwise.
func Commas(field []byte, separators string) string {
	if bytes.ContainsAny(bytes.TrimSpace(field), separators) {
		return ": fields must be separated by commas"
	}
	return ""
}

// numbers sets row to the numbers of a line.
func numbers(row []float32, line []byte) error {
	rest := line
	for j := range row {
		field, after, more := bytes.Cut(rest, comma)
		if more != (j < len(row)-1) {
			return fmt.Errorf("%d columns, and the first line has %d", bytes.Count(line, comma)+1, len(row))
		}
		v, err := content.Float(field)
		if err != nil || math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("column %d: %.50q, must be a finite number%s", j+1, field, Commas(field, "; \t"))
		}
		row[j], rest = v, after
	}
	return nil
}
