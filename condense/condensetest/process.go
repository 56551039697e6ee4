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

// seed checks that the same seed gives the same bytes. A method that claims Random must give another graph for at least
// one of four other seeds.
func (t *trial) seed() error {
	first, err := t.small(t.method, 1)
	if err != nil {
		return err
	}
	want, err := t.saved(first)
	if err != nil {
		return err
	}
	again, err := t.bytesOf(t.method, t.g, t.nodes)
	if err != nil {
		return err
	}
	if again != want {
		return errors.New("the same seed gives two condensed graphs")
	}
	if !slices.Contains(t.claims, Random) {
		_, err := t.small(t.method, 2)
		return err
	}
	for _, seed := range []uint64{0, 2, 3, 4} {
		other, err := t.small(t.method, seed)
		if err != nil {
			return err
		}
		if fmt.Sprint(other.X.Data, other.Members) != fmt.Sprint(first.X.Data, first.Members) {
			return nil
		}
	}
	return errors.New("five seeds give one condensed graph: the seed is not read")
}

// threads checks that 1, 2 and 7 threads give the same bytes.
func (t *trial) threads() error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	// The 16,500 feature values of this graph are split over several goroutines.
	large := shape{name: "large", train: []int{450, 320, 180}, outside: 550, degree: 5}
	for _, s := range []shape{ordinary, large} {
		g := s.made()
		var first string
		for _, n := range []int{1, 2, 7} {
			runtime.GOMAXPROCS(n)
			file, err := t.bytesOf(t.method, g, 40)
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

// cancellation checks that Condense returns ctx's error and no graph if ctx ends before the call or at any event that
// the method reports. The same holds for the two calls of a condense.Preparer.
func (t *trial) cancellation() error {
	err := t.cancelled("", func(ctx context.Context) (bool, error) {
		small, err := t.condense(ctx, t.method, t.g, t.nodes, 1)
		return small != nil, err
	})
	preparer, is := t.method.(condense.Preparer)
	if !is || err != nil {
		return err
	}
	err = t.cancelled("Prepare, ", func(ctx context.Context) (bool, error) {
		p, err := preparer.Prepare(ctx, t.g)
		return p != nil, err
	})
	prepared, wrong := preparer.Prepare(t.ctx, t.g)
	if wrong != nil {
		return errors.Join(err, wrong)
	}
	return errors.Join(err, t.cancelled("what was prepared, ", func(ctx context.Context) (bool, error) {
		small, err := prepared.Condense(ctx, t.method, t.nodes, 1)
		return small != nil, err
	}))
}

// cancelled ends the context of a call before the call, then at each of its first 100 events. made reports whether the
// call returned a value.
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
			errs = append(errs, fmt.Errorf("cancelled %s%s: error %v, expected %v and nothing made", what, stage, err,
				context.Canceled))
		}
		cancel()
	}
	return errors.Join(errs...)
}

// testLabels checks that the labels of test nodes do not affect the bytes.
func (t *trial) testLabels() error {
	return t.relabelled("test", func(s graph.Split) []int32 { return s.Test })
}

// validationLabels checks that the labels of validation nodes do not affect the bytes, unless the method claims
// ReadsValidation.
func (t *trial) validationLabels() error {
	if slices.Contains(t.claims, ReadsValidation) {
		return nil
	}
	return t.relabelled("validation", func(s graph.Split) []int32 { return s.Val })
}

// relabelled shuffles the labels of a part, moves each to the next class, and gives all nodes class 0.
func (t *trial) relabelled(part string, of func(graph.Split) []int32) error {
	want, err := t.bytesOf(t.method, t.g, t.nodes)
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
				y[i] = (y[i] + 1) % int32(t.g.Classes)
			}
		}},
		{"all of class 0", func(y []int32) { clear(y) }},
	} {
		other := ordinary.made()
		y := t.g.Labels(of(t.g.Split))
		change.y(y)
		for i, v := range of(t.g.Split) {
			other.Y[v] = y[i]
		}
		got, err := t.bytesOf(t.method, other, t.nodes)
		if err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("labels of %s nodes, %s, change the condensed graph", part, change.how)
		}
	}
	return nil
}

// inductive checks that all source nodes are training nodes, and that the features of other nodes have no effect.
func (t *trial) inductive() error {
	m := condense.Under(condense.Setting{Inductive: true}, t.method)
	small, err := t.small(m, 1)
	if err != nil {
		return err
	}
	if !small.Inductive || small.GraphNodes != t.g.Nodes() {
		return fmt.Errorf("inductive %v, of %d nodes, must be true and %d", small.Inductive, small.GraphNodes, t.g.Nodes())
	}
	if small.Members != nil {
		for _, v := range small.Members.Indices {
			if _, trains := slices.BinarySearch(t.g.Split.Train, v); !trains {
				return fmt.Errorf("node %d is a source node, must be a training node", v)
			}
		}
	}
	other := ordinary.made()
	for v := range int32(t.g.Nodes()) {
		if _, trains := slices.BinarySearch(t.g.Split.Train, v); !trains {
			clear(other.X.(*mat.Dense).Row(int(v)))
		}
	}
	want, err := t.bytesOf(m, t.g, t.nodes)
	if err != nil {
		return err
	}
	got, err := t.bytesOf(m, other, t.nodes)
	if err == nil && got != want {
		err = errors.New("features of nodes that do not train change the condensed graph")
	}
	return errors.Join(err, t.reload(small))
}

// normalize checks that NormalizeFeatures gives the same X′ as condensing a graph with normalised features.
func (t *trial) normalize() error { return t.features(condense.Setting{NormalizeFeatures: true}) }

// standardize checks that Standardize gives the same X′ as condensing a graph with scaled features.
func (t *trial) standardize() error { return t.features(condense.Setting{Standardize: true}) }

// features checks that a setting gives the same X′ as condensing a graph whose features are preprocessed that way.
func (t *trial) features(s condense.Setting) error {
	small, err := t.small(condense.Under(s, t.method), 1)
	if err != nil {
		return err
	}
	if is := small.Setting(); is != s {
		return fmt.Errorf("the setting of the condensed graph is %+v, expected %+v", is, s)
	}
	seen, err := small.Seen(t.ctx, t.g)
	if err != nil {
		return err
	}
	plain, err := t.condense(t.ctx, t.method, seen, t.nodes, 1)
	if err != nil {
		return err
	}
	if !slices.Equal(plain.X.Data, small.X.Data) {
		return fmt.Errorf("under %+v, X′ differs from that of the graph with such features", s)
	}
	return t.reload(small)
}

// preparation checks that condensing concurrently from one preparation gives the same bytes as Condense.
func (t *trial) preparation() error {
	preparer, is := t.method.(condense.Preparer)
	if !is {
		return nil
	}
	if !preparer.SharesPreparation(t.method) {
		return errors.New("the method does not share its preparation with itself")
	}
	prepared, err := preparer.Prepare(t.ctx, t.g)
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	var errs [6]error
	for i := range errs {
		nodes, seed := sizesOf(t.g)[i%3], uint64(i/3)
		group.Go(func() {
			small, err := prepared.Condense(t.ctx, t.method, nodes, seed)
			if err != nil {
				errs[i] = err
				return
			}
			own, err := t.condense(t.ctx, t.method, t.g, nodes, seed)
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
