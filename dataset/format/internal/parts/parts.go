// Package parts reads the split of a graph from named arrays: masks or lists of nodes.
package parts

import (
	"fmt"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/graph"
)

// names lists the possible arrays of each part, masks before lists. The first that exists is read.
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

// Source is a file of named arrays.
type Source interface {
	// Has reports whether there is an array of that name.
	Has(name string) bool
	// Open calls read with the array of that name. Every error, including one of read, is a *format.ReadError with the
	// name.
	Open(name string, read func(*numpy.Array) error) error
	// Where returns the path of the file.
	Where() string
}

// Read returns the split of n nodes, and notes. The split is empty if z has no array for it. A mask has a number for
// each node, 1 for the nodes in the part. If a mask has several columns, one for each split, the first is used. Errors
// name the array. A node in two parts is an error.
func Read(z Source, n int) (s graph.Split, notes []string, err error) {
	in := make([]string, n) // the array that assigned each node to a part
	some := false           // whether any array of the split exists
	for _, p := range names(&s) {
		for _, name := range p.names {
			if !z.Has(name) {
				continue
			}
			some = true
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
			for _, v := range *p.nodes {
				if in[v] != "" {
					return s, nil, wrong(z, "%s: node %d is in %s too, must be once", name, v, in[v])
				}
				in[v] = name
			}
			break
		}
	}
	if len(s.Train) == 0 && some {
		return s, nil, wrong(z, "train_mask: no node trains, must have at least 1")
	}
	return s, notes, nil
}

// Labelled returns an error if a node of s has no label.
func Labelled(z Source, s graph.Split, y []int32) error {
	for _, p := range names(&s) {
		for _, v := range *p.nodes {
			if y[v] == graph.Unlabelled {
				return wrong(z, "%s: node %d has no label (y is %d)", p.of(z), v, y[v])
			}
		}
	}
	return nil
}

// of returns the name of the array that holds the part.
func (p part) of(z Source) string {
	for _, name := range p.names {
		if z.Has(name) {
			return name
		}
	}
	return p.names[0]
}

func wrong(z Source, text string, args ...any) error {
	return &format.ReadError{File: z.Where(), Err: fmt.Errorf(text, args...)}
}

// mask returns the nodes whose number is 1.
func mask(z Source, name string, n int) (nodes []int32, note string, err error) {
	err = z.Open(name, func(a *numpy.Array) error {
		columns := 1
		if len(a.Shape) == 2 {
			columns = a.Shape[1]
		}
		if len(a.Shape) < 1 || len(a.Shape) > 2 || a.Shape[0] != n || columns < 1 {
			return fmt.Errorf("shape %v, expected [%d], a number for each node", a.Shape, n)
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
				return fmt.Errorf("%d for node %d, must be 0 or 1", v, i)
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
func list(z Source, name string, n int) (nodes []int32, err error) {
	err = z.Open(name, func(a *numpy.Array) error {
		if nodes, err = numpy.Numbers[int32](a); err != nil {
			return err
		}
		for i, v := range nodes {
			if v < 0 || int(v) >= n {
				return fmt.Errorf("node %d at place %d, must be 0 to %d", v, i, n-1)
			}
		}
		return nil
	})
	return nodes, err
}
