package model

import (
	"fmt"
	"slices"

	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/internal/safetensors"
	"github.com/graph-condensation/cgc/mat"
)

// stored says how a parameter is stored.
type stored struct {
	name string
	kind kind
	// heads is the number of heads of attention parameters.
	heads int
}

// kind says how a parameter's shape in the file differs from its shape in memory.
type kind int

const (
	plain     kind = iota // as it is
	weight                // transposed: torch multiplies by Wᵀ
	bias                  // a vector
	attention             // 1 × heads × units
)

// names lists the tensors of each model, in the order of its parameters. PyTorch Geometric's layers give their tensors
// these names in a list convs, or lins for linear layers without propagation.
var names = map[string][]stored{
	"gcn": {
		{name: "convs.0.lin.weight", kind: weight}, {name: "convs.0.bias", kind: bias},
		{name: "convs.1.lin.weight", kind: weight}, {name: "convs.1.bias", kind: bias},
	},
	"sgc": {{name: "convs.0.lin.weight", kind: weight}, {name: "convs.0.lin.bias", kind: bias}},
	"sage": {
		{name: "convs.0.lin_r.weight", kind: weight}, {name: "convs.0.lin_l.weight", kind: weight},
		{name: "convs.0.lin_l.bias", kind: bias},
		{name: "convs.1.lin_r.weight", kind: weight}, {name: "convs.1.lin_l.weight", kind: weight},
		{name: "convs.1.lin_l.bias", kind: bias},
	},
	"appnp": {
		{name: "lins.0.weight", kind: weight}, {name: "lins.0.bias", kind: bias},
		{name: "lins.1.weight", kind: weight}, {name: "bias", kind: bias}, // added after the propagation
	},
	"cheby": {
		{name: "convs.0.lins.0.weight", kind: weight}, {name: "convs.0.lins.1.weight", kind: weight},
		{name: "convs.0.lins.2.weight", kind: weight}, {name: "convs.0.bias", kind: bias},
		{name: "convs.1.lins.0.weight", kind: weight}, {name: "convs.1.lins.1.weight", kind: weight},
		{name: "convs.1.lins.2.weight", kind: weight}, {name: "convs.1.bias", kind: bias},
	},
	"gat": {
		{name: "convs.0.lin.weight", kind: weight}, {name: "convs.0.att_dst", kind: attention, heads: 8},
		{name: "convs.0.att_src", kind: attention, heads: 8}, {name: "convs.0.bias", kind: bias},
		{name: "convs.1.lin.weight", kind: weight}, {name: "convs.1.att_dst", kind: attention, heads: 1},
		{name: "convs.1.att_src", kind: attention, heads: 1}, {name: "convs.1.bias", kind: bias},
	},
}

// storedOf returns how parameter i of m is stored. Parameters of other models are numbered.
func storedOf(m gnn.Model, i int) stored {
	if list := names[m.Name()]; i < len(list) {
		return list[i]
	}
	return stored{name: fmt.Sprintf("parameters.%d", i)}
}

// shape returns the shape of a parameter in the file.
func (s stored) shape(p gnn.Shape) []int {
	switch s.kind {
	case weight:
		return []int{p.Cols, p.Rows}
	case bias:
		return []int{p.Cols}
	case attention:
		return []int{1, s.heads, p.Rows / s.heads}
	default:
		return []int{p.Rows, p.Cols}
	}
}

// tensor returns a parameter as it is stored.
func (s stored) tensor(p *mat.Dense) safetensors.Tensor {
	data := p.Data
	if s.kind == weight {
		data = p.T().Data
	}
	return safetensors.Tensor{Name: s.name, Shape: s.shape(gnn.Shape{Rows: p.Rows, Cols: p.Cols}), Data: data}
}

// parameter returns the parameter with the given shape whose stored numbers are data.
func (s stored) parameter(p gnn.Shape, data []float32) *mat.Dense {
	if s.kind == weight {
		return (&mat.Dense{Rows: p.Cols, Cols: p.Rows, Data: data}).T()
	}
	return &mat.Dense{Rows: p.Rows, Cols: p.Cols, Data: slices.Clone(data)} // data is in the mapped file
}
