package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// readSAINT reads a folder in the layout of GraphSAINT (Zeng et al. 2020): adj_full.npz (scipy's CSR), feats.npy, class_map.json
// and role.json. A node that class_map.json leaves out, or gives −1, has no label. Labels that start at 1 are moved to start at 0.
func (r *reader) readSAINT(dir string) (*graph.Graph, error) {
	g := &graph.Graph{Name: filepath.Base(dir)}
	z, err := openArchive(filepath.Join(dir, "adj_full.npz"))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	m, err := z.csr("")
	if err != nil {
		return nil, err
	}
	a, err := arcsOf(m)
	if err != nil {
		return nil, &ReadError{File: z.file, Err: err}
	}
	g.Adj = r.adjacency(g.Name, m.Rows, a)
	feats := filepath.Join(dir, "feats.npy")
	x, err := readNpy(feats)
	if err != nil {
		return nil, err
	}
	if err := checkFeatures(feats, x, m.Rows); err != nil {
		return nil, err
	}
	g.X = x
	if g.Y, err = readClassMap(filepath.Join(dir, "class_map.json"), m.Rows); err != nil {
		return nil, err
	}
	g.Classes = shiftLabels(g.Y)
	g.Split, err = readRoles(filepath.Join(dir, "role.json"), g)
	return g, err
}

// checkFeatures returns an error that names the file if x has not n rows or holds a number that is not finite.
func checkFeatures(file string, x mat.Matrix, n int) error {
	rows, cols := x.Dims()
	if rows != n || cols == 0 {
		return &ReadError{File: file, Err: fmt.Errorf("features are %d×%d, want %d rows, one for each node, and at least 1 column", rows, cols, n)}
	}
	if i, j, found := mat.FirstNotFinite(x); found {
		return &ReadError{File: file, Err: fmt.Errorf("feature %d of node %d is not a finite number", j, i)}
	}
	return nil
}

// shiftLabels moves labels that start at 1 to start at 0 and returns the number of classes: the largest label plus one.
func shiftLabels(y []int32) (classes int) {
	least, most := int32(maxNodes), int32(-1)
	for _, c := range y {
		if c != graph.Unlabelled {
			least, most = min(least, c), max(most, c)
		}
	}
	if least != 1 {
		return int(most) + 1
	}
	for i, c := range y {
		if c != graph.Unlabelled {
			y[i] = c - 1
		}
	}
	return int(most)
}

// maxClasses bounds labels: a larger one is more likely an identifier than a class, and budgets are kept per class.
const maxClasses = 1 << 16

// checkLabel returns an error if label is not that of a class, nor Unlabelled.
func checkLabel(node, label int64) error {
	if label < graph.Unlabelled || label >= maxClasses {
		return fmt.Errorf("label %d of node %d, want 0 to %d, or %d for none", label, node, maxClasses-1, graph.Unlabelled)
	}
	return nil
}

// readClassMap reads {"node": label, …}.
func readClassMap(file string, n int) ([]int32, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	y := make([]int32, n)
	for i := range y {
		y[i] = graph.Unlabelled
	}
	s := scanner{data: data}
	err = s.object(func(key []byte) error {
		node, err := parseInt(key)
		if err != nil || node < 0 || node >= int64(n) {
			return fmt.Errorf("node %.50q, want 0 to %d", key, n-1)
		}
		if s.peek() == '[' {
			return fmt.Errorf("node %d has a list of labels: a graph where nodes have several classes is not supported", node)
		}
		label, err := s.integer()
		if err != nil {
			return err
		}
		y[node] = int32(label)
		return checkLabel(node, label)
	})
	return y, s.wrap(file, err)
}

// readRoles reads {"tr": [nodes], "va": […], "te": […]}.
func readRoles(file string, g *graph.Graph) (split graph.Split, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return split, err
	}
	parts := map[string]*[]int32{"tr": &split.Train, "va": &split.Val, "te": &split.Test}
	s := scanner{data: data}
	err = s.object(func(key []byte) error {
		part := parts[string(key)]
		if part == nil {
			return fmt.Errorf("key %.50q, want tr, va or te", key)
		}
		return s.array(func() error {
			v, err := s.integer()
			if err == nil && (v < 0 || v >= int64(g.Nodes())) {
				err = fmt.Errorf("node %d, want 0 to %d", v, g.Nodes()-1)
			}
			*part = append(*part, int32(v))
			return err
		})
	})
	if err != nil {
		return split, s.wrap(file, err)
	}
	for _, part := range parts {
		slices.Sort(*part)
	}
	return split, checkSplit(file, g, split)
}

// checkSplit returns an error that names the file if the training part is empty, or any part repeats a node, shares one with another
// or has one without a label.
func checkSplit(file string, g *graph.Graph, split graph.Split) error {
	if len(split.Train) == 0 {
		return &ReadError{File: file, Err: errors.New("the training split is empty, want at least 1 node")}
	}
	part := make([]byte, len(g.Y))
	names := [...]string{1: "train", "val", "test"}
	for p, nodes := range [...][]int32{1: split.Train, split.Val, split.Test} {
		for _, v := range nodes {
			if part[v] != 0 {
				return &ReadError{File: file, Err: fmt.Errorf("node %d is in %s and again in %s, want it once", v, names[part[v]], names[p])}
			}
			if g.Y[v] == graph.Unlabelled {
				return &ReadError{File: file, Err: fmt.Errorf("node %d of %s has no label", v, names[p])}
			}
			part[v] = byte(p)
		}
	}
	return nil
}

// scanner walks JSON made of one object with integers or arrays of integers: what encoding/json does, at the speed of the
// disk, for files of millions of entries.
type scanner struct {
	data []byte
	at   int
}

// wrap says where in which file an error arose.
func (s *scanner) wrap(file string, err error) error {
	if err == nil {
		return nil
	}
	line := 1 + bytes.Count(s.data[:min(s.at, len(s.data))], []byte("\n"))
	return &ReadError{File: file, Line: line, Err: fmt.Errorf("byte %d: %w", s.at, err)}
}

// peek returns the next byte that is not white space, without passing it; 0 at the end.
func (s *scanner) peek() byte {
	for s.at < len(s.data) {
		switch c := s.data[s.at]; c {
		case ' ', '\n', '\r', '\t':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// want passes the byte c.
func (s *scanner) want(c byte) error {
	switch found := s.peek(); found {
	case c:
		s.at++
		return nil
	case 0:
		return fmt.Errorf("file ends, want %q", c)
	default:
		return fmt.Errorf("found %q, want %q", found, c)
	}
}

// object walks {"key": value, …} to the end of the file; f reads the value.
func (s *scanner) object(f func(key []byte) error) error {
	err := s.list('{', '}', func() error {
		if err := s.want('"'); err != nil {
			return err
		}
		length := bytes.IndexByte(s.data[s.at:], '"')
		if length < 0 {
			return errors.New("file ends within a string")
		}
		key := s.data[s.at : s.at+length]
		s.at += length + 1
		if err := s.want(':'); err != nil {
			return err
		}
		return f(key)
	})
	if err == nil && s.peek() != 0 {
		err = fmt.Errorf("found %q after the end of the object", s.peek())
	}
	return err
}

// array walks [value, …]; f reads a value.
func (s *scanner) array(f func() error) error { return s.list('[', ']', f) }

func (s *scanner) list(open, close byte, f func() error) error {
	if err := s.want(open); err != nil {
		return err
	}
	if s.peek() == close {
		s.at++
		return nil
	}
	for {
		if err := f(); err != nil {
			return err
		}
		if s.peek() == close {
			s.at++
			return nil
		}
		if err := s.want(','); err != nil {
			return err
		}
	}
}

// integer reads a whole number.
func (s *scanner) integer() (int64, error) {
	s.peek()
	from := s.at
	for s.at < len(s.data) && bytes.IndexByte([]byte("+-.0123456789eE"), s.data[s.at]) >= 0 {
		s.at++
	}
	return parseInt(s.data[from:s.at])
}

// parseInt is strconv.ParseInt for bytes, for numbers of at most 18 digits.
func parseInt(b []byte) (v int64, err error) {
	digits := bytes.TrimPrefix(b, []byte("-"))
	if len(digits) == 0 || len(digits) > 18 {
		return 0, fmt.Errorf("%.50q is not a whole number", b)
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, fmt.Errorf("%.50q is not a whole number", b)
		}
		v = 10*v + int64(c-'0')
	}
	if len(digits) < len(b) {
		v = -v
	}
	return v, nil
}
