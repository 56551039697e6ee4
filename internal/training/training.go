// Package training trains many models at once, with random sources that do not depend on their order, on targets that
// fit the memory limit.
package training

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/progress"
)

// Job is one training run.
type Job struct {
	Model gnn.Model
	// The model is trained on Sample, and validated and tested on Target.
	Sample *gnn.Sample
	Target *gnn.Target
	// Training is the configuration. Seed is the random seed of weights and dropout.
	Training gnn.Config
	Seed     uint64
}

// Run runs jobs concurrently, since one condensed graph is too small to keep all threads busy, or one after another if
// inOrder is set or if a target streams its graph.
//
// When a job ends, Run calls ended with its result; calls do not overlap. The first error of a training run, or of
// ended, stops the other jobs and is returned. Results do not depend on inOrder.
func Run(ctx context.Context, jobs []Job, inOrder bool, ended func(i int, r *gnn.Result) error) (err error) {
	defer memory.Recover(&err)
	chunk := 1
	if inOrder || slices.ContainsFunc(jobs, func(j Job) bool { return j.Target.Streams() }) {
		chunk = max(1, len(jobs))
	}
	caller := ctx
	ctx, cancel := context.WithCancelCause(Uncounted(ctx))
	defer cancel(nil)
	var mu sync.Mutex
	run := func(i int, j Job) {
		cause := context.Canceled // if the training panics, which ForContext raises again
		defer func() {
			if cause != nil { // later calls change nothing
				cancel(cause)
			}
		}()
		r, err := gnn.Train(ctx, j.Model, j.Sample, j.Target, j.Training, Source(j.Model, j.Seed))
		if err != nil {
			cause = fmt.Errorf("training %s: %w", j.Model.Name(), err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		cause = ended(i, r)
	}
	_ = parallel.ForContext(ctx, len(jobs), chunk, func(lo, hi int) {
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			run(i, jobs[i])
		}
	})
	return cmp.Or(caller.Err(), context.Cause(ctx)) // not the cause of the caller's ctx, which errors.Is may not know
}

// Target returns the target for g within a memory limit (gnn.TargetWithin). If testing one of the models on it exceeds
// the limit, it returns the *gnn.MemoryError of the model that needs the most. If planned is not nil, Target calls it
// with the plan of each model.
func Target(
	ctx context.Context, g *graph.Graph, inductive bool, bound int64, models []gnn.Model, hidden int,
	planned func(*gnn.Plan),
) (*gnn.Target, error) {
	target, err := gnn.TargetWithin(ctx, g, inductive, bound)
	if err != nil {
		return nil, err
	}
	var largest *gnn.MemoryError
	for _, m := range models {
		plan, err := target.Plan(m, hidden)
		if plan != nil && planned != nil && err == nil {
			planned(plan)
		}
		large := new(gnn.MemoryError)
		switch {
		case err == nil:
		case !errors.As(err, &large):
			return nil, err
		case largest == nil || large.Need > largest.Need:
			largest = large
		}
	}
	if largest != nil {
		return nil, largest
	}
	return target, nil
}

// Uncounted returns ctx without the counted events of the jobs, such as the epochs of a training run, because a grid
// counts condensations and training runs instead. Events without a total are passed on.
func Uncounted(ctx context.Context) context.Context {
	return progress.With(ctx, func(e progress.Event) {
		if e.Total == 0 {
			progress.Report(ctx, e)
		}
	})
}

// firstStream is the first random stream for training, which uses streams below 2³³. Condensation uses streams below
// 2³² and from 2⁴⁰ on, and searches use streams from 2³³ on.
const firstStream = 1 << 32

// streams lists the models with a fixed random stream. Each model has its own stream, so that a training run does not
// depend on other training runs. For models that are not listed, the stream is a hash of their name.
var streams = []string{"gcn", "sgc", "sage", "appnp", "cheby", "gat"}

// Source returns the random source of weights and dropout for training m with the given seed. gnn.Train with
// this source repeats the training of an experiment.Evaluation.
func Source(m gnn.Model, seed uint64) rand.Source {
	stream := slices.Index(streams, m.Name())
	if stream < 0 {
		name := fnv.New32a()
		name.Write([]byte(m.Name()))
		stream = len(streams) + int(name.Sum32()>>1)
	}
	return rand.NewPCG(seed, firstStream+uint64(stream))
}
