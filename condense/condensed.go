package condense

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/object"
	"github.com/graph-condensation/cgc/mat"
)

// Condensed is a condensed graph 𝒮 = {A′, X′} with labels y′, and how it was made.
type Condensed struct {
	// X is X′, N′×d.
	X *mat.Dense
	// Adj is A′, N′×N′: symmetric, without self-loops, with weights above 0. nil means A′ = I: the graph has no edges.
	Adj *mat.CSR
	// Y is the class of each condensed node, in [0, Classes).
	Y []int32
	// Soft is N′×Classes: row j is the distribution over the classes that a GNN learns for condensed node j. It sums to 1.
	// nil means that a GNN learns Y.
	Soft *mat.Dense
	// Classes is the number of classes of the graph. Some of them may have no condensed node.
	Classes int
	// Members is the aggregation matrix P̂, N′×N. Row j holds the source nodes of condensed node j in the graph, and their
	// weights. nil means that condensed nodes have no source nodes.
	Members *mat.CSR
	// MemberIDs holds the name of the node of each entry of Members, in the order of Members.Indices. nil means that the
	// nodes of the graph are numbered.
	MemberIDs []string
	// ClassNames holds the name of each class. nil means that classes are numbered.
	ClassNames []string
	// FeatureNames holds the name of each feature. nil means that features have no names, and are compared by position.
	FeatureNames []string
	// NormalizedFeatures says that the features of each node were divided by the sum of their absolute values first.
	NormalizedFeatures bool
	// Scaling is the scaling applied to the features after that, or nil. A model trained on X expects features that are
	// preprocessed in the same way: see Seen.
	Scaling *graph.Scaling
	// Inductive says that the subgraph of the training nodes was condensed. Models are then tested on the subgraph of the
	// test nodes.
	Inductive bool
	// Causal says that each node had only the neighbours that arrived before it (graph.Graph.Causally). Models are then
	// tested in the same way.
	Causal bool

	// Graph is the name of the original graph, and GraphNodes is its number of nodes N. 0 means that N is not known, which
	// is allowed without Members.
	Graph      string
	GraphNodes int
	// Source identifies the original graph and its split, so that CheckTarget notices a test on another graph or split.
	// nil means that they are unknown.
	Source *Source
	// Method is the name of the method.
	Method string
	// Config is a JSON object with the method, the seed and all parameters: see Configuration. In files, its keys method,
	// inductive, causal and normalize_features have the values of the fields of c.
	Config json.RawMessage
	// Budget is the number of condensed nodes of each class.
	Budget []int
	// Seconds says how long each step took.
	Seconds Seconds
	// Timed makes Save write Seconds. They differ from run to run, and so do files that contain them. Load sets Timed if
	// the file contains Seconds.
	Timed bool
	// Account is a JSON object with everything else that the method reports; it may be empty.
	Account json.RawMessage
	// Warnings are sentences for the user. Each names a property of the graph that harms the result, and a remedy.
	Warnings []string
}

// Setting returns the setting in which c was condensed.
func (c *Condensed) Setting() Setting {
	return Setting{
		NormalizeFeatures: c.NormalizedFeatures, Standardize: c.Scaling != nil, Inductive: c.Inductive, Causal: c.Causal,
	}
}

// Seen returns the original graph g with features and edges preprocessed as a model trained on c expects them. It keeps
// all nodes. The error comes from g.X.ReadBlock or from ctx.
func (c *Condensed) Seen(ctx context.Context, g *graph.Graph) (_ *graph.Graph, err error) {
	if g, err = c.Setting().unscaled(ctx, g); err != nil {
		return nil, err
	}
	if c.Scaling != nil {
		if g, err = g.Scaled(ctx, *c.Scaling); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// Matched returns g with the classes and features of c, compared by name (graph.Graph.WithClasses and WithFeatures).
// unknown names the classes of g that c lacks. A graph without any class of c is an error.
func (c *Condensed) Matched(g *graph.Graph) (same *graph.Graph, unknown []string, err error) {
	if g, err = g.WithFeatures(c.FeatureNames); err != nil {
		return nil, nil, err
	}
	same, unknown = g.WithClasses(c.Classes, c.ClassNames)
	if unknown != nil && !slices.ContainsFunc(same.Y, func(y int32) bool { return y >= 0 }) {
		return nil, nil, fmt.Errorf("graph %s has none of the classes of the condensed graph, which are %s", g.Name,
			enumerated(c.ClassNames))
	}
	return same, unknown, nil
}

// Nodes returns N′.
func (c *Condensed) Nodes() int { return len(c.Y) }

// Edges returns the number of undirected edges of A′; 0 if A′ = I.
func (c *Condensed) Edges() int {
	if c.Adj == nil {
		return 0
	}
	return c.Adj.NNZ() / 2
}

// Weights returns the weight of each condensed node in the training loss: the number of its source nodes. It is nil,
// which means equal weights, if condensed nodes have no source nodes.
func (c *Condensed) Weights() []float32 {
	if c.Members == nil {
		return nil
	}
	weights := make([]float32, c.Nodes())
	for i := range weights {
		weights[i] = float32(c.Members.Indptr[i+1] - c.Members.Indptr[i])
	}
	return weights
}

// memberWeights returns the weights of Members, which are 1 if Members has no Data.
func (c *Condensed) memberWeights() []float32 {
	if c.Members.Data == nil {
		return slices.Repeat([]float32{1}, c.Members.NNZ())
	}
	return c.Members.Data
}

// Operator returns Â′, the propagation of a GNN over the condensed graph; the identity if A′ = I.
func (c *Condensed) Operator() graph.Operator { return graph.Symmetric(c.edgeMatrix()) }

// edgeMatrix returns Adj, or a matrix without entries if there is none.
func (c *Condensed) edgeMatrix() *mat.CSR {
	if c.Adj != nil {
		return c.Adj
	}
	return &mat.CSR{Rows: c.Nodes(), Cols: c.Nodes(), Indptr: make([]int64, c.Nodes()+1)}
}

// CountBudget returns the number of nodes of each class, in the form of Condensed.Budget.
func CountBudget(y []int32, classes int) []int {
	budget := make([]int, classes)
	for _, c := range y {
		budget[c]++
	}
	return budget
}

// Validate returns all violations of the constraints in the comments of c's fields, joined, or nil.
func (c *Condensed) Validate() error {
	var errs []error
	add := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if c.X == nil || len(c.Y) == 0 || c.X.Rows != len(c.Y) || c.X.Cols == 0 {
		rows, cols := 0, 0
		if c.X != nil {
			rows, cols = c.X.Dims()
		}
		add("x is %d×%d for %d labels, must be a row for each and at least one column", rows, cols, len(c.Y))
		return errors.Join(errs...)
	}
	n := len(c.Y)
	ctx := context.Background() // a condensed graph is small
	if a := c.edgeMatrix(); a.Rows != n {
		add("adjacency has %d rows for %d nodes", a.Rows, n)
	} else if err := (&graph.Graph{Adj: a, X: c.X, Y: c.Y, Classes: c.Classes}).Validate(ctx); err != nil {
		errs = append(errs, err)
	}
	for j, y := range c.Y {
		if y < 0 {
			add("label %d of node %d, must be 0 to %d", y, j, c.Classes-1)
			break
		}
	}
	if m := c.Members; m != nil {
		if m.Rows != n || m.Cols != c.GraphNodes {
			add("members are %d×%d, expected %d condensed nodes × %d nodes of the graph", m.Rows, m.Cols, n, c.GraphNodes)
		} else if err := m.Validate(ctx); err != nil {
			errs = append(errs, fmt.Errorf("members: %w", err))
		} else if j, i, found, _ := mat.FirstNotFinite(ctx, m); found {
			add("the weight of member %d of node %d is not a finite number", i, j)
		}
	}
	if c.GraphNodes < 0 {
		add("%d nodes of the graph, must be at least 0", c.GraphNodes)
	}
	if c.MemberIDs != nil && (c.Members == nil || len(c.MemberIDs) != c.Members.NNZ()) {
		add("%d names of members, expected one for each entry of the members", len(c.MemberIDs))
	}
	if c.ClassNames != nil && len(c.ClassNames) != c.Classes {
		add("%d names for %d classes", len(c.ClassNames), c.Classes)
	}
	if c.FeatureNames != nil && len(c.FeatureNames) != c.X.Cols {
		add("%d names for %d features", len(c.FeatureNames), c.X.Cols)
	}
	if d := c.X.Cols; c.Scaling != nil && (len(c.Scaling.Mean) != d || len(c.Scaling.Std) != d) {
		add("scaling of %d and %d features, expected %d", len(c.Scaling.Mean), len(c.Scaling.Std), d)
	}
	if _, err := c.configuration(); err != nil {
		errs = append(errs, err)
	}
	if len(c.Account) > 0 {
		if _, err := object.Parse(c.Account); err != nil {
			add("account: %w", err)
		}
	}
	return errors.Join(append(errs, c.validateSoft())...)
}

// validateSoft returns an error unless each row of the soft labels is a distribution over the classes.
func (c *Condensed) validateSoft() error {
	if c.Soft == nil {
		return nil
	}
	if c.Soft.Rows != len(c.Y) || c.Soft.Cols != c.Classes {
		return fmt.Errorf("y_soft is %d×%d, expected %d labels × %d classes",
			c.Soft.Rows, c.Soft.Cols, len(c.Y), c.Classes)
	}
	const rounding = 1e-3 // far above the rounding of float32 sums
	for i := range c.Soft.Rows {
		var sum float64
		for j, v := range c.Soft.Row(i) {
			if !(v >= 0) {
				return fmt.Errorf("y_soft[%d][%d] is %v, must be at least 0", i, j, v)
			}
			sum += float64(v)
		}
		if !(math.Abs(sum-1) < rounding) {
			return fmt.Errorf("row %d of y_soft has the sum %v, must be 1", i, sum)
		}
	}
	return nil
}
