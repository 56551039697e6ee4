// Package distill condenses a graph using the predictions of a closed-form teacher for its nodes. Nothing is trained.
// This goes beyond the paper, whose methods use only the labels of the training nodes.
//
//  1. The teacher: ridge regression on propagated features, fitted to the training nodes. It gives each node of the
//     graph a distribution q over the classes. Smoothing along the edges gives q̄.
//  2. The choice: if q̄ predicts more validation nodes correctly than q does, all nodes are condensed, with q̄.
//     Otherwise only the training nodes are condensed, with q.
//  3. The students: ridge regressions of q̄ on all embeddings, whose predictions replace q̄. By default there are none.
//  4. The partition: a training node keeps its class, any other node has its most likely class in q̄. k-means splits
//     the embeddings ÂᴷX of each class into groups. Each group becomes a condensed node with the mean embedding and, as
//     soft label, the mean distribution of the group. Its weight in the loss is the size of the group. A′ = I.
//
// If there are more than 4,096 features, students and partition see them hashed to 1,024 columns.
//
// docs/explanation/cgc-d.md has the formulas, the rejected alternatives, and accuracies compared with other methods.
package distill

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"

	_ "github.com/graph-condensation/cgc" // registers the paper's methods first, so that lists begin with them
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/digits"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/internal/parameter"
	"github.com/graph-condensation/cgc/internal/rival"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// Method condenses with the soft labels of a closed-form teacher, a ridge regression on propagated features. k-means
// splits each class, A′ = I, and nothing is trained. Source: this project.
//
// Start from New.
type Method struct {
	// Hops is K, from 0 to 20: condensed nodes are means of ÂᴷX.
	Hops int `json:"hops"`
	// Teachers lists the depth of propagation of each teacher, at least one. q is the mean over the teachers.
	Teachers []Depth `json:"teachers"`
	// Smoothing is the propagation that turns q into q̄. Without hops, q̄ is q.
	Smoothing Depth `json:"smoothing"`
	// Students is the number of rounds of students, from 0 to 100. Each round fits a ridge regression to the current
	// labels of all nodes that may be condensed, and replaces the labels with its predictions.
	Students int `json:"students"`
	// Unlabelled says whether all nodes are condensed or only the training nodes: always, never, or auto, which
	// condenses all nodes if q̄ predicts more validation nodes correctly than q does.
	Unlabelled When `json:"unlabelled"`
	// Memory bounds the embeddings, the Gram matrix of the teacher and the blocks of its propagation.
	Memory rival.Memory `json:"memory"`
	// Within is the memory limit of the propagation, in bytes, like Memory of cgc.Config; 0 is no limit. The result does
	// not depend on it.
	Within int64 `json:"-"`
	// Sample is the number of nodes that are clustered for each condensed node; 0 clusters all of the pool. The nodes of
	// each class are evenly spaced.
	Sample int `json:"-"`
}

// When says when nodes outside the training split are condensed too.
type When string

const (
	// Auto condenses all nodes if q̄ predicts more validation nodes correctly than q does. Without validation nodes, as in
	// the inductive setting, it condenses the training nodes.
	Auto When = "auto"
	// Always condenses all nodes, with q̄.
	Always When = "always"
	// Never leaves out all other nodes: the training nodes are condensed, with q.
	Never When = "never"
)

// Depth is a propagation: Z⁽ˡ⁾ = (1−β)ÂZ⁽ˡ⁻¹⁾ + βZ⁽⁰⁾, after Hops steps.
type Depth struct {
	// Hops is the number of steps, from 0 to 100.
	Hops int `json:"hops"`
	// Teleport is β in [0, 1]. 0 gives SGC.
	Teleport float64 `json:"teleport"`
}

// String returns L for L hops without a teleport, and else L and β, such as "10 (teleport 0.1)".
func (d Depth) String() string {
	if d.Teleport == 0 {
		return strconv.Itoa(d.Hops)
	}
	return fmt.Sprintf("%d (teleport %v)", d.Hops, d.Teleport)
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
	// Classes counts the candidate source nodes of each class: training nodes count for their class, others for their most
	// likely class.
	Classes []int `json:"classes"`
}

// The names of the steps in Seconds.
const (
	teachStep     = "teach"
	propagateStep = "propagate"
	partitionStep = "partition"
)

// ManyNodes is the smallest number of nodes for which ForTrial samples: a condensed node is then a mean of many.
const ManyNodes = 50_000

// ForTrial returns m for trials on a graph with the given number of nodes. On a large graph, it clusters only 50 nodes
// for each condensed node: the means are about as good, and k-means over all nodes would take most of the time of a
// trial.
func (m Method) ForTrial(nodes int) Method {
	if nodes >= ManyNodes {
		m.Sample = 50
	}
	return m
}

// MostSmoothing limits how many numbers a step of smoothing gathers in trials.
const MostSmoothing = 4e8

// SmoothingWork returns how many numbers a step of smoothing gathers on g: one for each class and entry of A.
func SmoothingWork(g *graph.Graph) float64 { return float64(g.Adj.NNZ()) * float64(g.Classes) }

// Kept returns the bytes of what Prepare keeps: the embeddings of the pool and their distributions.
func (m Method) Kept(g *graph.Graph) int64 {
	pool, width := m.size(g.Nodes(), len(g.Split.Train), g.Features())
	return 4 * int64(pool) * int64(width+g.Classes)
}

// size returns the number of nodes in the pool, and the number of columns of their embeddings.
func (m Method) size(nodes, train, features int) (pool, width int) {
	if pool, width = train, features; m.Unlabelled != Never {
		pool = min(nodes, train+most(train))
	}
	if width > mostColumns {
		width = fewColumns
	}
	return pool, width
}

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

// Check returns an error if the parameters are invalid, or if g or nodes does not suit them.
func (m Method) Check(g *graph.Graph, nodes int) error {
	when := []When{Auto, Always, Never}
	errs := []error{
		parameter.Check(m.Hops >= 0 && m.Hops <= 20, "hops", m.Hops, "from 0 to 20"),
		parameter.Check(len(m.Teachers) > 0, "teachers", "[]", "at least one depth"),
		parameter.Check(m.Students >= 0 && m.Students <= 100, "students", m.Students, "from 0 to 100"),
		parameter.Check(slices.Contains(when, m.Unlabelled), "unlabelled", string(m.Unlabelled), "auto, always or never"),
	}
	for _, d := range append(slices.Clone(m.Teachers), m.Smoothing) {
		errs = append(errs, parameter.Check(d.Hops >= 0 && d.Hops <= 100, "hops of a depth", d.Hops, "from 0 to 100"),
			parameter.Check(d.Teleport >= 0 && d.Teleport <= 1, "teleport of a depth", d.Teleport, "from 0 to 1"))
	}
	if err := cmp.Or(append(errs, rival.Check(g, nodes))...); err != nil {
		return err
	}
	n, d := g.Nodes(), g.Features()
	what := fmt.Sprintf("%s on %s nodes with %s features", m.Name(), digits.Group(n), digits.Group(d))
	return m.Memory.Fits(what, m.bytes(n, len(g.Split.Train), d, g.Classes, nodes))
}

// bytes estimates the memory of a condensation, in bytes. It is the larger of two parts (the pool's embeddings with the
// blocks of their propagation; a Gram matrix with its eigenvectors), plus the distributions of the pool and, for
// smoothing, of all nodes. For many features, it adds the hashed features and the propagated weights of means.
func (m Method) bytes(nodes, train, features, classes, condensed int) float64 {
	n, t, d, c := float64(nodes), float64(train), float64(features), float64(classes)
	pool, width := m.size(nodes, train, features)
	side := min(t, d)
	teach := 4*t*d + 20*side*side + 8*t*side
	all := 0.0
	if m.Unlabelled != Never && m.Smoothing.Hops > 0 {
		all = 12 * n * c
	}
	if width < features {
		all += 4*n*float64(width) + 8*n*float64(condensed)
	}
	return max(8*float64(pool)*float64(width), teach) + 16*float64(pool)*c + all
}

// most returns the largest number of unlabelled nodes that are condensed with train training nodes. More nodes hardly
// move the means, and k-means would take many times as long as with training nodes only.
func most(train int) int { return max(200_000, 2*train) }

// Condense condenses g. The seed only affects k-means; the teacher is deterministic.
func (m Method) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	p, err := rival.Prepare(ctx, m, g, nodes, m.prepare)
	if err != nil {
		return nil, err
	}
	return p.Condense(ctx, m, nodes, seed)
}

// Prepare implements condense.Preparer: it computes the embeddings and the distributions.
func (m Method) Prepare(ctx context.Context, g *graph.Graph) (condense.Prepared, error) {
	return rival.Prepare(ctx, m, g, len(g.Split.Train), m.prepare)
}

// SharesPreparation reports whether other has the same Hops, Teachers and Memory, and the same pool. A preparation for
// a pool of all nodes also serves Never without students.
func (m Method) SharesPreparation(other condense.Method) bool {
	o, is := other.(Method)
	return is && m.Hops == o.Hops && slices.Equal(m.Teachers, o.Teachers) && m.Memory == o.Memory &&
		((m.Unlabelled == Never) == (o.Unlabelled == Never) || o.Unlabelled == Never && o.Students == 0)
}

// prepared is a graph with the embeddings and the distributions of the nodes that may be condensed. It is safe for
// concurrent use.
type prepared struct {
	rival.Preparation
	method   Method
	embedder embedder
	nodes    []int32    // the pool: training nodes and, unless Unlabelled is Never, others, ascending
	trains   []int32    // positions of the training nodes in nodes
	y        []int32    // their classes
	h        *mat.Dense // ÂᴷX of nodes; X is hashed if it has many columns
	q        *mat.Dense // q of nodes
	teachers []float64  // Account.Teachers

	mu    sync.Mutex
	known map[labelling]*mat.Dense // the distributions requested so far
}

// labelling says how the distributions of the pool are made from q.
type labelling struct {
	smoothing Depth
	students  int
}

func (m Method) prepare(ctx context.Context, g *graph.Graph) (_ *prepared, err error) {
	p := &prepared{Preparation: rival.Preparation{Graph: g}, method: m, known: map[labelling]*mat.Dense{}}
	p.embedder = embedder{blocked.Engine{Memory: m.Within}, g}
	if p.Digest, err = graph.DigestOf(g); err != nil {
		return nil, err
	}
	clock := condense.StartClock(ctx, propagateStep, teachStep)
	done := clock.Step(propagateStep)
	p.y = g.Labels(g.Split.Train)
	p.nodes, p.trains = m.pool(g)
	x, err := narrow(ctx, g.X)
	if err != nil {
		return nil, err
	}
	if p.h, err = p.embedder.embed(ctx, x, Depth{Hops: m.Hops}, p.nodes); err != nil {
		return nil, err
	}
	done()
	done = clock.Step(teachStep)
	own := p.h
	if p.hashed() {
		own = nil // the teacher sees all features
	}
	if p.q, p.teachers, err = m.teach(ctx, p.embedder, p.nodes, own, p.trains); err != nil {
		return nil, err
	}
	done()
	p.Seconds = clock.Stop()
	return p, ctx.Err()
}

func (p *prepared) hashed() bool { return p.h.Cols < p.Graph.Features() }

// pool returns the nodes that may be condensed, ascending, and the positions of the training nodes among them. If there
// are too many others, it chooses evenly spaced ones.
func (m Method) pool(g *graph.Graph) (nodes, trains []int32) {
	is := make([]bool, g.Nodes())
	for _, v := range g.Split.Train {
		is[v] = true
	}
	others := g.Nodes() - len(g.Split.Train)
	limit := 0
	if m.Unlabelled != Never {
		limit = min(others, most(len(g.Split.Train)))
	}
	seen := 0 // others so far
	for v := range int32(g.Nodes()) {
		if is[v] {
			trains = append(trains, int32(len(nodes)))
			nodes = append(nodes, v)
			continue
		}
		if (seen+1)*limit/others > seen*limit/others { // evenly spaced
			nodes = append(nodes, v)
		}
		seen++
	}
	return nodes, trains
}

// Condense implements condense.Prepared.
func (p *prepared) Condense(ctx context.Context, other condense.Method, nodes int, seed uint64) (
	*condense.Condensed, error,
) {
	m, is := other.(Method)
	if !is || !p.method.SharesPreparation(m) {
		return nil, fmt.Errorf("the graph was prepared for %+v, not for %+v", p.method, other)
	}
	work := func(ctx context.Context, task *rival.Task) (*condense.Condensed, error) {
		return p.condense(ctx, m, task)
	}
	return p.Run(ctx, m, nodes, seed, work, teachStep, propagateStep, partitionStep)
}

// condense performs the steps that follow the preparation.
func (p *prepared) condense(ctx context.Context, m Method, task *rival.Task) (*condense.Condensed, error) {
	account := Account{Teachers: p.teachers}
	done := task.Clock.Step(teachStep)
	labels, all, err := p.choose(ctx, m, &account)
	if err != nil {
		return nil, err
	}
	rows, y := p.classes(labels, all)
	account.Classes = condense.CountBudget(y, p.Graph.Classes)
	if m.Sample > 0 {
		rows, y = sample(rows, y, task.Budget, m.Sample)
	}
	account.Pool = len(rows)
	done()

	done = task.Clock.Step(partitionStep)
	plan := partition.Plan{
		Budgets: task.Budget, Partitioner: partition.KMeans{Tolerance: tolerance}, Temperature: math.Inf(1),
	}
	groups, err := plan.Aggregate(ctx, p.h.Select(rows).Rows(), y, nil, rand.NewPCG(task.Seed, partitionStream))
	if err != nil {
		return nil, err
	}
	small := &condense.Condensed{X: groups.H, Y: groups.Y, Soft: new(mat.Dense), Members: groups.Members}
	members := small.Members
	for e, i := range members.Indices {
		members.Indices[e] = rows[i] // now positions in the pool
	}
	members.Cols = len(p.nodes)
	mat.MulSparse(small.Soft, members, labels)
	for e, i := range members.Indices {
		members.Indices[e] = p.nodes[i]
	}
	members.Cols = p.Graph.Nodes()
	if p.hashed() {
		if small.X, err = p.embedder.means(ctx, members, m.Hops); err != nil {
			return nil, err
		}
	}
	done()
	small.Account, err = json.Marshal(account)
	return small, err
}

const (
	// tolerance equals the tolerance of cgc's k-means (docs/notes/2026-11-defaults.md).
	tolerance = 1e-3
	// partitionStream and narrowStream are the streams of random numbers of the partition and of narrow.
	partitionStream, narrowStream = 2, 3
)

// choose returns the labels of the pool, and whether all of it is condensed.
func (p *prepared) choose(ctx context.Context, m Method, account *Account) (labels *mat.Dense, all bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	g := p.Graph
	all = m.Unlabelled == Always
	if m.Unlabelled == Auto && len(g.Split.Val) > 0 {
		smooth, err := p.labels(ctx, labelling{m.Smoothing, 0})
		if err != nil {
			return nil, false, err
		}
		rows, y := p.among(g.Split.Val)
		for i, said := range []*mat.Dense{p.q, smooth} {
			if len(rows) > 0 {
				account.Validation[i] = gnn.Accuracy(said.Select(rows).Dense(), y)
			}
		}
		all = account.Validation[1] > account.Validation[0]
	}
	if !all {
		m.Smoothing = Depth{}
	}
	labels, err = p.labels(ctx, labelling{m.Smoothing, m.Students})
	return labels, all, err
}

// labels returns the distributions of the pool after smoothing and students, and keeps them for later condensations.
// The lock must be held.
func (p *prepared) labels(ctx context.Context, how labelling) (labels *mat.Dense, err error) {
	if how.smoothing.Hops == 0 && how.students == 0 {
		return p.q, nil
	}
	if labels := p.known[how]; labels != nil {
		return labels, nil
	}
	if how.students > 0 {
		if labels, err = p.labels(ctx, labelling{how.smoothing, 0}); err == nil {
			labels, err = study(ctx, p.h, labels, p.trains, p.y, how.students)
		}
	} else {
		labels, err = p.smooth(ctx, how.smoothing)
	}
	if err != nil {
		return nil, err
	}
	p.known[how] = labels
	return labels, nil
}

// smooth returns q̄ of the pool. Each hop needs q of all nodes.
func (p *prepared) smooth(ctx context.Context, smoothing Depth) (*mat.Dense, error) {
	q := p.q
	if all := p.Graph.Nodes(); len(p.nodes) < all {
		var err error
		if q, _, err = p.method.teach(ctx, p.embedder, memory.Range(0, all), nil, nil); err != nil {
			return nil, err
		}
	}
	all, err := p.embedder.smooth(ctx, q, smoothing)
	if err != nil {
		return nil, err
	}
	if len(p.nodes) < all.Rows {
		all = all.Select(p.nodes).Dense()
	}
	normalise(all, p.q)
	return all, nil
}

// among returns the positions in the pool and the classes of the given nodes that are in the pool. nodes are ascending.
func (p *prepared) among(nodes []int32) (rows, y []int32) {
	for _, v := range nodes {
		if i, in := slices.BinarySearch(p.nodes, v); in {
			rows, y = append(rows, int32(i)), append(y, p.Graph.Y[v])
		}
	}
	return rows, y
}

// classes returns the positions in the pool of the nodes to condense, ascending, and their classes. A training node has
// its own class. If all is set, the other nodes of the pool are included too, with their most likely class in labels.
func (p *prepared) classes(labels *mat.Dense, all bool) (rows, y []int32) {
	if !all {
		return p.trains, p.y
	}
	y = make([]int32, len(p.nodes))
	parallel.For(len(y), rowChunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			y[i] = int32(kernel.ArgMax(labels.Row(i)))
		}
	})
	for i, row := range p.trains {
		y[row] = p.y[i]
	}
	return memory.Range(0, len(y)), y
}

// sample returns evenly spaced rows of each class, and their classes: perNode rows for each condensed node in its
// budget, or all rows if the class has fewer.
func sample(rows, y []int32, budget []int, perNode int) (some, classes []int32) {
	counts, seen := condense.CountBudget(y, len(budget)), make([]int, len(budget))
	for i, c := range y {
		limit := min(counts[c], perNode*budget[c])
		if (seen[c]+1)*limit/counts[c] > seen[c]*limit/counts[c] {
			some, classes = append(some, rows[i]), append(classes, c)
		}
		seen[c]++
	}
	return some, classes
}
