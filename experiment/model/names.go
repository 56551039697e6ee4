package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/internal/safetensors"
	"github.com/graph-condensation/cgc/mat"
)

// stored is the name under which a parameter is stored. PyTorch's names also say how its shape in the file differs from
// its shape in memory: see shape.
type stored string

// names lists the tensors of each model, in the order of its parameters. PyTorch Geometric's layers give their tensors
// these names in a list convs, or lins for linear layers without propagation.
var names = map[string][]stored{
	"gcn": {"convs.0.lin.weight", "convs.0.bias", "convs.1.lin.weight", "convs.1.bias"},
	"sgc": {"convs.0.lin.weight", "convs.0.lin.bias"},
	"sage": {
		"convs.0.lin_r.weight", "convs.0.lin_l.weight", "convs.0.lin_l.bias",
		"convs.1.lin_r.weight", "convs.1.lin_l.weight", "convs.1.lin_l.bias",
	},
	"appnp": {"lins.0.weight", "lins.0.bias", "lins.1.weight", "bias"}, // the last is added after the propagation
	"cheby": {
		"convs.0.lins.0.weight", "convs.0.lins.1.weight", "convs.0.lins.2.weight", "convs.0.bias",
		"convs.1.lins.0.weight", "convs.1.lins.1.weight", "convs.1.lins.2.weight", "convs.1.bias",
	},
	"gat": {
		"convs.0.lin.weight", "convs.0.att_dst", "convs.0.att_src", "convs.0.bias",
		"convs.1.lin.weight", "convs.1.att_dst", "convs.1.att_src", "convs.1.bias",
	},
}

// storedOf returns how parameter i of m is stored. Parameters of other models are numbered.
func storedOf(m gnn.Model, i int) stored {
	if list := names[m.Name()]; i < len(list) {
		return list[i]
	}
	return stored(fmt.Sprintf("parameters.%d", i))
}

// transposed reports whether s is stored transposed: torch multiplies by Wᵀ.
func (s stored) transposed() bool { return strings.HasSuffix(string(s), "weight") }

// shape returns the shape of a parameter in the file. A bias is a vector. A parameter of attention is 1 × heads ×
// units, with 8 heads in the first layer and one in the second.
func (s stored) shape(p gnn.Shape) []int {
	switch {
	case s.transposed():
		return []int{p.Cols, p.Rows}
	case strings.HasSuffix(string(s), "bias"):
		return []int{p.Cols}
	case strings.HasPrefix(string(s), "convs.0.att_"):
		return []int{1, 8, p.Rows / 8}
	case strings.HasPrefix(string(s), "convs.1.att_"):
		return []int{1, 1, p.Rows}
	}
	return []int{p.Rows, p.Cols}
}

// tensor returns a parameter as it is stored.
func (s stored) tensor(p *mat.Dense) safetensors.Tensor {
	data := p.Data
	if s.transposed() {
		data = p.T().Data
	}
	return safetensors.Tensor{Name: string(s), Shape: s.shape(gnn.Shape{Rows: p.Rows, Cols: p.Cols}), Data: data}
}

// parameter returns the parameter with the given shape whose stored numbers are data.
func (s stored) parameter(p gnn.Shape, data []float32) *mat.Dense {
	if s.transposed() {
		return (&mat.Dense{Rows: p.Cols, Cols: p.Rows, Data: data}).T()
	}
	return &mat.Dense{Rows: p.Rows, Cols: p.Cols, Data: slices.Clone(data)} // data is in the mapped file
}
