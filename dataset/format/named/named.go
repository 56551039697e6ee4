// Package named reads folders of nodes.csv and edges.csv, whose nodes and classes may have names.
package named

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/csvfile"
	"github.com/graph-condensation/cgc/dataset/format/table"
	"github.com/graph-condensation/cgc/graph"
)

// Name is the name of the format.
const Name = "named"

// Format reads a folder of nodes.csv (id, label, split and features, by a header) and edges.csv (source, target and
// weight, by a header). Each .csv may be a .csv.gz. Edges name nodes by their id.
type Format struct{}

// Describe says which files mark a folder.
func (Format) Describe() format.Description {
	return format.Description{Title: "text with names", Folder: "nodes.csv and edges.csv"}
}

// Recognise looks for nodes.csv and edges.csv.
func (Format) Recognise(path string) format.Certainty {
	nodes, edges := csvfile.Exists(csvfile.Path(path, "nodes")), csvfile.Exists(csvfile.Path(path, "edges"))
	switch {
	case nodes && edges:
		return format.Likely
	case nodes:
		return format.Possible
	}
	return format.No
}

// Read reads a folder. Line i of nodes.csv, after the header, is node i. Labels that are names become classes in sorted
// order. Labels that are whole numbers and start at 1 are moved to start at 0.
func (Format) Read(ctx context.Context, path string) (*graph.Graph, []string, error) {
	nodes, err := open(ctx, path, "nodes")
	if err != nil {
		return nil, nil, err
	}
	p := table.Pair{Name: filepath.Base(path), Nodes: nodes}
	p.Edges = func(ctx context.Context) (table.Table, error) { return open(ctx, path, "edges") }
	return p.Graph(ctx)
}

// file is a .csv file as a table.
type file struct {
	*csvfile.Table
	name string
}

// open opens the file of that name in a folder.
func open(ctx context.Context, folder, name string) (table.Table, error) {
	t, err := csvfile.OpenTable(ctx, csvfile.Path(folder, name))
	return file{t, name + ".csv"}, err
}

// Name returns the name of the file.
func (f file) Name() string { return f.name }

// File returns the path of the file.
func (f file) File() string { return f.Table.File }

// Header returns the names of the columns.
func (f file) Header() []string { return f.Table.Header }

// Parts returns the blocks of the file.
func (f file) Parts(context.Context) ([]table.Rows, error) {
	var parts []table.Rows
	for _, r := range f.Blocks() {
		cells := slices.Repeat([]table.Cell{{Kind: table.Text}}, len(f.Table.Header))
		parts = append(parts, &rows{Reader: r, file: f, cells: cells})
	}
	return parts, nil
}

// rows reads records as rows of text.
type rows struct {
	*csvfile.Reader
	file interface {
		FailAt(line int, err error) error
	}
	cells []table.Cell
}

// Read returns the cells of the next row, in memory that the next call uses again.
func (r *rows) Read() ([]table.Cell, error) {
	fields, err := r.Reader.Read()
	for i, text := range fields {
		r.cells[i].Text = text
	}
	return r.cells, err
}

// At returns the line of the last row that was read.
func (r *rows) At() int { return r.Line }

// Fail names the file and the line of an error.
func (r *rows) Fail(line int, err error) error { return r.file.FailAt(line, err) }
