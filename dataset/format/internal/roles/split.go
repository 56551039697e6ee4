package roles

import (
	"fmt"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/graph"
)

// part is a part of a split, and the usual names of its array.
type part struct {
	nodes *[]int32
	names []string
}

// parts lists the possible arrays of each part of s, masks before lists. The first that exists is read.
func parts(s *graph.Split) []part {
	return []part{
		{&s.Train, []string{"train_mask", "train_masks", "train_idx", "idx_train"}},
		{&s.Val, []string{"val_mask", "val_masks", "valid_mask", "valid_masks", "val_idx", "valid_idx", "idx_val"}},
		{&s.Test, []string{"test_mask", "test_masks", "test_idx", "idx_test"}},
	}
}

// Split returns split k of n nodes, counted from 0, and notes. The split is empty if k is 0 and z has no array for it,
// or if its arrays have no node. A mask has a number for each node, 1 for the nodes in the part. A mask of several
// splits has a column or a row for each. Errors name the array. A node in two parts is an error.
func Split(z numpy.Opener, n, k int) (s graph.Split, notes []string, err error) {
	in := make([]string, n) // the array that assigned each node to a part
	found, most := "", 1    // the array with the most splits, and their number
	for _, p := range parts(&s) {
		name := p.of(z)
		if !z.Has(name) {
			continue
		}
		splits := 1
		if strings.Contains(name, "_mask") {
			*p.nodes, splits, err = mask(z, name, n, k)
		} else {
			*p.nodes, err = Nodes(z, name, n)
		}
		if err != nil {
			return s, nil, err
		}
		if found == "" || splits > most {
			found, most = name, splits
		}
		for _, v := range *p.nodes {
			if in[v] != "" {
				return s, nil, wrong(z, "%s: node %d is in %s too, must be once", name, v, in[v])
			}
			in[v] = name
		}
	}
	switch {
	case k >= most && found == "":
		return s, nil, wrong(z, "split %d, must be 0: the file holds no splits", k)
	case k >= most:
		return s, nil, wrong(z, "split %d, must be 0: %s holds 1 split", k, found)
	case len(s.Train) == 0 && len(s.Val)+len(s.Test) > 0:
		return s, nil, wrong(z, "%s: no node trains, must have at least 1", parts(&s)[0].of(z))
	case most > 1:
		notes = append(notes, fmt.Sprintf("%s holds %d splits: split %d of 0 to %d is used", found, most, k, most-1))
	}
	return s, notes, nil
}

// labelled returns an error if a node of s has no label.
func labelled(z numpy.Opener, s graph.Split, y []int32) error {
	for _, p := range parts(&s) {
		for _, v := range *p.nodes {
			if y[v] == graph.Unlabelled {
				return wrong(z, "%s: node %d has no label (y is %d)", p.of(z), v, y[v])
			}
		}
	}
	return nil
}

// of returns the name of the array that holds the part.
func (p part) of(z numpy.Opener) string {
	for _, name := range p.names {
		if z.Has(name) {
			return name
		}
	}
	return p.names[0]
}

// mask returns the nodes whose number in split k is 1, and the number of splits. A mask of one split applies to every
// k.
func mask(z numpy.Opener, name string, n, k int) (nodes []int32, splits int, err error) {
	err = z.Open(name, func(a *numpy.Array) error {
		at := layout(a.Shape, n, strings.HasSuffix(name, "s"))
		if at.splits < 1 {
			return fmt.Errorf("shape %v, expected [%d], a number for each node (%s holds a list of nodes)", a.Shape, n,
				strings.Replace(strings.TrimSuffix(name, "s"), "mask", "idx", 1))
		}
		in, err := numpy.Numbers[int32](a)
		if err != nil {
			return err
		}
		if splits = at.splits; splits > 1 && k >= splits {
			return fmt.Errorf("split %d, must be 0 to %d: the array holds %d splits", k, splits-1, splits)
		}
		first := min(k, splits-1) * at.split
		for i := range n {
			switch v := in[first+i*at.node]; v {
			case 0:
			case 1:
				nodes = append(nodes, int32(i))
			default:
				return fmt.Errorf("%d for node %d, must be 0 or 1", v, i)
			}
		}
		return nil
	})
	return nodes, splits, err
}

// strides holds the number of splits of a mask, and the distances between adjacent splits and adjacent nodes.
type strides struct{ splits, split, node int }

// layout returns the strides of a mask of n nodes, or none if the shape is wrong. A mask has a column for each split,
// like train_mask of PyTorch Geometric, or a row for each split. If both are possible, rows decides.
func layout(shape []int, n int, rows bool) strides {
	switch {
	case len(shape) == 1 && shape[0] == n:
		return strides{1, 0, 1}
	case len(shape) != 2:
		return strides{}
	case shape[0] == n && (shape[1] != n || !rows):
		return strides{shape[1], 1, shape[1]}
	case shape[1] == n:
		return strides{shape[0], n, 1}
	}
	return strides{}
}

// Nodes returns the nodes, 0 to n−1, whose numbers the array of that name contains.
func Nodes(z numpy.Opener, name string, n int) (nodes []int32, err error) {
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
