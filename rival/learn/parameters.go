package learn

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/internal/parameter"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival"
)

// Choice are the parameters by which an iterate is chosen.
type Choice struct {
	// JudgeEvery is the number of epochs from one look at the validation accuracy to the next, at least 1. Before the
	// first, the epochs 1, 2, 4, 8, … are looked at: on some graphs the best iterates are early ones. The last epoch is
	// always judged.
	JudgeEvery int `json:"judge_every"`
	// JudgeEpochs is the number of epochs of the training whose best validation accuracy is taken, at least 1. On Cora and
	// Citeseer a GCN on a condensed graph is near its best after 200.
	JudgeEpochs int `json:"judge_epochs"`
}

// looks says whether the iterate of an epoch is judged, but for the last.
func (c Choice) looks(epoch int) bool {
	return epoch%c.JudgeEvery == 0 || epoch < c.JudgeEvery && epoch&(epoch-1) == 0
}

// Check returns everything that is wrong with the parameters.
func (c Choice) Check() error {
	return errors.Join(
		Want(c.JudgeEvery >= 1, "judge every", c.JudgeEvery, "at least 1"),
		Want(c.JudgeEpochs >= 1, "judge epochs", c.JudgeEpochs, "at least 1"),
	)
}

// Structure are the parameters of A′ = Pairs(X′).
type Structure struct {
	// AdjacencyRate is the step size of Adam on the pair network, above 0.
	AdjacencyRate float64 `json:"lr_adj"`
	// PairHidden is the number of hidden units of the pair network, at least 1.
	PairHidden int `json:"pair_hidden"`
	// Threshold is the least weight of an edge of the result, from 0 to 1.
	Threshold float64 `json:"threshold"`
	// StartWeight is about the weight with which the pairs of nodes begin, above 0 and below 1. A new pair network gives
	// all pairs about 0.5, which makes A′ complete. Its last bias moves that to StartWeight.
	StartWeight float64 `json:"start_weight"`
	// StructureEpochs and FeatureEpochs take turns: that many epochs train A′, then that many X′. Both are at least 0. If
	// both are 0, every step trains both.
	StructureEpochs int `json:"structure_epochs"`
	FeatureEpochs   int `json:"feature_epochs"`
	// Memory bounds the memory of the pair network, which grows with N′².
	Memory rival.Memory `json:"memory"`
}

// Check returns everything that is wrong with the parameters, or with the memory that N′ nodes need.
func (s Structure) Check(method string, nodes int) error {
	return errors.Join(
		Want(s.AdjacencyRate > 0, "lr adj", s.AdjacencyRate, "above 0"),
		Want(s.PairHidden >= 1, "pair hidden", s.PairHidden, "at least 1"),
		Want(s.Threshold >= 0 && s.Threshold <= 1, "threshold", s.Threshold, "0 to 1"),
		Want(s.StartWeight > 0 && s.StartWeight < 1, "start weight", s.StartWeight, "above 0 and below 1"),
		Want(s.StructureEpochs >= 0, "structure epochs", s.StructureEpochs, "at least 0"),
		Want(s.FeatureEpochs >= 0, "feature epochs", s.FeatureEpochs, "at least 0"),
		s.Memory.Fits(fmt.Sprintf("%s on %s pairs of condensed nodes", method, rival.Count(nodes*nodes)),
			PairBytes(nodes, s.PairHidden)),
	)
}

// Turns says whether an epoch trains A′ and whether it trains X′.
func (s Structure) Turns(epoch int) (structure, features bool) {
	period := s.StructureEpochs + s.FeatureEpochs
	if period == 0 {
		return true, true
	}
	structure = (epoch-1)%period < s.StructureEpochs
	return structure, !structure
}

// Pairs returns a pair network for a start, drawn from the seed.
func (s Structure) Pairs(start *Start, seed uint64) *Pairs {
	p := NewPairs(len(start.Y), start.X.Cols, s.PairHidden, rand.NewPCG(seed, structureStream))
	p.bias.Data[0] += float32(math.Log(s.StartWeight / (1 - s.StartWeight)))
	return p
}

// structureStream seeds the weights of the pair network. Epochs have the streams from 1 on.
const structureStream = 1 << 40

// Want returns nil if ok, and otherwise the error of a parameter that is out of its range.
func Want(ok bool, field string, value any, bound string) error {
	if ok {
		return nil
	}
	return &parameter.Error{Package: "learn", Field: field, Value: value, Want: bound}
}

// Maker makes A′ of X′. Pairs is one.
type Maker interface {
	// Forward returns A′, N′×N′, symmetric with the diagonal 0.
	Forward(x *mat.Dense) *mat.Dense
	// Backward returns the gradients of a function of A′ whose gradient is da, after Forward: those of the parameters if
	// parameters is set, and that of X′ if features is.
	Backward(da *mat.Dense, parameters, features bool) (gradients []*mat.Dense, dx *mat.Dense)
	// Parameters lists what is learnt.
	Parameters() []*mat.Dense
}

// Pair is X′ and A′ in the hands of Adam: what learners of both share.
type Pair struct {
	Structure
	// X is X′ over Start.Unit.
	X *mat.Dense
	// Maker makes A′; nil for A′ = I.
	Maker Maker

	features, adjacency *Adam
}

// NewPair returns a start's X′ and A′. A nil maker means A′ = I; structure is then not read.
func NewPair(start *Start, featureRate float64, structure Structure, maker Maker) *Pair {
	p := &Pair{Structure: structure, X: start.X, Maker: maker, features: NewAdam(featureRate, start.X)}
	if maker != nil {
		p.adjacency = NewAdam(structure.AdjacencyRate, maker.Parameters()...)
	}
	return p
}

// A returns A′ of the present X′; nil for I.
func (p *Pair) A() *mat.Dense {
	if p.Maker == nil {
		return nil
	}
	return p.Maker.Forward(p.X)
}

// Step changes X′ or the maker, or both, by one step of Adam, as is the turn of the epoch. dx and da are gradients by
// X′ and A′; da is nil for A′ = I. dx is changed. The last call of A must have been for the present X′.
func (p *Pair) Step(epoch int, dx, da *mat.Dense) {
	if p.Maker == nil {
		p.features.Step(dx)
		return
	}
	structure, features := p.Turns(epoch)
	gradients, through := p.Maker.Backward(da, structure, features)
	if features {
		for i, d := range through.Data {
			dx.Data[i] += d
		}
		p.features.Step(dx)
	}
	if structure {
		p.adjacency.Step(gradients...)
	}
}

// Result returns the present condensed graph.
func (p *Pair) Result() (x, a *mat.Dense) { return p.X, p.A() }

// State lists what an epoch leaves.
func (p *Pair) State() []*mat.Dense {
	state := p.features.State()
	if p.Maker != nil {
		state = append(state, p.adjacency.State()...)
	}
	return state
}
