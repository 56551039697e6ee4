// Package parquet reads and writes folders of nodes.parquet and edges.parquet.
package parquet

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/table"
	"github.com/graph-condensation/cgc/graph"
)

// Name is the name of the format.
const Name = "parquet"

const (
	nodesFile = "nodes.parquet"
	edgesFile = "edges.parquet"
	extension = ".parquet" // of a folder
)

// Format reads and writes a folder of nodes.parquet (id, label, split and features) and edges.parquet (source, target
// and weight). It reads by the names of the columns, as table.Pair does. Features are columns of numbers, or lists of
// equal length. Each of the two may be a folder of .parquet files, as Spark writes them.
type Format struct{}

// Describe says which files mark a folder.
func (Format) Describe() format.Description {
	return format.Description{Title: "Parquet", Folder: nodesFile + " and " + edgesFile, Extensions: []string{extension}}
}

// Recognise looks for nodes.parquet and edges.parquet.
func (Format) Recognise(path string) format.Certainty {
	_, nodes := os.Stat(filepath.Join(path, nodesFile))
	_, edges := os.Stat(filepath.Join(path, edgesFile))
	switch {
	case nodes == nil && edges == nil:
		return format.Likely
	case nodes == nil:
		return format.Possible
	}
	return format.No
}

// Read reads a folder. Row i of nodes.parquet is node i. A graph that Write wrote keeps the numbers of its classes.
func (Format) Read(ctx context.Context, path string) (*graph.Graph, []string, error) {
	nodes, err := openNodes(path)
	if err != nil {
		return nil, nil, err
	}
	defer nodes.close()
	var edges *parts
	defer func() { edges.close() }()
	p := table.Pair{Name: strings.TrimSuffix(filepath.Base(path), extension), Nodes: nodes}
	p.Edges = func(context.Context) (_ table.Table, err error) {
		if edges, err = openTable(path, edgesFile); err == nil {
			err = edges.check()
		}
		return edges, err
	}
	g, notes, err := p.Graph(ctx)
	if err == nil && nodes.classes != nil {
		nodes.classes.restore(g)
		g.Name = nodes.metadata()["name"]
	}
	return g, notes, err
}

// openNodes opens the table of nodes, unless it is that of a condensed graph.
func openNodes(path string) (*parts, error) {
	nodes, err := openTable(path, nodesFile)
	if err != nil {
		return nil, err
	}
	meta := nodes.metadata()
	if meta["format"] == format.CondensedKind {
		err = failed(nodes.path, format.ErrCondensed)
	} else {
		err = nodes.check()
	}
	if err == nil && meta["format"] == format.GraphKind {
		if nodes.classes, err = newClasses(meta, nodes.header); err != nil {
			err = failed(nodes.path, err)
		}
	}
	if err != nil {
		nodes.close()
		return nil, err
	}
	return nodes, nil
}

// Stream delivers what Read reads. Pages of the row groups that are being read are held, one of each column.
func (Format) Stream(ctx context.Context, path string, memory int64) (*format.Stream, []string, error) {
	nodes, err := openNodes(path)
	if err != nil {
		return nil, nil, err
	}
	var edges *parts
	end := func() error {
		nodes.close()
		edges.close()
		return nil
	}
	p := table.Pair{Name: strings.TrimSuffix(filepath.Base(path), extension), Nodes: nodes}
	p.Edges = func(context.Context) (_ table.Table, err error) {
		if edges, err = openTable(path, edgesFile); err == nil {
			err = edges.check()
		}
		return edges, err
	}
	s, notes, err := p.Stream(ctx, memory)
	if err != nil {
		return nil, nil, errors.Join(err, end())
	}
	s.Close = end
	if nodes.classes != nil {
		g := graph.Graph{Y: s.Y, ClassNames: s.ClassNames}
		nodes.classes.restore(&g)
		s.Classes, s.ClassNames, s.Name = g.Classes, g.ClassNames, nodes.metadata()["name"]
	}
	return s, notes, nil
}
