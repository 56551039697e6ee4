package experiment

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/graph-condensation/cgc/gnn"
)

// job is one training.
type job struct {
	model  gnn.Model
	sample *gnn.Sample
	target *gnn.Target
	config gnn.Config
	seed   uint64
}

// train carries out the jobs, up to atOnce of them at a time (0: as many as there are threads), since a condensed graph is too small to keep all threads busy. As each
// ends, ended gets its result, one call at a time; an error of it, as of a training, stops the rest.
func train(ctx context.Context, jobs []job, atOnce int, ended func(i int, r *gnn.Result) error) error {
	if atOnce == 0 {
		atOnce = runtime.GOMAXPROCS(0)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		free  = make(chan struct{}, atOnce)
		group sync.WaitGroup
		mu    sync.Mutex
	)
	for i, j := range jobs {
		free <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		group.Go(func() {
			defer func() { <-free }()
			r, err := gnn.Train(ctx, j.model, j.sample, j.target, j.config, trainingSource(j.model, j.seed))
			if err != nil {
				cancel(fmt.Errorf("training %s: %w", j.model.Name(), err)) // the first error stands
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if err := ended(i, r); err != nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	err := context.Cause(ctx)
	if errors.Is(err, context.Canceled) {
		return context.Canceled
	}
	return err
}

// The streams of random numbers of trainings, apart from those of condensation. Each model has its own, so that a training's numbers do not depend on what else is trained; one that
// is not in the list gets one from its name.
const trainingStream = 1 << 32

var streams = []string{"gcn", "sgc", "sage", "appnp", "cheby", "gat"}

// trainingSource returns what a training draws weights and dropout from.
func trainingSource(m gnn.Model, seed uint64) rand.Source {
	stream := slices.Index(streams, m.Name())
	if stream < 0 {
		name := fnv.New32a()
		name.Write([]byte(m.Name()))
		stream = len(streams) + int(name.Sum32()>>1)
	}
	return rand.NewPCG(seed, trainingStream+uint64(stream))
}

// tally counts finished work for a progress function.
type tally struct {
	mu       sync.Mutex
	finished int
	total    int
	report   func(done, total int, what string)
}

func (t *tally) done(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.finished++
	if t.report != nil {
		t.report(t.finished, t.total, what)
	}
}
