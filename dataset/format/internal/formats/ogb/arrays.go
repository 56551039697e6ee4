package ogb

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/csvfile"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
)

// arraysFile holds edge_index, node_feat, num_nodes_list and num_edges_list.
const arraysFile = "data.npz"

// The names of the arrays.
const (
	arrayEdges    = "edge_index"
	arrayFeatures = "node_feat"
	arrayCounts   = "num_nodes_list"
)

// arrays are the arrays of a graph. In a folder of .npy files, the name of an array may be a path.
type arrays struct {
	numpy.Source
	edges, features string
}

// file returns the path of the file that holds an array.
func (z arrays) file(name string) string {
	if _, folder := z.Source.(*numpy.Folder); folder {
		return filepath.Join(z.Where(), name+".npy")
	}
	return z.Where()
}

// countNodes returns the number of nodes of the graph in z: from num_nodes_list if there is one, else from the number
// of rows of its features.
func countNodes(z arrays) (nodes int, err error) {
	if _, archive := z.Source.(*numpy.Archive); !archive && !z.Has(arrayCounts) {
		err := z.Open(z.features, func(a *numpy.Array) error {
			if len(a.Shape) != 2 || a.Shape[0] > graph.MaxNodes {
				return fmt.Errorf("shape %v, must be at most %d rows, one for each node, and features", a.Shape, graph.MaxNodes)
			}
			nodes = a.Shape[0]
			return nil
		})
		return nodes, err
	}
	counts, err := numpy.Member[int64](z, arrayCounts)
	if err != nil {
		return 0, err
	}
	if len(counts) != 1 {
		return 0, format.Wrong(z.Where(), "num_nodes_list counts %d graphs, expected one", len(counts))
	}
	if n := counts[0]; n < 0 || n > graph.MaxNodes {
		return 0, format.Wrong(z.Where(), "%d nodes, must be at most %d", n, graph.MaxNodes)
	}
	return int(counts[0]), nil
}

// folderOf returns the arrays of raw that are .npy files.
func folderOf(ctx context.Context, raw string) arrays {
	return arrays{numpy.OpenFolder(ctx, raw), arrayEdges, arrayFeatures}
}

// papersOf returns the arrays of MAG240M in the folder dir.
func papersOf(ctx context.Context, dir string) arrays {
	folder := numpy.OpenFolder(ctx, filepath.Join(dir, "processed"))
	return arrays{folder, "paper___cites___paper/edge_index", "paper/node_feat"}
}

func (z arrays) complete() bool { return z.Has(z.edges) && z.Has(z.features) }

// isPapers reports whether the folder dir holds MAG240M.
func isPapers(dir string) bool { return papersOf(context.Background(), dir).complete() }

// hasFolder reports whether the arrays of raw are .npy files.
func hasFolder(raw string) bool { return folderOf(context.Background(), raw).complete() }

// openArrays opens the arrays of raw. The file data.npz takes precedence.
func openArrays(ctx context.Context, raw string) (arrays, error) {
	if file := filepath.Join(raw, arraysFile); csvfile.Exists(file) {
		z, err := numpy.OpenArchive(ctx, file)
		return arrays{z, arrayEdges, arrayFeatures}, err
	}
	return folderOf(ctx, raw), nil
}

// readLabelFile reads the array node_label of an archive.
func readLabelFile(ctx context.Context, file string, n int) (y []int32, err error) {
	z, err := numpy.OpenArchive(ctx, file)
	if err != nil {
		if os.IsNotExist(err) {
			err = missing(err, file, needLabels)
		}
		return nil, err
	}
	defer z.Close()
	return readLabelArray(z, "node_label", n)
}

// readLabelArray reads the labels of n nodes: n or n × 1 numbers, where NaN and −1 mean no label.
func readLabelArray(z numpy.Source, name string, n int) (y []int32, err error) {
	err = z.Open(name, func(a *numpy.Array) error {
		switch {
		case len(a.Shape) == 2 && a.Shape[1] > 1:
			return fmt.Errorf("%d labels for each node, expected one: multi-label nodes are not supported", a.Shape[1])
		case len(a.Shape) < 1 || len(a.Shape) > 2 || a.Shape[0] != n || len(a.Shape) == 2 && a.Shape[1] < 1:
			return fmt.Errorf("shape %v, expected [%d 1], a label for each node", a.Shape, n)
		}
		d, err := numpy.NewDecoder[float32](a) // labels are below 2¹⁶, so float32 is exact
		if err != nil {
			return err
		}
		y = memory.Make[int32](n)
		values := make([]float32, min(n, 1<<16))
		for done := 0; done < n; {
			values = values[:min(len(values), n-done)]
			if err := d.Read(values); err != nil {
				return err
			}
			for i, v := range values {
				if y[done+i], err = label(float64(v)); err != nil {
					return fmt.Errorf("node %d: %w", done+i, err)
				}
			}
			done += len(values)
		}
		return nil
	})
	return y, err
}
