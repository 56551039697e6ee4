package condensetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// name checks that the name consists of lower-case letters, digits and hyphens.
func (t *trial) name() error {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789-"
	if n := t.method.Name(); n == "" || strings.Trim(n, letters) != "" {
		return fmt.Errorf("%q, must be lower-case letters, digits and hyphens", n)
	}
	return nil
}

// output checks that each graph gives valid condensed graphs of three sizes and is not modified. The condensed graph of
// the middle size must be unchanged after saving and loading.
func (t *trial) output() error {
	var errs []error
	for _, s := range shapes {
		g, before := s.made(), s.made()
		for i, nodes := range sizesOf(g) {
			small, err := t.condense(t.ctx, t.method, g, nodes, 1)
			if err == nil {
				err = t.judge(small, g, nodes)
			}
			if err == nil && i == 1 {
				err = t.reload(small)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("graph %q to %d nodes: %w", s.name, nodes, err))
			}
		}
		if !reflect.DeepEqual(g, before) {
			errs = append(errs, fmt.Errorf("graph %q was changed", s.name))
		}
	}
	return errors.Join(errs...)
}

// judge returns an error for each fault of a condensed graph of g, joined.
func (t *trial) judge(small *condense.Condensed, g *graph.Graph, nodes int) error {
	errs := []error{small.Validate()}
	want := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	if small.X != nil && small.Source != nil {
		compared, err := small.CheckTarget(g)
		want(err == nil && compared.Err() == nil, "source of another graph: %s %v", compared.Reason(), err)
	}
	want(small.Nodes() == nodes, "%d nodes, expected %d", small.Nodes(), nodes)
	if small.X != nil {
		want(small.X.Cols == g.Features(), "%d features, expected %d", small.X.Cols, g.Features())
	}
	want(small.Graph == g.Name && small.GraphNodes == g.Nodes(), "made of graph %q with %d nodes, expected %q with %d",
		small.Graph, small.GraphNodes, g.Name, g.Nodes())
	want(small.Method == t.method.Name(), "method %q, expected %q", small.Method, t.method.Name())
	var config struct{ Method string }
	err := json.Unmarshal(small.Config, &config)
	want(err == nil && config.Method == t.method.Name(),
		"configuration %s, must be the method %q: see condense.Configuration", small.Config, t.method.Name())
	if small.Classes != g.Classes {
		return errors.Join(append(errs, fmt.Errorf("%d classes, expected %d", small.Classes, g.Classes))...)
	}
	budget := condense.CountBudget(small.Y, g.Classes)
	want(slices.Equal(budget, small.Budget), "budget %v, but the classes have %v nodes", small.Budget, budget)
	for c, n := range g.Counts(g.Split.Train) {
		want(budget[c] >= min(1, n) && budget[c] <= n, "%d nodes of class %d, must be %d to %d", budget[c], c, min(1, n), n)
	}
	return errors.Join(errs...)
}

// proportions checks that budgets are near the shares of the classes, if the method claims Proportional.
func (t *trial) proportions() error {
	if !slices.Contains(t.claims, Proportional) {
		return nil
	}
	g := t.g
	counts, classes := g.Counts(g.Split.Train), float64(g.Classes)
	var errs []error
	for _, nodes := range sizesOf(g) {
		small, err := t.condense(t.ctx, t.method, g, nodes, 1)
		if err != nil {
			return err
		}
		for c, n := range counts {
			share := float64(nodes*n) / float64(len(g.Split.Train))
			if math.Abs(float64(small.Budget[c])-share) >= classes {
				errs = append(errs, fmt.Errorf("%d of %d nodes have class %d, must be about %.1f: %d of %d training nodes have it",
					small.Budget[c], nodes, c, share, n, len(g.Split.Train)))
			}
		}
	}
	return errors.Join(errs...)
}

// sizes checks that Condense returns an error for impossible numbers of nodes, and so does Check of a condense.Checker.
func (t *trial) sizes() error {
	g := t.g
	least, most := bounds(g)
	var errs []error
	for _, nodes := range []int{math.MinInt32, -1, 0, least - 1, most + 1, math.MaxInt32} {
		small, err := t.condense(t.ctx, t.method, g, nodes, 1)
		if err == nil || small != nil || strings.HasPrefix(err.Error(), "panic") {
			errs = append(errs, fmt.Errorf("%d nodes: error %v, must be an error and no graph: %d to %d are possible",
				nodes, err, least, most))
		}
		if c, is := t.method.(condense.Checker); is && c.Check(g, nodes) == nil {
			errs = append(errs, fmt.Errorf("%d nodes: Check finds nothing wrong: %d to %d are possible", nodes, least, most))
		}
	}
	if c, is := t.method.(condense.Checker); is {
		errs = append(errs, c.Check(g, least), c.Check(g, most))
	}
	return errors.Join(errs...)
}

// reload checks that small is unchanged after saving and loading.
func (t *trial) reload(small *condense.Condensed) error {
	path := filepath.Join(t.folder, "reload.safetensors")
	if err := small.Save(t.ctx, path); err != nil {
		return err
	}
	loaded, err := condense.Load(path)
	if err != nil {
		return err
	}
	want, got := reflect.ValueOf(canonical(small)), reflect.ValueOf(canonical(loaded))
	var errs []error
	for i := range want.NumField() {
		if w, g := want.Field(i).Interface(), got.Field(i).Interface(); !reflect.DeepEqual(w, g) {
			if raw, is := w.(json.RawMessage); is {
				w, g = string(raw), string(g.(json.RawMessage))
			}
			errs = append(errs, fmt.Errorf("%s is read back as %v, was %v", want.Type().Field(i).Name, g, w))
		}
	}
	return errors.Join(errs...)
}

// canonical returns c in the form that Load returns: edges have weights, empty fields are nil, and seconds are present
// only if c is Timed.
func canonical(c *condense.Condensed) condense.Condensed {
	k := *c
	k.Adj, k.Members = weighted(c.Adj), weighted(c.Members)
	if c.Adj != nil && c.Adj.NNZ() == 0 {
		k.Adj = nil
	}
	if len(k.Account) == 0 {
		k.Account = json.RawMessage("{}")
	}
	if len(k.Warnings) == 0 {
		k.Warnings = nil
	}
	if !k.Timed {
		k.Seconds = condense.Seconds{}
	}
	return k
}

// weighted returns m with explicit values.
func weighted(m *mat.CSR) *mat.CSR {
	if m == nil || m.Data != nil {
		return m
	}
	w := *m
	w.Data = slices.Repeat([]float32{1}, m.NNZ())
	return &w
}
