// Package parts reads the split of a graph from the arrays of an .npz file: masks or lists of nodes.
package parts

import (
	"errors"
	"fmt"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/graph"
)

// names lists the arrays of each part. The first that is there is read: a mask before a list.
func names(s *graph.Split) []part {
	return []part{
		{&s.Train, []string{"train_mask", "train_idx", "idx_train"}},
		{&s.Val, []string{"val_mask", "valid_mask", "val_idx", "valid_idx", "idx_val"}},
		{&s.Test, []string{"test_mask", "test_idx", "idx_test"}},
	}
}

type part struct {
	nodes *[]int32
	names []string
}

// Read returns the split of n nodes, which is empty if z has no array of it, and notes. A mask has a number for each
// node, 1 for the nodes of the part. If a mask has several columns, one for each of several splits, the first counts.
// An error names the array. Whether parts overlap is not checked here.
func Read(z *numpy.Archive, n int) (s graph.Split, notes []string, err error) {
	for _, p := range names(&s) {
		for _, name := range p.names {
			if !z.Has(name) {
				continue
			}
			var note string
			if strings.HasSuffix(name, "_mask") {
				*p.nodes, note, err = mask(z, name, n)
			} else {
				*p.nodes, err = list(z, name, n)
			}
			if err != nil {
				return s, nil, err
			}
			if note != "" {
				notes = append(notes, note)
			}
			break
		}
	}
	if len(s.Train) == 0 && len(s.Val)+len(s.Test) > 0 {
		return s, nil, &format.ReadError{File: z.Path, Err: errors.New("train_mask: no node trains, want at least 1")}
	}
	return s, notes, nil
}

// mask returns the nodes whose number is 1.
func mask(z *numpy.Archive, name string, n int) (nodes []int32, note string, err error) {
	err = z.Open(name, func(a *numpy.Array) error {
		columns := 1
		if len(a.Shape) == 2 {
			columns = a.Shape[1]
		}
		if len(a.Shape) < 1 || len(a.Shape) > 2 || a.Shape[0] != n || columns < 1 {
			return fmt.Errorf("shape %v, want [%d], a number for each node", a.Shape, n)
		}
		in, err := numpy.Numbers[int32](a)
		if err != nil {
			return err
		}
		for i := range n {
			switch v := in[i*columns]; v {
			case 0:
			case 1:
				nodes = append(nodes, int32(i))
			default:
				return fmt.Errorf("%d for node %d, want 0 or 1", v, i)
			}
		}
		if columns > 1 {
			note = fmt.Sprintf("%s has %d columns: the first split was taken", name, columns)
		}
		return nil
	})
	return nodes, note, err
}

// list returns the nodes of a list.
func list(z *numpy.Archive, name string, n int) (nodes []int32, err error) {
	err = z.Open(name, func(a *numpy.Array) error {
		if nodes, err = numpy.Numbers[int32](a); err != nil {
			return err
		}
		for i, v := range nodes {
			if v < 0 || int(v) >= n {
				return fmt.Errorf("node %d at place %d, want 0 to %d", v, i, n-1)
			}
		}
		return nil
	})
	return nodes, err
}
