package npz

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/archive"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/dataset/format/internal/roles"
	"github.com/graph-condensation/cgc/graph"
)

// Write writes g as format.GraphArrays returns it. Features are written dense.
func (f Format) Write(ctx context.Context, path string, g *graph.Graph) error {
	return f.WriteArrays(ctx, path, format.GraphArrays(g))
}

// WriteArrays writes arrays that numpy.load opens without pickles. In names, "_" replaces ".". The metadata is a JSON
// object in the array cgc.
func (Format) WriteArrays(ctx context.Context, path string, a *format.Arrays) error {
	text, err := json.Marshal(a.Metadata)
	if err != nil {
		return fmt.Errorf("metadata: %w", err)
	}
	list := append([]format.Array{}, a.List...)
	list = append(list, format.Array{Name: metadata, Shape: []int{}, Data: []string{string(text)}})
	var members []archive.Member
	total := int64(0)
	for _, array := range list {
		d, blocks, err := numpy.Encode(array)
		if err != nil {
			return err
		}
		shape := array.Sides()
		size := int64(d.Size)
		for _, s := range shape {
			size *= int64(s)
		}
		total += size
		members = append(members, archive.Member{
			Name: format.PlainName(array.Name) + ".npy",
			Blocks: func(yield func([]byte, error) bool) {
				if !yield(numpy.Header(d, shape), nil) {
					return
				}
				for block, err := range blocks {
					if !yield(block, err) {
						return
					}
				}
			},
		})
	}
	return archive.Write(ctx, path, members, 1, total)
}

// ReadMetadata reads the array of the metadata.
func (Format) ReadMetadata(ctx context.Context, path string) (map[string]string, error) {
	z, err := open(ctx, path)
	if err != nil {
		return nil, err
	}
	return z.meta, z.Close()
}

// ReadArrays reads all arrays into memory.
func (Format) ReadArrays(ctx context.Context, path string) (*format.Arrays, error) {
	z, err := open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return roles.ReadArrays(z, z.names(), z.meta)
}
