package torch

import (
	"context"
	"maps"
	"slices"

	"github.com/nlpodyssey/gopickle/types"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/roles"
	"github.com/graph-condensation/cgc/dataset/format/internal/torchfile"
	"github.com/graph-condensation/cgc/graph"
)

// Write writes g as format.GraphArrays returns it: a dictionary for Data.from_dict. Features are written dense.
func (Format) Write(ctx context.Context, path string, g *graph.Graph) error {
	return torchfile.Write(ctx, path, format.GraphArrays(g))
}

// WriteArrays writes a dictionary that torch.load opens with weights_only=True. In names, "_" replaces ".". Strings
// become a list. The metadata is a list of one JSON object under the key cgc.
func (Format) WriteArrays(ctx context.Context, path string, a *format.Arrays) error {
	return torchfile.Write(ctx, path, a)
}

// ReadMetadata reads the pickle, but no tensor.
func (Format) ReadMetadata(ctx context.Context, path string) (map[string]string, error) {
	f, err := open(ctx, within(path))
	if err != nil {
		return nil, err
	}
	return f.meta, f.Close()
}

// ReadArrays reads all tensors and lists of integers or strings of a dictionary or a Data.
func (Format) ReadArrays(ctx context.Context, path string) (*format.Arrays, error) {
	f, err := open(ctx, within(path))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var names []string
	for _, name := range slices.Sorted(maps.Keys(f.Fields)) {
		_, is := f.Fields[name].(*torchfile.Tensor)
		if _, isList := f.Fields[name].(*types.List); isList && name != torchfile.Metadata {
			_, is, _ = torchfile.ArrayOf(f.Fields[name])
		}
		if is {
			names = append(names, name)
		}
	}
	return roles.ReadArrays(f, names, f.meta)
}
