package stored

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graph-condensation/cgc/internal/safetensors"
)

// Merge joins files, given in any order, that each have some columns into one file with all columns. Several files may
// contain the same columns for different training nodes. It is an error if columns have a gap or overlap, if a training
// node occurs twice, or if the files come from different runs. Merge holds one block of rows in memory.
func Merge(ctx context.Context, path string, paths []string) error {
	if len(paths) == 0 {
		return errors.New("no files to merge, must be at least 1")
	}
	parts := make([]part, len(paths))
	for i, name := range paths {
		f, err := Read(name)
		if err != nil {
			return err
		}
		parts[i] = part{f, name}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return a.Lo - b.Lo })
	stacks, err := stacked(parts)
	if err != nil {
		return err
	}
	whole := *parts[0].File
	whole.Lo, whole.Hi = 0, whole.Features
	whole.Train, whole.Y, whole.IDs = stacks[0].train, stacks[0].y, stacks[0].ids
	return write(ctx, path, &whole, func(l int) any { return sideBySide(stacks, l, whole.Hi) })
}

// stacked returns parts, which are sorted by columns, as one stack for each range of columns. It checks that the ranges
// follow each other without a gap, and that all stacks have the same nodes.
func stacked(parts []part) (stacks []*stack, err error) {
	first, at := parts[0], 0
	for i := 0; i < len(parts); {
		p, end := parts[i], i+1
		switch {
		case p.Lo > at:
			return nil, fmt.Errorf("no file has columns %d:%d of %d", at, p.Lo, p.Features)
		case p.Lo < at:
			return nil, fmt.Errorf("%s and %s both have column %d", parts[i-1].path, p.path, p.Lo)
		}
		for end < len(parts) && parts[end].Lo == p.Lo {
			end++
		}
		for _, q := range parts[i:end] {
			if why := first.differs(q.Origin); why != "" {
				return nil, fmt.Errorf("%s and %s are not parts of one run: %s", first.path, q.path, why)
			}
		}
		s, err := newStack(parts[i:end])
		if err != nil {
			return nil, err
		}
		if stacks = append(stacks, s); !slices.Equal(stacks[0].train, s.train) || !slices.Equal(stacks[0].y, s.y) {
			return nil, fmt.Errorf("%s and %s are not parts of one run: their training nodes or labels differ",
				first.path, p.path)
		}
		i, at = end, p.Hi
	}
	if at != first.Features {
		return nil, fmt.Errorf("no file has columns %d:%d of %d", at, first.Features, first.Features)
	}
	return stacks, nil
}

// sideBySide returns hop l of all stacks with their columns side by side, in blocks of rows.
func sideBySide(stacks []*stack, l, columns int) safetensors.Stream {
	return func(yield func([]float32, error) bool) {
		const rows = 256
		block := make([]float32, 0, rows*columns)
		nodes := len(stacks[0].train)
		for i := range nodes {
			for _, s := range stacks {
				at := s.from[i]
				block = append(block, s.parts[at.part].hop(l).Row(int(at.row))...)
			}
			if i%rows == rows-1 || i == nodes-1 {
				if !yield(block, nil) {
					return
				}
				block = block[:0]
			}
		}
	}
}

// part is a file to merge.
type part struct {
	*File
	path string
}

// stack is a list of files with the same columns for different training nodes.
type stack struct {
	parts    []part
	from     []place // where the row of each training node is
	train, y []int32
	ids      []string
}

// place is a row of a part.
type place struct{ part, row int32 }

// newStack returns a stack whose rows are in the order of the nodes. Two parts with the same node are an error.
func newStack(parts []part) (*stack, error) {
	first := parts[0]
	s := &stack{parts: parts}
	for i, p := range parts {
		if p.Hi != first.Hi || (p.IDs == nil) != (first.IDs == nil) {
			return nil, fmt.Errorf("%s and %s both have column %d", first.path, p.path, p.Lo)
		}
		for r := range p.Train {
			s.from = append(s.from, place{int32(i), int32(r)})
		}
	}
	node := func(at place) int32 { return parts[at.part].Train[at.row] }
	slices.SortStableFunc(s.from, func(a, b place) int { return int(node(a)) - int(node(b)) })
	for i, at := range s.from {
		p := parts[at.part]
		if i > 0 && s.train[i-1] == node(at) {
			return nil, fmt.Errorf("%s and %s both have column %d of node %d",
				parts[s.from[i-1].part].path, p.path, p.Lo, node(at))
		}
		s.train, s.y = append(s.train, node(at)), append(s.y, p.Y[at.row])
		if p.IDs != nil {
			s.ids = append(s.ids, p.IDs[at.row])
		}
	}
	return s, nil
}
