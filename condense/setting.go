package condense

import (
	"context"
	"fmt"
	"slices"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/object"
	"github.com/graph-condensation/cgc/mat"
)

// Setting says how a method sees the graph, and therefore on which graph models are tested.
type Setting struct {
	// NormalizeFeatures divides the features of each node by the sum of their absolute values. Then Standardize scales
	// each feature to mean 0 and variance 1 over the training nodes. With Inductive, the method sees only the subgraph
	// of the training nodes, as if the other nodes did not exist yet. With Causal, each node has only the neighbours that
	// arrived before it (graph.Graph.Causally).
	NormalizeFeatures bool `json:"normalize_features,omitempty"`
	Standardize       bool `json:"standardize"`
	Inductive         bool `json:"inductive"`
	Causal            bool `json:"causal,omitempty"`
}

// InSetting is a Method that has a setting. Other methods condense the graph as it is.
type InSetting interface {
	Method
	// Setting returns the setting in which the method condenses.
	Setting() Setting
}

// SettingOf returns the setting of m.
func SettingOf(m Method) Setting {
	if s, is := m.(InSetting); is {
		return s.Setting()
	}
	return Setting{}
}

// View is a graph as a setting shows it.
type View struct {
	// Graph is the graph to condense.
	*graph.Graph
	// Origin maps each node of Graph to its node in the original graph; nil if they are the same.
	Origin []int32
	// Scaling is the scaling of the features; nil if they were not scaled.
	Scaling *graph.Scaling
	// Nodes is the number of nodes of the original graph.
	Nodes int

	normalized bool // Setting.NormalizeFeatures
}

// View returns g as the setting shows it. When ctx is done, it soon returns ctx's error.
func (s Setting) View(ctx context.Context, g *graph.Graph) (_ View, err error) {
	defer memory.Recover(&err)
	v := View{Graph: g, Nodes: g.Nodes(), normalized: s.NormalizeFeatures}
	if s.Inductive {
		v.Origin = g.Split.Train
		v.Graph = g.TrainingGraph()
	}
	v.Graph, v.Scaling, err = s.Features(ctx, v.Graph)
	return v, err
}

// Features returns g with features and edges as the setting shows them, and the scaling of the features, or nil if they
// are not scaled. The scaling is fitted to the training nodes. All nodes are kept.
func (s Setting) Features(ctx context.Context, g *graph.Graph) (*graph.Graph, *graph.Scaling, error) {
	g, err := s.unscaled(ctx, g)
	if err != nil {
		return nil, nil, err
	}
	if !s.Standardize {
		return g, nil, nil
	}
	scaling, err := graph.FitScaling(g.X, g.Split.Train)
	if err != nil {
		return nil, nil, err
	}
	g, err = g.Scaled(ctx, scaling)
	return g, &scaling, err
}

// unscaled returns g as the setting shows it, without Standardize and Inductive.
func (s Setting) unscaled(ctx context.Context, g *graph.Graph) (_ *graph.Graph, err error) {
	if s.NormalizeFeatures {
		if g, err = g.NormalizedFeatures(ctx); err != nil {
			return nil, err
		}
	}
	if s.Causal {
		return g.Causally(ctx)
	}
	return g, nil
}

// Adopt turns a condensed graph of the view into one of the original graph. Its members then refer to the original
// nodes.
func (v View) Adopt(small *Condensed) {
	small.Scaling, small.NormalizedFeatures = v.Scaling, v.normalized
	small.Inductive, small.Causal, small.GraphNodes = v.Origin != nil, v.Causal, v.Nodes
	if small.Members == nil {
		return
	}
	m := *small.Members
	m.Cols = v.Nodes
	if v.Origin != nil {
		m.Indices = make([]int32, len(small.Members.Indices))
		for e, node := range small.Members.Indices {
			m.Indices[e] = v.Origin[node] // stays ascending, because Origin is ascending
		}
	}
	small.Members = &m
}

// Under returns m in setting s: m then condenses the graph as s shows it. The JSON of the result contains the keys of
// Setting and the parameters of m. If m already has a setting, Condense returns an error.
func Under(s Setting, m Method) Method { return under{s, m} }

type under struct {
	setting Setting
	Method
}

// Setting returns the setting in which the graph is condensed.
func (u under) Setting() Setting { return u.setting }

// Condense condenses the view.
func (u under) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (_ *Condensed, err error) {
	defer memory.Recover(&err)
	if own := SettingOf(u.Method); own != (Setting{}) {
		return nil, fmt.Errorf("method %s under %+v has a setting of its own, %+v", u.Name(), u.setting, own)
	}
	if err := g.Check(ctx); err != nil {
		return nil, err
	}
	view, err := u.setting.View(ctx, g)
	if err != nil {
		return nil, err
	}
	small, err := u.Method.Condense(ctx, view.Graph, nodes, seed)
	if err != nil || small == nil {
		return nil, err
	}
	view.Adopt(small)
	if err := small.TakeSource(g); err != nil {
		return nil, err
	}
	if small.Config, err = Configuration(u, nodes, seed); err != nil {
		return nil, err
	}
	return small, nil
}

// MarshalJSON writes the setting and then the parameters of the method. The setting overrides parameters with the same
// key.
func (u under) MarshalJSON() ([]byte, error) {
	setting, err := object.Of(u.setting)
	if err != nil {
		return nil, err
	}
	parameters, err := object.Of(u.Method)
	for _, f := range setting {
		parameters = parameters.Without(f.Key)
	}
	return append(setting, parameters...).Bytes(), err
}

// FromRows returns Members for a method that selects nodes: the only source node of condensed node j is nodes[j], with
// weight 1. of is the number of nodes of the graph.
func FromRows(nodes []int32, of int) *mat.CSR {
	m := &mat.CSR{Rows: len(nodes), Cols: of, Indptr: make([]int64, len(nodes)+1), Indices: slices.Clone(nodes)}
	for j := range nodes {
		m.Indptr[j+1] = int64(j + 1)
		m.Data = append(m.Data, 1)
	}
	return m
}
