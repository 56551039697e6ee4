// Package distill condenses a graph using the predictions of a closed-form teacher for its nodes. Nothing is trained.
// This goes beyond the paper, whose methods use only the labels of the training nodes.
//
//  1. The teacher: ridge regression of propagated features, fitted to the training nodes. It gives each node of the
//     graph a distribution q over the classes. Smoothing along the edges gives q̄.
//  2. The choice: if q̄ predicts more validation nodes correctly than q does, all nodes are condensed, with q̄.
//     Otherwise only the training nodes are condensed, with q.
//  3. The partition: a training node keeps its class, any other node has its most likely class in q̄. k-means splits
//     the embeddings ÂᴷX of each class into groups. Each group becomes a condensed node with the mean embedding and, as
//     soft label, the mean distribution of the group. Its weight in the loss is the size of the group. A′ = I.
//
// docs/explanation/cgc-d.md has the formulas, the rejected alternatives, and accuracies compared with other methods.
package distill

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	_ "github.com/graph-condensation/cgc" // registers the paper's methods first, so that lists begin with them
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/rival"
)

// Method condenses by the soft labels of a closed-form teacher, a ridge regression on propagated features. k-means
// splits each class, A′ = I, and nothing is trained. Source: this project.
//
// Start from New.
type Method struct {
	// Hops is K, from 0 to 20: condensed nodes are means of ÂᴷX.
	Hops int `json:"hops"`
	// Teachers are the depths of propagation of the teachers, at least one. q is the mean over the teachers.
	Teachers []Depth `json:"teachers"`
	// Smoothing is the propagation that turns q into q̄. Without hops, q̄ is q.
	Smoothing Depth `json:"smoothing"`
	// Unlabelled says whether all nodes are condensed or only the training nodes: always, never, or auto, which
	// condenses all nodes if q̄ predicts more validation nodes correctly than q does.
	Unlabelled When `json:"unlabelled"`
	// Memory bounds the embeddings, the Gram matrix of the teacher and the blocks of its propagation.
	Memory rival.Memory `json:"memory"`
}

// When says when nodes outside the training split are condensed too.
type When string

const (
	// Auto condenses all nodes if q̄ predicts more validation nodes correctly than q does. Without validation nodes, as in
	// the inductive setting, it condenses the training nodes.
	Auto When = "auto"
	// Always condenses all nodes, with q̄.
	Always When = "always"
	// Never condenses the training nodes, with q.
	Never When = "never"
)

// Depth is a propagation: Z⁽ˡ⁾ = (1−β)ÂZ⁽ˡ⁻¹⁾ + βZ⁽⁰⁾, after Hops steps.
type Depth struct {
	// Hops is the number of steps, from 0 to 100.
	Hops int `json:"hops"`
	// Teleport is β in [0, 1]. 0 gives SGC.
	Teleport float64 `json:"teleport"`
}

// Account is what the method stores in Condensed.Account.
type Account struct {
	// Teachers is the leave-one-out accuracy of each teacher on the training nodes, in percent.
	Teachers []float64 `json:"teachers"`
	// Validation is the accuracy of q and of q̄ on the validation nodes, in percent; 0 without validation nodes, or if
	// Unlabelled is not Auto.
	Validation [2]float64 `json:"validation"`
	// Pool is the number of source nodes.
	Pool int `json:"pool"`
}

// The names of the steps in Seconds.
const (
	teachStep     = "teach"
	propagateStep = "propagate"
	partitionStep = "partition"
)

// New returns the method with the configuration that docs/explanation/cgc-d.md measures.
func New() Method {
	return Method{
		Hops:       2,
		Teachers:   []Depth{{Hops: 2}},
		Smoothing:  Depth{Hops: 10, Teleport: 0.1},
		Unlabelled: Auto,
		Memory:     rival.DefaultMemory,
	}
}

func init() { condense.Register(New()) }

// Name returns "cgc-d".
func (Method) Name() string { return "cgc-d" }

// Check returns what is wrong with the parameters, or with g or nodes for these parameters.
func (m Method) Check(g *graph.Graph, nodes int) error {
	switch {
	case m.Hops < 0 || m.Hops > mostHops:
		return outOfRange("hops", m.Hops, fmt.Sprintf("from 0 to %d", mostHops))
	case len(m.Teachers) == 0:
		return outOfRange("teachers", "[]", "at least one depth")
	case m.Unlabelled != Auto && m.Unlabelled != Always && m.Unlabelled != Never:
		return outOfRange("unlabelled", string(m.Unlabelled), "auto, always or never")
	}
	for _, d := range append(slices.Clone(m.Teachers), m.Smoothing) {
		if d.Hops < 0 || d.Hops > mostSteps {
			return outOfRange("hops of a depth", d.Hops, fmt.Sprintf("from 0 to %d", mostSteps))
		}
		if !(d.Teleport >= 0 && d.Teleport <= 1) {
			return outOfRange("teleport of a depth", d.Teleport, "from 0 to 1")
		}
	}
	if err := rival.Check(g, nodes); err != nil {
		return err
	}
	n, d := g.Nodes(), g.Features()
	what := fmt.Sprintf("%s on %s nodes with %s features", m.Name(), rival.Count(n), rival.Count(d))
	return m.Memory.Fits(what, m.bytes(n, len(g.Split.Train), d, g.Classes))
}

const (
	mostHops  = 20
	mostSteps = 100
)

func outOfRange(field string, value any, want string) error {
	return &condense.FieldError{Package: "distill", Field: field, Value: value, Want: want}
}

// bytes estimates the memory of a condensation, in bytes: the embeddings of the pool or those of the training nodes,
// whichever are larger, the blocks of a propagation, a Gram matrix with its eigenvectors, and the distributions.
func (m Method) bytes(nodes, train, features, classes int) float64 {
	n, t, d := float64(nodes), float64(train), float64(features)
	pool := n
	if m.Unlabelled == Never {
		pool = t
	}
	side := min(t, d)
	teach := 4*t*d + 20*side*side + 8*t*side
	return max(4*pool*d, teach) + 4*n*float64(3*min(features, blockColumns)+4*classes)
}

// Condense condenses g. The seed only affects k-means; the teacher is deterministic.
func (m Method) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	return rival.Run(ctx, m, g, nodes, seed, m.condense, teachStep, propagateStep, partitionStep)
}

// condense condenses the graph of a task.
func (m Method) condense(ctx context.Context, task *rival.Task) (*condense.Condensed, error) {
	g := task.Graph
	var account Account
	done := task.Clock.Step(teachStep)
	q, all, err := m.teach(ctx, g, &account)
	if err != nil {
		return nil, err
	}
	pool, y := pooled(g, q, all)
	account.Pool = len(pool)
	done()

	done = task.Clock.Step(propagateStep)
	h, err := propagated(ctx, g, Depth{Hops: m.Hops}, pool)
	if err != nil {
		return nil, err
	}
	done()

	done = task.Clock.Step(partitionStep)
	plan := partition.Plan{
		Budgets: task.Budget, Partitioner: partition.KMeans{Tolerance: tolerance}, Temperature: math.Inf(1),
	}
	groups, err := plan.Aggregate(ctx, h.View().Rows(), y, nil, rand.NewPCG(task.Seed, partitionStream))
	if err != nil {
		return nil, err
	}
	small := &condense.Condensed{X: groups.H, Y: groups.Y, Soft: new(mat.Dense), Members: groups.Members}
	distributions := new(mat.Dense)
	q.Gather(distributions, pool)
	mat.MulSparse(small.Soft, groups.Members, distributions)
	for e, i := range small.Members.Indices {
		small.Members.Indices[e] = pool[i]
	}
	small.Members.Cols = g.Nodes()
	done()
	small.Account, err = json.Marshal(account)
	return small, err
}

const (
	// tolerance equals the tolerance of cgc's k-means (docs/notes/2026-11-defaults.md).
	tolerance = 1e-3
	// partitionStream is the stream of random numbers of the partition.
	partitionStream = 2
)

// pooled returns the nodes to condense, ascending, and their classes. A training node has its own class. If all is set,
// the other nodes are included too, with their most likely class in q.
func pooled(g *graph.Graph, q *mat.Dense, all bool) (nodes, y []int32) {
	trains := make([]bool, g.Nodes())
	for _, v := range g.Split.Train {
		trains[v] = true
	}
	for v := range int32(g.Nodes()) {
		switch {
		case trains[v]:
			nodes, y = append(nodes, v), append(y, g.Y[v])
		case all:
			nodes, y = append(nodes, v), append(y, int32(kernel.ArgMax(q.Row(int(v)))))
		}
	}
	return nodes, y
}
