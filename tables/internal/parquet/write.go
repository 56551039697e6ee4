package parquet

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/atomicfile"
	"github.com/graph-condensation/cgc/progress"
)

// Write writes g: id, label, split and the list x of each node, and source, target and weight of each edge. The label
// is the name of the class if the class names are distinct, else its number. Write replaces a folder only if it holds
// no other files.
func (f Format) Write(ctx context.Context, path string, g *graph.Graph) error {
	t := format.GraphTables(g)
	if len(slices.Compact(slices.Sorted(slices.Values(g.ClassNames)))) < len(g.ClassNames) {
		t.Nodes.Find("label").Dictionary = nil
	}
	return f.WriteTables(ctx, path, t)
}

// WriteTables writes tables. Columns are ordered by their names. A cell of several values is a list, and a missing
// string is null. The metadata is stored in nodes.parquet. The files contain neither timestamps nor versions, so equal
// tables give equal bytes.
func (Format) WriteTables(ctx context.Context, path string, t *format.Tables) error {
	stranger := atomicfile.Stranger(path, func(e os.DirEntry) bool {
		return !e.IsDir() && (e.Name() == nodesFile || e.Name() == edgesFile)
	})
	if stranger != "" {
		return fmt.Errorf("writing %s: the folder holds %s, must hold only the files %s and %s to be replaced",
			path, stranger, nodesFile, edgesFile)
	}
	return atomicfile.Folder(path, func(folder string) error {
		w := &writer{ctx: ctx, stage: "writing " + filepath.Base(path), total: t.Nodes.Rows + t.Edges.Rows}
		if err := w.file(filepath.Join(folder, nodesFile), &t.Nodes, t.Metadata); err != nil {
			return err
		}
		return w.file(filepath.Join(folder, edgesFile), &t.Edges, nil)
	})
}

// WriteTable writes a single table to a file, as WriteTables writes each of its files.
func (Format) WriteTable(ctx context.Context, path string, t *format.Table) error {
	return atomicfile.Write(path, func(to io.Writer) error {
		w := &writer{ctx: ctx, stage: "writing " + filepath.Base(path), total: t.Rows}
		return w.table(to, t, nil)
	})
}

type writer struct {
	ctx         context.Context
	stage       string
	done, total int
	values      []pq.Value
}

func (w *writer) file(path string, t *format.Table, metadata map[string]string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return cmp.Or(w.table(f, t, metadata), f.Close()) // atomicfile.Folder syncs all files
}

// table writes a table as the content of one file.
func (w *writer) table(to io.Writer, t *format.Table, metadata map[string]string) error {
	sorted := *t
	sorted.Columns = slices.SortedFunc(slices.Values(t.Columns), func(a, b format.Column) int {
		return cmp.Compare(a.Name, b.Name) // as pq.Group orders them
	})
	group := pq.Group{}
	for k := range sorted.Columns {
		group[sorted.Columns[k].Name] = node(&sorted.Columns[k])
	}
	options := []pq.WriterOption{
		pq.NewSchema("table", group), pq.CreatedBy("cgc", "1", ""), pq.Compression(&zstd.Codec{}),
		pq.DataPageVersion(1), // which all readers support
	}
	for key, value := range metadata {
		options = append(options, pq.KeyValueMetadata(key, value)) // the library sorts them
	}
	out := pq.NewGenericWriter[any](to, options...)
	if err := w.rows(out, &sorted); err != nil {
		return err
	}
	return out.Close()
}

// optional reports whether a cell of c may be empty.
func optional(c *format.Column) bool {
	codes, coded := c.Data.([]int32)
	return coded && c.Dictionary != nil && len(codes) > 0 && slices.Min(codes) < 0
}

// node returns the type of a column.
func node(c *format.Column) pq.Node {
	var n pq.Node
	switch c.Data.(type) {
	case []string:
		n = pq.String()
	case []int64:
		n = pq.Int(64)
	case []int32:
		n = pq.Int(32)
	default: // []float32 or a matrix
		n = pq.Leaf(pq.FloatType)
	}
	const few = 1 << 16
	switch {
	case c.Dictionary == nil:
		n = pq.Encoded(n, &pq.Plain)
	case len(c.Dictionary) < few:
		n = pq.Encoded(pq.String(), &pq.RLEDictionary)
	default:
		n = pq.Encoded(pq.String(), &pq.Plain)
	}
	switch {
	case c.IsList():
		return pq.List(n)
	case optional(c):
		return pq.Optional(n)
	}
	return n
}

// rowGroup is the number of values in a row group. They stay in memory until the group is full.
var rowGroup = 1 << 22

// rows writes the rows of t in row groups, block by block.
func (w *writer) rows(out *pq.GenericWriter[any], t *format.Table) error {
	maybe := make([]bool, len(t.Columns))
	for k := range t.Columns {
		maybe[k] = optional(&t.Columns[k])
	}
	held := 0
	for block, err := range t.Blocks() {
		if err = cmp.Or(err, w.ctx.Err()); err != nil {
			return err
		}
		for k := range block.Columns {
			c := &block.Columns[k]
			if err := w.column(out.ColumnWriters()[k], k, c, block.Rows, maybe[k]); err != nil {
				return err
			}
			_, end := c.Range(block.Rows - 1)
			held += end
		}
		if held >= rowGroup {
			if err := out.Flush(); err != nil {
				return err
			}
			held = 0
		}
		w.done += block.Rows
		progress.Report(w.ctx, progress.Event{Stage: w.stage, Done: int64(w.done), Total: int64(w.total)})
	}
	return w.ctx.Err()
}

// column writes the rows of a column. If maybe is true, cells may be empty.
func (w *writer) column(out *pq.ColumnWriter, k int, c *format.Column, rows int, maybe bool) error {
	const several = 4096 // values per call; a page can end only after a call
	w.values = w.values[:0]
	for i := range rows {
		from, to := c.Range(i)
		if from == to {
			w.values = append(w.values, pq.NullValue().Level(0, 0, k)) // an empty list
		}
		for e := from; e < to; e++ {
			v, repetition, definition := value(c, e), 0, 0
			if c.IsList() {
				definition = 1
				repetition = min(e-from, 1)
			} else if maybe && !v.IsNull() {
				definition = 1
			}
			w.values = append(w.values, v.Level(repetition, definition, k))
		}
		if len(w.values) >= several || i == rows-1 {
			if _, err := out.WriteRowValues(w.values); err != nil {
				return err
			}
			w.values = w.values[:0]
		}
	}
	return nil
}

// value returns value e of the data of c.
func value(c *format.Column, e int) pq.Value {
	switch data := c.Data.(type) {
	case []float32:
		return pq.FloatValue(data[e])
	case []int64:
		return pq.Int64Value(data[e])
	case []string:
		return pq.ValueOf(data[e])
	case []int32:
		switch {
		case c.Dictionary == nil:
			return pq.Int32Value(data[e])
		case data[e] < 0:
			return pq.NullValue()
		}
		return pq.ValueOf(c.Dictionary[data[e]])
	}
	return pq.NullValue()
}
