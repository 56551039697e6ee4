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
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/progress"
)

// Job is one training.
type Job struct {
	Model gnn.Model
	// Sample is trained on, Target validates and tests.
	Sample *gnn.Sample
	Target *gnn.Target
	// Training says how, and Seed decides weights and dropout.
	Training gnn.Config
	Seed     uint64
}

// Train carries out jobs side by side, since one condensed graph is too small to keep all threads busy. At most atOnce
// of them run at a time; 0 means the number of threads. If a target reads its graph in order, one runs at a time.
//
// As each job ends, ended gets its result, one call at a time. The first error of a training, or of ended, stops the
// rest and is returned. Results do not depend on atOnce.
func Train(ctx context.Context, jobs []Job, atOnce int, ended func(i int, r *gnn.Result) error) (err error) {
	defer memory.Recover(&err)
	if atOnce == 0 {
		atOnce = runtime.GOMAXPROCS(0)
	}
	if slices.ContainsFunc(jobs, func(j Job) bool { return j.Target.Streams() }) {
		atOnce = 1
	}
	ctx, cancel := context.WithCancelCause(uncounted(ctx))
	defer cancel(nil)
	var (
		free  = make(chan struct{}, atOnce)
		group parallel.Group
		mu    sync.Mutex
	)
	for i, j := range jobs {
		free <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		group.Go(func() {
			panics := true
			defer func() {
				if panics { // Wait raises it again
					cancel(context.Canceled)
				}
				<-free
			}()
			r, err := gnn.Train(ctx, j.Model, j.Sample, j.Target, j.Training, TrainingSource(j.Model, j.Seed))
			panics = false
			if err != nil {
				cancel(fmt.Errorf("training %s: %w", j.Model.Name(), err)) // the first error stands
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
	err = context.Cause(ctx)
	if errors.Is(err, context.Canceled) {
		return context.Canceled
	}
	return err
}

// uncounted returns ctx without the counted events of the work below, such as the epochs of a training: a grid counts
// condensations and trainings. Events without a total pass.
func uncounted(ctx context.Context) context.Context {
	return progress.With(ctx, func(e progress.Event) {
		if e.Total == 0 {
			progress.Report(ctx, e)
		}
	})
}

// trainingStream is the first stream of random numbers of trainings. Condensation has lower ones.
const trainingStream = 1 << 32

// streams lists models by the number of their stream. Each model has its own, so that the numbers of a training do not
// depend on what else is trained. A model that is not here has a stream by the hash of its name.
var streams = []string{"gcn", "sgc", "sage", "appnp", "cheby", "gat"}

// TrainingSource returns what a training of m with a seed draws weights and dropout from. A caller of gnn.Train that
// uses it has the numbers of an Evaluation.
func TrainingSource(m gnn.Model, seed uint64) rand.Source {
	stream := slices.Index(streams, m.Name())
	if stream < 0 {
		name := fnv.New32a()
		name.Write([]byte(m.Name()))
		stream = len(streams) + int(name.Sum32()>>1)
	}
	return rand.NewPCG(seed, trainingStream+uint64(stream))
}
