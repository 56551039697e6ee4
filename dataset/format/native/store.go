package native

import (
	"context"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/roles"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/safetensors"
	"github.com/graph-condensation/cgc/mat"
)

// offsets is the suffix of the name of a tensor that holds the start offsets of strings.
const offsets = ".offsets"

// WriteArrays writes arrays as tensors of their types. It omits arrays that can be computed from the other arrays.
// Strings become two tensors: their bytes and their start offsets.
func (native) WriteArrays(ctx context.Context, path string, a *format.Arrays) error {
	var tensors []safetensors.Tensor
	for _, array := range a.List {
		if array.Derived {
			continue
		}
		t := safetensors.Tensor{Name: array.Name, Shape: array.Shape, Data: array.Data}
		switch data := array.Data.(type) {
		case []string:
			tensors = append(tensors, safetensors.Strings(array.Name, data)...)
			continue
		case []bool:
			t.DType, t.Data = safetensors.Bool, memory.Bytes(data)
		case *mat.Dense:
			t.Shape, t.Data = array.Sides(), data.Data
		case mat.Matrix:
			t.Shape, t.Data = array.Sides(), stream(data)
		}
		tensors = append(tensors, t)
	}
	return safetensors.Write(ctx, path, a.Metadata, tensors)
}

// ReadMetadata reads the metadata of the header.
func (native) ReadMetadata(ctx context.Context, path string) (map[string]string, error) {
	f, err := open(ctx, path)
	if err != nil {
		return nil, err
	}
	return f.Metadata, f.Close()
}

// ReadArrays copies all tensors into memory.
func (native) ReadArrays(ctx context.Context, path string) (*format.Arrays, error) {
	f, err := open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var names []string
	for _, t := range f.Tensors() {
		if of, isOffsets := strings.CutSuffix(t.Name, offsets); !isOffsets || !f.Has(of) {
			names = append(names, t.Name)
		}
	}
	return roles.ReadArrays(f, names, f.Metadata)
}
