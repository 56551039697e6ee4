package named

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/csvfile"
	"github.com/graph-condensation/cgc/dataset/format/table"
)

var _ format.Streamer = Format{}

// Stream delivers what Read reads. Files are read in blocks of records.
func (Format) Stream(ctx context.Context, path string, memory int64) (*format.Stream, []string, error) {
	nodes, err := openSource(path, "nodes")
	if err != nil {
		return nil, nil, err
	}
	p := table.Pair{Name: filepath.Base(path), Nodes: nodes}
	p.Edges = func(context.Context) (table.Table, error) { return openSource(path, "edges") }
	return p.Stream(ctx, memory)
}

// source is a .csv file as a table that is read in parts.
type source struct {
	*csvfile.Source
	name string
}

// openSource opens the file of that name in a folder.
func openSource(folder, name string) (table.Table, error) {
	s, err := csvfile.OpenSource(csvfile.Path(folder, name))
	return source{s, name + ".csv"}, err
}

func (s source) Name() string     { return s.name }
func (s source) File() string     { return s.Source.File }
func (s source) Header() []string { return s.Source.Header }
func (s source) Bytes() int64     { return format.SizeOf(s.Source.File) }

func (s source) Most() (int64, error) { return s.About() }

// Parts is not used: Runs reads the rows.
func (s source) Parts(context.Context) ([]table.Rows, error) {
	return nil, errors.ErrUnsupported
}

func (s source) Runs(ctx context.Context, _ []int, use func(run int, r table.Rows) error) error {
	b, err := s.Open()
	if err != nil {
		return err
	}
	defer b.Close()
	return table.Each(ctx, b.Next, func(run int, r *csvfile.Reader) error {
		cells := slices.Repeat([]table.Cell{{Kind: table.Text}}, len(s.Source.Header))
		return use(run, &rows{Reader: r, file: s, cells: cells})
	})
}

func (s source) Place(row int) string { return fmt.Sprintf("line %d", s.Line(row)) }

func (s source) Fail(row int, err error) error {
	if row < 0 {
		return s.FailAt(1, err)
	}
	return s.FailAt(s.Line(row), err)
}
