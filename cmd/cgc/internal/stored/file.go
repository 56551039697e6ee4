// Package stored stores embeddings in files, so that they can be computed elsewhere: by a cluster, or by several
// processes that each compute some columns of the features.
//
// A File contains H⁽⁰⁾ … H⁽ᴷ⁾ of the training nodes in some columns, and their Origin. Merge joins the files of all
// columns. Engine is a propagate.Engine that returns the embeddings in a file of all columns.
package stored

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/safetensors"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
)

// Kind is the value of "format" in the metadata of a file, and Version is the value of "format_version".
const (
	Kind    = "cgc embeddings"
	Version = "1"
)

// Origin says what embeddings were computed from, and how. Its JSON is in the metadata of a file.
type Origin struct {
	// Graph is the name of the graph. Nodes, Edges (undirected), Features and Classes are its sizes.
	Graph    string `json:"graph"`
	Nodes    int    `json:"nodes"`
	Edges    int64  `json:"edges"`
	Features int    `json:"features"`
	Classes  int    `json:"classes"`
	// Source identifies the graph and its split. It is nil if the program that wrote the file did not have the complete
	// graph.
	Source *graph.Digest `json:"source,omitempty"`
	// ClassNames has the names of the classes, and FeatureNames those of the features; each may be nil.
	ClassNames   []string `json:"class_names,omitempty"`
	FeatureNames []string `json:"feature_names,omitempty"`
	// Rule, Hops and Teleport describe the propagation. Teleport is 0 unless the rule is PPR.
	Rule     propagate.Rule `json:"propagation"`
	Hops     int            `json:"hops"`
	Teleport float64        `json:"teleport,omitempty"`
	condense.Setting
}

// Propagation returns Rule, Hops and Teleport in one value.
func (o Origin) Propagation() propagate.Propagation {
	return propagate.Propagation{Rule: o.Rule, Hops: o.Hops, Teleport: o.Teleport}
}

// differs describes the first difference between two origins, or returns "".
func (o Origin) differs(p Origin) string {
	for _, f := range []struct {
		name string
		a, b any
	}{
		{"graph", o.Graph, p.Graph}, {"nodes", o.Nodes, p.Nodes}, {"edges", o.Edges, p.Edges},
		{"features", o.Features, p.Features}, {"classes", o.Classes, p.Classes},
		{"propagation", o.Rule, p.Rule}, {"hops", o.Hops, p.Hops}, {"teleport", o.Teleport, p.Teleport},
		{"normalize_features", o.NormalizeFeatures, p.NormalizeFeatures}, {"standardize", o.Standardize, p.Standardize},
		{"inductive", o.Inductive, p.Inductive}, {"causal", o.Causal, p.Causal},
	} {
		if f.a != f.b {
			return fmt.Sprintf("%s %v and %v", f.name, f.a, f.b)
		}
	}
	if o.Source != nil && p.Source != nil && *o.Source != *p.Source {
		return "the content of the graph or its split"
	}
	return ""
}

// File contains the embeddings of the training nodes in some columns.
type File struct {
	Origin
	// Lo and Hi select the columns, Lo to Hi−1 of Features.
	Lo, Hi int
	// Train lists the training nodes, ascending; Y has their classes. IDs has their names, or is nil.
	Train, Y []int32
	IDs      []string
	// X holds the features of the training nodes as the graph has them, neither normalised nor standardised.
	X *mat.Dense
	// H holds H⁽¹⁾ … H⁽ᴷ⁾. Row i of each belongs to Train[i], in columns Lo to Hi−1.
	H []*mat.Dense
}

// Validate returns an error unless the fields of f are as their comments say.
func (f *File) Validate() error {
	n, width := len(f.Train), f.Hi-f.Lo
	switch {
	case f.Nodes < 1 || f.Nodes > math.MaxInt32:
		return fmt.Errorf("%d nodes, must be 1 to %d", f.Nodes, math.MaxInt32)
	case f.Lo < 0 || f.Lo >= f.Hi || f.Hi > f.Features:
		return fmt.Errorf("columns %d:%d of %d features, must be an ascending range of them", f.Lo, f.Hi, f.Features)
	case n == 0:
		return errors.New("there are 0 training nodes, expected at least 1")
	case len(f.Y) != n || f.IDs != nil && len(f.IDs) != n:
		return fmt.Errorf("%d labels and %d names for %d training nodes", len(f.Y), len(f.IDs), n)
	case len(f.H) != f.Hops:
		return fmt.Errorf("%d embeddings for %d hops", len(f.H), f.Hops)
	case f.ClassNames != nil && len(f.ClassNames) != f.Classes:
		return fmt.Errorf("%d names for %d classes", len(f.ClassNames), f.Classes)
	case f.FeatureNames != nil && len(f.FeatureNames) != f.Features:
		return fmt.Errorf("%d names for %d features", len(f.FeatureNames), f.Features)
	}
	if err := f.Propagation().Validate(); err != nil {
		return err
	}
	for i, v := range f.Train {
		if v < 0 || int(v) >= f.Nodes || i > 0 && v <= f.Train[i-1] {
			return fmt.Errorf("training node %d is node %d, must be nodes 0 to %d, ascending", i, v, f.Nodes-1)
		}
		if y := f.Y[i]; y < 0 || int(y) >= f.Classes {
			return fmt.Errorf("label %d of node %d, must be 0 to %d", y, v, f.Classes-1)
		}
	}
	for l, h := range append([]*mat.Dense{f.X}, f.H...) {
		if h.Rows != n || h.Cols != width || len(h.Data) != n*width {
			return fmt.Errorf("matrix H%d is %d×%d, expected %d training nodes × %d columns", l, h.Rows, h.Cols, n, width)
		}
		if i, j, found, _ := mat.FirstNotFinite(context.Background(), h); found {
			return fmt.Errorf("embedding H%d of node %d in column %d is not a finite number", l, f.Train[i], f.Lo+j)
		}
	}
	return nil
}

// Write writes f, which must be valid, atomically. Equal files give equal bytes.
func (f *File) Write(ctx context.Context, path string) error {
	if err := f.Validate(); err != nil {
		return err
	}
	return write(ctx, path, f, func(l int) any { return f.hop(l).Data })
}

// hop returns X if l is 0, and H⁽ˡ⁾ otherwise.
func (f *File) hop(l int) *mat.Dense {
	if l == 0 {
		return f.X
	}
	return f.H[l-1]
}

// write writes a file with the origin, the columns and the nodes of f. data returns the values of hop l.
func write(ctx context.Context, path string, f *File, data func(l int) any) error {
	origin, err := json.Marshal(f.Origin)
	if err != nil {
		return fmt.Errorf("origin: %w", err)
	}
	meta := map[string]string{
		"format": Kind, "format_version": Version, "origin": string(origin),
		"columns": fmt.Sprintf("[%d,%d]", f.Lo, f.Hi),
	}
	tensors := []safetensors.Tensor{{Name: "train", Data: f.Train}, {Name: "y", Data: f.Y}}
	for l := range f.Hops + 1 {
		tensors = append(tensors, safetensors.Tensor{
			Name: hopName(l), Shape: []int{len(f.Train), f.Hi - f.Lo}, Data: data(l),
		})
	}
	if f.IDs != nil {
		tensors = append(tensors, safetensors.Strings("ids", f.IDs)...)
	}
	return safetensors.Write(ctx, path, meta, tensors)
}

// hopName returns the name of the tensor of hop l: the features are hop 0.
func hopName(l int) string {
	if l == 0 {
		return "x"
	}
	return fmt.Sprintf("h%d", l)
}

// Read reads a file. Values stay in the file, which remains mapped until the process ends. Errors name the file.
func Read(path string) (*File, error) {
	s, err := safetensors.Open(path)
	if err != nil {
		return nil, err
	}
	f, err := read(s)
	if err == nil {
		err = f.Validate()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), s.Close())
	}
	return f, nil
}

func read(s *safetensors.File) (*File, error) {
	if kind := s.Metadata["format"]; kind != Kind {
		return nil, fmt.Errorf("not a file of embeddings (format %.40q), expected a file that cgc propagate wrote", kind)
	}
	if v := s.Metadata["format_version"]; v != Version {
		return nil, fmt.Errorf("format_version %.20q, expected %s: the file is from a later program", v, Version)
	}
	f := new(File)
	var columns [2]int
	if err := json.Unmarshal([]byte(s.Metadata["origin"]), &f.Origin); err != nil {
		return nil, fmt.Errorf("origin in the metadata: %w", err)
	}
	if err := json.Unmarshal([]byte(s.Metadata["columns"]), &columns); err != nil {
		return nil, fmt.Errorf("columns in the metadata: %w", err)
	}
	f.Lo, f.Hi = columns[0], columns[1]
	var errs [3]error
	f.Train, errs[0] = safetensors.Slice[int32](s, "train")
	f.Y, errs[1] = safetensors.Slice[int32](s, "y")
	f.IDs, errs[2] = safetensors.ReadStrings(s, "ids")
	if err := cmp.Or(errs[:]...); err != nil {
		return nil, err
	}
	const most = 1000 // hops; a larger number means that the file is damaged
	if f.Hops < 0 || f.Hops > most {
		return nil, fmt.Errorf("%d hops, must be 0 to %d", f.Hops, most)
	}
	for l := range f.Hops + 1 {
		data, err := safetensors.Slice[float32](s, hopName(l))
		if err != nil {
			return nil, err
		}
		t, _ := s.Find(hopName(l))
		if len(t.Shape) != 2 {
			return nil, fmt.Errorf("tensor %s has shape %v, expected nodes × columns", hopName(l), t.Shape)
		}
		f.H = append(f.H, &mat.Dense{Rows: t.Shape[0], Cols: t.Shape[1], Data: data})
	}
	f.X, f.H = f.H[0], f.H[1:]
	return f, nil
}

// Graph returns the training nodes as a graph without edges. Node i is node Train[i] of the original graph. The file
// must contain all columns. Features are not copied, but normalised or scaled as they are read from f.
func (f *File) Graph(ctx context.Context) (*graph.Graph, error) {
	n := len(f.Train)
	g := &graph.Graph{
		Name: f.Origin.Graph, Adj: &mat.CSR{Rows: n, Cols: n, Indptr: make([]int64, n+1)}, X: inFile{f.X}, Y: f.Y,
		Classes: f.Classes, IDs: f.IDs, ClassNames: f.ClassNames, FeatureNames: f.FeatureNames,
		Split: graph.Split{Train: memory.Range(0, n)},
	}
	if err := g.Seal(ctx); err != nil {
		return nil, err
	}
	return g, nil
}
