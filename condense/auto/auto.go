// Package auto chooses the condensation method for each graph and size. The paper's method with its defaults is one of
// the candidates, and stays unless another one is clearly better on the validation nodes. No candidate trains X′.
//
// Each candidate condenses the graph with a few seeds. Package judge fits surrogates of GNNs to each result and tests
// them on the validation nodes. Its score is the mean of their accuracy and of the geometric mean of the probabilities
// of the true classes, in percent. A candidate may replace cgc if it scores higher by more than 0.05 points and by more
// than Margin standard errors of the difference. The best-scoring of these is chosen. On graphs of 50,000 nodes or
// more, a GCN is trained for 100 epochs on the results of cgc and of each candidate that may replace it, and the best
// validation accuracy decides. The choice depends on the graph, the number of condensed nodes and the parameters, not
// on the seed. Test labels are never read.
//
// docs/explanation/choice.md lists the candidates and their gains, and says where the choice fails.
package auto

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/budget"
	"github.com/graph-condensation/cgc/internal/distill"
	"github.com/graph-condensation/cgc/internal/judge"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/rival"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// Method chooses between the paper's method, with or without edges, and cgc-d, which condenses all nodes.
// Source: this project.
//
// Start from New.
type Method struct {
	// NormalizeFeatures, Standardize, Inductive and Causal are the setting, as in condense.Setting.
	NormalizeFeatures bool `json:"normalize_features,omitempty"`
	Standardize       bool `json:"standardize"`
	Inductive         bool `json:"inductive"`
	Causal            bool `json:"causal,omitempty"`
	// Margin is the number of standard errors, at least 0, by which a candidate must beat cgc.
	Margin float64 `json:"margin"`
	// Lossless, if above 0, is the largest acceptable loss in points, at most 100. The loss is the drop in validation
	// accuracy of a GCN, trained for 100 epochs, compared with training on all training nodes (Account.Whole). The graph
	// is condensed to the smallest tried size with at most this loss; the number of condensed nodes is the upper limit. If
	// there is no such size, that is an error.
	Lossless float64 `json:"lossless,omitempty"`
	// Memory limits the memory of the propagation, in bytes, as in cgc.Config; 0 means no limit. Candidates that need more
	// are left out.
	Memory int64 `json:"memory,omitempty"`
	// Precision is as in cgc.Config. Candidates of the method cgc-d always have full precision.
	Precision blocked.Precision `json:"precision,omitzero"`
}

// New returns the method with its defaults.
func New() Method { return Method{Margin: margin} }

// Name returns "auto".
func (Method) Name() string { return "auto" }

func init() { condense.Register(New()) }

// margin is the default of Margin (docs/explanation/choice.md).
const margin = 1

// Account is what the method stores in Condensed.Account.
type Account struct {
	// Chosen is the name of the candidate that was chosen, and Why states the reason.
	Chosen string `json:"chosen"`
	Why    string `json:"why"`
	// Validation is the number of nodes on which candidates were compared. HeldOut says that these are training nodes
	// that were held out, because the graph has no validation nodes.
	Validation int  `json:"validation_nodes"`
	HeldOut    bool `json:"held_out,omitempty"`
	// Weighted says that validation nodes were weighted by the shares of their classes among all nodes, which the
	// teacher of cgc-d estimates. This happens if the validation nodes seem to be drawn class by class.
	Weighted bool `json:"weighted,omitempty"`
	// Candidates lists all candidates, cgc first.
	Candidates []Candidate `json:"candidates"`
	// Whole is the accuracy, in percent, of a GCN trained with each training node as its own condensed node, or with
	// 2,048 condensed nodes if there are more training nodes. Sizes lists the sizes that were compared with it,
	// ascending. Both are absent unless the smallest size was searched for.
	Whole float64 `json:"whole,omitempty"`
	Sizes []Size  `json:"sizes,omitempty"`
	// Account is the run metadata of the chosen method.
	Account json.RawMessage `json:"account,omitempty"`
}

// String names the method that was chosen and says why.
func (a Account) String() string { return a.Chosen + ", chosen by auto: " + a.Why }

// Candidate is a method that may be chosen, and how it was judged.
type Candidate struct {
	// Name is the name of the candidate. Method and Parameters describe its method.
	Name       string          `json:"name"`
	Method     string          `json:"method"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
	// Accuracy is the mean validation accuracy of the surrogates, in percent.
	Accuracy float64 `json:"accuracy"`
	// Gain is the score minus the score of cgc, in points, and Error is the standard error of Gain.
	Gain  float64 `json:"gain"`
	Error float64 `json:"error"`
	// Trained is the validation accuracy of a briefly trained GCN, in percent; 0 if none was trained.
	Trained float64 `json:"trained,omitempty"`
	// LeftOut says why the candidate was not judged; empty if it was.
	LeftOut string `json:"left_out,omitempty"`

	method condense.Method
}

// AccountOf returns the account of a graph that this method condensed.
func AccountOf(small *condense.Condensed) (a Account, err error) {
	if err := json.Unmarshal(small.Account, &a); err != nil || a.Chosen == "" {
		return a, fmt.Errorf("account of a graph condensed by %q: %w", small.Method,
			cmp.Or(err, errors.New("no method was chosen")))
	}
	return a, nil
}

// specifications lists the candidates, cgc first. Candidates that share a preparation are neighbours.
var specifications = []Candidate{
	{Name: "cgc", Method: "cgc"},
	{Name: "cgc-x", Method: "cgc-x"},
	{
		Name: "cgc-d unsmoothed", Method: "cgc-d",
		Parameters: json.RawMessage(`{"unlabelled":"always","smoothing":{"hops":0,"teleport":0}}`),
	},
	{Name: "cgc-d smoothed", Method: "cgc-d", Parameters: json.RawMessage(`{"unlabelled":"always"}`)},
	{
		Name: "cgc-d with students", Method: "cgc-d",
		Parameters: json.RawMessage(`{"unlabelled":"always","students":2}`),
	},
}

// candidates returns the candidates for g, with the reasons for leaving some out. It returns an error if cgc fails.
func (m Method) candidates(g *graph.Graph, nodes int) ([]Candidate, error) {
	list := slices.Clone(specifications)
	room := m.room(g)
	work := distill.SmoothingWork(g)
	for i := range list {
		c := &list[i]
		var err error
		if c.method, err = condense.New(c.Method, c.Parameters); err != nil {
			return nil, err
		}
		switch method := c.method.(type) {
		case cgc.Config:
			method.Memory, method.Precision = m.Memory, m.Precision
			c.method = method
		case distill.Method:
			if m.Memory > 0 {
				if room < 1 {
					c.LeftOut = "the memory limit leaves no room for it"
					break
				}
				method.Memory, method.Within = rival.Memory(room), m.Memory
			}
			if method.Smoothing.Hops > 0 && work > distill.MostSmoothing {
				c.LeftOut = fmt.Sprintf("smoothing would gather %.2g numbers in each step, must be at most %.2g", work,
					float64(distill.MostSmoothing))
			}
			c.method = method
		}
		if err := c.method.(condense.Checker).Check(g, nodes); err != nil {
			if i == 0 {
				return nil, err
			}
			c.LeftOut = err.Error()
		}
	}
	return list, nil
}

// room returns the bytes of Memory that are left for cgc-d, after an idle process, the graph, the embeddings of cgc,
// the features that the judge keeps, and training on a large graph. A mapped graph counts too: the judge and the
// teachers read it in an order that would be slow if it did not fit. room does not depend on the number of threads.
func (m Method) room(g *graph.Graph) int64 {
	rows := (cgc.Defaults().Hops+2)*len(g.Split.Train) + 2*judge.Near(g)
	room := m.Memory - budget.Process - budget.Graph(g.Adj, g.X) - 4*int64(rows)*int64(g.Features())
	if g.Nodes() >= distill.ManyNodes {
		const trainings = 64 << 20 // mostly 256 hidden units for each of 20,000 rows
		room -= trainings
	}
	return room
}

// Check returns an error if the parameters are invalid, or if g or nodes does not suit them.
func (m Method) Check(g *graph.Graph, nodes int) error {
	if !(m.Margin >= 0 && m.Margin <= math.MaxFloat64) {
		return &condense.FieldError{Field: "margin", Value: m.Margin, Want: "a finite number of at least 0"}
	}
	if !(m.Lossless >= 0 && m.Lossless <= 100) {
		return &condense.FieldError{Field: "lossless", Value: m.Lossless, Want: "from 0 to 100 points"}
	}
	return m.Base().Check(g, nodes)
}

// Base returns the configuration that is kept if no other is better: cgc with its defaults, in the setting of m.
func (m Method) Base() cgc.Config {
	base := cgc.Defaults()
	base.NormalizeFeatures, base.Standardize = m.NormalizeFeatures, m.Standardize
	base.Inductive, base.Causal = m.Inductive, m.Causal
	base.Memory, base.Precision = m.Memory, m.Precision
	return base
}

// Setting returns the setting in which the graph is condensed.
func (m Method) Setting() condense.Setting {
	return condense.Setting{
		NormalizeFeatures: m.NormalizeFeatures, Standardize: m.Standardize, Inductive: m.Inductive, Causal: m.Causal,
	}
}

// Condense condenses g with the chosen candidate. The seed does not affect the choice.
func (m Method) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	p, err := rival.Prepare(ctx, m, g, nodes, m.prepare)
	if err != nil {
		return nil, err
	}
	return p.Condense(ctx, m, nodes, seed)
}

// Prepare implements condense.Preparer. Candidates are prepared when they are first used.
func (m Method) Prepare(ctx context.Context, g *graph.Graph) (condense.Prepared, error) {
	return rival.Prepare(ctx, m, g, len(g.Split.Train), m.prepare)
}

// SharesPreparation reports whether other is the same method with the same parameters.
func (m Method) SharesPreparation(other condense.Method) bool { return other == condense.Method(m) }

// Choose returns the choice for g and a number of condensed nodes, with the methods of the candidates in their order,
// nil for those that were left out. The methods condense g as the setting shows it.
func (m Method) Choose(ctx context.Context, g *graph.Graph, nodes int) (
	_ *Account, _ []condense.Method, err error,
) {
	defer memory.Recover(&err)
	if err := m.Check(g, nodes); err != nil {
		return nil, nil, err
	}
	p, err := m.prepare(ctx, g)
	if err != nil {
		return nil, nil, err
	}
	made, err := p.choose(ctx, nodes)
	if err != nil {
		return nil, nil, err
	}
	methods := make([]condense.Method, len(made.account.Candidates))
	for i, c := range made.account.Candidates {
		if c.LeftOut == "" {
			methods[i] = c.method
		}
	}
	return made.account, methods, nil
}

// prepared is a graph with the preparations of the candidates and the choices made so far. It is safe for concurrent
// use.
type prepared struct {
	method Method
	given  *graph.Graph
	digest graph.Digest
	field  *field        // where candidates compete
	view   condense.View // what is condensed
	shared *shared       // preparations of view

	mu      sync.Mutex
	choices map[int]choice // by the number of condensed nodes
}

// choice is the method that was chosen for a number of condensed nodes.
type choice struct {
	account *Account
	method  condense.Method
	nodes   int
	seconds float64 // for the choice, without the method's preparation
	// trials are the method's condensed graphs; nil without a choice. shares are the class shares; nil for equal weights.
	trials []*condense.Condensed
	shares []float64
	// warnings are the warnings of cgc about the graph, whatever was chosen.
	warnings []string
	// trained holds the verdict of a short training on each trial; nil if none succeeded.
	trained []judge.Verdict
}

func (m Method) prepare(ctx context.Context, g *graph.Graph) (_ *prepared, err error) {
	p := &prepared{method: m, given: g, choices: map[int]choice{}}
	if p.digest, err = graph.DigestOf(g); err != nil {
		return nil, err
	}
	if p.view, err = m.Setting().View(ctx, g); err != nil {
		return nil, err
	}
	p.shared = &shared{graph: p.view.Graph}
	if p.field, err = m.newField(ctx, g, p.shared); err != nil {
		return nil, err
	}
	return p, ctx.Err()
}

// Condense implements condense.Prepared.
func (p *prepared) Condense(ctx context.Context, m condense.Method, nodes int, seed uint64) (
	_ *condense.Condensed, err error,
) {
	defer memory.Recover(&err)
	if !p.method.SharesPreparation(m) {
		return nil, fmt.Errorf("the graph was prepared for %+v, not for %+v", p.method, m)
	}
	if err := p.method.Check(p.given, nodes); err != nil {
		return nil, err
	}
	made, err := p.choose(ctx, nodes)
	if err != nil {
		return nil, err
	}
	nodes, plain := made.nodes, p.method
	plain.Lossless, plain.Memory = 0, 0 // the size is known now, and the limit only leaves out candidates
	small, err := p.shared.condense(ctx, made.method, nodes, seed)
	if err != nil {
		return nil, err
	}
	account := *made.account
	account.Account = small.Account
	if small.Account, err = json.Marshal(account); err != nil {
		return nil, fmt.Errorf("account: %w", err)
	}
	if small.Config, err = condense.Configuration(plain, nodes, seed); err != nil {
		return nil, err
	}
	small.Method = p.method.Name()
	if small.Warnings == nil {
		small.Warnings = made.warnings
	}
	p.view.Adopt(small)
	small.SetSource(p.digest, p.given)
	small.Graph = p.given.Name
	small.Seconds.Steps = append([]condense.Step{{Name: chooseStep, Seconds: made.seconds}}, small.Seconds.Steps...)
	small.Seconds.Total += made.seconds
	return small, ctx.Err()
}

// chooseStep is the name of the step in Seconds.
const chooseStep = "choose"

// choose returns the choice for a number of condensed nodes, or with Lossless, for the smallest sufficient number.
func (p *prepared) choose(ctx context.Context, nodes int) (choice, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if made, known := p.choices[nodes]; known {
		return made, nil
	}
	clock := condense.StartClock(ctx, chooseStep)
	done := clock.Step(chooseStep)
	find := p.chooseAt
	if p.method.Lossless > 0 {
		find = p.smallest
	}
	made, err := find(ctx, nodes)
	if err != nil {
		return made, err
	}
	done()
	made.seconds = max(0, clock.Stop().Total-p.shared.spent(made.method))
	p.choices[nodes] = made
	return made, nil
}

// chooseAt returns the choice for a number of condensed nodes.
func (p *prepared) chooseAt(ctx context.Context, nodes int) (choice, error) {
	candidates, err := p.method.candidates(p.view.Graph, nodes)
	if err != nil {
		return choice{}, err
	}
	return p.field.choose(ctx, candidates, nodes, p.method.Margin)
}
