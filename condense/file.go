package condense

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/safetensors"
	"github.com/graph-condensation/cgc/mat"
)

const (
	// FileFormat is the value of "format" in the metadata of a condensed graph's file.
	FileFormat = "cgc-condensed"
	// FileVersion is the latest version of that format.
	//
	//	1: the first version
	//	2: y_soft, which a model learns in place of y
	//	3: members may be missing
	//
	// Names of members and classes may stand in each version: a reader may ignore them.
	//
	// Save writes the lowest version that can hold the graph, so that older readers read as much as possible.
	FileVersion = 3
)

// account is what the metadata keeps besides the configuration. The keys of Condensed.Account follow in the same
// object.
type account struct {
	Budget   []int    `json:"budget"`
	Seconds  Seconds  `json:"seconds"`
	Warnings []string `json:"warnings,omitempty"`
}

// Save writes c, which must be valid, as a safetensors file with the names of PyTorch Geometric.
//
//	x (N′×d), y (N′), edge_index (2×E, each edge in both directions), edge_weight (E); E = 0 if A′ = I
//	members.indptr, members.indices, members.weights: the rows of P̂, if c has members
//	y_soft (N′×classes), if c has soft labels
//	scaling.mean, scaling.std, if the features were standardised
//	members.ids, members.ids.offsets, if the nodes of the graph have names
//
// Configuration, sizes and account are in the metadata (docs/formats.md). The file appears under its name only when
// it is complete. It replaces an existing file. Equal graphs give equal bytes, seconds aside.
func (c *Condensed) Save(ctx context.Context, path string) error {
	if err := c.Validate(); err != nil {
		return fmt.Errorf("condense: writing %s: %w", path, err)
	}
	told, err := objectOf(account{c.Budget, c.Seconds, c.Warnings})
	if err == nil && len(c.Account) > 0 {
		var more object
		more, err = parseObject(c.Account)
		told = append(told, more...)
	}
	if err != nil {
		return fmt.Errorf("condense: writing %s: account: %w", path, err)
	}
	config := c.Config
	if len(config) == 0 {
		config = fmt.Appendf(nil, `{"method":%q}`, c.Method)
	}
	version := 1
	source, target, weight := c.edges()
	tensors := []safetensors.Tensor{
		{Name: "x", Shape: []int{c.X.Rows, c.X.Cols}, Data: c.X.Data},
		{Name: "y", Data: wide(c.Y)},
		{Name: "edge_index", Shape: []int{2, len(weight)}, Data: append(source, target...)},
		{Name: "edge_weight", Data: weight},
	}
	if m := c.Members; m != nil {
		tensors = append(tensors, safetensors.Tensor{Name: "members.indptr", Data: m.Indptr},
			safetensors.Tensor{Name: "members.indices", Data: wide(m.Indices)},
			safetensors.Tensor{Name: "members.weights", Data: m.Data})
	}
	if c.Soft != nil {
		version = 2
		soft := safetensors.Tensor{Name: "y_soft", Shape: []int{c.Soft.Rows, c.Soft.Cols}, Data: c.Soft.Data}
		tensors = append(tensors, soft)
	}
	if c.Members == nil {
		version = 3
	}
	if c.Scaling != nil {
		tensors = append(tensors, safetensors.Tensor{Name: "scaling.mean", Data: c.Scaling.Mean},
			safetensors.Tensor{Name: "scaling.std", Data: c.Scaling.Std})
	}
	meta := map[string]string{
		"format": FileFormat, "format_version": strconv.Itoa(version),
		"graph": c.Graph, "graph_nodes": strconv.Itoa(c.GraphNodes), "classes": strconv.Itoa(c.Classes),
		"config": string(config), "account": string(told.bytes()),
	}
	if c.MemberIDs != nil {
		tensors = append(tensors, safetensors.Strings("members.ids", c.MemberIDs)...)
	}
	if c.ClassNames != nil {
		names, err := json.Marshal(c.ClassNames)
		if err != nil {
			return fmt.Errorf("condense: writing %s: names of classes: %w", path, err)
		}
		meta["class_names"] = string(names)
	}
	return safetensors.Write(ctx, path, meta, tensors)
}

// FileName returns a name for the file of a condensed graph with so many nodes, without an extension: GRAPH-NODES.
// Characters of the graph's name that do not belong into the name of a file become hyphens.
func FileName(graph string, nodes int) string {
	allowed := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.", r) {
			return r
		}
		return '-'
	}
	return fmt.Sprintf("%s-%d", strings.TrimLeft(strings.Map(allowed, graph), ".-"), nodes)
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
//
// A file without edges gives Adj nil, also if Adj was a matrix without entries when it was saved. Edges without weights
// get weights of 1.
func Load(path string) (*Condensed, error) {
	file, err := safetensors.Open(path)
	if err != nil {
		return nil, fmt.Errorf("condense: reading a condensed graph: %w", err)
	}
	defer file.Close()
	c, err := read(file)
	if err != nil {
		return nil, fmt.Errorf("condense: %s: %w", path, err)
	}
	return c, nil
}

func read(file *safetensors.File) (*Condensed, error) {
	c, err := readMetadata(file.Metadata)
	if err != nil {
		return nil, err
	}
	r := reader{file: file}
	x, edges := r.shape("x", 2), r.shape("edge_index", 2)
	c.X = &mat.Dense{Rows: x[0], Cols: x[1], Data: take[float32](&r, "x")}
	c.Y = r.narrow(take[int64](&r, "y"), c.Classes, "y")
	ends, weight := take[int64](&r, "edge_index"), take[float32](&r, "edge_weight")
	if _, has := file.Find("members.indptr"); has {
		c.Members = &mat.CSR{
			Rows: len(c.Y), Cols: c.GraphNodes,
			Indptr:  take[int64](&r, "members.indptr"),
			Indices: r.narrow(take[int64](&r, "members.indices"), c.GraphNodes, "members.indices"),
			Data:    take[float32](&r, "members.weights"),
		}
	}
	if c.MemberIDs, err = safetensors.ReadStrings(file, "members.ids"); err != nil {
		return nil, err
	}
	if names, has := file.Metadata["class_names"]; has {
		if err := json.Unmarshal([]byte(names), &c.ClassNames); err != nil {
			return nil, fmt.Errorf("class_names in the metadata: %w", err)
		}
	}
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
	if edges[0] != 2 || edges[1] != len(weight) {
		return nil, fmt.Errorf("edge_index is %d×%d for %d weights, want 2×%d", edges[0], edges[1], len(weight), len(weight))
	}
	if len(weight) > 0 {
		if c.Adj, err = adjacency(ends, weight, len(c.Y)); err != nil {
			return nil, err
		}
	}
	return c, c.Validate()
}

// readMetadata returns a Condensed with the fields that are in the metadata.
func readMetadata(meta map[string]string) (*Condensed, error) {
	if meta["format"] != FileFormat {
		return nil, fmt.Errorf("format %q in the metadata, want %q: not a condensed graph", meta["format"], FileFormat)
	}
	if v, err := strconv.Atoi(meta["format_version"]); err != nil || v < 1 || v > FileVersion {
		return nil, fmt.Errorf("format version %q, want 1 to %d", meta["format_version"], FileVersion)
	}
	var config struct {
		Method    string `json:"method"`
		Inductive bool   `json:"inductive"`
	}
	if err := json.Unmarshal([]byte(meta["config"]), &config); err != nil {
		return nil, fmt.Errorf("configuration in the metadata: %w", err)
	}
	var told account
	more, err := parseObject([]byte(meta["account"]))
	if err == nil {
		err = json.Unmarshal([]byte(meta["account"]), &told)
	}
	if err != nil {
		return nil, fmt.Errorf("account in the metadata: %w", err)
	}
	nodes, errNodes := strconv.Atoi(meta["graph_nodes"])
	classes, errClasses := strconv.Atoi(meta["classes"])
	if err := errors.Join(errNodes, errClasses); err != nil || nodes < 1 || classes < 1 {
		return nil, fmt.Errorf("metadata: graph_nodes %q and classes %q, want numbers above 0",
			meta["graph_nodes"], meta["classes"])
	}
	return &Condensed{
		Classes: classes, Inductive: config.Inductive, Graph: meta["graph"], GraphNodes: nodes,
		Method: config.Method, Config: json.RawMessage(meta["config"]), Budget: told.Budget, Seconds: told.Seconds,
		Account: more.without("budget", "seconds", "warnings").bytes(), Warnings: told.Warnings,
	}, nil
}

// adjacency returns the n×n matrix with the given entries, which are ordered by rows.
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

// reader takes tensors out of a file and keeps the first error. It returns copies, since the file is closed afterwards.
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

// shape returns the shape of a tensor. It is an error if the tensor has another number of sides.
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

// narrow returns v in 32 bits. Each number must be in [0, bound).
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
