// Package planetoid reads the raw files of Planetoid (Yang et al. 2016, "Revisiting Semi-Supervised Learning with Graph
// Embeddings"), in which Cora, Citeseer and Pubmed are published: ind.NAME.{x,y,tx,ty,allx,ally,graph,test.index}.
package planetoid

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/nlpodyssey/gopickle/types"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/lines"
	"github.com/graph-condensation/cgc/dataset/format/internal/pickle"
	"github.com/graph-condensation/cgc/dataset/format/internal/reading"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// Name is the name of the format.
const Name = "planetoid"

// Format reads Planetoid's files. The path is any file of the graph. One folder may hold several graphs.
type Format struct{}

// Describe implements format.Format. Files are called ind.NAME.PART.
func (Format) Describe() format.Description {
	return format.Description{Title: "Planetoid", File: "ind.NAME.x"}
}

// Recognise checks the name of the file.
func (Format) Recognise(path string) format.Certainty {
	if _, ok := graphOf(path); ok {
		return format.Likely
	}
	return format.No
}

// graphOf returns the NAME in ind.NAME.PART, and whether path has such a name.
func graphOf(path string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(filepath.Base(path), "ind.")
	if !ok {
		return "", false
	}
	name, _, _ = strings.Cut(rest, ".")
	return name, name != ""
}

// List returns a file for each graph that has an ind.NAME.allx in folder.
func (Format) List(folder string) map[string]string {
	graphs := map[string]string{}
	entries, _ := os.ReadDir(folder) // an unreadable folder counts as empty
	for _, e := range entries {
		if name, ok := graphOf(e.Name()); ok && e.Name() == file("", name, "allx") {
			graphs[name] = file(folder, name, "x")
		}
	}
	return graphs
}

// file returns the path of a file of a graph.
func file(folder, name, part string) string { return filepath.Join(folder, "ind."+name+"."+part) }

// publicVal is the number of validation nodes of the public split. They follow the training nodes.
const publicVal = 500

// Read reads the graph that the file at path belongs to. Row i of allx is node i. Row k of tx is the node in line k of
// test.index. Nodes in neither (Citeseer has 15) have no features and no label. The split is the public one: the first
// len(y) nodes are for training, the next 500 for validation, and those in test.index for testing. Repeated edges are
// merged without a note, as all published files repeat edges. The classes of cora, citeseer and pubmed get their names.
func (Format) Read(ctx context.Context, path string) (*graph.Graph, []string, error) {
	name, _ := graphOf(path)
	r := &reader{ctx: ctx, folder: filepath.Dir(path), name: name}
	g, err := r.read()
	return g, nil, err
}

// reader reads the files of one graph. After an error, which it keeps, it reads nothing more.
type reader struct {
	ctx          context.Context
	folder, name string
	err          error
}

func (r *reader) path(part string) string { return file(r.folder, r.name, part) }

// fail keeps an error about a file, unless there was one before.
func (r *reader) fail(part, text string, args ...any) {
	if r.err == nil {
		r.err = format.Wrong(r.path(part), text, args...)
	}
}

func (r *reader) read() (*graph.Graph, error) {
	test := r.test("test.index")
	allx, tx := r.sparse("allx"), r.sparse("tx")
	n := r.nodes(test, allx, tx)
	ally, classes := r.oneHot("ally", allx.Rows)
	ty, testClasses := r.oneHot("ty", tx.Rows)
	if testClasses != classes {
		r.fail("ty", "%d classes, and %d in ally", testClasses, classes)
	}
	train := r.countRows("y")
	if train > allx.Rows {
		r.fail("y", "%d training nodes, and %d rows in allx", train, allx.Rows)
	}
	edges := r.neighbours("graph", n)
	if r.err != nil {
		return nil, r.err
	}

	b := graph.Builder{Name: r.name, Nodes: n, Edges: edges, X: assemble(n, test, allx, tx), Classes: classes}
	b.ClassNames = classNames(r.name, classes)
	b.Y = append(ally, slices.Repeat([]int32{graph.Unlabelled}, n-allx.Rows)...)
	for k, v := range test {
		b.Y[v] = ty[k]
		b.Split.Test = append(b.Split.Test, int32(v))
	}
	b.Split.Train = memory.Range(0, train)
	for i := train; i < min(train+publicVal, allx.Rows); i++ {
		if b.Y[i] != graph.Unlabelled {
			b.Split.Val = append(b.Split.Val, int32(i))
		}
	}
	g, _, err := b.Graph(r.ctx)
	return g, format.Locate(err, r.path("allx"), map[string]string{
		"edges": r.path("graph"), "labels": r.path("ally"), "split": r.path("test.index"),
	})
}

// nodes returns the number of nodes: one more than the highest-numbered node with a row.
func (r *reader) nodes(test []int, allx, tx *mat.CSR) (n int) {
	n = allx.Rows
	for k, v := range test {
		if (v < 0 || v >= graph.MaxNodes) && r.err == nil {
			r.err = &format.ReadError{File: r.path("test.index"), Line: k + 1,
				Err: fmt.Errorf("node %d, must be 0 to %d", v, graph.MaxNodes-1)}
		}
		n = max(n, v+1)
	}
	switch {
	case len(test) != tx.Rows:
		r.fail("test.index", "%d test nodes for %d rows of tx", len(test), tx.Rows)
	case n > 2*(allx.Rows+tx.Rows):
		r.fail("test.index", "node %d is far beyond the %d rows of features", n-1, allx.Rows+tx.Rows)
	case tx.Cols != allx.Cols:
		r.fail("tx", "%d features, and %d in allx", tx.Cols, allx.Cols)
	}
	return n
}

// assemble puts the rows of allx and tx in the order of the nodes.
func assemble(n int, test []int, allx, tx *mat.CSR) *mat.CSR {
	row := make([]int, n) // the row of tx plus 1, or 0 for a row of allx
	for k, v := range test {
		row[v] = k + 1
	}
	x := &mat.CSR{Rows: n, Cols: allx.Cols, Indptr: make([]int64, n+1), Data: []float32{}}
	for i := range n {
		from, at := allx, i
		if row[i] > 0 {
			from, at = tx, row[i]-1
		}
		if at < from.Rows {
			lo, hi := from.Indptr[at], from.Indptr[at+1]
			x.Indices = append(x.Indices, from.Indices[lo:hi]...)
			x.Data = append(x.Data, from.Data[lo:hi]...)
		}
		x.Indptr[i+1] = int64(len(x.Indices))
	}
	return x
}

// test reads a file with one number in each line.
func (r *reader) test(part string) (nodes []int) {
	r.err = lines.Read(r.ctx, r.path(part), func(_ int, line []byte) error {
		text := bytes.TrimSpace(line)
		if len(text) == 0 {
			return nil
		}
		v, err := strconv.Atoi(string(text))
		if err != nil {
			return fmt.Errorf("%.50q is not a node", text)
		}
		nodes = append(nodes, v)
		return nil
	})
	return nodes
}

// pickle returns the object in the pickle of a part, or nil after an error. Nothing is executed.
func (r *reader) pickle(part string) any {
	if r.err != nil {
		return nil
	}
	file := r.path(part)
	data, err := os.ReadFile(file)
	if err != nil {
		r.err = err
		return nil
	}
	object, _, err := pickle.Loader{Meter: reading.New(r.ctx, file, int64(len(data)))}.Load(data)
	if r.err = r.ctx.Err(); err != nil {
		r.fail(part, "%w", err)
	}
	return object
}

// sparse returns the matrix in the pickle of a part, or an empty one after an error.
func (r *reader) sparse(part string) *mat.CSR {
	object := r.pickle(part)
	m, ok := object.(*pickle.Matrix)
	if !ok {
		r.fail(part, "holds %s, expected scipy's csr_matrix", pickle.Kind(object))
		return &mat.CSR{}
	}
	s, err := m.CSR(r.ctx, graph.MaxNodes)
	if err != nil {
		r.fail(part, "%w", err)
		return &mat.CSR{}
	}
	return s
}

// oneHot returns the position of the largest element in each row, and the number of columns. A row of zeros has no
// label.
func (r *reader) oneHot(part string, rows int) (y []int32, classes int) {
	object := r.pickle(part)
	hot, err := pickle.Numbers[float32](object)
	if err != nil {
		r.fail(part, "%w", err)
		return nil, 0
	}
	shape := object.(*pickle.Array).Shape
	if len(shape) != 2 || shape[0] != rows {
		r.fail(part, "shape %v, expected %d rows of one-hot labels", shape, rows)
		return nil, 0
	}
	classes = shape[1]
	for i := range rows {
		label, largest := int32(graph.Unlabelled), float32(0)
		for c, v := range hot[i*classes : (i+1)*classes] {
			if v > largest {
				label, largest = int32(c), v
			}
		}
		y = append(y, label)
	}
	return y, classes
}

// countRows returns the number of rows of a pickled array.
func (r *reader) countRows(part string) int {
	object := r.pickle(part)
	a, ok := object.(*pickle.Array)
	if !ok || len(a.Shape) == 0 {
		r.fail(part, "holds %s, must hold a numpy array", pickle.Kind(object))
		return 0
	}
	return a.Shape[0]
}

// neighbours reads a dictionary from nodes to lists of neighbours.
func (r *reader) neighbours(part string, n int) (e graph.Edges) {
	object := r.pickle(part)
	d, ok := object.(*pickle.Dict)
	if !ok {
		r.fail(part, "holds %s, must hold a dictionary of neighbours", pickle.Kind(object))
		return e
	}
	for k, key := range d.Keys {
		from, isInt := key.(int)
		neighbours, isList := d.Values[k].(*types.List)
		if !isInt || !isList {
			r.fail(part, "entry %d maps %s to %s, must be a node and a list",
				k, pickle.Kind(key), pickle.Kind(d.Values[k]))
			return e
		}
		for _, v := range *neighbours {
			to, ok := v.(int)
			if !ok || from < 0 || from >= n || to < 0 || to >= n {
				r.fail(part, "edge from node %d to %d, must be nodes 0 to %d", from, to, n-1)
				return e
			}
			e.From, e.To = append(e.From, int32(from)), append(e.To, int32(to))
		}
	}
	if e.Len() == 0 {
		r.fail(part, "no edges")
	}
	return e
}
