package format

import (
	"strconv"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// The values of the key "format" in the metadata of files.
const (
	// GraphKind marks a file with a graph.
	GraphKind = "cgc.graph"
	// CondensedKind marks a file with a condensed graph.
	CondensedKind = "cgc-condensed"
)

// graphMetadata returns the strings that describe g.
func graphMetadata(g *graph.Graph) map[string]string {
	meta := map[string]string{
		"format": GraphKind, "format_version": "1", "name": g.Name, "classes": strconv.Itoa(g.Classes),
	}
	PutNames(meta, ClassNames, g.ClassNames)
	PutNames(meta, FeatureNames, g.FeatureNames)
	return meta
}

// GraphArrays returns g, which must be valid, as arrays with the names that PyTorch Geometric uses.
//
//	x           N×d, float32
//	y           N, −1 for unlabelled nodes
//	edge_index  2×E, each edge in both directions, ordered by the first row
//	edge_weight E, if edges have weights
//	train_mask, val_mask, test_mask  N, booleans, if there is a split
//	ids         N strings, if nodes have names
//
// The metadata has name, classes, and the names of classes and features if there are any.
func GraphArrays(g *graph.Graph) *Arrays {
	n, entries := g.Nodes(), g.Adj.NNZ()
	a := &Arrays{Metadata: graphMetadata(g)}
	a.Add("x", g.X, n, g.Features())
	a.Add("y", g.Y)
	ends := memory.Make[int32](2 * entries)[:entries]
	for i := range n {
		for e := g.Adj.Indptr[i]; e < g.Adj.Indptr[i+1]; e++ {
			ends[e] = int32(i)
		}
	}
	a.Add("edge_index", append(ends, g.Adj.Indices...), 2, entries)
	if g.Adj.Data != nil {
		a.Add("edge_weight", g.Adj.Data)
	}
	for _, part := range []struct {
		name  string
		nodes []int32
	}{{"train_mask", g.Split.Train}, {"val_mask", g.Split.Val}, {"test_mask", g.Split.Test}} {
		if len(g.Split.Train) == 0 {
			break
		}
		mask := memory.Make[bool](n)
		for _, v := range part.nodes {
			mask[v] = true
		}
		a.Add(part.name, mask)
	}
	if g.IDs != nil {
		a.Add("ids", g.IDs)
	}
	return a
}

// The values of the column split.
var partNames = []string{"train", "val", "test"}

// GraphTables returns g, which must be valid, as tables.
//
//	nodes: id (the name of the node, or its number from 0)
//	       label (the name of the class, empty for none; or its number, −1 for none)
//	       split (train, val, test or empty)
//	       x (d values)
//	edges: source, target, and weight if edges have weights
//
// The metadata has name, classes, and the names of classes and features if there are any.
func GraphTables(g *graph.Graph) *Tables {
	n := g.Nodes()
	split := memory.Filled[int32](n, -1)
	for part, nodes := range [][]int32{g.Split.Train, g.Split.Val, g.Split.Test} {
		for _, v := range nodes {
			split[v] = int32(part)
		}
	}
	return &Tables{
		Metadata: graphMetadata(g),
		Nodes: Table{Rows: n, Columns: []Column{
			idColumn(n, g.IDs),
			{Name: "label", Data: g.Y, Dictionary: g.ClassNames},
			{Name: "split", Data: split, Dictionary: partNames},
			{Name: "x", Width: g.Features(), Data: g.X},
		}},
		Edges: EdgeTable(g.Adj, g.IDs),
	}
}

// idColumn returns the column id: names, or numbers from 0.
func idColumn(n int, ids []string) Column {
	if ids != nil {
		return Column{Name: "id", Data: ids}
	}
	return Column{Name: "id", Data: memory.Range(0, n)}
}

// EdgeTable returns the edges of an undirected graph, each once and ordered by source and target: the columns source,
// target and, if a has values, weight. ids holds the name of each node; nil means numbers.
func EdgeTable(a *mat.CSR, ids []string) Table {
	edges := a.NNZ() / 2
	source, target, weight := memory.Make[int32](edges)[:0], memory.Make[int32](edges)[:0], []float32(nil)
	for i := range a.Rows {
		for e := a.Indptr[i]; e < a.Indptr[i+1]; e++ {
			if j := a.Indices[e]; int(j) > i {
				source, target = append(source, int32(i)), append(target, j)
				if a.Data != nil {
					weight = append(weight, a.Data[e])
				}
			}
		}
	}
	t := Table{Rows: len(source), Columns: []Column{
		{Name: "source", Data: source, Dictionary: ids}, {Name: "target", Data: target, Dictionary: ids},
	}}
	if a.Data != nil {
		t.Columns = append(t.Columns, Column{Name: "weight", Data: weight})
	}
	return t
}
