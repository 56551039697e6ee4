// Package clustgdd condenses a graph to the clusters of its nodes. It implements ClustGDD of Lai et al. (KDD 2025,
// "Simple yet effective graph distillation via clustering").
//
//  1. Features are smoothed: H = (1−α) Σ_{t<T} αᵗÂᵗX. A classifier of two linear layers, without activation, is trained
//     on H. The epoch with the best validation accuracy counts. Z holds its logits at all nodes.
//  2. k-means clusters the rows of Z. A condensed node is a cluster. F is the mean of H over each cluster, y′ is the
//     class of the cluster, and A′_ab = Σ_{u∈a,v∈b} Â_uv/(|a||b|).
//  3. For each class c, Â becomes a graph Â_c: its entries w_uv are multiplied by the cosine of the logits, and only
//     the fraction EdgeShare with the largest p_uc·p_vc·(w_uv/d_u + w_uv/d_v) remains. p is the softmax of Z, and the
//     last factor bounds the effective resistance. Compressing Â_c as in step 2 gives S_c.
//  4. A second classifier of this kind is trained on H at the training nodes and, at the same time, on the synthetic
//     features F_c = (1−α) Σ_{t<T′} αᵗS_cᵗF of each class graph. Besides the cross entropies, the predictions for all
//     F_c must agree. The gradient with respect to F moves an augmentation Δ. X′ = F + Scale·Δ.
//
// What differs from the authors' program:
//
//   - It clusters all nodes together, and a cluster has the class that its centre predicts. A class may then have no
//     node, or more than it has training nodes. Here each class has its budget (partition.Budgets): k-means clusters
//     the nodes of each predicted class. Training nodes count for their own class. On arxiv, theirs is mini-batch
//     k-means.
//   - It normalises A′, and then the GNN does so again. Here only the GNN normalises A′.
//   - It uses dropout in the first epoch of step 4 only. Here step 4 has no dropout.
//   - If no feature is negative, features are divided by their mean row sum while learning, as for the other baselines.
//     The authors divide each row by its sum.
//
// Three properties of the program are kept. The synthetic features are computed once, before Δ changes, so gradients
// are taken at Δ = 0. The last Δ counts, not the Δ with the best validation accuracy, because the program keeps a
// reference instead of a copy. The weight decay of the first classifier is 0, because it has no activation.
package clustgdd

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/digits"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parameter"
	"github.com/graph-condensation/cgc/internal/rival"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/rival/internal/learn"
)

// clustGDD clusters all nodes by the logits of a linear classifier of smoothed features, and adds a small augmentation
// to the mean features of each cluster. It learns the augmentation with one sparse subgraph of the original graph for
// each class. Source: Lai et al., Simple yet effective graph distillation via clustering (KDD 2025).
type clustGDD struct {
	// Terms is T, the number of terms of H, at least 1. CondensedTerms is T′, the number of terms of the synthetic
	// features, at least 1.
	Terms          int `json:"terms"`
	CondensedTerms int `json:"condensed_terms"`
	// Alpha is α, the weight of each hop relative to the one before it, at least 0 and below 1.
	Alpha float64 `json:"alpha"`
	// Hidden is the number of hidden units of both classifiers, at least 1. Rate is Adam's learning rate for both, above
	// 0. It is divided by 10 in the second half of the epochs.
	Hidden int     `json:"hidden"`
	Rate   float64 `json:"lr_model"`
	// PretrainEpochs is the number of epochs of the first classifier, at least 1. Dropout is its dropout rate, at least 0
	// and below 1.
	PretrainEpochs int     `json:"pretrain_epochs"`
	Dropout        float64 `json:"dropout"`
	// EdgeShare is the share of the entries of Â that the sparse graph of each class keeps, from 0 to 1.
	EdgeShare float64 `json:"edge_share"`
	// Epochs is the number of epochs that train Δ, at least 0. FeatureRate is Adam's learning rate for Δ, above 0. It is
	// divided by 10 in the second half of the epochs. Decay is the weight decay of Δ and of the second classifier, at
	// least 0.
	Epochs      int     `json:"epochs"`
	FeatureRate float64 `json:"lr_feat"`
	Decay       float64 `json:"weight_decay"`
	// Scale is the factor of Δ in X′, at least 0.
	Scale float64 `json:"scale"`
	// LabelWeight is the weight of the cross entropy on the synthetic features of the class graphs. Consistency is the
	// weight of the loss that pulls the predictions on all class graphs towards their mean. Both are at least 0.
	// Temperature, above 0, sharpens this mean.
	LabelWeight float64 `json:"label_weight"`
	Consistency float64 `json:"consistency"`
	Temperature float64 `json:"temperature"`
	// Memory limits the memory for smoothed features of all nodes, and for the graphs of the classes.
	Memory rival.Memory `json:"memory"`
}

// New returns clustGDD with the parameters of the authors' program for Cora with 70 nodes.
func New() condense.Method {
	return clustGDD{
		Terms: 5, CondensedTerms: 2, Alpha: 0.8, Hidden: 256, Rate: 0.01, PretrainEpochs: 80, Dropout: 0.6, EdgeShare: 0.4,
		Epochs: 2000, FeatureRate: 1e-4, Decay: 5e-4, Scale: 0.01, LabelWeight: 1, Consistency: 0.1, Temperature: 0.5,
		Memory: rival.DefaultMemory,
	}
}

// Name returns "clustgdd".
func (clustGDD) Name() string { return "clustgdd" }

// Check validates the parameters, g, nodes and the memory limit.
func (m clustGDD) Check(g *graph.Graph, nodes int) error {
	number := func(v float64) bool { return v >= 0 && v <= math.MaxFloat32 }
	err := rival.Check(g, nodes,
		parameter.Check(m.Terms >= 1, "terms", m.Terms, "at least 1"),
		parameter.Check(m.CondensedTerms >= 1, "condensed terms", m.CondensedTerms, "at least 1"),
		parameter.Check(m.Alpha >= 0 && m.Alpha < 1, "alpha", m.Alpha, "at least 0 and below 1"),
		parameter.Check(m.Hidden >= 1, "hidden", m.Hidden, "at least 1"),
		parameter.Check(m.Rate > 0 && number(m.Rate), "lr model", m.Rate, "above 0"),
		parameter.Check(m.PretrainEpochs >= 1, "pretrain epochs", m.PretrainEpochs, "at least 1"),
		parameter.Check(m.Dropout >= 0 && m.Dropout < 1, "dropout", m.Dropout, "at least 0 and below 1"),
		parameter.Check(m.EdgeShare >= 0 && m.EdgeShare <= 1, "edge share", m.EdgeShare, "from 0 to 1"),
		parameter.Check(m.Epochs >= 0, "epochs", m.Epochs, "at least 0"),
		parameter.Check(m.FeatureRate > 0 && number(m.FeatureRate), "lr feat", m.FeatureRate, "above 0"),
		parameter.Check(number(m.Decay), "weight decay", m.Decay, "at least 0"),
		parameter.Check(number(m.Scale), "scale", m.Scale, "at least 0"),
		parameter.Check(number(m.LabelWeight), "label weight", m.LabelWeight, "at least 0"),
		parameter.Check(number(m.Consistency), "consistency", m.Consistency, "at least 0"),
		parameter.Check(m.Temperature > 0 && number(m.Temperature), "temperature", m.Temperature, "above 0"),
	)
	if err != nil {
		return err
	}
	n, d, c, h, k := float64(g.Nodes()), float64(g.Features()), float64(g.Classes), float64(m.Hidden), float64(nodes)
	what := fmt.Sprintf("%s on %s nodes with %s features and %s classes", m.Name(), digits.Group(g.Nodes()),
		digits.Group(g.Features()), digits.Group(g.Classes))
	// Counted: three matrices of smoothed features and copies of training and validation rows; entries of Â with their
	// scores; the graphs of the classes; the classifier, F and Δ, each with its gradients and moments.
	bytes := 20*n*d + 24*(n+float64(g.Adj.NNZ())) + 8*c*k*k + 20*(d+c)*h + 8*(n+k)*h + 20*k*d + 16*n*c
	return m.Memory.Fits(what, bytes)
}

// The names of the steps in Seconds.
const (
	pretrainStep = "pretrain"
	clusterStep  = "cluster"
	refineStep   = "refine"
)

// Condense clusters the nodes and refines their features.
func (m clustGDD) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	return rival.Run(ctx, m, g, nodes, seed, m.work, pretrainStep, clusterStep, refineStep)
}

// The random streams of a seed. Stream 0 belongs to package learn.
const (
	pretrainStream = 1 + iota
	clusterStream
	refineStream
)

// work returns the condensed graph.
func (m clustGDD) work(ctx context.Context, task *rival.Task) (*condense.Condensed, error) {
	g, seed := task.Graph, task.Seed
	start, err := learn.Begin(ctx, g, task.Nodes, seed)
	if err != nil {
		return nil, err
	}
	done := task.Clock.Step(pretrainStep)
	h, z, err := m.pretrain(ctx, g, start.Unit, rand.NewPCG(seed, pretrainStream))
	done()
	if err != nil {
		return nil, err
	}
	done = task.Clock.Step(clusterStep)
	plan := partition.Plan{
		// The defaults of scikit-learn's KMeans, which the authors use.
		Budgets: task.Budget, Partitioner: partition.KMeans{Iterations: 300, Restarts: 10}, Temperature: math.Inf(1),
	}
	found, err := plan.Aggregate(ctx, z.View().Rows(), predicted(g, z, task.Budget), nil,
		rand.NewPCG(seed, clusterStream))
	done()
	if err != nil {
		return nil, err
	}
	defer task.Clock.Step(refineStep)()
	x := new(mat.Dense)
	mat.MulSparse(x, found.Members, h)
	q := newQuotient(g, found.Members)
	if m.Epochs > 0 && m.Scale > 0 {
		r := refinement{clustGDD: m, x: x, y: found.Y, labels: g.Labels(g.Split.Train), classes: g.Classes}
		r.h = new(mat.Dense)
		h.Gather(r.h, g.Split.Train)
		for _, s := range q.classGraphs(z, m.EdgeShare) {
			r.maps = append(r.maps, m.series(s))
		}
		if err := r.run(ctx, rand.NewPCG(seed, refineStream)); err != nil {
			return nil, err
		}
	}
	kernel.Scale(x.Data, start.Unit, x.Data)
	adjacency := q.compress(slices.Values(q.entries)).Sparse()
	return &condense.Condensed{X: x, Adj: adjacency, Y: found.Y, Members: found.Members}, nil
}

// predicted returns a class for each node: the label of a training node, and for any other node the class with the
// largest logit among the classes that have condensed nodes.
func predicted(g *graph.Graph, z *mat.Dense, budget []int) []int32 {
	y := make([]int32, z.Rows)
	for v := range y {
		best := -1
		for c, n := range budget {
			if n > 0 && (best < 0 || z.Row(v)[c] > z.Row(v)[best]) {
				best = c
			}
		}
		y[v] = int32(best)
	}
	for _, v := range g.Split.Train {
		y[v] = g.Y[v]
	}
	return y
}
