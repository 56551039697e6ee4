package dgl

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/atomicfile"
	"github.com/graph-condensation/cgc/progress"
	"go.yaml.in/yaml/v3"
)

// Write writes g: nodes_0.csv with label, train_mask, val_mask, test_mask and feat, and edges_0.csv with each edge in
// both directions. Labels are numbers, as DGL requires. A folder that Write or DGL wrote is replaced.
func (f Format) Write(ctx context.Context, path string, g *graph.Graph) error {
	return f.WriteTables(ctx, path, format.GraphTables(g))
}

// masks are the columns that replace the column split.
var masks = []string{"train_mask", "val_mask", "test_mask"}

// WriteTables writes tables. The column x becomes feat, a string of comma-separated numbers. Lists of varying lengths
// go into members.csv, since DGL cannot read them. The metadata becomes a key of meta.yaml.
func (Format) WriteTables(ctx context.Context, path string, t *format.Tables) error {
	own := []string{metaFile, nodesFile, edgesFile, membersFile}
	stranger := atomicfile.Stranger(path, func(e os.DirEntry) bool {
		return slices.Contains(own, e.Name()) || e.IsDir() && isCache(filepath.Join(path, e.Name()))
	})
	if stranger != "" {
		return fmt.Errorf("writing %s: the folder holds %s, must hold only %s to be replaced",
			path, stranger, strings.Join(own, ", "))
	}
	m := meta{
		Version: "1.0.0", Name: strings.TrimSuffix(filepath.Base(path), extension), Metadata: t.Metadata,
		Edges: []file{{File: edgesFile}}, Nodes: []file{{File: nodesFile}},
	}
	text, err := yaml.Marshal(&m)
	if err != nil {
		return err
	}
	nodes, lists := t.Nodes, format.Table{Rows: t.Nodes.Rows}
	nodes.Columns = nil
	for _, c := range t.Nodes.Columns {
		if c.Offsets == nil {
			nodes.Columns = append(nodes.Columns, c)
		}
		if c.Offsets != nil || c.Name == "id" {
			lists.Columns = append(lists.Columns, c)
		}
	}
	return atomicfile.Folder(path, func(folder string) error {
		w := &writer{ctx: ctx, name: filepath.Base(path), total: nodes.Rows + 2*t.Edges.Rows}
		if err := w.table(filepath.Join(folder, nodesFile), &nodes); err != nil {
			return err
		}
		if len(lists.Columns) > 1 {
			w.total += lists.Rows
			if err := w.table(filepath.Join(folder, membersFile), &lists); err != nil {
				return err
			}
		}
		back := reversed(t.Edges)
		if err := w.table(filepath.Join(folder, edgesFile), &t.Edges, &back); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(folder, metaFile), text, 0o644)
	})
}

// reversed returns an edge table with all edges reversed.
func reversed(t format.Table) format.Table {
	t.Columns = slices.Clone(t.Columns)
	source, target := t.Find("source"), t.Find("target")
	source.Data, target.Data = target.Data, source.Data
	source.Dictionary, target.Dictionary = target.Dictionary, source.Dictionary
	return t
}

// isCache reports whether a folder holds only .bin files, as DGL's cache does. The cache must be removed, or DGL would
// read it instead of the new text.
func isCache(folder string) bool {
	entries, err := os.ReadDir(folder)
	return err == nil && !slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return e.IsDir() || filepath.Ext(e.Name()) != ".bin"
	})
}

type writer struct {
	ctx         context.Context
	name        string
	done, total int
	row         []byte
}

// table writes a .csv file of tables with the same columns, one after the other.
func (w *writer) table(path string, tables ...*format.Table) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	out := bufio.NewWriterSize(f, 1<<16)
	names := map[string]string{
		"id": idColumn, "source": "src_id", "target": "dst_id", "x": features, "split": strings.Join(masks, ","),
	}
	var header []string
	for _, c := range tables[0].Columns {
		header = append(header, cmp.Or(names[c.Name], c.Name))
	}
	_, err = out.WriteString(strings.Join(header, ",") + "\n")
	for k := 0; k < len(tables) && err == nil; k++ {
		err = w.rows(out, tables[k])
	}
	return cmp.Or(err, out.Flush(), f.Close()) // atomicfile.Folder syncs all files
}

// rows writes the rows of t as lines of a .csv file, block by block.
func (w *writer) rows(out io.Writer, t *format.Table) error {
	for block, err := range t.Blocks() {
		if err = cmp.Or(err, w.ctx.Err()); err != nil {
			return err
		}
		for i := range block.Rows {
			w.row = w.row[:0]
			for k := range block.Columns {
				w.cell(&block.Columns[k], i)
			}
			w.row[len(w.row)-1] = '\n'
			if _, err := out.Write(w.row); err != nil {
				return err
			}
		}
		w.done += block.Rows
		progress.Report(w.ctx, progress.Event{Stage: "writing " + w.name, Done: int64(w.done), Total: int64(w.total)})
	}
	return w.ctx.Err()
}

// cell appends a cell and a comma.
func (w *writer) cell(c *format.Column, i int) {
	codes, coded := c.Data.([]int32)
	values, numbers := c.Data.([]float32)
	switch {
	case c.Name == "split" && coded:
		for k := range masks {
			in := byte('0')
			if codes[i] == int32(k) {
				in = '1'
			}
			w.row = append(w.row, in, ',')
		}
		return
	case c.Name == "label" && coded:
		w.row = strconv.AppendInt(w.row, int64(codes[i]), 10)
	case numbers && c.Width > 0:
		w.row = append(w.row, '"')
		for k, v := range values[i*c.Width : (i+1)*c.Width] {
			if k > 0 {
				w.row = append(w.row, ',')
			}
			w.row = strconv.AppendFloat(w.row, float64(v), 'g', -1, 32)
		}
		w.row = append(w.row, '"')
	default:
		w.row = appendField(w.row, c.Text(i))
	}
	w.row = append(w.row, ',')
}

// appendField appends a field, quoted if necessary.
func appendField(row []byte, text string) []byte {
	if text != "" && !strings.ContainsAny(text, "\",\r\n") && strings.TrimSpace(text) == text {
		return append(row, text...)
	}
	row = append(row, '"')
	row = append(row, strings.ReplaceAll(text, `"`, `""`)...)
	return append(row, '"')
}
