package awkward_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/generate"
	"github.com/graph-condensation/cgc/internal/golden"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/object"
	"github.com/graph-condensation/cgc/internal/slow"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
	_ "github.com/graph-condensation/cgc/rival/all"
)

// listed names the methods whose outcomes are in testdata/methods.txt. Other methods must not panic, and must return a
// valid result or an error.
var listed = strings.Fields("cgc cgc-x simdm random herding k-center vn-classwise a-cm-classwise sntk sntk-x gcgp " +
	"gcond gcond-x doscond msgc sgdd gcdm gcdm-x simgc")

// few sets the parameters of every learning method to a few small steps.
var few = map[string]any{
	"epochs": 3, "outer": 2, "inner": 1, "hidden": 8, "batch": 12, "judge_every": 2, "judge_epochs": 3,
	"pair_hidden": 8, "patterns": 3, "window": 2, "structure_epochs": 1, "feature_epochs": 1, "sample": 20,
	"teacher_hidden": 8, "teacher_epochs": 5, "steps": 6, "every": 3, "experts": 2, "expert_epochs": 10, "max_start": 10,
	"restarts": 2,
}

// fewest sets even fewer steps, for graphs on which each step is slow.
var fewest = map[string]any{
	"epochs": 1, "outer": 1, "judge_every": 1, "judge_epochs": 1, "steps": 2, "experts": 1, "expert_epochs": 2,
	"max_start": 0, "teacher_epochs": 1,
}

// method returns the named method with few steps and with the parameters in set that it has.
func method(t *testing.T, name string, set map[string]any) condense.Method {
	t.Helper()
	prototype := mattest.Must(condense.New(name, nil))
	parameters := mattest.Must(object.Of(prototype))
	replaced := map[string]any{}
	for _, p := range parameters {
		for _, values := range []map[string]any{few, set} {
			if value, is := values[p.Key]; is {
				replaced[p.Key] = value
			}
		}
	}
	text := mattest.Must(json.Marshal(replaced))
	return mattest.Must(condense.New(name, text))
}

// attempt runs f. It turns a panic into an error and fails the test.
func attempt(t *testing.T, f func() error) (err error) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("panic: %v", p)
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return f()
}

// finite fails the test if an entry of a matrix is not finite.
func finite(t *testing.T, what string, x mat.Matrix) {
	t.Helper()
	i, j, found, err := mat.FirstNotFinite(t.Context(), x)
	mattest.True(t, !found && err == nil, "%s: entry (%d, %d) is not finite (%v)", what, i, j, err)
}

// sound fails the test unless small is a valid graph of finite numbers with the given number of nodes.
func sound(t *testing.T, what string, small *condense.Condensed, g *graph.Graph, nodes int) {
	t.Helper()
	mattest.True(t, small.Nodes() == nodes && small.X.Rows == nodes && small.X.Cols == g.Features(),
		"%s: %d nodes with %d×%d features", what, small.Nodes(), small.X.Rows, small.X.Cols)
	finite(t, what+": X′", small.X)
	if small.Adj != nil {
		err := graph.ValidateAdjacency(t.Context(), small.Adj, false)
		mattest.True(t, err == nil, "%s: %v", what, err)
	}
	if small.Soft != nil {
		finite(t, what+": soft labels", small.Soft)
	}
	if small.Members != nil {
		finite(t, what+": members", small.Members)
	}
}

// said formats an error for the lists: on one line, without the parts that differ between SIMD code paths.
func said(err error) string {
	text := strings.ReplaceAll(err.Error(), "\n", "; ")
	text = notFinite.ReplaceAllString(text, "not finite")
	text = when.ReplaceAllString(text, "epoch …")
	return "error: " + long.ReplaceAllString(text, "…")
}

var (
	notFinite = regexp.MustCompile(`NaN|[+-]Inf`)
	when      = regexp.MustCompile(`epoch \d+`)
	long      = regexp.MustCompile(`\d\.\d{6,}e`)
)

// grouped writes a line for each outcome with the names that have it, in the order of the first names.
func grouped(text *bytes.Buffer, trial string, names, outcomes []string) {
	fmt.Fprintf(text, "%s\n", trial)
	for i, outcome := range outcomes {
		if slices.Index(outcomes, outcome) != i {
			continue
		}
		var same []string
		for j, name := range names {
			if outcomes[j] == outcome {
				same = append(same, name)
			}
		}
		of := strings.Join(same, " ")
		if len(same) == len(names) && len(names) > 6 {
			of = "all"
		}
		fmt.Fprintf(text, "\t%s: %s\n", of, outcome)
	}
}

// TestMethods checks every method on every awkward graph: the result is finite and valid, or the error is the one in
// the list.
func TestMethods(t *testing.T) {
	slow.Test(t, "every method condenses every awkward graph")
	var text bytes.Buffer
	for _, c := range trials(t) {
		var outcomes, told []string
		for _, name := range condense.Names() {
			if slices.Contains(c.long, name) {
				told, outcomes = append(told, name), append(outcomes, "not here, it takes minutes")
				continue
			}
			tell := func(outcome string) {
				if slices.Contains(listed, name) {
					told, outcomes = append(told, name), append(outcomes, outcome)
				}
			}
			var small *condense.Condensed
			err := attempt(t, func() (err error) {
				small, err = method(t, name, c.set).Condense(t.Context(), c.graph, c.nodes, 1)
				return err
			})
			if err != nil {
				tell(said(err))
				continue
			}
			what := c.name + ", " + name
			sound(t, what, small, c.graph, c.nodes)
			outcome := fmt.Sprintf("%d nodes", small.Nodes())
			if len(small.Warnings) > 0 {
				outcome += " and a warning"
			}
			if account, err := cgc.AccountOf(small); err == nil && account.Singular != nil {
				outcome += ", from a singular system"
			}
			tell(outcome)
		}
		grouped(&text, c.name, told, outcomes)
	}
	golden.Compare(t, "testdata/methods.txt", text.Bytes())
}

// TestMethodsThatTakeLong checks that the methods that take minutes on a large star honour cancellation in the middle
// of their work, once their longest stage has begun. On this smaller star, they would finish in seconds.
func TestMethodsThatTakeLong(t *testing.T) {
	g := star(t, 50_000)
	for _, name := range takeLong {
		t.Run(name, func(t *testing.T) {
			ctx, end := context.WithCancel(t.Context())
			defer end()
			longest := "prepare"
			if name == "a-cm-classwise" {
				longest = "merge"
			}
			var late []string // stages that begin after the cancellation
			heard := progress.With(ctx, func(e progress.Event) {
				if ctx.Err() != nil && e.Stage != longest {
					late = append(late, e.Stage)
				}
				if e.Stage == longest {
					end()
				}
			})
			err := attempt(t, func() error {
				_, err := method(t, name, fewest).Condense(heard, g, 6, 1)
				return err
			})
			mattest.True(t, errors.Is(err, context.Canceled) && len(late) == 0,
				"ended in the stage %q: error %v, want %v; later stages: %q", longest, err, context.Canceled, late)
		})
	}
}

// TestModels trains every model on every awkward graph and on its graph condensed by cgc. Losses, weights and
// accuracies must be finite, or the error must be the one in the list.
func TestModels(t *testing.T) {
	slow.Test(t, "every model trains on every awkward graph")
	var text bytes.Buffer
	for _, c := range trials(t) {
		if c.same {
			continue
		}
		target, err := gnn.NewTarget(c.graph, false)
		if err != nil {
			grouped(&text, c.name, []string{"all"}, []string{said(err)})
			continue
		}
		samples := map[string]*gnn.Sample{"whole": target.Sample()}
		if small, err := method(t, "cgc", c.set).Condense(t.Context(), c.graph, c.nodes, 1); err == nil {
			samples["condensed"] = experiment.Sample(small)
		}
		for _, on := range []string{"condensed", "whole"} {
			sample := samples[on]
			if sample == nil {
				continue
			}
			var outcomes []string
			training := gnn.Defaults()
			training.Hidden, training.Epochs = 8, 3
			if len(sample.Y) > 1000 {
				training.Epochs = 1
			}
			for _, m := range gnn.All() {
				outcomes = append(outcomes, trained(t, c.name+", "+on+", "+m.Name(), m, sample, target, training))
			}
			grouped(&text, c.name+", "+on, gnn.Names(), outcomes)
		}
	}
	golden.Compare(t, "testdata/models.txt", text.Bytes())
}

// trained trains a model and returns the outcome for the list.
func trained(t *testing.T, what string, m gnn.Model, s *gnn.Sample, target *gnn.Target, config gnn.Config) string {
	t.Helper()
	var r *gnn.Result
	err := attempt(t, func() (err error) {
		r, err = gnn.Train(context.Background(), m, s, target, config, rand.NewPCG(1, 1))
		return err
	})
	if err != nil {
		return said(err)
	}
	for _, v := range []float64{r.Validation, r.Test} {
		mattest.True(t, v >= 0 && v <= 100, "%s: accuracy %v", what, v)
	}
	for epoch, loss := range r.Losses {
		mattest.True(t, !math.IsNaN(float64(loss)) && !math.IsInf(float64(loss), 0),
			"%s: loss %v in epoch %d", what, loss, epoch+1)
	}
	for _, p := range r.Trained.Parameters {
		finite(t, what+": weights", p)
	}
	return "finite"
}

// TestAccountOfSingularSystems checks that the run metadata contains the rank and the condition number of singular and
// nearly singular systems, and of no others.
func TestAccountOfSingularSystems(t *testing.T) {
	account := func(g *graph.Graph, set map[string]any) cgc.Account {
		t.Helper()
		small := mattest.Must(method(t, "cgc", set).Condense(t.Context(), g, 18, 1))
		return mattest.Must(cgc.AccountOf(small))
	}
	ordinaryGraph := built(t, "ordinary", ordinary(nil))
	if a := account(ordinaryGraph, nil); a.Singular != nil || a.Assessed.Condition != 0 || a.Assessed.Rank != 8 {
		t.Errorf("an ordinary graph: %+v", a)
	}
	twins := built(t, "twins", ordinary(func(_ *graph.Builder, x *mat.Dense) { // all nodes of a class have equal features
		clear(x.Data)
		for v := range x.Rows {
			x.Row(v)[v%3] = 1
		}
	}))
	noHops := map[string]any{"threshold": 0.5, "degree": 0, "alpha": 0, "hops": 0}
	if a := account(twins, noHops); a.Singular != nil || a.Assessed.Rank != 3 { // Q = I
		t.Errorf("without hops: %+v", a)
	}
	isolated := *twins
	isolated.Adj = built(t, "no edges", ordinary(func(b *graph.Builder, _ *mat.Dense) { noEdges(b) })).Adj
	a := account(&isolated, map[string]any{"threshold": 0.5, "degree": 0, "alpha": 0, "hops": 2})
	want := generate.Singular{Components: 3, Nodes: 18, Rank: 3, Condition: 1} // Â′ of a clique has rank 1
	mattest.True(t, a.Singular != nil && *a.Singular == want, "three cliques without α: %+v, want %+v", a.Singular, want)
	steep := built(t, "steep", ordinary(func(b *graph.Builder, x *mat.Dense) {
		for v := range x.Rows {
			for j := range x.Cols { // columns of similar norm that become more and more alike
				x.Row(v)[j] = x.Row(v)[0] + float32(math.Pow(0.25, float64(j)))*x.Row(v)[j]
			}
		}
	}))
	if a := account(steep, map[string]any{"hops": 0}); a.Assessed.Condition < 1000 {
		t.Errorf("columns that are nearly equal: rank %d and condition %v", a.Assessed.Rank, a.Assessed.Condition)
	}
}
