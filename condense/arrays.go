package condense

import (
	"cmp"
	"fmt"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// arrays returns c as arrays, under the names that Save documents.
func (c *Condensed) arrays(meta map[string]string) *format.Arrays {
	a := &format.Arrays{Metadata: meta}
	source, target, weight := c.edges()
	a.Add("x", c.X.Data, c.X.Rows, c.X.Cols)
	a.Add("y", wide(c.Y))
	a.Add("edge_index", append(source, target...), 2, len(weight))
	a.Add("edge_weight", weight)
	if m := c.Members; m != nil {
		a.Add("members.indptr", m.Indptr)
		a.Add("members.indices", wide(m.Indices))
		a.Add("members.weights", c.memberWeights())
		a.List = append(a.List, format.Array{Name: "weight", Data: c.Weights(), Derived: true})
	}
	if c.Soft != nil {
		a.Add("y_soft", c.Soft.Data, c.Soft.Rows, c.Soft.Cols)
	}
	if c.Scaling != nil {
		a.Add("scaling.mean", c.Scaling.Mean)
		a.Add("scaling.std", c.Scaling.Std)
	}
	if c.MemberIDs != nil {
		a.Add("members.ids", c.MemberIDs)
	}
	return a
}

// edges lists the entries of A′ row by row.
func (c *Condensed) edges() (source, target []int64, weight []float32) {
	source, target, weight = []int64{}, []int64{}, []float32{}
	a := c.edgeMatrix()
	for i := range a.Rows {
		for j, w := range a.Row(i) {
			source, target, weight = append(source, int64(i)), append(target, int64(j)), append(weight, w)
		}
	}
	return source, target, weight
}

func wide(narrow []int32) []int64 {
	w := make([]int64, len(narrow))
	for i, v := range narrow {
		w[i] = int64(v)
	}
	return w
}

// ofArrays is the inverse of arrays: it returns the condensed graph stored in a.
func ofArrays(a *format.Arrays) (*Condensed, error) {
	c, err := ofMetadata(a.Metadata)
	if err != nil {
		return nil, err
	}
	r := reader{file: a}
	x, edges := r.shape("x", 2), r.shape("edge_index", 2)
	c.X = &mat.Dense{Rows: x[0], Cols: x[1], Data: r.floats("x")}
	c.Y = r.narrow("y", c.Classes)
	ends, weight := r.ints("edge_index"), r.floats("edge_weight")
	if a.Find("members.indptr") != nil {
		c.Members = &mat.CSR{
			Rows: len(c.Y), Cols: c.GraphNodes,
			Indptr:  r.ints("members.indptr"),
			Indices: r.narrow("members.indices", c.GraphNodes),
			Data:    r.floats("members.weights"),
		}
	}
	if ids := a.Find("members.ids"); ids != nil {
		if c.MemberIDs, err = ids.Strings(); err != nil {
			return nil, err
		}
	}
	if a.Find("scaling.mean") != nil {
		c.Scaling = &graph.Scaling{Mean: r.floats("scaling.mean"), Std: r.floats("scaling.std")}
	}
	if a.Find("y_soft") != nil {
		sides := r.shape("y_soft", 2)
		c.Soft = &mat.Dense{Rows: sides[0], Cols: sides[1], Data: r.floats("y_soft")}
	}
	if r.err != nil {
		return nil, r.err
	}
	if c.FeatureNames, err = format.NamesOf(a.Metadata, format.FeatureNames, c.X.Cols); err != nil {
		return nil, err
	}
	if edges[0] != 2 || edges[1] != len(weight) {
		return nil, fmt.Errorf("edge_index is %d×%d for %d weights, must be 2×%d", edges[0], edges[1], len(weight),
			len(weight))
	}
	if len(weight) > 0 {
		if c.Adj, err = adjacency(ends, weight, len(c.Y)); err != nil {
			return nil, err
		}
	}
	return c, c.Validate()
}

// adjacency returns the n×n matrix with the given entries, which are ordered by row.
func adjacency(ends []int64, weight []float32, n int) (*mat.CSR, error) {
	a := &mat.CSR{Rows: n, Cols: n, Indptr: make([]int64, n+1), Data: weight}
	source, target := ends[:len(weight)], ends[len(weight):]
	for e, i := range source {
		if j := target[e]; i < 0 || i >= int64(n) || j < 0 || j >= int64(n) || e > 0 && i < source[e-1] {
			return nil, fmt.Errorf("edge_index: edge %d from %d to %d, must be nodes 0 to %d, ordered by the first", e, i, j,
				n-1)
		}
		a.Indptr[i+1]++
		a.Indices = append(a.Indices, int32(target[e]))
	}
	for i := range n {
		a.Indptr[i+1] += a.Indptr[i]
	}
	return a, nil
}

// reader reads arrays from a file and remembers the first error.
type reader struct {
	file *format.Arrays
	err  error
}

// find returns the array of that name. A missing array is an error, and find then returns an empty one.
func (r *reader) find(name string) *format.Array {
	a := r.file.Find(name)
	if a == nil {
		r.fail(fmt.Errorf("no array %q", name))
		return &format.Array{Name: name, Data: []int64{}}
	}
	return a
}

// fail remembers err if it is the first.
func (r *reader) fail(err error) { r.err = cmp.Or(r.err, err) }

func (r *reader) floats(name string) []float32 { return keep(r, (*format.Array).Floats, name) }

func (r *reader) ints(name string) []int64 { return keep(r, (*format.Array).Ints, name) }

func keep[E any](r *reader, take func(*format.Array) ([]E, error), name string) []E {
	s, err := take(r.find(name))
	r.fail(err)
	return s
}

// shape returns the shape of an array, which must have the given number of dimensions.
func (r *reader) shape(name string, sides int) []int {
	shape := r.find(name).Sides()
	if len(shape) != sides {
		r.fail(fmt.Errorf("array %q has shape %v, expected %d sides", name, shape, sides))
	}
	if r.err != nil {
		return make([]int, sides)
	}
	return shape
}

// narrow converts an array to 32 bits. Each number must be in [0, bound).
func (r *reader) narrow(name string, bound int) []int32 {
	n, err := narrow(r.ints(name), bound, name+"[%d] is %d")
	r.fail(err)
	return n
}

// narrow converts v to 32 bits. Each number must be in [0, bound). place is the beginning of the error, with format
// verbs for the position and the number.
func narrow(v []int64, bound int, place string) ([]int32, error) {
	n := make([]int32, len(v))
	for i, x := range v {
		if x < 0 || x >= int64(bound) {
			return n, fmt.Errorf(place+", must be 0 to %[3]d", i, x, bound-1)
		}
		n[i] = int32(x)
	}
	return n, nil
}
