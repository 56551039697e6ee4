package fuzzy

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
)

// iterations is the largest number of iterations of a run. A run ends earlier if the memberships change by less than
// settled (the square root of the sum of squares). Squared distances below least count as least.
const (
	iterations = 300
	settled    = 1e-8
	least      = 0x1p-104
)

type class struct {
	nodes []int32     // its training nodes
	rows  [][]float32 // their propagated features
	k     int         // the number of its condensed nodes
	// gram holds the inner products of the rows. It is nil if there are more rows than features.
	gram []float64

	mu   sync.Mutex
	best *run
}

// run is the result of one run of fuzzy c-means.
type run struct {
	restart   int
	objective float64
	of        []float64 // centre j is Σ_i of[j·n+i]·row i; these weights sum to 1
}

// shares returns the share of each of n rows in centre j.
func (r *run) shares(j, n int) []float64 { return r.of[j*n : (j+1)*n] }

// keep keeps r if its objective is the lowest so far. The first of equal runs is kept.
func (c *class) keep(r *run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b := c.best; b == nil || r.objective < b.objective || r.objective == b.objective && r.restart < b.restart {
		c.best = r
	}
}

// prepare computes the inner products of the rows if they make distances cheaper.
func (c *class) prepare(ctx context.Context) error {
	n := len(c.rows)
	if n == 0 || n > len(c.rows[0]) {
		return nil
	}
	c.gram = make([]float64, n*n)
	for i, a := range c.rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		for j, b := range c.rows[:i+1] {
			sum := 0.0
			for f, v := range a {
				sum += float64(v) * float64(b[f])
			}
			c.gram[i*n+j], c.gram[j*n+i] = sum, sum
		}
	}
	return nil
}

// mean sets dst to the mean of the rows, weighted by shares.
func (c *class) mean(dst, shares []float64) {
	clear(dst)
	for i, row := range c.rows {
		if share := shares[i]; share != 0 {
			for f, v := range row {
				dst[f] += share * float64(v)
			}
		}
	}
}

// distances sets dst[i] to ‖row i − centre‖² for the centre with the given shares. scratch has room for a row.
func (c *class) distances(dst, shares, scratch []float64) {
	if n := len(c.rows); c.gram != nil {
		square := 0.0 // ‖centre‖²
		for i := range n {
			sum := 0.0
			for l, g := range c.gram[i*n : (i+1)*n] {
				sum += g * shares[l]
			}
			dst[i] = c.gram[i*n+i] - 2*sum
			square += shares[i] * sum
		}
		for i := range dst {
			dst[i] = max(0, dst[i]+square)
		}
		return
	}
	centre := scratch[:len(c.rows[0])]
	c.mean(centre, shares)
	for i, row := range c.rows {
		sum := 0.0
		for f, v := range row {
			d := float64(v) - centre[f]
			sum += d * d
		}
		dst[i] = sum
	}
}

// run clusters c once. The first run, and every run with Fuzziness 1, starts from k random rows as centres. Other runs
// start from random memberships. The only error is ctx.Err().
func (m gecc) run(ctx context.Context, c *class, restart int, random *rand.Rand) (*run, error) {
	n, k := len(c.rows), c.k
	r := &run{restart: restart, of: make([]float64, k*n)}
	distance, scratch := make([]float64, k*n), make([]float64, len(c.rows[0]))
	measure := func() error {
		for j := range k {
			if err := ctx.Err(); err != nil {
				return err
			}
			c.distances(distance[j*n:(j+1)*n], r.shares(j, n), scratch)
		}
		return nil
	}
	u, next := newMembers(n, k), newMembers(n, k)
	if restart == 0 || m.Fuzziness == 1 {
		for j, i := range random.Perm(n)[:k] {
			r.of[j*n+i] = 1
		}
		if err := measure(); err != nil {
			return nil, err
		}
		u.nearest(distance, m.Fuzziness)
	} else {
		u.random(random, m.Fuzziness)
	}
	for range iterations {
		for j := range k {
			weigh(r.shares(j, n), u.power[j*n:(j+1)*n], random)
		}
		if err := measure(); err != nil {
			return nil, err
		}
		r.objective = 0
		for i, d := range distance {
			r.objective += u.power[i] * d
		}
		next.nearest(distance, m.Fuzziness)
		change := 0.0
		for i, v := range next.u {
			change += (v - u.u[i]) * (v - u.u[i])
		}
		u, next = next, u
		if change < settled*settled {
			break
		}
	}
	for j := range k {
		size := 0.0
		for _, v := range u.u[j*n : (j+1)*n] {
			size += v
		}
		off := size - float64(n)/float64(k)
		r.objective += m.Balance * off * off
	}
	return r, nil
}

// weigh sets shares to weights divided by their sum. If the sum is 0, a random row gets the share 1.
func weigh(shares, weights []float64, random *rand.Rand) {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	if sum == 0 {
		clear(shares)
		shares[random.IntN(len(shares))] = 1
		return
	}
	for i, w := range weights {
		shares[i] = w / sum
	}
}

// members holds the memberships of n rows in k clusters. Each list has k·n numbers, those of cluster 0 first.
type members struct {
	n        int
	u, power []float64 // u_ji and u_jiᵐ
}

func newMembers(n, k int) *members { return &members{n, make([]float64, k*n), make([]float64, k*n)} }

// nearest sets u for squared distances d: u_ji = d_ji^(−1/(m−1)) / Σ_l d_li^(−1/(m−1)). With m = 1, the nearest centre
// gets 1. Ties go to the first centre.
func (s *members) nearest(d []float64, m float64) {
	for i := range s.n {
		nearest := i
		for at := i; at < len(d); at += s.n {
			if d[at] < d[nearest] {
				nearest = at
			}
		}
		if m == 1 {
			for at := i; at < len(d); at += s.n {
				s.u[at], s.power[at] = 0, 0
			}
			s.u[nearest], s.power[nearest] = 1, 1
			continue
		}
		smallest, sum := max(d[nearest], least), 0.0
		for at := i; at < len(d); at += s.n {
			q := smallest / max(d[at], least)
			s.u[at] = math.Exp(math.Log(q) / (m - 1))
			s.power[at] = q * s.u[at] // the power uᵐ, because m/(m−1) = 1 + 1/(m−1)
			sum += s.u[at]
		}
		power := math.Pow(sum, m)
		for at := i; at < len(d); at += s.n {
			s.u[at] /= sum
			s.power[at] /= power
		}
	}
}

// random sets u to random numbers whose sum is 1 for each row.
func (s *members) random(random *rand.Rand, m float64) {
	for i := range s.u {
		s.u[i] = random.Float64()
	}
	for i := range s.n {
		sum := 0.0
		for at := i; at < len(s.u); at += s.n {
			sum += s.u[at]
		}
		for at := i; at < len(s.u); at += s.n {
			s.u[at] /= sum
			s.power[at] = math.Pow(s.u[at], m)
		}
	}
}
