// Package native reads and writes the native format of cgc: a graph in safetensors, which is memory-mapped, not copied.
package native

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/csr"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/dataset/format/internal/roles"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/content"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/paneled"
	"github.com/graph-condensation/cgc/internal/safetensors"
	"github.com/graph-condensation/cgc/mat"
)

const name = "safetensors"

// version is the latest format_version that Read supports. Write uses the lowest version that can store the graph.
//
//	1: first. adj.indptr I64, adj.indices I32, adj.data F32 (optional); x F32, or x.indptr, x.indices,
//	   x.data (optional) and features in the metadata; y, train, val, test I32. Metadata: name, classes.
//	   Optional, and safe to ignore: ids U8, ids.offsets I64; class_names and feature_names in the
//	   metadata.
//	2: X in panels: x.0, x.1, …, each N×width, F32, F16 or BF16. Only files with panels have this version.
const version = 2

const extension = ".safetensors"

// Format reads and writes one safetensors file. format.md lists its tensors.
var Format interface {
	format.Writer
	format.StreamWriter
	format.ArrayStore
	format.Teller
	format.Splitter
} = native{}

type native struct{}

// init registers the format here, so that package condense can use it without importing the other formats.
func init() { format.Register(name, native{}) }

// Describe implements format.Format. Files have the extension .safetensors.
func (native) Describe() format.Description {
	return format.Description{Title: "tensors", File: "a .safetensors file", Extensions: []string{extension}}
}

// Recognise checks the file extension.
func (native) Recognise(path string) format.Certainty {
	if filepath.Ext(path) == extension {
		return format.Likely
	}
	return format.No
}

// Read reads a graph. Tensors of the types that Write uses stay in the file, which is mapped for the life of the
// process, so a graph may be larger than memory. Adjacencies of other programs are made symmetric and lose their
// self-loops.
func (n native) Read(ctx context.Context, path string) (*graph.Graph, []string, error) {
	return n.ReadSplit(ctx, path, 0)
}

// ReadSplit implements format.Splitter: masks of other programs may hold several splits.
func (native) ReadSplit(ctx context.Context, path string, split int) (*graph.Graph, []string, error) {
	f, err := open(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	f.split = split
	g, notes := f.graph()
	notes = append(notes, f.notes...)
	if f.err == nil { // checked here, where the mapping of an invalid file can still be closed
		if err := g.Seal(ctx); ctx.Err() != nil {
			f.fail("%w", ctx.Err())
		} else if err != nil {
			f.check("adj", g.Adj) // the error names the tensor
			f.fail("%w", errors.New(strings.ReplaceAll(err.Error(), "\n", "; ")))
		}
	}
	if f.err != nil {
		return nil, nil, errors.Join(f.err, f.Close())
	}
	g.Mapped = safetensors.Holds(f.File, g.Adj.Indices) && f.holdsFeatures(g.X)
	return g, notes, nil
}

// holdsFeatures reports whether most of x is in the mapped file.
func (f *file) holdsFeatures(x mat.Matrix) bool {
	switch x := x.(type) {
	case *mat.CSR:
		return safetensors.Holds(f.File, x.Indices)
	case *paneled.Matrix:
		for k := range x.Count() {
			if !safetensors.Holds(f.File, x.Floats(k)) && !safetensors.Holds(f.File, x.Halves(k)) {
				return false
			}
		}
		return true
	}
	return safetensors.Holds(f.File, x.(*mat.Dense).Data)
}

// file reads the tensors of one file for one call of Read. It converts tensors of other types, and keeps the first
// error.
type file struct {
	*safetensors.File
	path  string
	ctx   context.Context
	err   error
	split int // the split to read, of masks with several
	// notes lists what was changed before the graph was built.
	notes []string
}

// open opens a file. An error about its content is a *format.ReadError.
func open(ctx context.Context, path string) (*file, error) {
	opened, err := safetensors.Open(path)
	if err != nil && !errors.As(err, new(*fs.PathError)) {
		err = &format.ReadError{File: path, Err: errors.Unwrap(err)} // the error, without the path
	}
	if err != nil {
		return nil, err
	}
	return &file{File: opened, path: path, ctx: ctx}, nil
}

func (f *file) fail(text string, args ...any) {
	if f.err == nil {
		f.err = format.Wrong(f.path, text, args...)
	}
}

// graph returns the graph, unless f.err is set.
func (f *file) graph() (*graph.Graph, []string) {
	switch f.Metadata["format"] {
	case format.CondensedKind:
		f.fail("%w", format.ErrCondensed)
		return nil, nil
	case "cgc-model":
		f.fail("it is a model, must be a graph")
		return nil, nil
	}
	if text, ok := f.Metadata["format_version"]; ok {
		if v, err := strconv.Atoi(text); err != nil || v < 1 || v > version {
			f.fail("format_version %.20q, must be 1 to %d: the file is from a later program", text, version)
		}
	}
	g := &graph.Graph{Name: cmp.Or(f.Metadata["name"], strings.TrimSuffix(filepath.Base(f.path), extension))}
	_, list := f.Find("edge_index")
	if !list {
		g.Adj = f.csr("adj", max(0, f.dims("adj.indptr", 1)[0]-1))
	}
	g.X = f.features()
	nodes := f.dims("y", 1)[0]
	g.Y = tensor[int32](f, "y")
	for _, part := range []struct {
		name  string
		nodes *[]int32
	}{{"train", &g.Split.Train}, {"val", &g.Split.Val}, {"test", &g.Split.Test}} {
		if _, ok := f.Find(part.name); ok {
			f.dims(part.name, 1)
			*part.nodes = tensor[int32](f, part.name)
		}
	}
	switch s := g.Split; {
	case f.err != nil:
	case s.Train == nil && s.Val == nil && s.Test == nil:
		g.Split, f.notes, f.err = roles.Split(f, nodes, f.split)
	case f.split > 0:
		f.fail("split %d, must be 0: the file holds 1 split", f.split)
	}
	g.Classes = f.classes(g.Y)
	f.names(g)
	switch {
	case f.err != nil:
		return g, nil
	case list:
		return f.complete(g, nodes, f.edges())
	case f.Metadata["format"] == format.GraphKind:
		return g, nil // Write wrote it. Read validates it in one pass, since its entries may not fit into memory
	}
	if f.check("adj", g.Adj); f.err != nil {
		return g, nil
	}
	edges, err := csr.Edges(f.ctx, g.Adj) // it may write to g.Adj: mapped pages are private
	if err != nil {
		f.fail("adj: %w", err)
		return nil, nil
	}
	return f.complete(g, g.Nodes(), edges)
}

// edges reads the list edge_index, 2 × entries in any order, and the optional edge_weight.
func (f *file) edges() graph.Edges {
	shape := f.dims("edge_index", 2)
	if f.err == nil && shape[0] != 2 {
		f.fail("tensor edge_index has shape %v, must have 2 rows", shape)
	}
	ends := tensor[int32](f, "edge_index")
	if f.err != nil {
		return graph.Edges{}
	}
	half := len(ends) / 2
	return graph.Edges{From: ends[:half], To: ends[half:], Weight: tensor[float32](f, "edge_weight")}
}

// features reads the dense x, the panels x.0, x.1, …, or the sparse x.*.
func (f *file) features() mat.Matrix {
	if _, inPanels := f.Find("x.0"); inPanels {
		return f.panels()
	}
	if t, dense := f.Find("x"); dense {
		shape := f.dims("x", 2)
		if storageOf(t.DType) != "" && t.DType != safetensors.F32 && f.err == nil && t.Len() > 0 {
			return f.panelsOf([]string{"x"}, shape[0], shape[1], shape[1], t.DType)
		}
		return &mat.Dense{Rows: shape[0], Cols: shape[1], Data: tensor[float32](f, "x")}
	}
	features, err := strconv.Atoi(f.Metadata["features"])
	if err != nil || features < 1 || features > graph.MaxNodes {
		f.fail("metadata features is %.20q, must be the number of columns of the sparse x, 1 to %d",
			f.Metadata["features"], graph.MaxNodes)
	}
	x := f.csr("x", features)
	f.check("x", x)
	if f.err == nil && x.Validate(f.ctx) != nil { // the columns are not sorted
		if x.Data == nil {
			x.Data = memory.Filled[float32](x.NNZ(), 1)
		}
		f.err = csr.SortRows(f.ctx, x)
	}
	return x
}

// classes checks the labels and returns the number of classes.
func (f *file) classes(y []int32) (classes int) {
	for i, c := range y {
		if _, err := content.Label(int64(i), int64(c)); err != nil {
			f.fail("tensor y: %w", err)
			return 0
		}
		classes = max(classes, int(c)+1)
	}
	text, ok := f.Metadata["classes"]
	if !ok {
		return classes
	}
	most, err := strconv.Atoi(text)
	if err != nil || most < classes || most > graph.MaxClasses {
		f.fail("metadata classes is %.20q, and labels go up to %d", text, classes-1)
	}
	return most
}

// names sets the names of nodes, classes and features, if there are any.
func (f *file) names(g *graph.Graph) {
	var err error
	if g.IDs, err = safetensors.ReadStrings(f.File, "ids"); err != nil {
		f.fail("%w", err)
	} else if g.IDs != nil && len(g.IDs) != len(g.Y) {
		f.fail("tensor ids holds %d names, and there are %d nodes", len(g.IDs), len(g.Y))
	}
	if g.ClassNames, err = format.NamesOf(f.Metadata, format.ClassNames, g.Classes); err != nil {
		f.fail("%w", err)
	}
	if f.err != nil {
		return // there may be no features
	}
	if g.FeatureNames, err = format.NamesOf(f.Metadata, format.FeatureNames, g.Features()); err != nil {
		f.fail("%w", err)
	}
}

// complete builds a valid graph from the arrays of another program.
func (f *file) complete(g *graph.Graph, nodes int, edges graph.Edges) (*graph.Graph, []string) {
	if f.err != nil {
		return nil, nil
	}
	b := graph.Builder{
		Name: g.Name, Nodes: nodes, Edges: edges, X: g.X, Y: g.Y, Classes: g.Classes, Split: g.Split,
		IDs: g.IDs, ClassNames: g.ClassNames, FeatureNames: g.FeatureNames,
	}
	g, notes, err := format.Build(f.ctx, &b, f.path, nil)
	f.err = err
	return g, notes
}

// Where implements numpy.Opener: it returns the path of the file.
func (f *file) Where() string { return f.path }

// Has implements numpy.Opener: it reports whether there is a tensor of that name.
func (f *file) Has(name string) bool {
	_, ok := f.Find(name)
	return ok
}

// Open implements numpy.Opener: it calls read with the tensor of that name. The error names the tensor.
func (f *file) Open(name string, read func(*numpy.Array) error) error {
	t, _ := f.Find(name)
	a := &numpy.Array{DType: dtypeOf(t.DType), Shape: t.Shape, R: f.Reader(t)}
	var err error
	if f.Has(name + offsets) {
		a.Strings, err = safetensors.ReadStrings(f.File, name)
		a.Kind, a.Shape = 'U', []int{len(a.Strings)}
	}
	if err == nil {
		err = read(a)
	}
	if err != nil {
		return format.Wrong(f.path, "tensor %s: %w", name, err)
	}
	return nil
}

// tensor returns the elements of a tensor as E, without a copy if E is their type. It returns nil if there is no such
// tensor.
func tensor[E numpy.Number](f *file, name string) []E {
	if f.err != nil || !f.Has(name) {
		return nil
	}
	numbers, err := safetensors.Slice[E](f.File, name)
	if err != nil {
		numbers, f.err = numpy.Member[E](f, name)
	}
	return numbers
}

// dtypeOf returns numpy's description of a type, with kind e for bfloat16.
func dtypeOf(t safetensors.DType) numpy.DType {
	d := numpy.DType{Kind: strings.ToLower(string(t))[0], Size: t.Size()}
	if t == safetensors.BF16 {
		d.Kind = 'e'
	}
	return d
}

// dims returns the shape of a tensor, which must have n sides.
func (f *file) dims(name string, n int) []int {
	t, ok := f.Find(name)
	if !ok {
		f.fail("no tensor %s", name)
	} else if len(t.Shape) != n {
		f.fail("tensor %s has shape %v, expected %d sides", name, t.Shape, n)
	}
	if f.err != nil {
		return make([]int, n)
	}
	return t.Shape
}

// csr reads prefix.indptr, prefix.indices and the optional prefix.data, without checking them.
func (f *file) csr(prefix string, cols int) *mat.CSR {
	rows := f.dims(prefix+".indptr", 1)[0] - 1
	f.dims(prefix+".indices", 1)
	m := &mat.CSR{Rows: rows, Cols: cols}
	m.Indptr, m.Indices = tensor[int64](f, prefix+".indptr"), tensor[int32](f, prefix+".indices")
	m.Data = tensor[float32](f, prefix+".data")
	if f.err == nil && (rows < 0 || rows > graph.MaxNodes) {
		f.fail("tensor %s.indptr has %d elements, must have 1 to %d", prefix, rows+1, graph.MaxNodes+1)
	}
	return m
}

// check records an error if m, which consists of the tensors of prefix, cannot be read row by row. Columns may be
// unsorted.
func (f *file) check(prefix string, m *mat.CSR) {
	if f.err != nil {
		return
	}
	if err := csr.Check(f.ctx, m); err != nil {
		f.fail("%s: %w", prefix, err)
	}
}
