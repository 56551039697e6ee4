// Package condensetest tests any condense.Method against the promises of its interface.
//
//	func TestContract(t *testing.T) { condensetest.Test(t, Herding{Hops: 2}) }
//
// It condenses small synthetic graphs. Some of them are edge cases: no edges, isolated nodes, one class, a class with
// one training node, sparse features, weighted edges.
package condensetest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
)

// Claim is a promise that a method makes in addition to the interface, or an exception that it needs.
type Claim int

const (
	// Proportional: each class gets condensed nodes in proportion to its training nodes. Class i has between 1 and n_i
	// nodes. This number differs from N′·n_i/n by less than the number of classes, since methods round differently.
	Proportional Claim = iota
	// Random: the method draws random numbers, so that some other seed gives another condensed graph.
	Random
	// ReadsValidation: the method may read the labels of validation nodes, to choose between candidates. Without this
	// claim, these labels must not affect the result. Labels of test nodes must never affect it.
	ReadsValidation
)

// Test checks m against each rule, with one subtest per rule. It sets GOMAXPROCS, so it must not run in parallel with
// other tests.
//
// The rules: sizes and budgets are met, and impossible sizes are errors. Condensed graphs are valid, and unchanged
// after saving and loading. Inputs are not modified. The same seed gives the same bytes for 1, 2 and 7 threads.
// Condense stops if its context is cancelled, before it begins or at any step that it reports (package progress).
// Labels of test and validation nodes do not affect the result. The settings of condense.Under take effect. A
// condense.Preparer gives the same graphs with and without a shared preparation.
func Test(t *testing.T, m condense.Method, claims ...Claim) {
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			if err := check(t.Context(), r, m, claims); err != nil {
				t.Error(err)
			}
		})
	}
}

// rule is one part of the contract.
type rule struct {
	name  string
	check func(*trial) error
}

var rules = []rule{
	{"name", (*trial).name},
	{"output", (*trial).output},
	{"proportions", (*trial).proportions},
	{"sizes", (*trial).sizes},
	{"seed", (*trial).seed},
	{"threads", (*trial).threads},
	{"cancellation", (*trial).cancellation},
	{"test labels", (*trial).testLabels},
	{"validation labels", (*trial).validationLabels},
	{"inductive", (*trial).inductive},
	{"normalize features", (*trial).normalize},
	{"standardize", (*trial).standardize},
	{"preparation", (*trial).preparation},
}

// check checks one rule in a temporary folder.
func check(ctx context.Context, r rule, m condense.Method, claims []Claim) error {
	folder, err := os.MkdirTemp("", "condensetest")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	g := ordinary.made()
	return r.check(&trial{ctx: ctx, method: m, claims: claims, folder: folder, g: g, nodes: sizesOf(g)[1]})
}

// trial is the check of a method against one rule.
type trial struct {
	ctx    context.Context
	method condense.Method
	claims []Claim
	folder string
	g      *graph.Graph // ordinary
	nodes  int          // the middle size of g
}

// small condenses g.
func (t *trial) small(m condense.Method, seed uint64) (*condense.Condensed, error) {
	return t.condense(t.ctx, m, t.g, t.nodes, seed)
}

// condense runs the method. A panic becomes an error.
func (t *trial) condense(ctx context.Context, m condense.Method, g *graph.Graph, nodes int, seed uint64) (
	small *condense.Condensed, err error,
) {
	defer func() {
		if p := recover(); p != nil {
			small, err = nil, fmt.Errorf("panic: %v", p)
		}
	}()
	return m.Condense(ctx, g, nodes, seed)
}

// bytesOf condenses g with seed 1 and returns the bytes of the file.
func (t *trial) bytesOf(m condense.Method, g *graph.Graph, nodes int) (string, error) {
	var text string
	small, err := t.condense(t.ctx, m, g, nodes, 1)
	if err == nil {
		text, err = t.saved(small)
	}
	if err != nil {
		return "", fmt.Errorf("graph %q to %d nodes: %w", g.Name, nodes, err)
	}
	return text, nil
}

// saved returns the file of a condensed graph without its source, because trials change the graph.
func (t *trial) saved(small *condense.Condensed) (string, error) {
	c := *small
	c.Source = nil
	path := filepath.Join(t.folder, "small.safetensors")
	if err := c.Save(t.ctx, path); err != nil {
		return "", err
	}
	text, err := os.ReadFile(path)
	return string(text), err
}
