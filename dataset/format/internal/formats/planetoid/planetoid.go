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

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/lines"
	"github.com/graph-condensation/cgc/dataset/format/internal/pickle"
	"github.com/graph-condensation/cgc/dataset/format/internal/reading"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
	"github.com/nlpodyssey/gopickle/types"
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
	r := reader{ctx: ctx, folder: filepath.Dir(path), name: name}
	g, err := r.read(ctx)
	return g, nil, err
}

// reader reads the files of one graph.
type reader struct {
	ctx          context.Context
	folder, name string
}

func (r reader) path(part string) string { return file(r.folder, r.name, part) }

// fail returns an error about a file.
func (r reader) fail(part, text string, args ...any) error {
	return format.Wrong(r.path(part), text, args...)
}

func (r reader) read(ctx context.Context) (*graph.Graph, error) {
	test, err := readNodes(ctx, r.path("test.index"))
	if err != nil {
		return nil, err
	}
	allx, err := r.pickledCSR("allx")
	if err != nil {
		return nil, err
	}
	tx, err := r.pickledCSR("tx")
	if err != nil {
		return nil, err
	}
	n, err := r.nodes(test, allx, tx)
	if err != nil {
		return nil, err
	}
	ally, classes, err := r.oneHot("ally", allx.Rows)
	if err != nil {
		return nil, err
	}
	ty, testClasses, err := r.oneHot("ty", tx.Rows)
	if err != nil {
		return nil, err
	}
	if testClasses != classes {
		return nil, r.fail("ty", "%d classes, and %d in ally", testClasses, classes)
	}
	train, err := r.countRows("y")
	if err != nil {
		return nil, err
	}
	if train > allx.Rows {
		return nil, r.fail("y", "%d training nodes, and %d rows in allx", train, allx.Rows)
	}
	edges, err := r.neighbours("graph", n)
	if err != nil {
		return nil, err
	}

	b := graph.Builder{Name: r.name, Nodes: n, Edges: edges, X: assemble(n, test, allx, tx), Classes: classes}
	b.ClassNames = classNames(r.name, classes)
	b.Y = append(ally, slices.Repeat([]int32{graph.Unlabelled}, n-allx.Rows)...)
	for k, v := range test {
		b.Y[v] = ty[k]
		b.Split.Test = append(b.Split.Test, int32(v))
	}
	for i := range train {
		b.Split.Train = append(b.Split.Train, int32(i))
	}
	for i := train; i < min(train+publicVal, allx.Rows); i++ {
		if b.Y[i] != graph.Unlabelled {
			b.Split.Val = append(b.Split.Val, int32(i))
		}
	}
	g, _, err := b.Graph(ctx)
	return g, format.Locate(err, r.path("allx"), map[string]string{
		"edges": r.path("graph"), "labels": r.path("ally"), "split": r.path("test.index"),
	})
}

// nodes returns the number of nodes: one more than the highest-numbered node with a row.
func (r reader) nodes(test []int, allx, tx *mat.CSR) (n int, err error) {
	n = allx.Rows
	for k, v := range test {
		if v < 0 || v >= graph.MaxNodes {
			return 0, &format.ReadError{File: r.path("test.index"), Line: k + 1,
				Err: fmt.Errorf("node %d, must be 0 to %d", v, graph.MaxNodes-1)}
		}
		n = max(n, v+1)
	}
	if len(test) != tx.Rows {
		return 0, r.fail("test.index", "%d test nodes for %d rows of tx", len(test), tx.Rows)
	}
	if n > 2*(allx.Rows+tx.Rows) {
		return 0, r.fail("test.index", "node %d is far beyond the %d rows of features", n-1, allx.Rows+tx.Rows)
	}
	if tx.Cols != allx.Cols {
		return 0, r.fail("tx", "%d features, and %d in allx", tx.Cols, allx.Cols)
	}
	return n, nil
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

// readNodes reads a file with one number in each line.
func readNodes(ctx context.Context, file string) (nodes []int, err error) {
	err = lines.Read(ctx, file, func(_ int, line []byte) error {
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
	return nodes, err
}

// pickle returns the object in the pickle of a part. Nothing is executed.
func (r reader) pickle(part string) (any, error) {
	file := r.path(part)
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	object, _, err := pickle.Loader{Meter: reading.New(r.ctx, "reading", file, int64(len(data)))}.Load(data)
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, &format.ReadError{File: file, Err: err}
	}
	return object, nil
}

func (r reader) pickledCSR(part string) (*mat.CSR, error) {
	object, err := r.pickle(part)
	if err != nil {
		return nil, err
	}
	m, ok := object.(*pickle.Matrix)
	if !ok {
		return nil, r.fail(part, "holds %s, expected scipy's csr_matrix", pickle.Kind(object))
	}
	s, err := m.CSR(r.ctx)
	if err != nil {
		return nil, r.fail(part, "%w", err)
	}
	return s, nil
}

// oneHot returns the position of the largest element in each row, and the number of columns. A row of zeros has no
// label.
func (r reader) oneHot(part string, rows int) (y []int32, classes int, err error) {
	object, err := r.pickle(part)
	if err != nil {
		return nil, 0, err
	}
	hot, err := pickle.Numbers[float32](object)
	if err != nil {
		return nil, 0, r.fail(part, "%w", err)
	}
	shape := object.(*pickle.Array).Shape
	if len(shape) != 2 || shape[0] != rows {
		return nil, 0, r.fail(part, "shape %v, expected %d rows of one-hot labels", shape, rows)
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
	return y, classes, nil
}

// countRows returns the number of rows of a pickled array.
func (r reader) countRows(part string) (int, error) {
	object, err := r.pickle(part)
	if err != nil {
		return 0, err
	}
	a, ok := object.(*pickle.Array)
	if !ok || len(a.Shape) == 0 {
		return 0, r.fail(part, "holds %s, must hold a numpy array", pickle.Kind(object))
	}
	return a.Shape[0], nil
}

// neighbours reads a dictionary from nodes to lists of neighbours.
func (r reader) neighbours(part string, n int) (e graph.Edges, err error) {
	object, err := r.pickle(part)
	if err != nil {
		return e, err
	}
	d, ok := object.(*pickle.Dict)
	if !ok {
		return e, r.fail(part, "holds %s, must hold a dictionary of neighbours", pickle.Kind(object))
	}
	for k, key := range d.Keys {
		from, isInt := key.(int)
		neighbours, isList := d.Values[k].(*types.List)
		if !isInt || !isList {
			return e, r.fail(part, "entry %d maps %s to %s, must be a node and a list",
				k, pickle.Kind(key), pickle.Kind(d.Values[k]))
		}
		for _, v := range *neighbours {
			to, ok := v.(int)
			if !ok || from < 0 || from >= n || to < 0 || to >= n {
				return e, r.fail(part, "edge from node %d to %d, must be nodes 0 to %d", from, to, n-1)
			}
			e.From, e.To = append(e.From, int32(from)), append(e.To, int32(to))
		}
	}
	if e.Len() == 0 {
		return e, r.fail(part, "no edges")
	}
	return e, nil
}
