package coarsening

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/factor"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/internal/rival"
	"github.com/graph-condensation/cgc/mat"
)

// within is the number of nearest neighbours from which a super-node chooses its partner.
const within = 25

// project returns the features of each node of c, projected on the leading principal components of the embeddings ÂᴷX
// with standardised columns. Propagation and means commute with the projection, so the embeddings of every coarser
// graph can be computed from these few numbers.
func (c *coarse) project(ctx context.Context, g *graph.Graph, x *mat.Dense, hops, components int) ([][]float64, error) {
	views, err := rival.Propagate(ctx, g, g.X, hops, slices.Concat(c.members...))
	if err != nil {
		return nil, err
	}
	d := x.Cols
	h := views[hops].Dense().Clone()
	views = nil
	scale, err := standardize(h)
	if err != nil {
		return nil, err
	}
	k := min(components, d)
	basis := factor.Gaussian(d, min(d, k+factor.Oversampling), rand.NewPCG(1, 20))
	var image, back mat.Dense
	for range 4 { // steps of subspace iteration
		mat.Mul(&image, h, basis)
		mat.MulTA(&back, h, &image)
		if basis, err = factor.Orthonormal(ctx, &back); err != nil {
			return nil, err
		}
	}
	if basis.Cols == 0 { // all embeddings are equal
		return doubles(mat.NewDense(x.Rows, 1)), nil
	}
	mat.Mul(&image, h, basis)
	gram, err := factor.Gram(ctx, &image)
	if err != nil {
		return nil, err
	}
	_, turn, err := gram.EigenColumns(ctx)
	if err != nil {
		return nil, err
	}
	var directions, projected mat.Dense
	mat.Mul(&directions, basis, turn.Columns(0, min(k, turn.Cols)))
	for j, s := range scale {
		for f := range directions.Row(j) {
			directions.Row(j)[f] *= s
		}
	}
	mat.Mul(&projected, x, &directions)
	return doubles(&projected), nil
}

// standardize scales each column of h to mean 0 and variance 1, and returns the factors. The factor of a constant
// column is 0.
func standardize(h *mat.Dense) ([]float32, error) {
	scaling, err := graph.FitScaling(h, memory.Range(0, h.Rows))
	if err != nil {
		return nil, err
	}
	scale := make([]float32, h.Cols)
	for j, s := range scaling.Std {
		if inverse := 1 / s; s > 0 && !math.IsInf(float64(inverse), 1) { // a denormal standard deviation counts as 0
			scale[j] = inverse
		}
	}
	for i := range h.Rows {
		row := h.Row(i)
		for j := range row {
			row[j] = (row[j] - scaling.Mean[j]) * scale[j]
		}
	}
	return scale, nil
}

// convolution is the convolution of SGC over the super-nodes of c,
//
//	H = S(A+M)SX,  M_ii = the nodes in i plus the weights inside i,  S = D^-½,  D = diag((A+M)1),
//
// where X holds the mean features. If each super-node is a single node, H is ÂX.
type convolution struct {
	*coarse
	mass, total, scale []float64 // M_ii, D_ii and S_ii
	influence          []float64 // Σ_j S_jj·A_ij over the other super-nodes
	x                  *mat.Dense
	around             *mat.Dense // Σ_j A_ij·S_jj·x_j over the other super-nodes
}

func (c *coarse) convolution(ctx context.Context, x *mat.Dense) (*convolution, error) {
	n, d := x.Dims()
	v := &convolution{coarse: c, x: x, around: mat.NewDense(n, d)}
	for i := range n {
		mass := float64(len(c.members[i])) + c.inside[i]
		v.mass = append(v.mass, mass)
		v.total = append(v.total, mass+degree(c.edges[i]))
		v.scale = append(v.scale, 1/math.Sqrt(v.total[i]))
	}
	v.influence = make([]float64, n)
	return v, parallel.ForContext(ctx, n, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := v.around.Row(i)
			for _, e := range c.edges[i] {
				w := e.weight * v.scale[e.to]
				v.influence[i] += w
				for j, f := range x.Row(int(e.to)) {
					row[j] += float32(w * float64(f))
				}
			}
		}
	})
}

// cost returns how much merging i and j changes the convolution. This is the L1 distance of rows i and j from row w of
// the new super-node, plus a bound on the change of all other rows:
//
//	‖h_i − h_w‖₁ + ‖h_j − h_w‖₁ + Σ_{l≠i,j} S_ll·(A_li·‖S_ww·x_w − S_ii·x_i‖₁ + A_lj·‖S_ww·x_w − S_jj·x_j‖₁).
func (v *convolution) cost(i, j int) float64 {
	between := 0.0
	for _, e := range v.edges[i] {
		if int(e.to) == j {
			between = e.weight
		}
	}
	a, b := float64(len(v.members[i])), float64(len(v.members[j]))
	si, sj, sw := v.scale[i], v.scale[j], 1/math.Sqrt(v.total[i]+v.total[j])
	mass := v.mass[i] + v.mass[j] + 2*between
	var moved, left, right float64
	xi, xj, zi, zj := v.x.Row(i), v.x.Row(j), v.around.Row(i), v.around.Row(j)
	for f := range xi {
		p, q := float64(xi[f]), float64(xj[f])
		r := (a*p + b*q) / (a + b)
		hi := si * (v.mass[i]*si*p + float64(zi[f]))
		hj := sj * (v.mass[j]*sj*q + float64(zj[f]))
		hw := sw * (mass*sw*r + float64(zi[f]) + float64(zj[f]) - between*(sj*q+si*p))
		moved += math.Abs(hi-hw) + math.Abs(hj-hw)
		left += math.Abs(sw*r - si*p)
		right += math.Abs(sw*r - sj*q)
	}
	return moved + (v.influence[i]-between*sj)*left + (v.influence[j]-between*si)*right
}

// apply returns S(A+M)Sx for x with a few columns.
func (v *convolution) apply(x [][]float64) [][]float64 {
	h := zeros(len(x), len(x[0]))
	for i := range x {
		axpy(h[i], v.scale[i]*v.mass[i]*v.scale[i], x[i])
		for _, e := range v.edges[i] {
			axpy(h[i], v.scale[i]*e.weight*v.scale[e.to], x[e.to])
		}
	}
	return h
}

// pairs returns candidate pairs by ascending cost. The candidates are the share keepRate of all pairs, the closest,
// and the pair of each super-node with the nearest that it may be merged with.
func (v *convolution) pairs(ctx context.Context, points [][]float64, keepRate float64, nodes int) ([]pair, error) {
	found, err := neighbours(ctx, points, memory.Range(0, v.nodes()), within)
	if err != nil {
		return nil, err
	}
	var near []pair
	fall := v.labelled > nodes
	var all []pair
	for i, list := range found {
		first := true
		for _, n := range list {
			if !v.may(int32(i), n.row, fall) {
				continue
			}
			one := pair{min(int32(i), n.row), max(int32(i), n.row), n.distance}
			if first {
				near = append(near, one)
				first = false
			}
			all = append(all, one)
		}
	}
	all = sorted(all)
	near = append(near, all[:int(math.Ceil(keepRate*float64(len(all))))]...)
	err = parallel.ForContext(ctx, len(near), 16, func(lo, hi int) {
		for p := lo; p < hi; p++ {
			near[p].cost = v.cost(int(near[p].i), int(near[p].j))
		}
	})
	return sorted(near), err
}

// mergedRows returns the mean rows of the next graph. rows holds the mean rows of c. place[i] is the new super-node
// that contains i.
func mergedRows[T float32 | float64](c, next *coarse, place []int32, rows [][]T) []float64 {
	width := len(rows[0])
	means := memory.Make[float64](next.nodes() * width)
	for i, p := range place {
		to := means[int(p)*width:][:width]
		share := float64(len(c.members[i])) / float64(len(next.members[p]))
		for j, v := range rows[i] {
			to[j] += share * float64(v)
		}
	}
	return means
}
