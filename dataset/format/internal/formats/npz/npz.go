// Package npz reads and writes graphs in one .npz file of numpy. Arrays are found by their role (package roles), so the
// files of PyTorch Geometric, of scipy and of several benchmarks are one format.
package npz

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/roles"
	"github.com/graph-condensation/cgc/graph"
)

// Name is the name of the format.
const Name = "npz"

const extension = ".npz"

// Format reads one .npz file with arrays of edges, features and labels, and writes the arrays of PyTorch Geometric. It
// also stores condensed graphs.
type Format struct {
	unlabelled bool // the array of labels may be missing
}

var (
	_ format.Splitter   = Format{}
	_ format.Unlabeller = Format{}
)

// Unlabelled implements format.Unlabeller.
func (Format) Unlabelled() format.Format { return Format{unlabelled: true} }

// Describe implements format.Format. Files have the extension .npz.
func (Format) Describe() format.Description {
	return format.Description{Title: "numpy's arrays", File: "a .npz file", Extensions: []string{extension}}
}

// Recognise looks for an array of edges in the directory of the file.
func (Format) Recognise(path string) format.Certainty {
	if filepath.Ext(path) != extension {
		return format.No
	}
	z, err := open(context.Background(), path)
	if err != nil {
		return format.Likely // Read reports the error
	}
	defer z.Close()
	if slices.ContainsFunc(roles.EdgeNames(), z.Has) {
		return format.Certain
	}
	return format.Likely
}

// Read reads a file. Labels that start at 1 are shifted to start at 0.
func (f Format) Read(ctx context.Context, path string) (*graph.Graph, []string, error) {
	return f.ReadSplit(ctx, path, 0)
}

// ReadSplit implements format.Splitter: masks may hold several splits.
func (f Format) ReadSplit(ctx context.Context, path string, split int) (*graph.Graph, []string, error) {
	z, err := open(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	defer z.Close()
	return roles.Read(ctx, z, z.meta, strings.TrimSuffix(filepath.Base(path), extension), split, f.unlabelled)
}
