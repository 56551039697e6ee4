// Package gnn trains graph neural networks on small graphs and tests them on large ones: two layers, 256 hidden units,
// as in §4.1 of the paper.
//
// A Target is the original graph, prepared once. Train trains a Model on a Sample, most often a condensed graph. It
// chooses the epoch by the accuracy on the target's validation nodes. Only then does it read the labels of the test
// nodes, once.
//
// A Model is a forward pass on the variables of an autodiff.Tape. The pass sees its graph as an Input, in which A and X
// may be variables too. So a method that learns A′ and X′ differentiates through any model. Register adds a model of
// one's own, and package gnntest tests it.
//
// Everything is full batch. Training keeps a few matrices of nodes × hidden for the sample. On the target, the six
// models of this package work layer by layer and in blocks of rows. They keep features and logits for all nodes, but
// hidden units only for a block.
//
// Left out: sampling of neighbours, deeper models, models with more than one graph, and edge features.
package gnn

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/autodiff"
	"github.com/graph-condensation/cgc/internal/registry"
	"github.com/graph-condensation/cgc/mat"
)

// Model is a kind of GNN. It holds no weights: a Trained has them.
type Model interface {
	// Name is what Parse takes: lower-case letters, digits and hyphens.
	Name() string
	// Shapes lists the shapes of the parameters for the given numbers of features, hidden units and classes.
	Shapes(features, hidden, classes int) []Shape
	// Forward returns the logits of all nodes, n×c, not normalised. The parameters are in the order of Shapes. All
	// operations are recorded on t, so that the logits can be differentiated in parameters, A and X. Random numbers come
	// only from in, as those of in.Dropout do. Forward may run in several goroutines, each with its own tape and Input.
	Forward(t *autodiff.Tape, in *Input, parameters []*autodiff.Var) *autodiff.Var
}

// Inferrer is a Model that computes logits on a large graph in a way of its own. For any other Model, inference is one
// Forward over the whole graph: it keeps the matrices that Forward still refers to, and reads X·W in blocks of rows.
type Inferrer interface {
	Model
	// Infer returns the logits of the rows of v, in their order. The result may be memory of v, valid until v's next use.
	// Infer stops when ctx is done.
	Infer(ctx context.Context, v *View, parameters []*mat.Dense) (*mat.Dense, error)
}

// Shape is the shape of a parameter.
type Shape struct {
	Rows, Cols int
	// Bias says that the parameter starts at zero.
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

// Unknown is the error of Parse. It lists the names that there are.
type Unknown = registry.Unknown

// Register makes m known to Parse, All and Names. It panics if the name is taken or is not a name.
func Register(m Model) { models.Register(m.Name(), m) }

// Names returns the names of all models: those of the paper's table 5 first, then in the order of their registration.
func Names() []string { return models.Names() }

// Parse returns the model of the given name, in any case of letters. The error wraps an *Unknown.
func Parse(name string) (Model, error) {
	m, err := models.Find(name)
	if err != nil {
		return nil, fmt.Errorf("gnn: %w", err)
	}
	return m, nil
}

// All returns all models in the order of Names, as a slice of the caller's own.
func All() []Model {
	var all []Model
	for _, name := range Names() {
		if m, err := Parse(name); err == nil {
			all = append(all, m)
		}
	}
	return all
}

// Initial returns the parameters of m as training starts with them. Weights are drawn from src, uniform in
// ±√(6/(rows+cols)) (Glorot and Bengio 2010); biases are zero.
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
