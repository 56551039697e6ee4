package partition_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/partition"
)

// spread returns Σ_i ‖x_i − mean of its group‖², computed with plain loops.
func spread(x *mat.Dense, g partition.Groups) (sum float64) {
	for _, rows := range g.All() {
		mean := make([]float64, x.Cols)
		for _, i := range rows {
			for j, v := range x.Row(int(i)) {
				mean[j] += float64(v) / float64(len(rows))
			}
		}
		for _, i := range rows {
			for j, v := range x.Row(int(i)) {
				sum += (float64(v) - mean[j]) * (float64(v) - mean[j])
			}
		}
	}
	return sum
}

func group(t testing.TB, m partition.Partitioner, x *mat.Dense, k int, seed uint64) partition.Groups {
	t.Helper()
	return mattest.Must(m.Partition(t.Context(), x.View().Rows(), k, rand.NewPCG(seed, 0)))
}

// The objective in Stats equals the objective of the groups and never rises, for any rows. A run of t iterations equals
// the first t iterations of a longer run.
func TestKMeansObjective(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n, d := rapid.IntRange(2, 120).Draw(r, "n"), rapid.IntRange(1, 40).Draw(r, "d")
		k := rapid.IntRange(1, n-1).Draw(r, "k")
		seed := rapid.Uint64().Draw(r, "seed")
		x := mattest.Mixture(n, d, 5, seed)
		whole := spread(x, partition.Groups{Of: make([]int32, n), K: 1})
		full := group(t, partition.KMeans{Iterations: 100, Restarts: 1}, x, k, seed)
		if !full.Stats.Converged {
			r.Fatalf("%d rows: not converged after 100 iterations", n)
		}
		last := math.Inf(1)
		for it, reported := range full.Stats.Objective {
			g := group(t, partition.KMeans{Iterations: it + 1, Restarts: 1}, x, k, seed)
			got := spread(x, g)
			// The rows are centred in float32 first, which moves each by 2⁻²⁴ of its size.
			if math.Abs(got-reported) > 1e-6*whole {
				r.Fatalf("iteration %d: reported %v, computed %v", it, reported, got)
			}
			if got > last+1e-6*whole {
				r.Fatalf("iteration %d: objective rises from %v to %v", it, last, got)
			}
			last = got
		}
	})
}

// After convergence, no row is nearer to another mean than to its own.
func TestKMeansIsAtRest(t *testing.T) {
	x := mattest.Mixture(2500, 9, 12, 1)
	g := group(t, partition.KMeans{Iterations: 1000, Restarts: 1}, x, 20, 1)
	if !g.Stats.Converged || g.Stats.Restarts != 1 {
		t.Fatalf("stats %+v", g.Stats)
	}
	means := mat.NewDense(g.K, x.Cols)
	for j, rows := range g.All() {
		for c := range x.Cols {
			sum := 0.0
			for _, i := range rows {
				sum += float64(x.Row(int(i))[c])
			}
			means.Row(j)[c] = float32(sum / float64(len(rows)))
		}
	}
	distance := func(i, j int) (sum float64) {
		for c, v := range x.Row(i) {
			diff := float64(v) - float64(means.Row(j)[c])
			sum += diff * diff
		}
		return sum
	}
	for i, own := range g.Of {
		for j := range g.K {
			if distance(i, j) < distance(i, int(own))*(1-1e-5) { // float32 distances
				t.Fatalf("row %d is in group %d at %v, group %d is at %v", i, own, distance(i, int(own)), j, distance(i, j))
			}
		}
	}
}

func TestKMeansTolerance(t *testing.T) {
	x := mattest.Mixture(2500, 9, 12, 1)
	rest := group(t, partition.KMeans{Iterations: 1000, Restarts: 1}, x, 20, 1).Stats.Objective
	const tolerance = 0.01
	g := group(t, partition.KMeans{Iterations: 1000, Restarts: 1, Tolerance: tolerance}, x, 20, 1)
	want := 1
	for want < len(rest) && rest[want-1]-rest[want] >= tolerance*rest[want] {
		want++
	}
	if got := len(g.Stats.Objective); !g.Stats.Converged || got != want+1 || got >= len(rest) {
		t.Errorf("%d iterations, want %d of %d", got, want+1, len(rest))
	}
}

// Well-separated groups are found exactly, by a single run, because k-means++ starts in each of them.
func TestKMeansFindsTightGroups(t *testing.T) {
	const k, each, d = 25, 200, 6
	random := rand.New(rand.NewPCG(5, 6))
	x := mat.NewDense(k*each, d)
	centres := mat.NewDense(k, d)
	for i := range centres.Data {
		centres.Data[i] = float32(100 * random.NormFloat64())
	}
	for i := range x.Rows {
		for j := range d {
			x.Row(i)[j] = centres.Row(i % k)[j] + float32(random.NormFloat64())/100
		}
	}
	for seed := range uint64(10) {
		g := group(t, partition.KMeans{Restarts: 1}, x, k, seed)
		for i, j := range g.Of {
			if j != g.Of[i%k] {
				t.Fatalf("seed %d: rows %d and %d lie together but are in groups %d and %d", seed, i%k, i, g.Of[i%k], j)
			}
		}
	}
}

func TestKMeansSeparatesFewValues(t *testing.T) {
	x := mat.NewDense(100, 3)
	for i := range x.Rows {
		x.Row(i)[i%3] = float32(1 + i%5)
	}
	g := group(t, partition.KMeans{}, x, 15, 1) // 15 distinct rows
	if got := spread(x, g); got > 1e-20 {       // the mean of equal rows may differ in its last bit
		t.Errorf("objective %v with a group for each distinct row, want about 0", got)
	}
	if last := g.Stats.Objective[len(g.Stats.Objective)-1]; last > 1e-9 {
		t.Errorf("reported objective %v, want about 0", last)
	}
	if g := group(t, partition.KMeans{}, x, 40, 1); g.Stats.Reseeded == 0 {
		t.Error("15 distinct rows in 40 groups: no group was reseeded")
	}
}

// More runs from the same source only add candidates.
func TestKMeansRestartsKeepTheBest(t *testing.T) {
	x := mattest.Mixture(700, 30, 70, 2)
	last := math.Inf(1)
	better := 0
	for restarts := 1; restarts <= 10; restarts++ {
		g := group(t, partition.KMeans{Restarts: restarts}, x, 40, 7)
		mattest.Equal(t, g.Stats.Restarts, restarts, "restarts reported")
		got := spread(x, g)
		if got > last*(1+1e-6) { // rounding of the reported objectives that are compared
			t.Errorf("objective %v after %d runs, %v before", got, restarts, last)
		}
		if got < last {
			better++
		}
		last = got
	}
	if better < 2 {
		t.Errorf("ten runs found %d objectives to be the best: restarts draw no new starts", better)
	}
}

// With many rows, k-means starts from a sample of them. The result is as good as without one, and Stats reports its
// objective. It depends on all rows: a row outside the sample also moves the mean of its group.
func TestKMeansFromSample(t *testing.T) {
	x := mattest.Mixture(6000, 10, 15, 4)
	whole := spread(x, partition.Groups{Of: make([]int32, x.Rows), K: 1})
	var all, some float64
	const seeds = 5
	for seed := range uint64(seeds) {
		// One run each: 23 groups are the most for which a sample is used, and 24 are one too many.
		g := group(t, partition.KMeans{Restarts: 1, Iterations: 100}, x, 23, seed)
		mattest.Near(t, g.Stats.Objective[len(g.Stats.Objective)-1], spread(x, g), 1e-6*whole, "seed %d: objective", seed)
		if g.Stats.Visits%x.Rows == 0 || g.Stats.Restarts != 1 {
			t.Errorf("seed %d: %d visits of rows in %d runs: no sample", seed, g.Stats.Visits, g.Stats.Restarts)
		}
		some += spread(x, g) / seeds
		g = group(t, partition.KMeans{Restarts: 1, Iterations: 100}, x, 24, seed)
		if g.Stats.Visits%x.Rows != 0 {
			t.Errorf("seed %d: %d visits of %d rows: a sample", seed, g.Stats.Visits, x.Rows)
		}
		all += spread(x, g) / seeds
	}
	t.Logf("objective from all rows %.4f, from a sample %.4f of the total", all/whole, some/whole)
	if some > 1.05*all { // one group fewer, and random starts
		t.Errorf("objective %v from a sample, %v from all rows", some, all)
	}
}

// A shift and a scaling by a power of two change nothing if they are exact.
func TestKMeansIgnoresShiftAndScale(t *testing.T) {
	x := mattest.Mixture(400, 8, 6, 3)
	for i, v := range x.Data {
		x.Data[i] = float32(math.Round(float64(v * 8))) // small integers: the changed rows are exact
	}
	want := group(t, partition.KMeans{}, x, 9, 1)
	for _, scale := range []float64{1, 0x1p-80, 0x1p80} {
		changed := x.Clone()
		for i, v := range x.Data {
			changed.Data[i] = float32((float64(v) + 1<<20) * scale)
		}
		g := group(t, partition.KMeans{}, changed, 9, 1)
		// The mean is rounded to float32, so the centred rows differ in their last bits and a row on a border may change
		// sides.
		if a, b := spread(x, want), spread(changed, g)/scale/scale; math.Abs(a-b) > 1e-3*a {
			t.Errorf("scaled by %g: objective %v, as given %v", scale, b, a)
		}
		a, b := g.Stats.Objective[len(g.Stats.Objective)-1], spread(changed, g)
		mattest.Near(t, a, b, 1e-6*b, "scaled by %g: reported objective", scale)
	}
}

// ending is a random source that ends a context with its first number.
type ending struct {
	rand.Source
	end   func()
	drawn int
}

func (e *ending) Uint64() uint64 {
	e.end()
	e.drawn++
	return e.Source.Uint64()
}

// patient is a context that ends when it has been asked a number of times.
type patient struct {
	context.Context
	left atomic.Int64
}

func (p *patient) Err() error {
	if p.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// Drawing k rows and one pass over all rows each take seconds with thousands of groups.
func TestKMeansStopsWithinAStep(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	src := &ending{Source: rand.NewPCG(1, 2), end: cancel}
	_, err := partition.KMeans{}.Partition(ctx, mattest.Mixture(1000, 8, 5, 1).View().Rows(), 500, src)
	mattest.WantIs(t, err, context.Canceled)
	if src.drawn > 2 {
		t.Errorf("%d numbers were drawn, %d of them after the context ended", src.drawn, src.drawn-1)
	}
	// With one group, nothing is drawn but its start. The first pass has two blocks of rows.
	x := mattest.Mixture(2000, 64, 5, 1).View().Rows()
	twice := &patient{Context: t.Context()}
	twice.left.Store(2)
	_, err = partition.KMeans{Restarts: 1}.Partition(twice, x, 1, rand.NewPCG(1, 2))
	mattest.WantIs(t, err, context.Canceled)
}

func TestKMeansRefusesParameters(t *testing.T) {
	m := partition.KMeans{Iterations: -1, Restarts: -2, Tolerance: math.NaN()}
	mattest.Fails(t, "-1 iterations", "-2 restarts", "tolerance NaN", "10 groups of 9 rows")(
		m.Partition(t.Context(), mattest.Mixture(9, 3, 2, 1).View().Rows(), 10, rand.NewPCG(1, 2)))
}

func TestRandomIsBalanced(t *testing.T) {
	x := mattest.Mixture(103, 2, 2, 1)
	g := group(t, partition.Random{}, x, 10, 1)
	size := make([]int, g.K)
	for _, j := range g.Of {
		size[j]++
	}
	if slices.Min(size) != 10 || slices.Max(size) != 11 {
		t.Errorf("sizes %v, want 10 and 11", size)
	}
	if slices.IsSorted(g.Of) || slices.Equal(g.Of, group(t, partition.Random{}, x, 10, 2).Of) {
		t.Error("the rows are not shuffled by the source")
	}
}
