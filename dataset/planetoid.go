package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/nlpodyssey/gopickle/types"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// planetoidParts are the files of a graph in Planetoid's format, as ind.NAME.PART (Yang et al. 2016, "Revisiting
// Semi-Supervised Learning with Graph Embeddings").
var planetoidParts = [...]string{"x", "y", "tx", "ty", "allx", "ally", "graph", "test.index"}

// planetoidVal is the number of validation nodes of the public split: those after the training nodes.
const planetoidVal = 500

// readPlanetoid reads dir/ind.NAME.*. Rows of allx are the nodes 0, 1, …; row k of tx is the node in line k of
// test.index. Nodes that are in neither (Citeseer has 15) have no features and no label. The split is the public one: the
// len(y) first nodes train, the next 500 validate, those of test.index test.
func (r *reader) readPlanetoid(dir, name string) (*graph.Graph, error) {
	path := func(part string) string { return filepath.Join(dir, "ind."+name+"."+part) }
	test, err := readNodes(path("test.index"))
	if err != nil {
		return nil, err
	}
	allx, err := readPickledCSR(path("allx"))
	if err != nil {
		return nil, err
	}
	tx, err := readPickledCSR(path("tx"))
	if err != nil {
		return nil, err
	}
	n := allx.Rows
	for k, v := range test {
		if v < 0 || v >= maxNodes {
			return nil, &ReadError{File: path("test.index"), Line: k + 1, Err: fmt.Errorf("node %d, want 0 to %d", v, maxNodes-1)}
		}
		n = max(n, v+1)
	}
	if len(test) != tx.Rows {
		return nil, &ReadError{File: path("test.index"), Err: fmt.Errorf("%d test nodes for %d rows of tx", len(test), tx.Rows)}
	}
	if n > 2*(allx.Rows+tx.Rows) {
		return nil, &ReadError{File: path("test.index"), Err: fmt.Errorf("node %d is far beyond the %d rows of features", n-1, allx.Rows+tx.Rows)}
	}
	if tx.Cols != allx.Cols {
		return nil, &ReadError{File: path("tx"), Err: fmt.Errorf("%d features, and %d in allx", tx.Cols, allx.Cols)}
	}
	ally, classes, err := readOneHot(path("ally"), allx.Rows)
	if err != nil {
		return nil, err
	}
	ty, testClasses, err := readOneHot(path("ty"), tx.Rows)
	if err != nil {
		return nil, err
	}
	if testClasses != classes {
		return nil, &ReadError{File: path("ty"), Err: fmt.Errorf("%d classes, and %d in ally", testClasses, classes)}
	}
	train, err := countRows(path("y"))
	if err != nil {
		return nil, err
	}
	if train > allx.Rows {
		return nil, &ReadError{File: path("y"), Err: fmt.Errorf("%d training nodes, and %d rows in allx", train, allx.Rows)}
	}

	g := &graph.Graph{Name: name, Classes: classes, Y: make([]int32, n)}
	copy(g.Y, ally)
	for i := allx.Rows; i < n; i++ {
		g.Y[i] = graph.Unlabelled
	}
	row := make([]int, n) // of tx, plus one
	for k, v := range test {
		g.Y[v], row[v] = ty[k], k+1
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
	g.X = x
	if g.Adj, err = r.readNeighbours(path("graph"), name, n); err != nil {
		return nil, err
	}
	for i := range train {
		g.Split.Train = append(g.Split.Train, int32(i))
	}
	for i := train; i < min(train+planetoidVal, allx.Rows); i++ {
		if g.Y[i] != graph.Unlabelled {
			g.Split.Val = append(g.Split.Val, int32(i))
		}
	}
	for _, v := range test {
		g.Split.Test = append(g.Split.Test, int32(v))
	}
	slices.Sort(g.Split.Test)
	return g, nil
}

// readNodes reads one number a line.
func readNodes(file string) (nodes []int, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for line := 1; lines.Scan(); line++ {
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		v, err := strconv.Atoi(string(text))
		if err != nil {
			return nil, &ReadError{File: file, Line: line, Err: fmt.Errorf("%.50q is not a node", text)}
		}
		nodes = append(nodes, v)
	}
	if err := lines.Err(); err != nil {
		return nil, &ReadError{File: file, Err: err}
	}
	return nodes, nil
}

func readPickledCSR(file string) (*mat.CSR, error) {
	object, err := readPickle(file)
	if err != nil {
		return nil, err
	}
	m, ok := object.(*pickledCSR)
	if !ok {
		return nil, &ReadError{File: file, Err: fmt.Errorf("holds a %T, want scipy's csr_matrix", object)}
	}
	s, err := m.csr()
	if err != nil {
		return nil, &ReadError{File: file, Err: err}
	}
	return s, nil
}

// readOneHot returns the position of the largest element in each row, and the number of columns. A row of zeros has no label.
func readOneHot(file string, rows int) (y []int32, classes int, err error) {
	object, err := readPickle(file)
	if err != nil {
		return nil, 0, err
	}
	hot, err := numbersOf[float32](object)
	if err != nil {
		return nil, 0, &ReadError{File: file, Err: err}
	}
	shape := object.(*pickledArray).shape
	if len(shape) != 2 || shape[0] != rows {
		return nil, 0, &ReadError{File: file, Err: fmt.Errorf("shape %v, want %d rows of one-hot labels", shape, rows)}
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
func countRows(file string) (int, error) {
	object, err := readPickle(file)
	if err != nil {
		return 0, err
	}
	a, ok := object.(*pickledArray)
	if !ok || len(a.shape) == 0 {
		return 0, &ReadError{File: file, Err: fmt.Errorf("holds a %T, want a numpy array", object)}
	}
	return a.shape[0], nil
}

// readNeighbours reads a dictionary node → list of neighbours.
func (r *reader) readNeighbours(file, name string, n int) (*mat.CSR, error) {
	object, err := readPickle(file)
	if err != nil {
		return nil, err
	}
	d, ok := object.(*dict)
	if !ok {
		return nil, &ReadError{File: file, Err: fmt.Errorf("holds a %T, want a dictionary of neighbours", object)}
	}
	var a arcs
	for k, key := range d.keys {
		from, isInt := key.(int)
		neighbours, isList := d.values[k].(*types.List)
		if !isInt || !isList {
			return nil, &ReadError{File: file, Err: fmt.Errorf("entry %d maps a %T to a %T, want a node and a list", k, key, d.values[k])}
		}
		for _, v := range *neighbours {
			to, ok := v.(int)
			if !ok || from < 0 || from >= n || to < 0 || to >= n {
				return nil, &ReadError{File: file, Err: fmt.Errorf("edge from node %d to %d, want nodes 0 to %d", from, to, n-1)}
			}
			a.from, a.to = append(a.from, int32(from)), append(a.to, int32(to))
		}
	}
	if len(a.from) == 0 {
		return nil, &ReadError{File: file, Err: errors.New("no edges")}
	}
	adj, _, err := graph.Adjacency(n, graph.Edges{From: a.from, To: a.to})
	return adj, err
}
