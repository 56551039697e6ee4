package named

import (
	"context"
	"errors"
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

// Name returns the name of the file.
func (s source) Name() string { return s.name }

// File returns the path of the file.
func (s source) File() string { return s.Source.File }

// Header returns the names of the columns.
func (s source) Header() []string { return s.Source.Header }

// Bytes returns the size of the file.
func (s source) Bytes() int64 { return format.SizeOf(s.Source.File) }

// Most returns about how many rows there are at most.
func (s source) Most() (int64, error) { return s.About() }

// Parts is not used: Runs reads the rows.
func (s source) Parts(context.Context) ([]table.Rows, error) {
	return nil, errors.ErrUnsupported
}

// Runs calls use with the rows of one block after the other.
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
