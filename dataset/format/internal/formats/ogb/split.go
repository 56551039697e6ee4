package ogb

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/csvfile"
	"github.com/graph-condensation/cgc/dataset/format/internal/lines"
	"github.com/graph-condensation/cgc/dataset/format/internal/reading"
	"github.com/graph-condensation/cgc/dataset/format/internal/roles"
	"github.com/graph-condensation/cgc/dataset/format/internal/torchfile"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/content"
)

// pickled is the file in which ogb's DatasetSaver stores a split: a dictionary of three arrays, written by torch.save.
const pickled = "split_dict.pt"

// hiddenTest is the name of the test nodes in MAG240M.
const hiddenTest = "test-dev"

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
	if file := filepath.Join(filepath.Dir(dir), pickled); len(names) == 0 && csvfile.Exists(file) { // of MAG240M
		notes, err := readPickled(ctx, file, s)
		return file, notes, err
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
		more, err := readPickled(ctx, file, s)
		return file, append(notes, more...), err
	}
	for _, part := range partsOf(&s.Split) {
		if *part.nodes, err = readNodes(ctx, csvfile.Path(folder, part.name), s.Nodes); err != nil {
			return folder, nil, missing(err, csvfile.Path(folder, part.name), "it holds a part of the split")
		}
	}
	return folder, notes, nil
}

// readPickled reads split_dict.pt. Nothing in it is executed. In MAG240M, test-dev takes the place of test. Its labels
// are not published; if they are missing, the test nodes are left out, and a note says so.
func readPickled(ctx context.Context, file string, s *format.Stream) (notes []string, err error) {
	f, err := torchfile.Open(ctx, file)
	if err != nil {
		return nil, reading.Failed(file, err)
	}
	defer f.Close()
	fields, is := torchfile.Fields(f.Object)
	if !is {
		return nil, format.Wrong(file, "it holds %s, must hold a dictionary of train, valid and test",
			torchfile.Kind(f.Object))
	}
	parts := partsOf(&s.Split)
	if fields["test"] == nil && fields[hiddenTest] != nil {
		parts[2].name = hiddenTest
	}
	for _, part := range parts {
		nodes, err := roles.Nodes(torchfile.Values{Path: file, Fields: fields}, part.name, s.Nodes)
		if err != nil {
			return nil, err
		}
		labelled := func(v int32) bool { return s.Y[v] != graph.Unlabelled }
		if part.name == hiddenTest && !slices.ContainsFunc(nodes, labelled) {
			notes = append(notes, fmt.Sprintf("%s: %s has no labels, so the split has no test nodes", file, hiddenTest))
			nodes = nil
		}
		*part.nodes = nodes
	}
	return notes, nil
}

// readNodes reads one node, 0 to n−1, from each line.
func readNodes(ctx context.Context, file string, n int) (nodes []int32, err error) {
	err = lines.Read(ctx, file, func(_ int, line []byte) error {
		if len(bytes.TrimSpace(line)) == 0 {
			return nil
		}
		v, err := content.Within("node", line, int64(n-1))
		nodes = append(nodes, v)
		return err
	})
	return nodes, err
}
