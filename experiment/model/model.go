// Package model stores trained GNNs in files, and predicts the classes of nodes with them.
//
// Files are in safetensors format. The tensors have the names and shapes of PyTorch Geometric's layers, so a module of
// these layers loads them with load_state_dict. The metadata says how the features of a graph must be prepared.
package model

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/safetensors"
	"github.com/graph-condensation/cgc/mat"
)

// Model is a trained GNN with the data that it needs to classify the nodes of a graph.
type Model struct {
	*gnn.Trained
	// NormalizedFeatures and Scaling say how features are prepared, as in condense.Condensed.
	NormalizedFeatures bool
	Scaling            *graph.Scaling
	// Causal says that nodes see only neighbours that arrived before them, as in condense.Condensed.
	Causal bool
	// ClassNames holds the name of each class; nil means that classes are numbered.
	ClassNames []string
	// FeatureNames holds the name of each feature; nil means that features are compared by position.
	FeatureNames []string
	// Graph is the name of the graph that the model was trained for, and Validation is the accuracy on its validation
	// nodes, in percent.
	Graph      string
	Validation float64
	// Known, if not nil, is the summary of a graph (Summarize). IDs holds the ids of its nodes; nil means that they are
	// numbered.
	Known *gnn.Summary
	IDs   []string
}

// Of returns the model from a training run on a condensed graph.
func Of(small *condense.Condensed, r *gnn.Result) *Model {
	return &Model{
		Trained: r.Trained, NormalizedFeatures: small.NormalizedFeatures, Scaling: small.Scaling,
		Causal: small.Causal, ClassNames: small.ClassNames, FeatureNames: small.FeatureNames, Graph: small.Graph,
		Validation: r.Validation,
	}
}

// Probabilities returns class probabilities, n×c, for n nodes of g in ascending order: the softmax of the logits. A row
// sums to 1 up to rounding; a logit that is not finite is an error. g must have the features of the training graph, in
// the same order unless both have names; its labels are not read. The same model and graph give the same bytes for any
// number of threads. bound limits the memory, as in gnn.Trained.LogitsWithin.
func (m *Model) Probabilities(ctx context.Context, g *graph.Graph, nodes []int32, bound int64) (*mat.Dense, error) {
	g, err := m.fitting(ctx, g)
	if err != nil {
		return nil, err
	}
	logits, err := m.LogitsWithin(ctx, g, nodes, bound)
	return softmax(logits, nodes, err)
}

// fitting returns g with the features of the training graph, prepared as m needs them.
func (m *Model) fitting(ctx context.Context, g *graph.Graph) (*graph.Graph, error) {
	g, err := g.WithFeatures(m.FeatureNames)
	if err != nil {
		return nil, err
	}
	if g.Features() != m.Features {
		return nil, fmt.Errorf("graph %s has %d features, must have the %d of graph %s, which the model was trained for",
			g.Name, g.Features(), m.Features, m.Graph)
	}
	prepared := &condense.Condensed{NormalizedFeatures: m.NormalizedFeatures, Scaling: m.Scaling, Causal: m.Causal}
	return prepared.Seen(ctx, g)
}

// softmax replaces each row of logits with its softmax, unless err is not nil. A logit that is not finite is an error.
// Row i belongs to nodes[i], or to node i if nodes is nil.
func softmax(logits *mat.Dense, nodes []int32, err error) (*mat.Dense, error) {
	if err != nil {
		return nil, err
	}
	if i, k, found := logits.View().FirstNotFinite(); found {
		v := logits.Row(i)[k]
		if nodes != nil {
			i = int(nodes[i])
		}
		return nil, fmt.Errorf("logit %d of node %d is %v, must be a finite number: "+
			"scale the features or the weights of edges", k, i, v)
	}
	for i := range logits.Rows {
		kernel.Softmax(logits.Row(i))
	}
	return logits, nil
}

// The metadata of a file with a model has the value kindOf at the key kindKey.
const (
	kindKey = "format"
	kindOf  = "cgc-model"
)

// description is the JSON value of the metadata key "model".
type description struct {
	Model      string    `json:"model"`
	Features   int       `json:"features"`
	Hidden     int       `json:"hidden"`
	Classes    int       `json:"classes"`
	ClassNames []string  `json:"class_names,omitempty"`
	Names      []string  `json:"feature_names,omitempty"`
	Normalized bool      `json:"normalize_features,omitempty"`
	Causal     bool      `json:"causal,omitempty"`
	Mean       []float32 `json:"scaling_mean,omitempty"`
	Std        []float32 `json:"scaling_std,omitempty"`
	Graph      string    `json:"graph"`
	Validation float64   `json:"validation"`
}

// Save writes the model to a file, completely or not at all.
func (m *Model) Save(ctx context.Context, path string) error {
	d := description{
		Model: m.Model.Name(), Features: m.Features, Hidden: m.Hidden, Classes: m.Classes, ClassNames: m.ClassNames,
		Names: m.FeatureNames, Normalized: m.NormalizedFeatures, Causal: m.Causal, Graph: m.Graph,
		Validation: m.Validation,
	}
	if m.Scaling != nil {
		d.Mean, d.Std = m.Scaling.Mean, m.Scaling.Std
	}
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	var tensors []safetensors.Tensor
	for i, p := range m.Parameters {
		tensors = append(tensors, storedOf(m.Model, i).tensor(p))
	}
	if m.Known != nil {
		tensors = append(tensors, m.known()...)
	}
	meta := map[string]string{kindKey: kindOf, "format_version": "1", "model": string(text)}
	return safetensors.Write(ctx, path, meta, tensors)
}

// Load reads a file that Save wrote. Every error names the file.
func Load(path string) (*Model, error) {
	f, err := safetensors.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

func read(f *safetensors.File) (*Model, error) {
	if kind := f.Metadata[kindKey]; kind != kindOf {
		return nil, fmt.Errorf("format %q in the metadata, must be %q: not a trained model", kind, kindOf)
	}
	var d description
	if err := json.Unmarshal([]byte(f.Metadata["model"]), &d); err != nil {
		return nil, fmt.Errorf("the description in the metadata: %w", err)
	}
	kind, err := gnn.Parse(d.Model)
	if err != nil {
		return nil, err
	}
	const most = 1 << 24 // so that products of two sizes do not overflow
	for _, n := range []int{d.Features, d.Hidden, d.Classes} {
		if n < 1 || n > most {
			return nil, fmt.Errorf("%d features, %d hidden units and %d classes, must be 1 to %d each", d.Features, d.Hidden,
				d.Classes, most)
		}
	}
	if n := len(d.ClassNames); n > 0 && n != d.Classes {
		return nil, fmt.Errorf("%d names of classes, must be %d", n, d.Classes)
	}
	if n := len(d.Names); n > 0 && n != d.Features {
		return nil, fmt.Errorf("%d names of features, must be %d", n, d.Features)
	}
	m := &Model{
		Trained:            &gnn.Trained{Model: kind, Features: d.Features, Hidden: d.Hidden, Classes: d.Classes},
		NormalizedFeatures: d.Normalized, Causal: d.Causal, ClassNames: d.ClassNames, FeatureNames: d.Names, Graph: d.Graph,
		Validation: d.Validation,
	}
	if d.Mean != nil || d.Std != nil {
		if len(d.Mean) != d.Features || len(d.Std) != d.Features {
			return nil, fmt.Errorf("scaling of %d and %d features, must be %d", len(d.Mean), len(d.Std), d.Features)
		}
		m.Scaling = &graph.Scaling{Mean: d.Mean, Std: d.Std}
	}
	for i, shape := range kind.Shapes(d.Features, d.Hidden, d.Classes) {
		s := storedOf(kind, i)
		info, _ := f.Find(s.name)
		if want := s.shape(shape); !slices.Equal(info.Shape, want) {
			return nil, fmt.Errorf("tensor %q has the shape %v, must have %v", s.name, info.Shape, want)
		}
		data, err := safetensors.Slice[float32](f, s.name)
		if err != nil {
			return nil, err
		}
		m.Parameters = append(m.Parameters, s.parameter(shape, data))
	}
	return m, m.readKnown(f)
}

// stored describes how a file stores a parameter. The name is PyTorch's, and its last word decides how the shape in the
// file differs from the shape in memory: see shape.
type stored struct {
	name  string
	heads int // 0 unless the parameter is an attention vector
}

// names lists the tensors of a layer, in the order of the model's parameters. PyTorch Geometric's layers give their
// tensors these names.
var names = map[string][]string{
	"gcn":  {"lin.weight", "bias"},
	"sgc":  {"lin.weight", "lin.bias"},
	"sage": {"lin_r.weight", "lin_l.weight", "lin_l.bias"},
	"gat":  {"lin.weight", "att_dst", "att_src", "bias"},
}

// storedOf returns how parameter i of m is stored. Names begin with the list that has the layer: convs, or lins for
// linear layers without propagation. The parameters of models from other packages are numbered.
func storedOf(m gnn.Model, i int) stored {
	kind, own := gnn.Structure(m)
	layer := names[kind]
	switch kind {
	case "appnp": // the last is added after the propagation
		return stored{name: []string{"lins.0.weight", "lins.0.bias", "lins.1.weight", "bias"}[i]}
	case "cheby":
		for k := range int(own["order"]) + 1 {
			layer = append(layer, fmt.Sprintf("lins.%d.weight", k))
		}
		layer = append(layer, "bias")
	}
	if layer == nil {
		return stored{name: fmt.Sprintf("parameters.%d", i)}
	}
	s := stored{name: fmt.Sprintf("convs.%d.%s", i/len(layer), layer[i%len(layer)])}
	if strings.HasPrefix(layer[i%len(layer)], "att_") {
		s.heads = 1 // in the output layer
		if i < len(layer) {
			s.heads = int(own["heads"])
		}
	}
	return s
}

// transposed reports whether s is stored transposed: torch multiplies by Wᵀ.
func (s stored) transposed() bool { return strings.HasSuffix(s.name, "weight") }

// shape returns the shape of a parameter in the file. A bias is a vector. A parameter of attention is 1 × heads ×
// units.
func (s stored) shape(p gnn.Shape) []int {
	switch {
	case s.transposed():
		return []int{p.Cols, p.Rows}
	case strings.HasSuffix(s.name, "bias"):
		return []int{p.Cols}
	case s.heads > 0:
		return []int{1, s.heads, p.Rows / s.heads}
	}
	return []int{p.Rows, p.Cols}
}

// tensor returns a parameter as it is stored.
func (s stored) tensor(p *mat.Dense) safetensors.Tensor {
	data := p.Data
	if s.transposed() {
		data = p.T().Data
	}
	return safetensors.Tensor{Name: s.name, Shape: s.shape(gnn.Shape{Rows: p.Rows, Cols: p.Cols}), Data: data}
}

// parameter returns the parameter with the given shape whose stored numbers are data.
func (s stored) parameter(p gnn.Shape, data []float32) *mat.Dense {
	if s.transposed() {
		return (&mat.Dense{Rows: p.Cols, Cols: p.Rows, Data: data}).T()
	}
	return &mat.Dense{Rows: p.Rows, Cols: p.Cols, Data: slices.Clone(data)} // a copy, because data is in the mapped file
}
