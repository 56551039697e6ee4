package parquet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	pq "github.com/parquet-go/parquet-go"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/table"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/content"
)

// parts is a table: a file, or the concatenated files of a folder.
type parts struct {
	name, path string
	header     []string
	files      []*file
}

type file struct {
	path    string
	first   int // the index of its first row in the table
	handle  *os.File
	content *pq.File
	columns []*pq.Column // in the order of the header
}

// index matches the column name that pandas writes for an unnamed index.
var index = regexp.MustCompile(`^__index_level_\d+__$`)

// openTable opens the table of that name in a folder.
func openTable(folder, name string) (*parts, error) {
	t := &parts{name: name, path: filepath.Join(folder, name)}
	if err := t.open(); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

// open opens the files.
func (t *parts) open() error {
	info, err := os.Stat(t.path)
	if err != nil {
		return err
	}
	paths := []string{t.path}
	if info.IsDir() {
		if paths, err = partsOf(t.path); err != nil {
			return err
		}
	}
	rows := 0
	for _, path := range paths {
		f, err := openFile(path)
		if err != nil {
			return err
		}
		f.first = rows
		t.files = append(t.files, f)
		if rows += int(f.content.NumRows()); f.content.NumRows() < 0 || rows < 0 {
			return failed(path, errors.New("the number of rows is not in the range of integers"))
		}
	}
	if err := t.chooseColumns(); err != nil {
		return err
	}
	if most := int64(graph.MaxNodes); t.name == nodesFile && int64(rows) > most {
		return failed(t.path, fmt.Errorf("%d rows, must be at most %d nodes", rows, most))
	}
	return nil
}

// partsOf returns the files of a folder, in the order of their names. It skips what Spark writes next to them: names
// that begin with . or _, and checksums.
func partsOf(folder string) (paths []string, err error) {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		switch name := strings.ToLower(e.Name()); {
		case strings.HasPrefix(name, "."), strings.HasPrefix(name, "_"), strings.HasSuffix(name, ".crc"):
		case e.IsDir():
			return nil, failed(folder, fmt.Errorf("the folder %.100s in it is not read: "+
				"all .parquet files must be directly in %s", e.Name(), filepath.Base(folder)))
		case !strings.HasSuffix(name, extension):
			return nil, failed(folder, fmt.Errorf("the file %.100s, must be a .parquet file", e.Name()))
		default:
			paths = append(paths, filepath.Join(folder, e.Name()))
		}
	}
	return paths, err
}

// failed returns an error about a file.
func failed(path string, err error) error { return &format.ReadError{File: path, Err: err} }

// safely calls f and returns its error. A panic becomes an error, because the library panics on some damaged files.
func safely(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the file is damaged: %v", p)
		}
	}()
	return f()
}

// openFile reads the end of a file, which describes its content.
func openFile(path string) (*file, error) {
	handle, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f := &file{path: path, handle: handle}
	err = safely(func() (err error) {
		info, err := handle.Stat()
		if err == nil {
			f.content, err = pq.OpenFile(handle, info.Size(), pq.SkipPageIndex(true), pq.SkipBloomFilters(true))
		}
		return err
	})
	if err != nil {
		handle.Close()
		what, _, _ := strings.Cut(err.Error(), ": decoding thrift payload") // the rest is a path inside the file
		return nil, failed(path, fmt.Errorf("not a whole Parquet file: %s", what))
	}
	return f, nil
}

// chooseColumns takes the header from the first file, and finds its columns in the other files.
func (t *parts) chooseColumns() error {
	if len(t.files) == 0 {
		return failed(t.path, errors.New("the folder has no .parquet files"))
	}
	for _, c := range t.files[0].content.Root().Columns() {
		if slices.Contains(t.header, c.Name()) {
			return failed(t.path, fmt.Errorf("the column %.50q appears twice", c.Name()))
		}
		if !index.MatchString(c.Name()) {
			t.header = append(t.header, c.Name())
		}
	}
	for _, f := range t.files {
		for _, name := range t.header {
			c := f.content.Root().Column(name)
			if c == nil {
				return failed(f.path, fmt.Errorf("column %s is missing, which %s has", name, filepath.Base(t.files[0].path)))
			}
			f.columns = append(f.columns, c)
		}
	}
	return nil
}

// check returns an error if a column has a type that graphs do not support.
func (t *parts) check() error {
	for _, f := range t.files {
		for i := range f.columns {
			err := safely(func() error {
				c, err := f.newColumn(i)
				if err == nil && c.list && c.keeps {
					err = errors.New("holds lists of strings, must hold numbers, text or lists of numbers")
				}
				return err
			})
			if err != nil {
				return failed(f.path, fmt.Errorf("column %s %w", t.header[i], err))
			}
		}
	}
	return nil
}

func (t *parts) close() {
	if t == nil {
		return
	}
	for _, f := range t.files {
		f.handle.Close()
	}
}

// Name returns the name of the table in messages.
func (t *parts) Name() string { return t.name }

// File returns the path of the table, a file or a folder.
func (t *parts) File() string { return t.path }

// Header returns the names of the columns.
func (t *parts) Header() []string { return t.header }

// Runs calls use for a reader of each row group that has rows.
func (t *parts) Runs(ctx context.Context, columns []int, use func(run int, r table.Rows) error) error {
	var all []*rows
	for _, f := range t.files {
		first := 0
		for i, group := range f.content.RowGroups() {
			n := int(group.NumRows())
			if n < 0 || n > int(f.content.NumRows())-first {
				return failed(f.path, fmt.Errorf("the file is damaged: a row group of %d rows", n))
			}
			if n > 0 {
				all = append(all, &rows{ctx: ctx, table: t, file: f, group: i, at: f.first + first, left: n, only: columns})
			}
			first += n
		}
	}
	next := func() (r *rows, more bool, err error) {
		if len(all) == 0 {
			return nil, false, nil
		}
		r, all = all[0], all[1:]
		return r, true, nil
	}
	return table.Each(ctx, next, func(run int, r *rows) error {
		defer r.release()
		return use(run, r)
	})
}

// Bytes returns the total size of the files.
func (t *parts) Bytes() (size int64) {
	for _, f := range t.files {
		size += content.SizeOf(f.path)
	}
	return size
}

// Most returns the number of rows.
func (t *parts) Most() (rows int64, err error) {
	for _, f := range t.files {
		rows += f.content.NumRows()
	}
	return rows, nil
}

// where returns the file that contains a row, and the number of the row in that file, counted from 1.
func (t *parts) where(row int) (f *file, number int) {
	f = t.files[0]
	for _, next := range t.files[1:] {
		if next.first <= row {
			f = next
		}
	}
	return f, row - f.first + 1
}

// Place describes the location of a row of the table, counted from 0, by its number in its file, counted from 1.
func (t *parts) Place(row int) string {
	f, number := t.where(row)
	if len(t.files) > 1 {
		return fmt.Sprintf("row %d of %s", number, filepath.Base(f.path))
	}
	return fmt.Sprintf("row %d", number)
}

// Fail adds the file and the row to an error. A negative row means no row.
func (t *parts) Fail(row int, err error) error {
	if row < 0 {
		return failed(t.path, err)
	}
	f, number := t.where(row)
	return failed(f.path, fmt.Errorf("row %d: %w", number, err))
}
