// Package saint reads folders in the layout of GraphSAINT (Zeng et al. 2020), in which Flickr and Reddit are published.
package saint

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/csr"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/dataset/format/internal/reading"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/content"
	"github.com/graph-condensation/cgc/internal/memory"
)

// Name is the name of the format.
const Name = "graphsaint"

// The files of a folder.
const (
	adjacencyFile = "adj_full.npz"
	featuresFile  = "feats.npy"
	labelsFile    = "class_map.json"
	splitFile     = "role.json"
)

// Format reads a folder of adj_full.npz (scipy's CSR), feats.npy, class_map.json and role.json.
type Format struct{}

// Describe implements format.Format. A folder is identified by adj_full.npz.
func (Format) Describe() format.Description {
	return format.Description{Title: "GraphSAINT", Folder: adjacencyFile}
}

// Recognise looks for adj_full.npz.
func (Format) Recognise(path string) format.Certainty {
	if _, err := os.Stat(filepath.Join(path, adjacencyFile)); err != nil {
		return format.No
	}
	return format.Certain
}

// Read reads a folder. A node that class_map.json omits, or labels −1, has no label. Labels that start at 1 are shifted
// to start at 0, and become the names of the classes.
func (Format) Read(ctx context.Context, path string) (*graph.Graph, []string, error) {
	in := func(file string) string { return filepath.Join(path, file) }
	edges, n, err := readEdges(ctx, in(adjacencyFile))
	if err != nil {
		return nil, nil, err
	}
	b := graph.Builder{Name: filepath.Base(path), Nodes: n, Edges: edges}
	if b.X, err = numpy.Read(ctx, in(featuresFile)); err != nil {
		return nil, nil, err
	}
	if b.Y, err = readClassMap(ctx, in(labelsFile), n); err != nil {
		return nil, nil, err
	}
	b.ClassNames = content.ShiftLabels(b.Y)
	if b.Split, err = readRoles(ctx, in(splitFile), n); err != nil {
		return nil, nil, err
	}
	return format.Build(ctx, &b, in(adjacencyFile), map[string]string{
		"features": in(featuresFile), "labels": in(labelsFile), "split": in(splitFile),
	})
}

// readEdges returns the edges and the number of nodes.
func readEdges(ctx context.Context, file string) (graph.Edges, int, error) {
	z, err := numpy.OpenArchive(ctx, file)
	if err != nil {
		return graph.Edges{}, 0, err
	}
	defer z.Close()
	m, err := z.CSR(ctx, "")
	if err != nil {
		return graph.Edges{}, 0, err
	}
	edges, err := csr.Edges(ctx, m)
	if err != nil {
		return graph.Edges{}, 0, &format.ReadError{File: file, Err: err}
	}
	return edges, m.Rows, nil
}

// readClassMap reads {"node": label, …}.
func readClassMap(ctx context.Context, file string, n int) ([]int32, error) {
	y := memory.Filled[int32](n, graph.Unlabelled)
	return y, reading.Object(ctx, file, func(s *reading.Scanner, key []byte) error {
		node, err := content.Int(key)
		if err != nil || node < 0 || node >= int64(n) {
			return fmt.Errorf("node %.50q, must be 0 to %d", key, n-1)
		}
		if s.Peek() == '[' {
			return fmt.Errorf("node %d has a list of labels: a graph where nodes have several classes is not supported", node)
		}
		label, err := s.Integer()
		if err != nil {
			return err
		}
		y[node], err = content.Label(node, label)
		return err
	})
}

// readRoles reads {"tr": [nodes], "va": […], "te": […]}.
func readRoles(ctx context.Context, file string, n int) (split graph.Split, err error) {
	parts := map[string]*[]int32{"tr": &split.Train, "va": &split.Val, "te": &split.Test}
	err = reading.Object(ctx, file, func(s *reading.Scanner, key []byte) error {
		part := parts[string(key)]
		if part == nil {
			return fmt.Errorf("key %.50q, expected tr, va or te", key)
		}
		return s.List(func() error {
			v, err := s.Within("node", int64(n-1))
			*part = append(*part, v)
			return err
		})
	})
	return split, err
}
