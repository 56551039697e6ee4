// Package deepcgc condenses a graph to clusters in the latent space of an invertible network. It implements DeepCGC of
// Gao et al. (TKDE 2026, "DeepCGC: Unveiling the Deep Clustering Mechanism of Fast Graph Condensation").
//
//  1. Features are propagated: H = ÂᴷX. The closed-form classifier of cgc predicts the class of every node. Of the
//     PseudoLabels·n most certain nodes, those in no split join the n training nodes, with the predicted class.
//
//  2. f is an invertible network (NICE; Dinh et al., ICLR 2015): the columns of H are divided into even and odd ones,
//     and each layer adds a function of one half to the other. Z = f(H).
//
//  3. k-means divides the rows of Z of each class into as many groups as the class has condensed nodes. M averages over
//     the groups. C = MZ are their prototypes, and W is a copy of C. Each epoch is an Adam step on
//
//     CE(cos(z_i, w_j)/T, group of i) + δ·KL(softmax cos(Z, W), softmax cos(f(H̃), W)) + σ/N′²·‖PPᵀ − I‖².
//
//     CE is a mean over the training nodes, and KL is a mean over all nodes and prototypes. The gradient treats the
//     first argument of KL as constant. H̃ is H with random columns set to 0, and P holds the rows of C divided by
//     their norms.
//
//  4. From epoch Warmup on, the groups are formed anew every UpdateEvery epochs. Three rounds of Sinkhorn's algorithm
//     on exp(cos(Z, W)/ε) balance the groups of a class, and each node joins the group with its largest entry.
//
//  5. The condensed embeddings are H′ = f⁻¹(C). A′ and X′ follow from them as in cgc. With the default threshold there
//     are no edges, and X′ = H′: this is the authors' DeepCGC-X, whose accuracies are within 0.3 points of DeepCGC's.
//
// What differs from the authors' program:
//   - Nodes without a split join the training nodes on every graph, not only on Cora and Citeseer.
//   - If step 4 would leave a group empty, the class keeps its groups. k-means starts from k-means++.
//   - With edges, X′ minimises the objective of cgc. The program has Â′³ with self-loops of weight 2 and a normalised
//     Laplacian, and multiplies X′ by α.
//
// As in the program, W is learnt in the first epoch. After each later epoch it is set to C.
package deepcgc

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/digits"
	"github.com/graph-condensation/cgc/internal/generate"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parameter"
	"github.com/graph-condensation/cgc/internal/rival"
	"github.com/graph-condensation/cgc/mat"
)

// deepCGC clusters the nodes of each class in the latent space of an invertible network f, which is trained to separate
// the groups. Condensed embeddings are f⁻¹ of the centres of the groups. Source: Gao et al., DeepCGC: unveiling the
// deep clustering mechanism of fast graph condensation (TKDE 2026).
type deepCGC struct {
	// Hops is K, the number of propagation steps, from 0 to 20.
	Hops int `json:"hops"`
	// PseudoLabels limits the number of nodes outside the split that join the training nodes with their predicted
	// class, as a multiple of the number of training nodes, from 0 to 1000.
	PseudoLabels float64 `json:"pseudo_labels"`
	// Layers is the number of layers of the network f. Hidden is the number of hidden units of each layer. Both are at
	// least 1.
	Layers int `json:"layers"`
	Hidden int `json:"hidden"`
	// Epochs is the number of epochs, at least 0. Rate is Adam's learning rate, above 0. Decay is its weight decay, at
	// least 0.
	Epochs int     `json:"epochs"`
	Rate   float64 `json:"lr_model"`
	Decay  float64 `json:"weight_decay"`
	// Warmup is the number of epochs at the start that keep the groups of k-means, at least 1. After that, nodes are
	// assigned to groups again every UpdateEvery epochs, at least 1.
	Warmup      int `json:"warmup"`
	UpdateEvery int `json:"update_every"`
	// Temperature is the softmax temperature of the clustering loss, above 0. Epsilon is ε of Sinkhorn's algorithm,
	// which balances the groups, from 0.01 to 10: the smaller it is, the more the sizes of groups differ.
	Temperature float64 `json:"temperature"`
	Epsilon     float64 `json:"epsilon"`
	// Consistency is the weight of a loss term that makes assignments robust to noise: columns of the features are set
	// to 0 with the probability Noise, at least 0 and below 1. Separation is the weight of a loss term that makes the
	// centres orthogonal. Both weights are at least 0.
	Consistency float64 `json:"consistency"`
	Noise       float64 `json:"noise"`
	Separation  float64 `json:"separation"`
	// Threshold is the cosine similarity above which two condensed nodes are connected, from -1 to 1; 1 connects none.
	// Alpha is α of cgc, the weight of the smoothness of X′ over the edges, at least 0.
	Threshold float64 `json:"threshold"`
	Alpha     float64 `json:"alpha"`
	// Memory limits the memory for the embeddings of all nodes and for learning.
	Memory rival.Memory `json:"memory"`
}

// New returns DeepCGC with the parameters of the authors' program for Cora with 70 nodes.
func New() condense.Method {
	return deepCGC{
		Hops: 2, PseudoLabels: 5, Layers: 2, Hidden: 256, Epochs: 60, Rate: 5e-4, Decay: 5e-4, Warmup: 10, UpdateEvery: 1,
		Temperature: 1, Epsilon: 0.05, Consistency: 0.1, Noise: 0.5, Separation: 0.1, Threshold: 1, Alpha: 1,
		Memory: rival.DefaultMemory,
	}
}

// Name returns "deepcgc".
func (deepCGC) Name() string { return "deepcgc" }

// Check validates the parameters, g, nodes and the memory limit.
func (m deepCGC) Check(g *graph.Graph, nodes int) error {
	number := func(v float64) bool { return v >= 0 && v <= math.MaxFloat32 }
	err := rival.Check(g, nodes,
		parameter.Check(m.Hops >= 0 && m.Hops <= 20, "hops", m.Hops, "from 0 to 20"),
		parameter.Check(m.PseudoLabels >= 0 && m.PseudoLabels <= 1000, "pseudo labels", m.PseudoLabels, "from 0 to 1000"),
		parameter.Check(m.Layers >= 1, "layers", m.Layers, "at least 1"),
		parameter.Check(m.Hidden >= 1, "hidden", m.Hidden, "at least 1"),
		parameter.Check(m.Epochs >= 0, "epochs", m.Epochs, "at least 0"),
		parameter.Check(m.Rate > 0 && number(m.Rate), "lr model", m.Rate, "above 0"),
		parameter.Check(number(m.Decay), "weight decay", m.Decay, "at least 0"),
		parameter.Check(m.Warmup >= 1, "warmup", m.Warmup, "at least 1"),
		parameter.Check(m.UpdateEvery >= 1, "update every", m.UpdateEvery, "at least 1"),
		parameter.Check(m.Temperature > 0 && number(m.Temperature), "temperature", m.Temperature, "above 0"),
		parameter.Check(m.Epsilon >= 0.01 && m.Epsilon <= 10, "epsilon", m.Epsilon, "from 0.01 to 10"),
		parameter.Check(number(m.Consistency), "consistency", m.Consistency, "at least 0"),
		parameter.Check(m.Noise >= 0 && m.Noise < 1, "noise", m.Noise, "at least 0 and below 1"),
		parameter.Check(number(m.Separation), "separation", m.Separation, "at least 0"),
		parameter.Check(m.Threshold >= -1 && m.Threshold <= 1, "threshold", m.Threshold, "from -1 to 1"),
		parameter.Check(number(m.Alpha), "alpha", m.Alpha, "at least 0"),
	)
	if err != nil {
		return err
	}
	if d := g.Features(); d < 2 {
		return fmt.Errorf("%s divides the features into two halves: graph %s has %d, must be at least 2", m.Name(), g.Name, d)
	}
	n, d, h, k := float64(g.Nodes()), float64(g.Features()), float64(m.Hidden), float64(nodes)
	clustered := min(n, float64(len(g.Split.Train))*(1+m.PseudoLabels))
	what := fmt.Sprintf("%s on %s nodes with %s features", m.Name(), digits.Group(g.Nodes()), digits.Group(g.Features()))
	// Counted: the embeddings of each hop, and their halves; the values and gradients of the clustered nodes and of a
	// block of nodes; the network with its gradients and moments.
	at := clustered + min(n, blockRows)
	layers := float64(m.Layers)
	bytes := 4*n*d*float64(m.Hops+2) + 4*at*(16*d+(6*h+3*d)*layers+8*k) + 20*layers*d*h + 40*k*d
	return m.Memory.Fits(what, bytes)
}

// The names of the steps in Seconds.
const (
	propagateStep = "propagate"
	learnStep     = "learn"
	generateStep  = "generate"
)

// Condense learns the network and condenses each group to a node. An epoch costs about 8·n·d·hidden·layers operations
// for n nodes with d features.
func (m deepCGC) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	return rival.Run(ctx, m, g, nodes, seed, m.work, propagateStep, learnStep, generateStep)
}

// The random streams of a seed.
const (
	networkStream = iota
	clusterStream
	noiseStream
)

// work returns the condensed graph.
func (m deepCGC) work(ctx context.Context, task *rival.Task) (*condense.Condensed, error) {
	g, seed := task.Graph, task.Seed
	done := task.Clock.Step(propagateStep)
	h, err := m.propagate(ctx, g)
	if err != nil {
		return nil, err
	}
	pool, err := m.pool(ctx, g, h)
	done()
	if err != nil {
		return nil, err
	}
	done = task.Clock.Step(learnStep)
	l := m.learner(h[m.Hops], pool, task.Budget, rand.NewPCG(seed, networkStream))
	if err := l.cluster(ctx, rand.NewPCG(seed, clusterStream)); err != nil {
		return nil, err
	}
	if err := l.run(ctx, rand.NewPCG(seed, noiseStream)); err != nil {
		return nil, err
	}
	embeddings := l.embeddings()
	done()
	defer task.Clock.Step(generateStep)()
	small := &condense.Condensed{X: embeddings, Y: l.class, Members: l.sources(g.Nodes())}
	if m.Threshold == 1 {
		return small, nil
	}
	if small.Adj, _, err = generate.Adjacency(ctx, embeddings, m.Threshold, 0); err != nil {
		return nil, err
	}
	small.X, _, err = generate.Solve(ctx, small.Adj, embeddings, m.Hops, m.Alpha)
	return small, err
}

// propagate returns X, ÂX, …, ÂᴷX of all nodes.
func (m deepCGC) propagate(ctx context.Context, g *graph.Graph) (h []*mat.Dense, err error) {
	views, err := rival.Propagate(ctx, g, g.X, m.Hops, memory.Range(0, g.Nodes()))
	for _, v := range views {
		h = append(h, v.Dense())
	}
	return h, err
}
