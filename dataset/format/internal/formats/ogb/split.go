package ogb

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/csvfile"
	"github.com/graph-condensation/cgc/dataset/format/internal/decimal"
	"github.com/graph-condensation/cgc/dataset/format/internal/lines"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/dataset/format/internal/reading"
	"github.com/graph-condensation/cgc/dataset/format/internal/torchfile"
	"github.com/graph-condensation/cgc/graph"
)

// pickled is the file in which ogb's DatasetSaver stores a split: a dictionary of three arrays, written by torch.save.
const pickled = "split_dict.pt"

// partsOf returns the parts of a split with their names in OGB.
func partsOf(s *graph.Split) []part {
	return []part{{"train", &s.Train}, {"valid", &s.Val}, {"test", &s.Test}}
}

type part struct {
	name  string
	nodes *[]int32
}

// readSplit reads split k, counted in the order of the folders in split, and returns its path and notes.
func readSplit(ctx context.Context, dir string, k int, s *format.Stream) (source string, notes []string, err error) {
	dir = filepath.Join(dir, "split")
	var names []string
	for _, name := range entries(dir) {
		folder := filepath.Join(dir, name)
		if csvfile.Exists(csvfile.Path(folder, "train")) || csvfile.Exists(filepath.Join(folder, pickled)) {
			names = append(names, name)
		}
	}
	if last := max(0, len(names)-1); k > last {
		return dir, nil, format.Wrong(dir, "split %d, must be 0 to %d: the folder holds the splits %q", k,
			last, names)
	}
	if len(names) == 0 {
		return dir, nil, nil
	}
	if len(names) > 1 {
		notes = append(notes, fmt.Sprintf("%s holds the splits %s: %s is used",
			dir, strings.Join(names, ", "), names[k]))
	}
	folder := filepath.Join(dir, names[k])
	if file := filepath.Join(folder, pickled); !csvfile.Exists(csvfile.Path(folder, "train")) {
		return file, notes, readPickled(ctx, file, s)
	}
	for _, part := range partsOf(&s.Split) {
		if *part.nodes, err = readNodes(ctx, csvfile.Path(folder, part.name), s.Nodes); err != nil {
			return folder, nil, missing(err, csvfile.Path(folder, part.name), "it holds a part of the split")
		}
	}
	return folder, notes, nil
}

// readPickled reads split_dict.pt. Nothing in it is executed.
func readPickled(ctx context.Context, file string, s *format.Stream) error {
	f, err := torchfile.Open(ctx, file)
	if err != nil {
		return reading.Failed(file, err)
	}
	defer f.Close()
	fields, is := torchfile.Fields(f.Object)
	if !is {
		return format.Wrong(file, "it holds %s, must hold a dictionary of train, valid and test", torchfile.Kind(f.Object))
	}
	for _, part := range partsOf(&s.Split) {
		a, is, err := torchfile.ArrayOf(fields[part.name])
		if err != nil {
			return format.Wrong(file, "%s: %w", part.name, err)
		}
		if !is {
			return format.Wrong(file, "%s is %s, must be an array of nodes", part.name, torchfile.Kind(fields[part.name]))
		}
		nodes, err := numpy.Numbers[int32](a)
		if err != nil {
			return format.Wrong(file, "%s: %w", part.name, err)
		}
		for i, v := range nodes {
			if v < 0 || int(v) >= s.Nodes {
				return format.Wrong(file, "%s: node %d at place %d, must be 0 to %d", part.name, v, i, s.Nodes-1)
			}
		}
		*part.nodes = nodes
	}
	return nil
}

// readNodes reads one node, 0 to n−1, from each line.
func readNodes(ctx context.Context, file string, n int) (nodes []int32, err error) {
	err = lines.Read(ctx, file, func(_ int, line []byte) error {
		if len(bytes.TrimSpace(line)) == 0 {
			return nil
		}
		v, err := decimal.Within("node", line, int64(n-1))
		nodes = append(nodes, v)
		return err
	})
	return nodes, err
}
