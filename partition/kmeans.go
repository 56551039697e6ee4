package partition

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/mat"
)

// KMeans is Lloyd's algorithm from a k-means++ start. The zero value is ready to use.
//
// It lowers Σ_i ‖x_i − c_π(i)‖², the bound on the paper's matching objective for a graphless condensed graph (§2.3).
// Each iteration does three things:
//
//  1. It puts every row in the group of the nearest mean.
//  2. It starts a group that fell empty again, at the row farthest from its mean.
//  3. It takes the new means.
//
// It stops when no row moves, or when a move would not lower the objective, and keeps the best of several runs. An
// iteration costs 2·n·k·d operations in one matrix product, whose n×k result is never stored. The sums of the groups
// are float64 and follow only the rows that moved.
//
// With 2·max(1024, 128·k) rows or more, the runs are over a sample of half that number, drawn from the source. One run
// over all rows then starts from the best means. It reads the rows where they are, without a copy.
type KMeans struct {
	// Iterations bounds the iterations of a run. 0 means 25. On a mixture of 23 thousand rows in 97 groups, the objective
	// after 25 iterations is 0.002% above the final one, and after 10 iterations 0.1%. Small classes end before.
	Iterations int
	// Tolerance ends a run after an iteration that lowers the objective by less than this share of it. 0 means none: a
	// run ends when nothing changes.
	Tolerance float64
	// Restarts is the number of runs, each from a start of its own. 0 means as many as keep n·k·(d+16) below 2²² in all,
	// from 1 to 100: the multiplications, and 16 for the other costs of a distance. If rows are few, d counts as at most
	// n.
	//
	// In small classes a group has few rows, so that the start decides much, and runs cost next to nothing. With the 20
	// rows of Cora's classes in 10 groups, the objective is 0.326±0.020 of the total after 1 run, 0.285±0.009 after 5,
	// 0.272±0.007 after 10 and 0.250±0.002 after 200. Validation accuracy rises and spreads less
	// (docs/design/defaults.md).
	Restarts int
}

const (
	defaultIterations = 25
	mostRestarts      = 100
	restartWork       = 1 << 22
	distanceWork      = 16
)

// Partition implements Partitioner. If there are fewer distinct rows than groups, equal rows may be in different
// groups.
func (m KMeans) Partition(ctx context.Context, x [][]float32, k int, src rand.Source) (Groups, error) {
	if err := errors.Join(m.check(), check(x, k)); err != nil {
		return Groups{}, err
	}
	if k == len(x) {
		return singletons(k), errors.Join(finite(x), ctx.Err())
	}
	random := rand.New(src)
	if size := sampleSize(k); len(x) >= 2*size {
		groups, err := m.fromSample(ctx, x, k, sampled(x, size, random), random)
		if err != errUnlike {
			return groups, err
		}
	}
	p, err := newPoints(ctx, x)
	if err != nil {
		return Groups{}, err
	}
	groups, _, err := m.best(ctx, p, k, m.restarts(p.n, p.d, k), random)
	return groups, err
}

// fromSample partitions x from the means that the best of several runs finds for some of the rows. The error is
// errUnlike if the sample does not tell how large all rows are.
func (m KMeans) fromSample(ctx context.Context, x [][]float32, k int, some [][]float32, random *rand.Rand) (Groups,
	error) {
	sample, err := newPoints(ctx, some)
	if err != nil || sample.unit != 1 || sample.total == 0 {
		return Groups{}, errUnlike
	}
	found, centres, err := m.best(ctx, sample, k, m.restarts(len(x), sample.d, k), random)
	if err != nil {
		return Groups{}, err
	}
	l := newLloyd(sample.others(x), k)
	copy(l.centres.Data, centres.Data)
	stats, err := l.run(ctx, m.iterations(), m.Tolerance)
	if err != nil {
		return Groups{}, err
	}
	stats.Restarts = found.Stats.Restarts
	stats.Visits += found.Stats.Visits
	return Groups{Of: l.of, K: k, Stats: stats}, nil
}

// best returns the groups of the best of several runs, and their means.
func (m KMeans) best(ctx context.Context, p *points, k, restarts int, random *rand.Rand) (best Groups,
	centres *mat.Dense, err error) {
	l := newLloyd(p, k)
	lowest, visits := 0.0, 0
	for r := range restarts {
		p.x.Gather(l.centres, p.plusPlus(k, random))
		stats, err := l.run(ctx, m.iterations(), m.Tolerance)
		if err != nil {
			return Groups{}, nil, err
		}
		visits += stats.Visits
		if last := stats.Objective[len(stats.Objective)-1]; r == 0 || last < lowest {
			lowest = last
			best = Groups{Of: append(best.Of[:0], l.of...), K: k, Stats: stats}
			centres = l.centres
			if r+1 < restarts {
				centres = l.centres.Clone()
			}
		}
	}
	best.Stats.Restarts, best.Stats.Visits = restarts, visits
	return best, centres, nil
}

// restarts returns the number of runs for k groups of n points of d coordinates.
func (m KMeans) restarts(n, d, k int) int {
	if m.Restarts == 0 {
		return max(1, min(mostRestarts, restartWork/(n*k*(d+distanceWork))))
	}
	return m.Restarts
}

func (m KMeans) iterations() int {
	if m.Iterations == 0 {
		return defaultIterations
	}
	return m.Iterations
}

func (m KMeans) check() error {
	var errs []error
	if m.Iterations < 0 {
		errs = append(errs, fmt.Errorf("partition: %d iterations of k-means, want 0 (for %d) or more", m.Iterations,
			defaultIterations))
	}
	if !(m.Tolerance >= 0) {
		errs = append(errs, fmt.Errorf("partition: tolerance %v of k-means, want 0 (none) or more", m.Tolerance))
	}
	if m.Restarts < 0 {
		errs = append(errs, fmt.Errorf("partition: %d restarts of k-means, want 0 (for a number by size) or more",
			m.Restarts))
	}
	return errors.Join(errs...)
}
