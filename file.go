package cgc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/safetensors"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/partition"
)

const (
	// FileFormat is what the metadata of a condensed graph's file gives as its format.
	FileFormat = "cgc-condensed"
	// FileVersion is the latest version of that format. 1: first. 2: y_soft, what a model is to learn in place of y. Save writes 1 where there are no soft labels, so that
	// readers of version 1 read all that they understand, and refuse the rest.
	FileVersion = 2
)

// account is what the file's metadata keeps beside the configuration.
type account struct {
	Budget     []int             `json:"budget"`
	Seconds    Seconds           `json:"seconds"`
	Threshold  float64           `json:"threshold"`
	Assessed   Assessed          `json:"assessed"`
	Partitions []partition.Stats `json:"partitions"`
}

// Save writes c as a safetensors file with the names of PyTorch Geometric: x (N′×d), y (N′), edge_index (2×E, each edge in both directions) and
// edge_weight (E); the nodes it stands for as members.indptr, members.indices and members.weights (rows of P̂); y_soft (N′×classes) if it has soft labels; and scaling.mean
// and scaling.std if the features were standardised. A graphless one has E = 0. Configuration, sizes and account are in the metadata (docs/formats.md).
//
// The file appears under its name only when it is whole; an existing one is replaced. Equal graphs give equal bytes but for the seconds.
func (c *Condensed) Save(ctx context.Context, path string) error {
	config, err := json.Marshal(c.Config)
	if err != nil {
		return fmt.Errorf("cgc: writing %s: %w", path, err)
	}
	told, err := json.Marshal(account{c.Budget, c.Seconds, c.Threshold, c.Assessed, c.Partitions})
	if err != nil {
		return fmt.Errorf("cgc: writing %s: %w", path, err)
	}
	meta := map[string]string{
		"format": FileFormat, "format_version": "1",
		"graph": c.Graph, "graph_nodes": strconv.Itoa(c.Members.Cols), "classes": strconv.Itoa(c.Classes),
		"config": string(config), "account": string(told),
	}
	source, target, weight := c.edges()
	edges := len(weight)
	tensors := []safetensors.Tensor{
		{Name: "x", Shape: []int{c.X.Rows, c.X.Cols}, Data: c.X.Data},
		{Name: "y", Data: wide(c.Y)},
		{Name: "edge_index", Shape: []int{2, edges}, Data: append(source, target...)},
		{Name: "edge_weight", Data: weight},
		{Name: "members.indptr", Data: c.Members.Indptr},
		{Name: "members.indices", Data: wide(c.Members.Indices)},
		{Name: "members.weights", Data: c.Members.Data},
	}
	if c.Soft != nil {
		meta["format_version"] = strconv.Itoa(FileVersion)
		tensors = append(tensors, safetensors.Tensor{Name: "y_soft", Shape: []int{c.Soft.Rows, c.Soft.Cols}, Data: c.Soft.Data})
	}
	if c.Scaling != nil {
		tensors = append(tensors, safetensors.Tensor{Name: "scaling.mean", Data: c.Scaling.Mean}, safetensors.Tensor{Name: "scaling.std", Data: c.Scaling.Std})
	}
	return safetensors.Write(ctx, path, meta, tensors, nil)
}

// edges lists the entries of A′ by rows.
func (c *Condensed) edges() (source, target []int64, weight []float32) {
	source, target, weight = []int64{}, []int64{}, []float32{}
	if c.Adj == nil {
		return source, target, weight
	}
	for i := range c.Adj.Rows {
		for j, w := range c.Adj.Row(i) {
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

// Load reads a file that Save wrote. The error names the file and what is wrong with it.
func Load(path string) (*Condensed, error) {
	file, err := safetensors.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cgc: reading a condensed graph: %w", err)
	}
	defer file.Close()
	c, err := read(file)
	if err != nil {
		return nil, fmt.Errorf("cgc: %s: %w", path, err)
	}
	return c, nil
}

func read(file *safetensors.File) (*Condensed, error) {
	meta := file.Metadata
	if meta["format"] != FileFormat {
		return nil, fmt.Errorf("format %q in the metadata, want %q: not a condensed graph", meta["format"], FileFormat)
	}
	if v, err := strconv.Atoi(meta["format_version"]); err != nil || v < 1 || v > FileVersion {
		return nil, fmt.Errorf("format version %q, want 1 to %d", meta["format_version"], FileVersion)
	}
	c := &Condensed{Graph: meta["graph"], Config: Defaults()} // which a file older than a field of Config goes without
	var told account
	if err := json.Unmarshal([]byte(meta["config"]), &c.Config); err != nil {
		return nil, fmt.Errorf("configuration in the metadata: %w", err)
	}
	if err := json.Unmarshal([]byte(meta["account"]), &told); err != nil {
		return nil, fmt.Errorf("account in the metadata: %w", err)
	}
	c.Budget, c.Seconds, c.Threshold, c.Assessed, c.Partitions = told.Budget, told.Seconds, told.Threshold, told.Assessed, told.Partitions
	nodes, errNodes := strconv.Atoi(meta["graph_nodes"])
	classes, errClasses := strconv.Atoi(meta["classes"])
	if err := errors.Join(errNodes, errClasses); err != nil || nodes < 1 || classes < 1 {
		return nil, fmt.Errorf("metadata: graph_nodes %q and classes %q, want numbers above 0", meta["graph_nodes"], meta["classes"])
	}
	c.Classes = classes

	var r reader
	r.file = file
	x := r.shape("x", 2)
	edges := r.shape("edge_index", 2)
	y := take[int64](&r, "y")
	data := take[float32](&r, "x")
	ends, weight := take[int64](&r, "edge_index"), take[float32](&r, "edge_weight")
	c.Members = &mat.CSR{Rows: len(y), Cols: nodes, Indptr: take[int64](&r, "members.indptr"), Indices: r.narrow(take[int64](&r, "members.indices"), nodes, "members.indices"), Data: take[float32](&r, "members.weights")}
	c.Y = r.narrow(y, classes, "y")
	if _, scaled := file.Find("scaling.mean"); scaled {
		c.Scaling = &graph.Scaling{Mean: take[float32](&r, "scaling.mean"), Std: take[float32](&r, "scaling.std")}
	}
	if _, soft := file.Find("y_soft"); soft {
		sides := r.shape("y_soft", 2)
		c.Soft = &mat.Dense{Rows: sides[0], Cols: sides[1], Data: take[float32](&r, "y_soft")}
	}
	if r.err != nil {
		return nil, r.err
	}
	n, d := x[0], x[1]
	switch {
	case n != len(y) || n == 0 || d == 0:
		return nil, fmt.Errorf("x is %d×%d for %d labels, want a row for each and at least one column", n, d, len(y))
	case edges[0] != 2 || edges[1] != len(weight):
		return nil, fmt.Errorf("edge_index is %d×%d for %d weights, want 2×%d", edges[0], edges[1], len(weight), len(weight))
	case c.Scaling != nil && (len(c.Scaling.Mean) != d || len(c.Scaling.Std) != d):
		return nil, fmt.Errorf("scaling of %d and %d features, want %d", len(c.Scaling.Mean), len(c.Scaling.Std), d)
	}
	if err := c.checkSoft(); err != nil {
		return nil, err
	}
	c.X = &mat.Dense{Rows: n, Cols: d, Data: data}
	if i, j, found := mat.FirstNotFinite(c.X); found {
		return nil, fmt.Errorf("x: feature %d of node %d is not a finite number", j, i)
	}
	if err := c.Members.Validate(); err != nil {
		return nil, fmt.Errorf("members: %w", err)
	}
	if c.Config.Method == CGC {
		a, err := adjacency(ends, weight, n)
		if err != nil {
			return nil, err
		}
		if err := (&graph.Graph{Adj: a, X: c.X, Y: c.Y, Classes: classes}).Validate(); err != nil {
			return nil, err
		}
		c.Adj = a
	}
	return c, nil
}

// checkSoft returns what is wrong with soft labels from a file.
func (c *Condensed) checkSoft() error {
	if c.Soft == nil {
		return nil
	}
	if c.Soft.Rows != len(c.Y) || c.Soft.Cols != c.Classes {
		return fmt.Errorf("y_soft is %d×%d, want %d labels × %d classes", c.Soft.Rows, c.Soft.Cols, len(c.Y), c.Classes)
	}
	for i := range c.Soft.Rows {
		var sum float64
		for j, v := range c.Soft.Row(i) {
			if !(v >= 0) {
				return fmt.Errorf("y_soft[%d][%d] is %v, want at least 0", i, j, v)
			}
			sum += float64(v)
		}
		if !(math.Abs(sum-1) < 1e-3) { // far above rounding
			return fmt.Errorf("row %d of y_soft has the sum %v, want 1", i, sum)
		}
	}
	return nil
}

// adjacency returns the matrix whose entries are listed by rows.
func adjacency(ends []int64, weight []float32, n int) (*mat.CSR, error) {
	a := &mat.CSR{Rows: n, Cols: n, Indptr: make([]int64, n+1), Data: weight}
	source, target := ends[:len(weight)], ends[len(weight):]
	for e, i := range source {
		if j := target[e]; i < 0 || i >= int64(n) || j < 0 || j >= int64(n) || e > 0 && i < source[e-1] {
			return nil, fmt.Errorf("edge_index: edge %d from %d to %d, want nodes 0 to %d, ordered by the first", e, i, j, n-1)
		}
		a.Indptr[i+1]++
		a.Indices = append(a.Indices, int32(target[e]))
	}
	for i := range n {
		a.Indptr[i+1] += a.Indptr[i]
	}
	return a, nil
}

// reader takes tensors out of a file and keeps the first error. What it returns is copied, since the file is closed afterwards.
type reader struct {
	file *safetensors.File
	err  error
}

func take[E safetensors.Element](r *reader, name string) []E {
	s, err := safetensors.Slice[E](r.file, name)
	if r.err == nil {
		r.err = err
	}
	return append([]E{}, s...)
}

// shape returns the sides of a tensor, which must be as many as given.
func (r *reader) shape(name string, sides int) []int {
	t, found := r.file.Find(name)
	if r.err == nil && (!found || len(t.Shape) != sides) {
		r.err = fmt.Errorf("tensor %q has shape %v, want %d sides", name, t.Shape, sides)
	}
	if r.err != nil {
		return make([]int, sides)
	}
	return t.Shape
}

// narrow returns v in 32 bits; each must be in [0, bound).
func (r *reader) narrow(v []int64, bound int, name string) []int32 {
	n := make([]int32, len(v))
	for i, x := range v {
		if x < 0 || x >= int64(bound) {
			if r.err == nil {
				r.err = fmt.Errorf("%s[%d] is %d, want 0 to %d", name, i, x, bound-1)
			}
			return n
		}
		n[i] = int32(x)
	}
	return n
}
