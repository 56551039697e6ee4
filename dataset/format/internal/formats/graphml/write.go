package graphml

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/classes"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/atomicfile"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
)

// Write writes g: a class, a part of the split and d numbers x0, x1, … for each node. Zeros of sparse features are
// omitted: 0 is the attribute's default. The class is a name if the names are distinct (classes.Distinct), else a
// number. A file whose path ends in .gz is compressed.
func (f Format) Write(ctx context.Context, path string, g *graph.Graph) error {
	t := format.GraphTables(g)
	if !classes.Distinct(g.ClassNames) {
		t.Nodes.Find("label").Dictionary = nil
	}
	return f.WriteTables(ctx, path, t)
}

// classColumn is the name of the column label in a file. Gephi uses an attribute called label as the caption of nodes.
const classColumn, labelColumn = "class", "label"

// WriteTables writes each column as an attribute of its type, a column of several numbers as one attribute per number,
// and lists as text. The metadata becomes attributes of the graph, and the column id becomes the ids.
func (Format) WriteTables(ctx context.Context, path string, t *format.Tables) error {
	ids, err := identities(t.Nodes.Find("id"))
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return atomicfile.Write(path, func(file io.Writer) error {
		w := &writer{ctx: ctx, name: filepath.Base(path), ids: ids, total: t.Nodes.Rows + t.Edges.Rows}
		if !strings.HasSuffix(path, ".gz") {
			return w.all(file, t)
		}
		z := gzip.NewWriter(file)
		if err := w.all(z, t); err != nil {
			return err
		}
		return z.Close()
	})
}

// identities returns the id of each row. The ids are distinct and consist of characters that XML allows.
func identities(c *format.Column) ([]string, error) {
	ids, err := format.Scalars[string](c)
	if err != nil {
		return nil, err
	}
	seen := make(map[string]int, len(ids))
	for i, id := range ids {
		if first, repeated := seen[id]; repeated {
			return nil, fmt.Errorf("nodes %d and %d have the same name %.50q, must have distinct names", first, i, id)
		}
		if seen[id] = i; id == "" || !legal(id) {
			return nil, fmt.Errorf("the name %.50q of node %d is empty or has characters that XML cannot hold", id, i)
		}
	}
	return ids, nil
}

// legal reports whether XML can hold a text.
func legal(text string) bool {
	for _, c := range text {
		if c < 0x20 && c != '\t' && c != '\n' && c != '\r' || c == 0xfffe || c == 0xffff || c == utf8.RuneError {
			return false
		}
	}
	return true
}

type writer struct {
	*bufio.Writer
	ctx         context.Context
	name        string
	ids         []string
	done, total int
	keys        int
	text        []byte
	scratch     bytes.Buffer
}

func (w *writer) all(file io.Writer, t *format.Tables) error {
	w.Writer = bufio.NewWriterSize(file, 1<<16)
	w.WriteString(xml.Header + `<graphml xmlns="http://graphml.graphdrawing.org/xmlns">` + "\n")
	meta := slices.Sorted(maps.Keys(t.Metadata))
	for _, name := range meta {
		w.key("graph", name, "string", "")
	}
	nodes := w.declare("node", &t.Nodes, "id")
	edges := w.declare("edge", &t.Edges, "source", "target")
	w.WriteString(`<graph edgedefault="undirected">` + "\n")
	for k, name := range meta {
		if !legal(t.Metadata[name]) {
			return fmt.Errorf("%s has characters that XML cannot hold", name)
		}
		w.data(k, t.Metadata[name])
		w.WriteByte('\n')
	}
	row := 0
	err := w.rows(&t.Nodes, nodes, func(*format.Table, int) {
		w.WriteString(`<node id="`)
		w.escape(w.ids[row])
		row++
	}, "</node>\n")
	if err != nil {
		return err
	}
	err = w.rows(&t.Edges, edges, func(block *format.Table, i int) {
		w.WriteString(`<edge source="`)
		w.escape(block.Find("source").Text(i))
		w.WriteString(`" target="`)
		w.escape(block.Find("target").Text(i))
	}, "</edge>\n")
	if err != nil {
		return err
	}
	w.WriteString("</graph>\n</graphml>\n")
	return w.Flush()
}

// key declares an attribute, and returns its number.
func (w *writer) key(of, name, kind, preset string) int {
	fmt.Fprintf(w, `<key id="d%d" for="%s" attr.name="`, w.keys, of)
	w.escape(name)
	fmt.Fprintf(w, `" attr.type="%s"`, kind)
	if preset == "" {
		w.WriteString("/>\n")
	} else {
		fmt.Fprintf(w, "><default>%s</default></key>\n", preset)
	}
	w.keys++
	return w.keys - 1
}

// declare declares the columns of a table, except those named in but. It returns the first key of each column, −1 for
// excluded columns.
func (w *writer) declare(of string, t *format.Table, but ...string) (first []int) {
	for _, c := range t.Columns {
		if slices.Contains(but, c.Name) {
			first = append(first, -1)
			continue
		}
		kind, name := kindOf(&c), c.Name
		if name == labelColumn {
			name = classColumn
		}
		if c.Width == 0 || kind != "float" {
			first = append(first, w.key(of, name, kind, ""))
			continue
		}
		first = append(first, w.keys)
		preset := ""
		if sparse(&c) {
			preset = "0"
		}
		for j := range c.Width {
			w.key(of, name+strconv.Itoa(j), kind, preset)
		}
	}
	return first
}

// sparse reports whether a column holds a sparse matrix. networkx does not fill in defaults, so attributes of other
// matrices have none.
func sparse(c *format.Column) bool {
	_, is := c.Data.(*mat.CSR)
	return is
}

// kindOf returns the type of an attribute.
func kindOf(c *format.Column) string {
	if c.Offsets != nil || c.Dictionary != nil {
		return "string"
	}
	switch c.Data.(type) {
	case []string:
		return "string"
	case []int32:
		return "int"
	case []int64:
		return "long"
	}
	return "float" // []float32 or a mat.Matrix
}

// rows writes a tag for each row of t. begin writes its start, up to the closing quote of its last attribute.
func (w *writer) rows(t *format.Table, keys []int, begin func(block *format.Table, i int), end string) error {
	for block, err := range t.Blocks() {
		if err = cmp.Or(err, w.ctx.Err()); err != nil {
			return err
		}
		for i := range block.Rows {
			begin(block, i)
			w.WriteString(`">`)
			for k := range block.Columns {
				if keys[k] >= 0 {
					if err := w.cell(&block.Columns[k], i, keys[k], sparse(&t.Columns[k])); err != nil {
						return err
					}
				}
			}
			w.WriteString(end)
		}
		w.done += block.Rows
		progress.Report(w.ctx, progress.Event{Stage: "writing " + w.name, Done: int64(w.done), Total: int64(w.total)})
	}
	return w.ctx.Err()
}

// cell writes row i of column c, whose first key is key. Zeros of a sparse column are omitted.
func (w *writer) cell(c *format.Column, i, key int, sparse bool) error {
	values, numbers := c.Data.([]float32)
	if numbers && c.Offsets == nil {
		from, to := c.Range(i)
		for k, v := range values[from:to] {
			w.text = strconv.AppendFloat(w.text[:0], float64(v), 'g', -1, 32)
			if !sparse || string(w.text) != "0" {
				w.data(key+k, string(w.text))
			}
		}
		return nil
	}
	text := c.Text(i)
	if text == "" && c.Dictionary != nil {
		return nil
	}
	if !legal(text) {
		return fmt.Errorf("%s %.50q of row %d has characters that XML cannot hold", c.Name, text, i)
	}
	w.data(key, text)
	return nil
}

func (w *writer) data(key int, text string) {
	w.WriteString(`<data key="d`)
	w.WriteString(strconv.Itoa(key))
	w.WriteString(`">`)
	w.escape(text)
	w.WriteString("</data>")
}

// escape writes text for use between tags or in quotes.
func (w *writer) escape(text string) {
	if !strings.ContainsAny(text, "<>&\"'\t\r\n") {
		w.WriteString(text)
		return
	}
	w.scratch.Reset()
	_ = xml.EscapeText(&w.scratch, []byte(text)) // writing to a buffer cannot fail
	w.Write(w.scratch.Bytes())
}
