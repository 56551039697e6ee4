package condensetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
)

// seed wants the same bytes from the same seed. A method that claims to be random must differ for one of four others.
func (t *trial) seed() error {
	g := ordinary.made()
	nodes := sizesOf(g)[1]
	var files []string
	for _, seed := range []uint64{1, 1, 2, 3, 4, 5} {
		file, err := t.bytesOf(t.method, g, nodes, seed)
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	if files[1] != files[0] {
		return errors.New("the same seed gives two condensed graphs")
	}
	if !slices.Contains(t.claims, Random) {
		return nil
	}
	rows := map[string]bool{}
	for seed := range uint64(5) {
		small, err := t.condense(t.ctx, t.method, g, nodes, seed)
		if err != nil {
			return err
		}
		rows[fmt.Sprint(small.X.Data, small.Members)] = true
	}
	if len(rows) == 1 {
		return errors.New("five seeds give one condensed graph: the seed is not read")
	}
	return nil
}

// threads wants the same bytes for 1, 2 and 7 threads.
func (t *trial) threads() error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	large := shape{name: "large", train: []int{700, 500, 300}, outside: 900, degree: 5}
	for _, s := range []shape{ordinary, large} {
		g := s.made()
		var first string
		for _, n := range []int{1, 2, 7} {
			runtime.GOMAXPROCS(n)
			file, err := t.bytesOf(t.method, g, 40, 1)
			if err != nil {
				return err
			}
			if first == "" {
				first = file
			} else if file != first {
				return fmt.Errorf("graph %q: %d threads give another condensed graph than 1", s.name, n)
			}
		}
	}
	return nil
}

// cancellation wants ctx's error, and no graph, when ctx ends before the call, and when it ends at any event that the
// method reports. The same holds for what a condense.Preparer does in two calls.
func (t *trial) cancellation() error {
	g := ordinary.made()
	nodes := sizesOf(g)[1]
	err := t.cancelled("", func(ctx context.Context) (bool, error) {
		small, err := t.condense(ctx, t.method, g, nodes, 1)
		return small != nil, err
	})
	preparer, is := t.method.(condense.Preparer)
	if !is || err != nil {
		return err
	}
	err = t.cancelled("Prepare, ", func(ctx context.Context) (bool, error) {
		p, err := preparer.Prepare(ctx, g)
		return p != nil, err
	})
	prepared, wrong := preparer.Prepare(t.ctx, g)
	if wrong != nil {
		return errors.Join(err, wrong)
	}
	return errors.Join(err, t.cancelled("what was prepared, ", func(ctx context.Context) (bool, error) {
		small, err := prepared.Condense(ctx, t.method, nodes, 1)
		return small != nil, err
	}))
}

// cancelled ends the context of a call before it, and at each event. made says whether the call returned something.
func (t *trial) cancelled(what string, call func(ctx context.Context) (made bool, err error)) error {
	events := 0
	if _, err := call(progress.With(t.ctx, func(progress.Event) { events++ })); err != nil {
		return err
	}
	var errs []error
	for stop := range min(events, 100) + 1 { // 0 stops before the call
		ctx, cancel := context.WithCancel(t.ctx)
		if stop == 0 {
			cancel()
		}
		seen, stage := 0, "before the call"
		ctx = progress.With(ctx, func(e progress.Event) {
			if seen++; seen == stop {
				stage = "at " + e.String()
				cancel()
			}
		})
		made, err := call(ctx)
		if ctx.Err() != nil && (!errors.Is(err, context.Canceled) || made) {
			errs = append(errs, fmt.Errorf("cancelled %s%s: error %v, want %v and nothing made", what, stage, err,
				context.Canceled))
		}
		cancel()
	}
	return errors.Join(errs...)
}

// testLabels wants the same bytes for any labels of the test nodes.
func (t *trial) testLabels() error {
	return t.relabelled("test", func(s graph.Split) []int32 { return s.Test })
}

// validationLabels wants the same of validation nodes, unless the method says that it reads them.
func (t *trial) validationLabels() error {
	if slices.Contains(t.claims, ReadsValidation) {
		return nil
	}
	return t.relabelled("validation", func(s graph.Split) []int32 { return s.Val })
}

// relabelled shuffles the labels of a part, moves each to the next class, and gives all nodes class 0.
func (t *trial) relabelled(part string, of func(graph.Split) []int32) error {
	g := ordinary.made()
	nodes := sizesOf(g)[1]
	want, err := t.bytesOf(t.method, g, nodes, 1)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(3, 0))
	for _, change := range []struct {
		how string
		y   func(old []int32)
	}{
		{"shuffled", func(y []int32) { random.Shuffle(len(y), func(i, j int) { y[i], y[j] = y[j], y[i] }) }},
		{"moved to the next class", func(y []int32) {
			for i := range y {
				y[i] = (y[i] + 1) % int32(g.Classes)
			}
		}},
		{"all of class 0", func(y []int32) { clear(y) }},
	} {
		other := copied(g)
		y := g.Labels(of(g.Split))
		change.y(y)
		for i, v := range of(g.Split) {
			other.Y[v] = y[i]
		}
		got, err := t.bytesOf(t.method, other, nodes, 1)
		if err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("labels of %s nodes, %s, change the condensed graph", part, change.how)
		}
	}
	return nil
}

// inductive wants members that train, and no effect of other nodes' features.
func (t *trial) inductive() error {
	m := condense.Under(condense.Setting{Inductive: true}, t.method)
	g := ordinary.made()
	nodes := sizesOf(g)[1]
	small, err := t.condense(t.ctx, m, g, nodes, 1)
	if err != nil {
		return err
	}
	if !small.Inductive || small.GraphNodes != g.Nodes() {
		return fmt.Errorf("inductive %v, of %d nodes, want true and %d", small.Inductive, small.GraphNodes, g.Nodes())
	}
	if small.Members != nil {
		for _, v := range small.Members.Indices {
			if _, trains := slices.BinarySearch(g.Split.Train, v); !trains {
				return fmt.Errorf("condensed nodes stand for node %d, which does not train", v)
			}
		}
	}
	other := copied(g)
	for v := range int32(g.Nodes()) {
		if _, trains := slices.BinarySearch(g.Split.Train, v); !trains {
			clear(other.X.(*mat.Dense).Row(int(v)))
		}
	}
	want, err := t.bytesOf(m, g, nodes, 1)
	if err != nil {
		return err
	}
	got, err := t.bytesOf(m, other, nodes, 1)
	if err == nil && got != want {
		err = errors.New("features of nodes that do not train change the condensed graph")
	}
	return errors.Join(err, t.reload(small))
}

// normalize wants what condensing the graph with normalised features gives.
func (t *trial) normalize() error { return t.features(condense.Setting{NormalizeFeatures: true}) }

// standardize wants what condensing the scaled graph gives.
func (t *trial) standardize() error { return t.features(condense.Setting{Standardize: true}) }

// features wants what condensing the graph gives whose features are those that the setting shows.
func (t *trial) features(s condense.Setting) error {
	g := ordinary.made()
	nodes := sizesOf(g)[1]
	small, err := t.condense(t.ctx, condense.Under(s, t.method), g, nodes, 1)
	if err != nil {
		return err
	}
	if is := small.Setting(); is != s {
		return fmt.Errorf("the setting of the condensed graph is %+v, want %+v", is, s)
	}
	seen, err := small.Seen(t.ctx, g)
	if err != nil {
		return err
	}
	plain, err := t.condense(t.ctx, t.method, seen, nodes, 1)
	if err != nil {
		return err
	}
	if !slices.Equal(plain.X.Data, small.X.Data) {
		return fmt.Errorf("under %+v, X′ differs from that of the graph with such features", s)
	}
	return t.reload(small)
}

// preparation wants the same bytes from what is prepared once, several at a time, as from Condense.
func (t *trial) preparation() error {
	preparer, is := t.method.(condense.Preparer)
	if !is {
		return nil
	}
	if !preparer.SharesPreparation(t.method) {
		return errors.New("the method does not share its preparation with itself")
	}
	g := ordinary.made()
	prepared, err := preparer.Prepare(t.ctx, g)
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	var errs [6]error
	for i := range errs {
		nodes, seed := sizesOf(g)[i%3], uint64(i/3)
		group.Go(func() {
			small, err := prepared.Condense(t.ctx, t.method, nodes, seed)
			if err != nil {
				errs[i] = err
				return
			}
			own, err := t.condense(t.ctx, t.method, g, nodes, seed)
			if err == nil && fmt.Sprint(own.X.Data, own.Y, own.Members, own.Adj) !=
				fmt.Sprint(small.X.Data, small.Y, small.Members, small.Adj) {
				err = fmt.Errorf("%d nodes, seed %d: another graph from what was prepared", nodes, seed)
			}
			errs[i] = err
		})
	}
	group.Wait()
	return errors.Join(errs[:]...)
}
