package partition

import (
	"cmp"
	"context"
	"slices"

	"github.com/graph-condensation/cgc/internal/factor"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// lloyd is the state of a run. The next run reuses its memory.
type lloyd struct {
	*points
	k           int
	of          []int32     // group of each row, −1 before the first iteration
	next        []int32     // group of each row after the iteration
	dist        []float32   // squared distance of each row to the mean of its group
	count       []int       // rows in each group
	sum         []float64   // k×d, sums of the rows of each group
	part        [][]float64 // changes of the sums by each task of a pass, except the first
	centres     *mat.Dense
	centreNorms []float32
}

func newLloyd(p *points, k int) *lloyd {
	l := &lloyd{
		points: p, k: k,
		of: memory.Make[int32](p.n), next: memory.Make[int32](p.n), dist: memory.Make[float32](p.n),
		count: make([]int, k), sum: memory.Make[float64](k * p.d), centres: mat.NewDense(k, p.d),
		centreNorms: make([]float32, k),
	}
	l.part = make([][]float64, (p.n-1)/l.chunk())
	for c := range l.part {
		l.part[c] = memory.Make[float64](k * p.d)
	}
	return l
}

// chunk is the number of rows in a task of a pass. It is large enough that adding up the sums of the tasks costs
// little.
func (l *lloyd) chunk() int { return max(factor.PassRows(l.n), 8*l.k) }

// run starts from l.centres, and leaves the groups that it finds in l.of and their means in l.centres.
func (l *lloyd) run(ctx context.Context, iterations int, tolerance float64) (stats Stats, err error) {
	for j := range l.k {
		l.centreNorms[j] = float32(squaredNorm(l.centres.Row(j)))
	}
	for i := range l.of {
		l.of[i] = -1
	}
	clear(l.sum)
	for range iterations {
		if err := l.assign(ctx, len(stats.Objective) == 0); err != nil {
			return stats, err
		}
		stats.Visits += l.n
		reseeded := l.fillEmpty()
		if slices.Equal(l.next, l.of) {
			stats.Converged = true
			return stats, nil
		}
		l.of, l.next = l.next, l.of
		objective := l.unit * l.average()
		// Distances are float32, so near the end a row may move to a mean that is not nearer. Such a step is undone.
		if t := len(stats.Objective); t > 0 && objective >= stats.Objective[t-1] {
			l.of, l.next = l.next, l.of
			stats.Converged = true
			return stats, nil
		}
		stats.Reseeded += reseeded
		stats.Objective = append(stats.Objective, objective)
		if t := len(stats.Objective) - 1; t > 0 && stats.Objective[t-1]-objective < tolerance*objective {
			stats.Converged = true
			return stats, nil
		}
	}
	return stats, nil
}

// assign stores the nearest centre of each row in next, and the squared distance to it in dist. In the same pass, it
// updates the sums for rows that change groups. The first pass over points that are not in memory also computes their
// norms. The error is ctx.Err(), or errUnlike if these norms are NaN or too large for squared distances.
func (l *lloyd) assign(ctx context.Context, first bool) error {
	d, chunk := l.d, l.chunk()
	first = first && l.x == nil
	err := parallel.ForContext(ctx, l.n, chunk, func(lo, hi int) {
		sum := l.sum
		if lo > 0 {
			sum = l.part[lo/chunk-1]
			clear(sum)
		}
		factor.Each(l, lo, hi, func(at, end int, x []float32) {
			if ctx.Err() != nil { // with many groups, a chunk takes seconds
				return
			}
			row := func(i int) []float32 { return x[(i-at)*d : (i-at+1)*d] }
			if first {
				for i := at; i < end; i++ {
					l.norms[i] = kernel.Dot(row(i), row(i))
				}
			}
			points := kernel.Points{Data: x, Stride: d, N: end - at, Norms: l.norms[at:end]}
			centres := kernel.Points{Data: l.centres.Data, Stride: d, N: l.k, Norms: l.centreNorms}
			kernel.Nearest(l.next[at:end], l.dist[at:end], points, centres, d)
			for i := at; i < end; i++ {
				if from, to := int(l.of[i]), int(l.next[i]); from != to {
					move(sum, d, row(i), from, to)
				}
			}
		})
	})
	if err != nil {
		return err
	}
	for _, part := range l.part {
		for j, v := range part {
			l.sum[j] += v
		}
	}
	if first {
		l.total = 0
		for _, v := range l.norms {
			if !(v <= factor.MostNorm) {
				return errUnlike
			}
			l.total += float64(v)
		}
	}
	return nil
}

// move subtracts row from the sum of group from, unless from is −1, and adds it to the sum of group to.
func move(sum []float64, d int, row []float32, from, to int) {
	kernel.Accumulate(sum[to*d:(to+1)*d], 1, row)
	if from >= 0 {
		kernel.Accumulate(sum[from*d:(from+1)*d], -1, row)
	}
}

// fillEmpty counts the rows of each group in next. It gives each empty group the row farthest from its mean, among rows
// that are not alone in their group. It returns the number of groups that were empty.
func (l *lloyd) fillEmpty() (empty int) {
	clear(l.count)
	for _, j := range l.next {
		l.count[j]++
	}
	var far []int32 // rows, farthest first
	for j, n := range l.count {
		if n > 0 {
			continue
		}
		if empty == 0 {
			far = memory.Range(0, len(l.next))
			slices.SortStableFunc(far, func(a, b int32) int { return cmp.Compare(l.dist[b], l.dist[a]) })
		}
		empty++
		for l.count[l.next[far[0]]] == 1 {
			far = far[1:]
		}
		i := int(far[0])
		l.count[l.next[i]]--
		move(l.sum, l.d, l.Block(i, i+1, new(mat.Dense)), int(l.next[i]), j)
		l.next[i] = int32(j)
		l.count[j] = 1
		far = far[1:]
	}
	return empty
}

// average sets the centres to the means of the groups. It returns the objective, computed by
//
//	Σ_i ‖x_i − c_π(i)‖² = Σ_i ‖x_i‖² − Σ_j n_j·‖c_j‖²  with c_j the mean of the n_j rows of group j.
func (l *lloyd) average() float64 {
	d := l.d
	between := 0.0
	for j := range l.k {
		sum, centre := l.sum[j*d:(j+1)*d], l.centres.Row(j)
		n := float64(l.count[j])
		var square, norm float64
		for c, s := range sum {
			v := float32(s / n)
			centre[c] = v
			square += s * s
			norm += float64(v) * float64(v)
		}
		l.centreNorms[j] = float32(norm)
		between += square / n
	}
	return max(0, l.total-between)
}
