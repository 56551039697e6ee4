package native

import (
	"context"
	"strconv"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/paneled"
	"github.com/graph-condensation/cgc/internal/safetensors"
	"github.com/graph-condensation/cgc/mat"
)

// Write writes g into one file, which Read maps and Python reads. A *paneled.Matrix is written unchanged. Features of
// other types are read in blocks and written dense.
func (native) Write(ctx context.Context, path string, g *graph.Graph) error {
	meta := metadata(g.Name, g.Classes, g.Features(), g.ClassNames, g.FeatureNames)
	var tensors []safetensors.Tensor
	add := func(name string, data any, shape ...int) {
		tensors = append(tensors, safetensors.Tensor{Name: name, Shape: shape, Data: data})
	}
	sparse := func(name string, m *mat.CSR) {
		add(name+".indptr", m.Indptr)
		add(name+".indices", m.Indices)
		if m.Data != nil {
			add(name+".data", m.Data)
		}
	}
	sparse("adj", g.Adj)
	switch x := g.X.(type) {
	case *mat.Dense:
		add("x", x.Data, x.Rows, x.Cols)
	case *mat.CSR:
		sparse("x", x)
	case *paneled.Matrix:
		if x.Count() > 1 {
			meta["format_version"] = "2"
		}
		tensors = append(tensors, panelTensors(x)...)
	default:
		rows, cols := x.Dims()
		add("x", stream(x), rows, cols)
	}
	add("y", g.Y)
	add("train", g.Split.Train)
	add("val", g.Split.Val)
	add("test", g.Split.Test)
	if g.IDs != nil {
		tensors = append(tensors, safetensors.Strings("ids", g.IDs)...)
	}
	return safetensors.Write(ctx, path, meta, tensors)
}

// metadata returns the strings that describe a graph without panels.
func metadata(name string, classes, features int, classNames, featureNames []string) map[string]string {
	meta := map[string]string{
		"format": format.GraphKind, "format_version": "1",
		"name": name, "classes": strconv.Itoa(classes), "features": strconv.Itoa(features),
	}
	format.PutNames(meta, format.ClassNames, classNames)
	format.PutNames(meta, format.FeatureNames, featureNames)
	return meta
}

// stream yields the rows of x, in order.
func stream(x mat.Matrix) safetensors.Stream {
	return func(yield func([]float32, error) bool) {
		for block, err := range mat.Blocks(x) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(block.Data, nil) {
				return
			}
		}
	}
}
