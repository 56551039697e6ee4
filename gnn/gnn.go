// Package gnn trains graph neural networks on small graphs and tests them on large ones. By default, the models have
// two layers and 256 hidden units, as in §4.1 of the paper. Parse returns variants with more layers, hops or heads.
//
// A Target is the original graph, prepared once. Train trains a Model on a Sample, usually a condensed graph. It
// chooses the epoch by the accuracy on the target's validation nodes. Only then does it read the labels of the test
// nodes, and only once.
//
// A Model is a forward pass on the variables of an autodiff.Tape. The pass sees its graph as an Input, in which A and X
// may be variables too. A method that learns A′ and X′ can therefore differentiate through any model. Register adds a
// model, and package gnntest tests it.
//
// Training and inference are full-batch. Training keeps a few matrices of nodes × hidden units for the sample. On the
// target, the six models of this package work layer by layer and in blocks of rows. They keep features and logits of
// all nodes, but only some of the hidden units at a time.
//
// Not supported: neighbour sampling, models with more than one graph, and edge features.
package gnn

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/gnn/autodiff"
	"github.com/graph-condensation/cgc/internal/registry"
	"github.com/graph-condensation/cgc/mat"
)

// Model is a GNN architecture without weights. A Trained holds the weights.
type Model interface {
	// Name is the name that Parse accepts: lower-case letters, digits and hyphens, and then the parameters of a variant.
	Name() string
	// Shapes lists the shapes of the parameters for the given numbers of features, hidden units and classes.
	Shapes(features, hidden, classes int) []Shape
	// Forward returns the unnormalised logits of all nodes, n×c. The parameters are in the order of Shapes. All operations
	// are recorded on t, so that the logits can be differentiated in parameters, A and X. All random numbers come from in,
	// for example through in.Dropout. Forward may run in several goroutines, each with its own tape and Input.
	Forward(t *autodiff.Tape, in *Input, parameters []*autodiff.Var) *autodiff.Var
}

// Inferrer is a Model with its own inference on large graphs. For any other Model, inference is one Forward over the
// full graph: it keeps the matrices that Forward still refers to, and computes X·W in blocks of rows.
type Inferrer interface {
	Model
	// Infer returns the logits of the rows of v, in their order. The result may be in v's memory; it is then valid until v
	// is used again. Infer stops when ctx is done.
	Infer(ctx context.Context, v *View, parameters []*mat.Dense) (*mat.Dense, error)
}

// Shape is the shape of a parameter.
type Shape struct {
	Rows, Cols int
	// Bias marks a parameter that starts at zero.
	Bias bool
}

// models starts with the models of the paper, in the order of its table 5.
var models = registryOf(SGC(), GCN(), SAGE(), APPNP(), Cheby(), GAT())

func registryOf(these ...Model) *registry.Registry[Model] {
	r := registry.New[Model]("model")
	for _, m := range these {
		r.Register(m.Name(), m)
	}
	return r
}

// Register makes m available to Parse, All and Names. It panics if the name is taken or invalid.
func Register(m Model) { models.Register(m.Name(), m) }

// Names returns the names of all models: first those in the paper's table 5, then the others in the order of
// registration.
func Names() []string { return models.Names() }

// All returns a new slice of all models, in the order of Names, each with its default parameters.
func All() []Model {
	var all []Model
	for _, name := range Names() {
		if m, err := Parse(name); err == nil {
			all = append(all, m)
		}
	}
	return all
}

// Initial returns the initial parameters of m for training. Weights are drawn from src, uniform in ±√(6/(rows+cols))
// (Glorot and Bengio 2010); biases are zero.
func Initial(m Model, features, hidden, classes int, src rand.Source) []*mat.Dense {
	random := rand.New(src)
	var parameters []*mat.Dense
	for _, s := range m.Shapes(features, hidden, classes) {
		p := mat.NewDense(s.Rows, s.Cols)
		if !s.Bias {
			limit := math.Sqrt(6 / float64(s.Rows+s.Cols))
			for j := range p.Data {
				p.Data[j] = float32(limit * (2*random.Float64() - 1))
			}
		}
		parameters = append(parameters, p)
	}
	return parameters
}
