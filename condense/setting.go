package condense

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// Setting says how a method sees the graph, and so which graph models are tested on.
type Setting struct {
	// NormalizeFeatures divides the features of each node by the sum of their absolute values: graph.NormalizedFeatures.
	// It comes first.
	NormalizeFeatures bool `json:"normalize_features,omitempty"`
	// Standardize scales each feature to mean 0 and variance 1 over the training nodes.
	Standardize bool `json:"standardize"`
	// Inductive shows only the subgraph that the training nodes induce, as if the other nodes did not exist yet.
	Inductive bool `json:"inductive"`
}

// InSetting is a Method that says in which setting it condenses. A method without it takes the graph as it is.
type InSetting interface {
	Method
	// Setting returns the setting.
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
	// Graph is what is to be condensed.
	*graph.Graph
	// Origin maps each node of Graph to its node in the original graph; nil if they are the same.
	Origin []int32
	// Scaling is how the features were scaled; nil if they were not.
	Scaling *graph.Scaling
	// Nodes is the number of nodes of the original graph.
	Nodes int

	normalized bool // Setting.NormalizeFeatures
}

// View returns g as the setting shows it. It returns soon after ctx is done, with its error.
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

// Features returns g with features as the setting shows them, and their scaling, nil if there is none. The scaling
// comes from the training nodes. All nodes stay.
func (s Setting) Features(ctx context.Context, g *graph.Graph) (*graph.Graph, *graph.Scaling, error) {
	if s.NormalizeFeatures {
		var err error
		if g, err = g.NormalizedFeaturesContext(ctx); err != nil {
			return nil, nil, fmt.Errorf("condense: %w", err)
		}
	}
	if !s.Standardize {
		return g, nil, nil
	}
	scaling, err := graph.FitScaling(g.X, g.Split.Train)
	if err != nil {
		return nil, nil, fmt.Errorf("condense: %w", err)
	}
	g, err = g.ScaledContext(ctx, scaling)
	return g, &scaling, err
}

// Adopt turns a condensed graph of the view into one of the original graph. Members then refer to the original nodes.
func (v View) Adopt(small *Condensed) {
	small.Scaling, small.NormalizedFeatures = v.Scaling, v.normalized
	small.Inductive, small.GraphNodes = v.Origin != nil, v.Nodes
	small.TakeNames(v.Graph)
	if small.Members == nil {
		return
	}
	m := *small.Members
	m.Cols = v.Nodes
	if v.Origin != nil {
		m.Indices = make([]int32, len(small.Members.Indices))
		for e, node := range small.Members.Indices {
			m.Indices[e] = v.Origin[node] // ascending, since Origin is
		}
	}
	small.Members = &m
}

// Under returns m in a setting: m condenses the graph as the setting shows it. The JSON of the result is that of m,
// with the keys of Setting. m itself must take the graph as it is: if it has another setting, Condense returns an
// error.
func Under(s Setting, m Method) Method { return under{s, m} }

type under struct {
	setting Setting
	Method
}

// Setting returns the setting.
func (u under) Setting() Setting { return u.setting }

// Condense condenses the view.
func (u under) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*Condensed, error) {
	if own := SettingOf(u.Method); own != (Setting{}) {
		return nil, fmt.Errorf("condense: method %s under %+v has a setting of its own, %+v", u.Name(), u.setting, own)
	}
	view, err := u.setting.View(ctx, g)
	if err != nil {
		return nil, err
	}
	small, err := u.Method.Condense(ctx, view.Graph, nodes, seed)
	if err != nil {
		return nil, err
	}
	view.Adopt(small)
	if small.Config, err = Configuration(u, nodes, seed); err != nil {
		return nil, err
	}
	return small, nil
}

// MarshalJSON writes the setting and then the parameters of the method. Keys of both are the setting's.
func (u under) MarshalJSON() ([]byte, error) {
	setting, err := objectOf(u.setting)
	if err != nil {
		return nil, err
	}
	parameters, err := objectOf(u.Method)
	for _, f := range setting {
		parameters = parameters.without(f.key)
	}
	return append(setting, parameters...).bytes(), err
}

// FromRows returns members for a method that picks nodes: condensed node j stands for nodes[j] alone, with weight
// 1. of is the number of nodes of the graph.
func FromRows(nodes []int32, of int) *mat.CSR {
	m := &mat.CSR{Rows: len(nodes), Cols: of, Indptr: make([]int64, len(nodes)+1), Indices: nodes}
	for j := range nodes {
		m.Indptr[j+1] = int64(j + 1)
		m.Data = append(m.Data, 1)
	}
	return m
}
