package ogb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/csvfile"
	"github.com/graph-condensation/cgc/dataset/format/internal/lines"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/content"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
)

var _ format.Streamer = Format{}

// Stream delivers the same graph as Read. Text is read in blocks of lines, arrays in blocks of elements. Sources and
// targets of edge_index are read concurrently.
func (f Format) Stream(ctx context.Context, path string, memory int64) (_ *format.Stream, notes []string, err error) {
	dir := root(path)
	raw := filepath.Join(dir, "raw")
	if file := several(raw); file != "" {
		return nil, nil, format.Wrong(file, "several types of nodes or edges, must be a graph with one type of each")
	}
	s := &format.Stream{Name: filepath.Base(dir), Path: raw}
	defer func() {
		if err != nil && s.Close != nil {
			s.Close()
		}
	}()
	read := streamText
	switch {
	case isPapers(dir):
		raw, read = dir, streamPapers
		s.Path = dir
	case csvfile.Exists(filepath.Join(raw, arraysFile)) || hasFolder(raw):
		read = streamRaw
	}
	if notes, err = read(ctx, raw, s, memory); err != nil {
		return nil, nil, err
	}
	s.Size = content.SizeOf(s.Files["edges"])
	if s.Files["features"] != s.Files["edges"] {
		s.Size += content.SizeOf(s.Files["features"])
	}
	file, more, err := readSplit(ctx, dir, f.split, s)
	if err != nil {
		return nil, nil, err
	}
	s.Files["split"] = file
	names, err := readNames(ctx, filepath.Join(dir, "mapping"), s, memory)
	if err != nil {
		return nil, nil, err
	}
	return s, slices.Concat(notes, more, names), s.Check()
}

// hold sets the number of nodes. It fails if their labels and split need more than memory bytes.
func hold(s *format.Stream, file string, nodes int, memory int64) (err error) {
	s.Nodes = nodes
	if s.Held, err = content.Hold(int64(nodes), memory); err != nil {
		return &format.ReadError{File: file, Err: err}
	}
	return nil
}

// noEdgeFeatures is the note about a file or an array of features of edges.
func noEdgeFeatures(where string) []string {
	return []string{where + ": features of edges are not read"}
}

// streamText sets everything in s except the split and names.
func streamText(ctx context.Context, raw string, s *format.Stream, memory int64) (notes []string, err error) {
	counted := csvfile.Path(raw, "num-node-list")
	nodes, err := readCount(counted, "nodes", graph.MaxNodes)
	if err != nil {
		return nil, err
	}
	entries, err := readCount(csvfile.Path(raw, "num-edge-list"), "edges", math.MaxInt)
	if err != nil {
		return nil, err
	}
	if err := hold(s, counted, nodes, memory); err != nil {
		return nil, err
	}
	s.Entries, s.Tells = int64(entries), true
	edges, features, labels := csvfile.Path(raw, "edge"), csvfile.Path(raw, "node-feat"), csvfile.Path(raw, "node-label")
	s.Files = map[string]string{"edges": edges, "features": features, "labels": labels}
	table, err := lines.OpenTable(features, nodes, false)
	if err != nil {
		return nil, missing(err, features, needFeatures)
	}
	s.Features, s.Rows = table.Columns, table.Rows
	if s.Y, err = readLabels(ctx, labels, nodes); err != nil {
		return nil, missing(err, labels, needLabels)
	}
	s.Edges = func(ctx context.Context, add func(graph.Edges) error) error {
		return streamEdges(ctx, edges, entries, nodes, add)
	}
	if file := csvfile.Path(raw, "edge-feat"); csvfile.Exists(file) {
		notes = noEdgeFeatures(file)
	}
	return notes, nil
}

// streamEdges delivers the edges of n nodes. The file has a line of source and target for each edge.
func streamEdges(ctx context.Context, file string, count, n int, add func(graph.Edges) error) error {
	t, err := lines.Open(file)
	if err != nil {
		return missing(err, file, "it holds the edges")
	}
	defer t.Close()
	return t.Blocks(ctx, count, 4, "edges", func(_, most int) (func(int, []byte) error, func() error) {
		e := graph.Edges{From: make([]int32, 0, max(0, most)), To: make([]int32, 0, max(0, most))}
		parse := func(_ int, line []byte) error {
			source, target, _ := bytes.Cut(line, comma)
			u, err := content.Within("node", source, int64(n-1))
			if err != nil {
				return err
			}
			v, err := content.Within("node", target, int64(n-1))
			e.From, e.To = append(e.From, u), append(e.To, v)
			return err
		}
		return parse, func() error { return add(e) }
	})
}

// streamRaw sets everything in s except the split and names, from the arrays of raw.
func streamRaw(ctx context.Context, raw string, s *format.Stream, memory int64) (notes []string, err error) {
	z, err := openArrays(progress.With(ctx, nil), raw) // progress in edges and rows is reported where they are written
	if err != nil {
		return nil, err
	}
	labels := filepath.Join(raw, "node-label.npz")
	return streamArrays(z, labels, s, memory, func(nodes int) ([]int32, error) {
		return readLabelFile(ctx, labels, nodes)
	})
}

// streamPapers sets everything in s except the split and names, from the papers of MAG240M in the folder dir.
func streamPapers(ctx context.Context, dir string, s *format.Stream, memory int64) (notes []string, err error) {
	const labels = "paper/node_label"
	z := papersOf(progress.With(ctx, nil), dir)
	notes = []string{z.Where() + ": only the papers and the citations among them are read, no authors or institutions"}
	more, err := streamArrays(z, z.file(labels), s, memory, func(nodes int) ([]int32, error) {
		return readLabelArray(z, labels, nodes)
	})
	return append(notes, more...), err
}

// streamArrays sets everything in s except the split and names, from the arrays z. readLabels reads the labels of all
// nodes from the file labels.
func streamArrays(
	z arrays, labels string, s *format.Stream, memory int64, readLabels func(nodes int) ([]int32, error),
) (notes []string, err error) {
	s.Close = z.Close
	s.Files = map[string]string{"edges": z.file(z.edges), "features": z.file(z.features), "labels": labels}
	nodes, err := countNodes(z)
	if err != nil {
		return nil, err
	}
	if err := hold(s, z.Where(), nodes, memory); err != nil {
		return nil, err
	}
	if !z.Has(z.features) {
		return nil, &format.ReadError{File: z.Where(), Err: errors.New("array node_feat: missing: " + needFeatures)}
	}
	err = z.Open(z.features, func(a *numpy.Array) error {
		if len(a.Shape) != 2 {
			return fmt.Errorf("shape %v, expected %d rows, one for each node, and features", a.Shape, nodes)
		}
		if s.Features, err = numpy.CheckRows(a, nodes); errors.Is(err, numpy.ErrTurned) && memory == math.MaxInt64 {
			s.X, err = numpy.Dense(a)
			s.Features = a.Shape[1]
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	err = z.Open(z.edges, func(a *numpy.Array) error {
		if err := numpy.CheckEdges(a); err != nil {
			return err
		}
		s.Entries = int64(a.Shape[1])
		return nil
	})
	if err != nil {
		return nil, err
	}
	if z.Has("edge_feat") {
		notes = noEdgeFeatures(z.Where() + ": array edge_feat")
	}
	s.Edges = func(ctx context.Context, add func(graph.Edges) error) error {
		return numpy.Edges(ctx, z, z.edges, add)
	}
	s.Rows = func(ctx context.Context, put func(first int, block *mat.Dense) error) error {
		return numpy.Rows(ctx, z, z.features, put)
	}
	s.Y, err = readLabels(nodes)
	return notes, err
}

// readNames sets the names of classes and nodes from the files labelidx2….csv.gz and nodeidx2….csv.gz in dir. If the
// names of nodes are ordered by number, they are delivered from the file. Otherwise they are read if they fit into
// memory. No result depends on names, so a file that cannot be parsed only causes a note.
func readNames(ctx context.Context, dir string, s *format.Stream, memory int64) (notes []string, err error) {
	notes = readClassNames(ctx, dir, s)
	for _, file := range mappings(dir, "nodeidx2") {
		s.NameBytes, err = namesInOrder(ctx, file, s.Nodes, nil)
		if err == nil {
			s.Names = func(ctx context.Context, put func(text []byte, ends []int) error) error {
				_, err := namesInOrder(ctx, file, s.Nodes, put)
				return err
			}
			s.Size += 2 * content.SizeOf(file)
			return notes, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		const perNode = 100 // bytes: an entry, a string and its offset
		if need := perNode * int64(s.Nodes); errors.Is(err, errOrder) && need > memory {
			return nil, fmt.Errorf("%w; to order them takes %d MB of memory, must be at most %d MB",
				err, need/1e6+1, memory/1e6)
		}
		var names []string
		if names, err = readMapping(ctx, file, s.Nodes); err == nil {
			s.IDs = names
			return notes, nil
		}
		notes = append(notes, leftOut(err))
	}
	return notes, nil
}
