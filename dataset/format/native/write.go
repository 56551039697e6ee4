package native

import (
	"context"
	"encoding/json"
	"fmt"
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
	meta, err := metadata(g.Name, g.Classes, g.Features(), g.ClassNames)
	if err != nil {
		return err
	}
	tensors := []safetensors.Tensor{{Name: "adj.indptr", Data: g.Adj.Indptr}, {Name: "adj.indices", Data: g.Adj.Indices}}
	if g.Adj.Data != nil {
		tensors = append(tensors, safetensors.Tensor{Name: "adj.data", Data: g.Adj.Data})
	}
	switch x := g.X.(type) {
	case *mat.Dense:
		tensors = append(tensors, safetensors.Tensor{Name: "x", Shape: []int{x.Rows, x.Cols}, Data: x.Data})
	case *mat.CSR:
		tensors = append(tensors,
			safetensors.Tensor{Name: "x.indptr", Data: x.Indptr}, safetensors.Tensor{Name: "x.indices", Data: x.Indices})
		if x.Data != nil {
			tensors = append(tensors, safetensors.Tensor{Name: "x.data", Data: x.Data})
		}
	case *paneled.Matrix:
		if x.Count() > 1 {
			meta["format_version"] = "2"
		}
		tensors = append(tensors, panelTensors(x)...)
	default:
		rows, cols := x.Dims()
		tensors = append(tensors, safetensors.Tensor{Name: "x", Shape: []int{rows, cols}, Data: stream(x)})
	}
	tensors = append(tensors,
		safetensors.Tensor{Name: "y", Data: g.Y}, safetensors.Tensor{Name: "train", Data: g.Split.Train},
		safetensors.Tensor{Name: "val", Data: g.Split.Val}, safetensors.Tensor{Name: "test", Data: g.Split.Test})
	if g.IDs != nil {
		tensors = append(tensors, safetensors.Strings("ids", g.IDs)...)
	}
	return safetensors.Write(ctx, path, meta, tensors)
}

// metadata returns the strings that describe a graph without panels.
func metadata(name string, classes, features int, classNames []string) (map[string]string, error) {
	meta := map[string]string{
		"format": format.GraphKind, "format_version": "1",
		"name": name, "classes": strconv.Itoa(classes), "features": strconv.Itoa(features),
	}
	if classNames != nil {
		names, err := json.Marshal(classNames)
		if err != nil {
			return nil, fmt.Errorf("names of classes: %w", err)
		}
		meta["class_names"] = string(names)
	}
	return meta, nil
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
