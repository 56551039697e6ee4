package gradient

import (
	"math"
	"slices"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival/internal/learn"
)

// graphon is a learn.Maker: it computes A′ from X′ and from positions s_i, which are evenly spaced in [−1, 1]. For each
// pair of nodes,
//
//	c¹_ij = B(W₁x_i + W₂x_j),       c²_ij = B(V·c¹_ij),
//	g¹_ij = B(U₁s_i + U₂s_j)⊙c¹_ij,  g²_ij = B(U·g¹_ij)⊙c²_ij,
//	z_ij = (1−ε)(u·g²_ij + a) + ε(w·c²_ij + b),
//	A′_ij = σ((z_ij + z_ji)/2) for i ≠ j,  A′_ii = 0,
//
// with B(y) = ReLU(BN(y)) and BN over all N′² pairs.
type graphon struct {
	epsilon       float32 // the weight of the network of pairs
	edges, points *stream // c and g
	plan          *plan   // the transport plan, which is learnt too; nil if there is none

	z, a, dz mat.Dense // N′×N′
	g1, g2   mat.Dense // N′²×hidden
	// The gradients with respect to the second and to the first layer of each stream, N′²×hidden.
	dc2, dg2, dc1, dg1 mat.Dense
	dx                 mat.Dense
}

// These are the indices of the parameters of a stream, in the order of learn.Pairs.
const (
	firstWeights  = 0 // d×2·hidden: W₁ᵀ and W₂ᵀ side by side
	secondWeights = 3
	lastWeights   = 6
	lastBias      = 7
)

// stream is one of the two networks.
type stream struct {
	x                     *mat.Dense // X′, or the positions
	parameters, gradients []*mat.Dense
	ends, dends           mat.Dense // X′·[W₁ᵀ W₂ᵀ], and its gradient
	first, second         normed
}

func newStream(parameters []*mat.Dense) *stream {
	s := &stream{parameters: parameters}
	for _, m := range parameters {
		s.gradients = append(s.gradients, mat.NewDense(m.Dims()))
	}
	for i, b := range []*normed{&s.first, &s.second} {
		at := firstWeights + 1 + i*secondWeights
		b.gain, b.shift, b.dgain, b.dshift = parameters[at], parameters[at+1], s.gradients[at], s.gradients[at+1]
	}
	return s
}

// newGraphon returns a graphon for N′ nodes with the parameters of two learn.Pairs. share is 1−ε. points belongs to a
// network with one feature, the position.
func newGraphon(nodes int, share float64, edges, points []*mat.Dense) *graphon {
	o := &graphon{epsilon: float32(1 - share), edges: newStream(edges), points: newStream(points)}
	o.points.x = mat.NewDense(nodes, 1)
	for i := range o.points.x.Data {
		o.points.x.Data[i] = 2*float32(i)/float32(max(1, nodes-1)) - 1
	}
	return o
}

// Forward returns A′.
func (o *graphon) Forward(x *mat.Dense) *mat.Dense {
	n, c, g := x.Rows, o.edges, o.points
	c.x = x
	c.begin()
	g.begin()
	h := c.first.out.Cols
	for _, m := range []*mat.Dense{&o.g1, &o.g2} {
		m.Reshape(n*n, h)
	}
	mat.Mul(&c.second.u, &c.first.out, c.parameters[secondWeights])
	c.second.forward(n)
	product(&o.g1, &g.first.out, &c.first.out)
	mat.Mul(&g.second.u, &o.g1, g.parameters[secondWeights])
	g.second.forward(n)
	product(&o.g2, &g.second.out, &c.second.out)
	o.z.Reshape(n, n)
	parallel.For(n*n, chunk, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			direct := kernel.Dot(c.second.out.Row(r), c.parameters[lastWeights].Data) + c.parameters[lastBias].Data[0]
			along := kernel.Dot(o.g2.Row(r), g.parameters[lastWeights].Data) + g.parameters[lastBias].Data[0]
			o.z.Data[r] = (1-o.epsilon)*along + o.epsilon*direct
		}
	})
	learn.Sigmoid(&o.a, &o.z)
	return &o.a
}

// Backward implements learn.Maker.
func (o *graphon) Backward(da *mat.Dense, parameters, features bool) (gradients []*mat.Dense, dx *mat.Dense) {
	n, c, g := da.Rows, o.edges, o.points
	learn.SigmoidGrad(&o.dz, &o.a, da)
	if parameters {
		c.last(&c.second.out, &o.dz, o.epsilon)
		g.last(&o.g2, &o.dz, 1-o.epsilon)
	}
	for _, m := range []*mat.Dense{&o.dc2, &o.dg2, &o.dc1, &o.dg1} {
		m.Reshape(o.g1.Dims())
	}
	parallel.For(n*n, chunk, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			dc, dg, d := o.dc2.Row(r), o.dg2.Row(r), o.dz.Data[r]
			kernel.Scale(dg, (1-o.epsilon)*d, g.parameters[lastWeights].Data)
			kernel.Mul(dc, dg, g.second.out.Row(r))
			kernel.Axpy(o.epsilon*d, c.parameters[lastWeights].Data, dc)
			kernel.Mul(dg, dg, c.second.out.Row(r))
		}
	})
	g.second.backward(&o.dg2, n)
	c.second.backward(&o.dc2, n)
	mat.MulTB(&o.dg1, &o.dg2, g.parameters[secondWeights])
	mat.MulTB(&o.dc1, &o.dc2, c.parameters[secondWeights])
	parallel.For(n*n, chunk, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			dc, dg := o.dc1.Row(r), o.dg1.Row(r)
			kernel.Mul(o.g2.Row(r), dg, g.first.out.Row(r)) // g² is no longer needed
			kernel.Add(dc, dc, o.g2.Row(r))
			kernel.Mul(dg, dg, c.first.out.Row(r))
		}
	})
	if parameters {
		mat.MulTA(g.gradients[secondWeights], &o.g1, &o.dg2)
		mat.MulTA(c.gradients[secondWeights], &c.first.out, &o.dc2)
	}
	c.first.backward(&o.dc1, n)
	c.end(&o.dc1)
	if parameters {
		g.first.backward(&o.dg1, n)
		g.end(&o.dg1)
		for _, s := range []*stream{c, g} {
			mat.MulTA(s.gradients[firstWeights], s.x, &s.dends)
		}
		gradients = slices.Concat(c.gradients, g.gradients)
		if o.plan != nil {
			gradients = append(gradients, o.plan.gradient)
		}
	}
	if features {
		mat.MulTB(&o.dx, &c.dends, c.parameters[firstWeights])
		dx = &o.dx
	}
	return gradients, dx
}

// Parameters returns the parameters of both networks, and the plan.
func (o *graphon) Parameters() []*mat.Dense {
	all := slices.Concat(o.edges.parameters, o.points.parameters)
	if o.plan != nil {
		all = append(all, o.plan.weights)
	}
	return all
}

// chunk is the number of pairs that a goroutine takes at a time.
const chunk = 256

// product sets dst to the element-wise product of a and b.
func product(dst, a, b *mat.Dense) {
	parallel.For(len(dst.Data), chunk*dst.Cols, func(lo, hi int) {
		kernel.Mul(dst.Data[lo:hi], a.Data[lo:hi], b.Data[lo:hi])
	})
}

// begin computes the first layer.
func (s *stream) begin() {
	mat.Mul(&s.ends, s.x, s.parameters[firstWeights])
	n, h := s.x.Rows, s.ends.Cols/2
	s.first.u.Reshape(n*n, h)
	parallel.For(n, 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for j := range n {
				kernel.Add(s.first.u.Row(i*n+j), s.ends.Row(i)[:h], s.ends.Row(j)[h:])
			}
		}
	})
	s.first.forward(n)
}

// end sets dends, given the gradient with respect to the sums W₁x_i + W₂x_j.
func (s *stream) end(du *mat.Dense) {
	n, h := s.x.Rows, du.Cols
	s.dends.Reshape(n, 2*h)
	clear(s.dends.Data)
	parallel.For(n, 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			left, right := s.dends.Row(i)[:h], s.dends.Row(i)[h:]
			for j := range n {
				kernel.Add(left, left, du.Row(i*n+j))
				kernel.Add(right, right, du.Row(j*n+i))
			}
		}
	})
}

// last sets the gradients of the last layer, whose input is h and whose output is multiplied by share.
func (s *stream) last(h, dz *mat.Dense, share float32) {
	column := &mat.Dense{Rows: len(dz.Data), Cols: 1, Data: dz.Data}
	weights := s.gradients[lastWeights]
	mat.MulTA(&mat.Dense{Rows: 1, Cols: h.Cols, Data: weights.Data}, column, h)
	kernel.Scale(weights.Data, share, weights.Data)
	var sum float64
	for _, d := range dz.Data {
		sum += float64(d)
	}
	s.gradients[lastBias].Data[0] = share * float32(sum)
}

// normed is the layer ReLU(BN(u)). u has a row for each pair of n nodes; BN is over all rows.
type normed struct {
	gain, shift, dgain, dshift *mat.Dense // 1×hidden
	u, out                     mat.Dense  // u, which forward normalises, and the result
	inverse                    []float32  // 1 over the standard deviation of each column of u
	partial                    mat.Dense
}

// variance is added to the variances of batch normalisation.
const variance = 1e-5

// sums returns column means over all n² pairs. add adds the rows of the pairs that begin with node i to sum.
func (b *normed) sums(n int, add func(sum []float32, i int)) []float64 {
	b.partial.Reshape(n, b.u.Cols)
	clear(b.partial.Data)
	parallel.For(n, 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			add(b.partial.Row(i), i)
		}
	})
	total := make([]float64, b.u.Cols)
	for i := range n {
		kernel.Accumulate(total, 1/(float64(n)*float64(n)), b.partial.Row(i))
	}
	return total
}

// forward normalises u and computes out.
func (b *normed) forward(n int) {
	h := b.u.Cols
	mean, less := b.sums(n, func(sum []float32, i int) {
		for r := i * n; r < (i+1)*n; r++ {
			kernel.Add(sum, sum, b.u.Row(r))
		}
	}), make([]float32, h)
	for k, m := range mean {
		less[k] = float32(-m)
	}
	b.out.Reshape(b.u.Dims())
	squares := b.sums(n, func(sum []float32, i int) {
		for r := i * n; r < (i+1)*n; r++ {
			u := b.u.Row(r)
			kernel.Add(u, u, less)
			kernel.Mul(b.out.Row(r), u, u)
			kernel.Add(sum, sum, b.out.Row(r))
		}
	})
	b.inverse = make([]float32, h)
	for k, s := range squares {
		b.inverse[k] = float32(1 / math.Sqrt(s+variance))
	}
	parallel.For(n*n, chunk, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			u, out := b.u.Row(r), b.out.Row(r)
			kernel.Mul(u, u, b.inverse)
			kernel.Mul(out, u, b.gain.Data)
			kernel.Add(out, out, b.shift.Data)
			kernel.ReLU(out, out)
		}
	})
}

// backward replaces d, the gradient with respect to out, with the gradient with respect to u. It also sets dgain and
// dshift. With dy the gradient before the ReLU, and û the normalised u, the result is
//
//	gain/deviation·(dy − mean(dy) − û·mean(dy·û)).
func (b *normed) backward(d *mat.Dense, n int) {
	h := b.u.Cols
	mean := b.sums(n, func(sum []float32, i int) {
		for r := i * n; r < (i+1)*n; r++ {
			row := d.Row(r)
			kernel.ReLUGrad(row, row, b.out.Row(r))
			kernel.Add(sum, sum, row)
		}
	})
	along := b.sums(n, func(sum []float32, i int) {
		for r := i * n; r < (i+1)*n; r++ {
			kernel.Mul(b.out.Row(r), d.Row(r), b.u.Row(r)) // out is free: only its signs were needed
			kernel.Add(sum, sum, b.out.Row(r))
		}
	})
	scale, less, slope := make([]float32, h), make([]float32, h), make([]float32, h)
	for k := range h {
		b.dgain.Data[k], b.dshift.Data[k] = float32(float64(n*n)*along[k]), float32(float64(n*n)*mean[k])
		scale[k] = b.gain.Data[k] * b.inverse[k]
		less[k], slope[k] = float32(-mean[k]), float32(-along[k])
	}
	parallel.For(n*n, chunk, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			row, u := d.Row(r), b.u.Row(r)
			kernel.Mul(u, u, slope)
			kernel.Add(row, row, u)
			kernel.Add(row, row, less)
			kernel.Mul(row, row, scale)
		}
	})
}
