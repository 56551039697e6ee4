package learn

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/adam"
	"github.com/graph-condensation/cgc/internal/digits"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parameter"
	"github.com/graph-condensation/cgc/internal/rival"
	"github.com/graph-condensation/cgc/mat"
)

// Choice holds the parameters that determine which iterate is the result.
type Choice struct {
	// JudgeEvery is the number of epochs between two validations of the condensed graph, at least 1. The epochs 1, 2,
	// 4, 8, … before JudgeEvery and the last epoch are validated too. JudgeEpochs is the number of epochs for which a
	// validation trains a GCN, at least 1.
	JudgeEvery  int `json:"judge_every"`
	JudgeEpochs int `json:"judge_epochs"`
}

// looks reports whether an epoch's iterate is validated even if the epoch is not the last.
func (c Choice) looks(epoch int) bool {
	return epoch%c.JudgeEvery == 0 || epoch < c.JudgeEvery && epoch&(epoch-1) == 0
}

// Check returns an error for each parameter that is out of range.
func (c Choice) Check() error {
	return errors.Join(
		parameter.Check(c.JudgeEvery >= 1, "judge every", c.JudgeEvery, "at least 1"),
		parameter.Check(c.JudgeEpochs >= 1, "judge epochs", c.JudgeEpochs, "at least 1"),
	)
}

// Structure holds the parameters of A′ = Pairs(X′).
type Structure struct {
	// AdjacencyRate is Adam's learning rate for the pair network, above 0.
	AdjacencyRate float64 `json:"lr_adj"`
	// PairHidden is the number of hidden units of the pair network, at least 1.
	PairHidden int `json:"pair_hidden"`
	// Threshold is the minimum weight of an edge in the result, from 0 to 1.
	Threshold float64 `json:"threshold"`
	// StartWeight is the approximate weight of all edges of A′ at the start, above 0 and below 1. It sets the last bias
	// of the pair network, whose output would be about 0.5 otherwise.
	StartWeight float64 `json:"start_weight"`
	// StructureEpochs and FeatureEpochs alternate: A′ is trained for StructureEpochs epochs, then X′ for FeatureEpochs
	// epochs. Both are at least 0. If both are 0, every step trains A′ and X′.
	StructureEpochs int `json:"structure_epochs"`
	FeatureEpochs   int `json:"feature_epochs"`
	// Memory limits the memory of the pair network, which grows with N′².
	Memory rival.Memory `json:"memory"`
}

// Check returns an error for each parameter that is out of range, or if N′ nodes need too much memory.
func (s Structure) Check(method string, nodes int) error {
	return errors.Join(
		parameter.Check(s.AdjacencyRate > 0, "lr adj", s.AdjacencyRate, "above 0"),
		parameter.Check(s.PairHidden >= 1, "pair hidden", s.PairHidden, "at least 1"),
		parameter.Check(s.Threshold >= 0 && s.Threshold <= 1, "threshold", s.Threshold, "0 to 1"),
		parameter.Check(s.StartWeight > 0 && s.StartWeight < 1, "start weight", s.StartWeight, "above 0 and below 1"),
		parameter.Check(s.StructureEpochs >= 0, "structure epochs", s.StructureEpochs, "at least 0"),
		parameter.Check(s.FeatureEpochs >= 0, "feature epochs", s.FeatureEpochs, "at least 0"),
		s.Memory.Fits(fmt.Sprintf("%s on %s pairs of condensed nodes", method, digits.Group(nodes*nodes)),
			PairBytes(nodes, s.PairHidden)),
	)
}

// Check validates g, nodes and the parameters of a method: errs are the errors of its own parameters, and s is its
// structure, or nil for A′ = I. Then it compares the memory limit with the pair network plus the given bytes.
func Check(
	method condense.Method, g *graph.Graph, nodes int, s *Structure, memory rival.Memory, bytes func() float64,
	errs ...error,
) error {
	pairs := 0.0
	if s != nil {
		errs = append(errs, s.Check(method.Name(), nodes))
		pairs = PairBytes(nodes, s.PairHidden)
	}
	if err := rival.Check(g, nodes, errs...); err != nil {
		return err
	}
	return memory.Fits(rival.Training(method.Name(), g), pairs+bytes())
}

// Pairs returns a pair network with random weights determined by the seed.
func (s Structure) Pairs(start *Start, seed uint64) *Pairs {
	p := NewPairs(len(start.Y), start.X.Cols, s.PairHidden, rand.NewPCG(seed, structureStream))
	p.bias.Data[0] += float32(math.Log(s.StartWeight / (1 - s.StartWeight)))
	return p
}

// structureStream is the random stream for the pair network's weights. Epoch e uses stream e.
const structureStream = 1 << 40

// Maker computes A′ from X′. Pairs implements it.
type Maker interface {
	// Forward returns A′, N′×N′, which is symmetric and has a zero diagonal.
	Forward(x *mat.Dense) *mat.Dense
	// Backward returns gradients of a function of A′ whose gradient is da. It must follow a call of Forward. gradients has
	// the gradients with respect to the parameters, or is nil unless parameters is set. dx is the gradient with respect to
	// X′, or nil unless features is set.
	Backward(da *mat.Dense, parameters, features bool) (gradients []*mat.Dense, dx *mat.Dense)
	// Parameters returns the learnt matrices.
	Parameters() []*mat.Dense
}

// Pair holds X′ and A′, and updates them with Adam.
type Pair struct {
	Structure
	// X is X′ divided by Start.Unit.
	X *mat.Dense
	// Maker computes A′. nil means A′ = I.
	Maker Maker

	features, adjacency *adam.Optimizer
}

// NewPair returns a Pair with the X′ of start and the A′ of maker. A nil maker means A′ = I; structure is then ignored.
func NewPair(start *Start, featureRate float64, structure Structure, maker Maker) *Pair {
	p := &Pair{Structure: structure, X: start.X, Maker: maker, features: adam.New(featureRate, start.X)}
	if maker != nil {
		p.adjacency = adam.New(structure.AdjacencyRate, maker.Parameters()...)
	}
	return p
}

// Pair returns the X′ of start with A′ = Pairs(X′), or with A′ = I if s is nil. The seed determines the weights of the
// pair network.
func (s *Structure) Pair(start *Start, featureRate float64, seed uint64) *Pair {
	if s == nil {
		return NewPair(start, featureRate, Structure{}, nil)
	}
	return NewPair(start, featureRate, *s, s.Pairs(start, seed))
}

// A returns A′ for the current X′, or nil for A′ = I.
func (p *Pair) A() *mat.Dense {
	if p.Maker == nil {
		return nil
	}
	return p.Maker.Forward(p.X)
}

// Turns reports whether an epoch trains A′ and whether it trains X′.
func (p *Pair) Turns(epoch int) (structure, features bool) {
	period := p.StructureEpochs + p.FeatureEpochs
	if p.Maker == nil || period == 0 {
		return p.Maker != nil, true
	}
	structure = (epoch-1)%period < p.StructureEpochs
	return structure, !structure
}

// Step updates X′, the maker or both by one Adam step, as determined by Turns. dx and da are the gradients with respect
// to X′ and A′; da is nil for A′ = I. Step overwrites dx. A must have been called for the current X′.
func (p *Pair) Step(epoch int, dx, da *mat.Dense) {
	structure, features := p.Turns(epoch)
	if p.Maker != nil {
		gradients, through := p.Maker.Backward(da, structure, features)
		if structure {
			p.adjacency.Step(gradients...)
		}
		if features {
			kernel.Add(dx.Data, dx.Data, through.Data)
		}
	}
	if features {
		p.features.Step(dx)
	}
}

// Result returns the current X′ and A′.
func (p *Pair) Result() Iterate { return Iterate{X: p.X, A: p.A(), Threshold: p.Threshold} }

// State returns the matrices that a checkpoint stores.
func (p *Pair) State() []*mat.Dense {
	state := p.features.State()
	if p.Maker != nil {
		state = append(state, p.adjacency.State()...)
	}
	return state
}
