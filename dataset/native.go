package dataset

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/safetensors"
	"github.com/graph-condensation/cgc/mat"
)

// FormatVersion is written into the metadata of a graph's file as format_version.
//
//	1: first. adj.indptr I64, adj.indices I32, adj.data F32 (optional); x F32, or x.indptr, x.indices, x.data (optional) and
//	   features in the metadata; y, train, val, test I32. Metadata: name, classes.
const FormatVersion = 1

// Write writes g, which must be valid, into a safetensors file that Open maps and Python reads (docs/formats.md). The file appears
// whole or not at all; equal graphs give equal bytes. Options.Progress is told of the bytes written.
func (o Options) Write(ctx context.Context, file string, g *graph.Graph) error {
	n := g.Nodes()
	meta := map[string]string{
		"format": "cgc.graph", "format_version": strconv.Itoa(FormatVersion),
		"name": g.Name, "classes": strconv.Itoa(g.Classes), "features": strconv.Itoa(g.Features()),
	}
	tensors := []safetensors.Tensor{{Name: "adj.indptr", Data: g.Adj.Indptr}, {Name: "adj.indices", Data: g.Adj.Indices}}
	if g.Adj.Data != nil {
		tensors = append(tensors, safetensors.Tensor{Name: "adj.data", Data: g.Adj.Data})
	}
	switch x := g.X.(type) {
	case *mat.Dense:
		tensors = append(tensors, safetensors.Tensor{Name: "x", Shape: []int{n, x.Cols}, Data: x.Data})
	case *mat.CSR:
		tensors = append(tensors, safetensors.Tensor{Name: "x.indptr", Data: x.Indptr}, safetensors.Tensor{Name: "x.indices", Data: x.Indices})
		if x.Data != nil {
			tensors = append(tensors, safetensors.Tensor{Name: "x.data", Data: x.Data})
		}
	}
	tensors = append(tensors, safetensors.Tensor{Name: "y", Data: g.Y}, safetensors.Tensor{Name: "train", Data: g.Split.Train},
		safetensors.Tensor{Name: "val", Data: g.Split.Val}, safetensors.Tensor{Name: "test", Data: g.Split.Test})
	var progress func(done, total int64)
	if o.Progress != nil {
		progress = func(done, total int64) { o.Progress(file, done, total) }
	}
	if err := safetensors.Write(ctx, file, meta, tensors, progress); err != nil {
		return fmt.Errorf("dataset: %w", err)
	}
	return nil
}

// Write writes g into a safetensors file, as Options.Write does.
func Write(ctx context.Context, file string, g *graph.Graph) error {
	return Options{}.Write(ctx, file, g)
}

// native reads the tensors of one file, converting those of other types, and keeps the first error.
type native struct {
	*safetensors.File
	path string
	err  error
}

func (f *native) fail(format string, args ...any) {
	if f.err == nil {
		f.err = &ReadError{File: f.path, Err: fmt.Errorf(format, args...)}
	}
}

// tensor returns the elements of a tensor as E, in place where that is their type; nil if it is not there.
func tensor[E number](f *native, name string) []E {
	t, ok := f.Find(name)
	if !ok || f.err != nil {
		return nil
	}
	if s, err := safetensors.Slice[E](f.File, name); err == nil {
		return s
	}
	s, err := readNumbers[E](&array{dtype: dtypeOf(t.DType), shape: t.Shape, r: f.Reader(t)})
	if err != nil {
		f.fail("tensor %s: %w", name, err)
	}
	return s
}

// dtypeOf returns numpy's description of a type, with kind e for bfloat16.
func dtypeOf(t safetensors.DType) dtype {
	d := dtype{kind: strings.ToLower(string(t))[0], size: t.Size()}
	if t == safetensors.BF16 {
		d.kind = 'e'
	}
	return d
}

// dims returns the shape of a tensor and fails if it has not n sides.
func (f *native) dims(name string, n int) []int {
	t, ok := f.Find(name)
	if !ok {
		f.fail("no tensor %s", name)
	} else if len(t.Shape) != n {
		f.fail("tensor %s has shape %v, want %d sides", name, t.Shape, n)
	}
	if f.err != nil {
		return make([]int, n)
	}
	return t.Shape
}

// csr reads prefix.indptr, prefix.indices and the optional prefix.data. Columns are in range, but need not ascend.
func (f *native) csr(prefix string, cols int) *mat.CSR {
	rows := f.dims(prefix+".indptr", 1)[0] - 1
	f.dims(prefix+".indices", 1)
	m := &mat.CSR{Rows: rows, Cols: cols, Indptr: tensor[int64](f, prefix+".indptr"), Indices: tensor[int32](f, prefix+".indices")}
	m.Data = tensor[float32](f, prefix+".data")
	if f.err != nil {
		return m
	}
	if rows < 0 || rows > maxNodes {
		f.fail("tensor %s.indptr has %d elements, want 1 to %d", prefix, rows+1, maxNodes+1)
	} else if err := checkCSR(m); err != nil {
		f.fail("%s: %w", prefix, err)
	}
	return m
}

// readNative reads a graph's safetensors file. Tensors of the types that Write gives them stay in the file, which is mapped and
// stays so: a graph may be larger than memory. Adjacencies that are not symmetric, or have self-loops, are made so.
func (r *reader) readNative(path string) (*graph.Graph, error) {
	file, err := safetensors.Open(path)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	f := &native{File: file, path: path}
	g := &graph.Graph{Name: strings.TrimSuffix(filepath.Base(path), ".safetensors")}
	if name := f.Metadata["name"]; name != "" {
		g.Name = name
	}
	if version, ok := f.Metadata["format_version"]; ok && version != strconv.Itoa(FormatVersion) {
		f.fail("format_version %.20q, want %d: the file is from a later program", version, FormatVersion)
	}
	n := max(0, f.dims("adj.indptr", 1)[0]-1)
	g.Adj = f.csr("adj", n)
	if _, dense := f.Find("x"); dense {
		shape := f.dims("x", 2)
		g.X = &mat.Dense{Rows: shape[0], Cols: shape[1], Data: tensor[float32](f, "x")}
	} else {
		features, err := strconv.Atoi(f.Metadata["features"])
		if err != nil || features < 1 || features > maxNodes {
			f.fail("metadata features is %.20q, want the number of columns of the sparse x, 1 to %d", f.Metadata["features"], maxNodes)
		}
		x := f.csr("x", features)
		if f.err == nil && x.Validate() != nil { // columns in another order
			if x.Data == nil {
				x.Data = slices.Repeat([]float32{1}, x.NNZ())
			}
			sortRows(x)
		}
		g.X = x
	}
	f.dims("y", 1)
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
	if f.err == nil {
		r.completeNative(f, g)
	}
	if f.err != nil {
		return nil, errors.Join(f.err, f.Close())
	}
	return g, nil
}

// completeNative checks what Python may have written, and finds the classes and the split that it may have left out.
func (r *reader) completeNative(f *native, g *graph.Graph) {
	if err := checkFeatures(f.path, g.X, g.Nodes()); err != nil {
		f.err = err
		return
	}
	if len(g.Y) != g.Nodes() {
		f.fail("tensor y has %d labels for %d nodes", len(g.Y), g.Nodes())
		return
	}
	for i, c := range g.Y {
		if err := checkLabel(int64(i), int64(c)); err != nil {
			f.fail("tensor y: %w", err)
			return
		}
		g.Classes = max(g.Classes, int(c)+1)
	}
	if text, ok := f.Metadata["classes"]; ok {
		classes, err := strconv.Atoi(text)
		if err != nil || classes < g.Classes || classes > maxClasses {
			f.fail("metadata classes is %.20q, and labels go up to %d", text, g.Classes-1)
			return
		}
		g.Classes = classes
	}
	for _, part := range [][]int32{g.Split.Train, g.Split.Val, g.Split.Test} {
		for _, v := range part {
			if v < 0 || int(v) >= g.Nodes() {
				f.fail("node %d in the split, want 0 to %d", v, g.Nodes()-1)
				return
			}
		}
	}
	if f.Metadata["format"] == "cgc.graph" {
		return // Write wrote it: valid, and Validate looks at it once more
	}
	a, err := arcsOf(&mat.CSR{Rows: g.Adj.Rows, Cols: g.Adj.Cols, Indptr: g.Adj.Indptr, Indices: g.Adj.Indices, Data: g.Adj.Data}) // pages are private
	if err != nil {
		f.fail("adj: %w", err)
		return
	}
	g.Adj = r.adjacency(g.Name, g.Nodes(), a)
	if len(g.Split.Train)+len(g.Split.Val)+len(g.Split.Test) == 0 {
		r.drawSplit(g)
	}
	for _, part := range []*[]int32{&g.Split.Train, &g.Split.Val, &g.Split.Test} {
		*part = slices.Sorted(slices.Values(*part))
	}
	f.err = checkSplit(f.path, g, g.Split)
}
