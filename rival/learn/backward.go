package learn

import (
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Backward returns the gradients of a function of A′ whose gradient is da, N′×N′, after Forward: those of the
// parameters in their order if parameters is set, and that of X′, N′×d, if features is. What is not asked for is nil.
// The results are memory of p, valid until the next Backward.
func (p *Pairs) Backward(da *mat.Dense, parameters, features bool) (gradients []*mat.Dense, dx *mat.Dense) {
	n, h := p.Nodes, p.Hidden
	p.dz.Reshape(n, n)
	for i := range n {
		for j := range i {
			a := p.a.Row(i)[j]
			d := (da.Row(i)[j] + da.Row(j)[i]) * a * (1 - a) / 2
			p.dz.Row(i)[j], p.dz.Row(j)[i] = d, d
		}
		p.dz.Row(i)[i] = 0
	}
	if parameters {
		p.outGradient()
	}
	sum, product := p.secondSums()
	// With ŷ the normalised u, c₀ the mean of dỹ and c₁ that of dỹ·ŷ: du = gain/deviation·(dỹ − c₀ − ŷ·c₁).
	count := float64(n) * float64(n)
	slope, constant := make([]float32, h), make([]float32, h)
	for k := range h {
		along := (product[k] - p.mean2[k]*sum[k]) * p.inverse2[k]
		if parameters {
			p.gradients[4].Data[k], p.gradients[5].Data[k] = float32(along), float32(sum[k])
		}
		scale := float64(p.gain2.Data[k]) * p.inverse2[k]
		slope[k] = float32(-scale * along / count * p.inverse2[k])
		constant[k] = float32(scale * (along/count*p.inverse2[k]*p.mean2[k] - sum[k]/count))
	}
	parallel.For(n, 1, func(lo, hi int) {
		buffer := make([]float32, h)
		for i := lo; i < hi; i++ {
			for j := range n {
				row := p.row(&p.du, i, j)
				kernel.Mul(row, row, p.scale2)
				kernel.Mul(buffer, p.row(&p.u, i, j), slope)
				kernel.Add(row, row, buffer)
				kernel.Add(row, row, constant)
			}
		}
	})
	if parameters {
		mat.MulTA(p.gradients[3], &p.h1, &p.du)
	}
	mat.MulTB(&p.dh, &p.du, p.v)
	p.firstGradient(parameters)
	if parameters {
		mat.MulTA(p.gradients[0], p.x, &p.dfirst)
		gradients = p.gradients
	}
	if features {
		mat.MulTB(&p.dx, &p.dfirst, p.w)
		dx = &p.dx
	}
	return gradients, dx
}

// outGradient finds the gradients of w and b: Σ dz·h² and Σ dz.
func (p *Pairs) outGradient() {
	n, h := p.Nodes, p.Hidden
	p.partial.Reshape(n, h)
	parallel.For(n, 1, func(lo, hi int) {
		buffer := make([]float32, h)
		for i := lo; i < hi; i++ {
			sum := p.partial.Row(i)
			clear(sum)
			for j := range n {
				p.second(buffer, i, j)
				kernel.Axpy(p.dz.Row(i)[j], buffer, sum)
			}
		}
	})
	for k, s := range p.columns(&p.partial) {
		p.gradients[6].Data[k] = float32(s)
	}
	var sum float64
	for _, d := range p.dz.Data {
		sum += float64(d)
	}
	p.gradients[7].Data[0] = float32(sum)
}

// secondSums sets du to dỹ, the gradient after the second BN, and returns Σ dỹ and Σ dỹ·u over all pairs.
func (p *Pairs) secondSums() (sum, product []float64) {
	n, h := p.Nodes, p.Hidden
	p.du.Reshape(n*n, h)
	p.partial.Reshape(n, h)
	p.another.Reshape(n, h)
	parallel.For(n, 1, func(lo, hi int) {
		buffer := make([]float32, h)
		for i := lo; i < hi; i++ {
			sum, product := p.partial.Row(i), p.another.Row(i)
			clear(sum)
			clear(product)
			for j := range n {
				p.second(buffer, i, j)
				row := p.row(&p.du, i, j)
				kernel.ReLUGrad(row, p.out.Data, buffer)
				kernel.Scale(row, p.dz.Row(i)[j], row)
				kernel.Add(sum, sum, row)
				kernel.Mul(buffer, row, p.row(&p.u, i, j))
				kernel.Add(product, product, buffer)
			}
		}
	})
	return p.columns(&p.partial), p.columns(&p.another)
}

// firstGradient sets dfirst to the gradient of X·[W₁ᵀ W₂ᵀ], from dh.
func (p *Pairs) firstGradient(parameters bool) {
	n, h := p.Nodes, p.Hidden
	p.dscaled.Reshape(n, 2*h)
	parallel.For(n, 1, func(lo, hi int) { // sums over j: what node i does as the first of a pair
		for i := lo; i < hi; i++ {
			sum := p.dscaled.Row(i)[:h]
			clear(sum)
			for j := range n {
				row := p.row(&p.dh, i, j)
				kernel.ReLUGrad(row, row, p.row(&p.h1, i, j))
				kernel.Add(sum, sum, row)
			}
		}
	})
	parallel.For(n, 1, func(lo, hi int) { // sums over i: what node j does as the second
		for j := lo; j < hi; j++ {
			sum := p.dscaled.Row(j)[h:]
			clear(sum)
			for i := range n {
				kernel.Add(sum, sum, p.row(&p.dh, i, j))
			}
		}
	})
	sum, along := make([]float64, h), make([]float64, h)
	for i := range n {
		d, x := p.dscaled.Row(i), p.first.Row(i)
		for k := range h {
			sum[k] += float64(d[k])
			along[k] += float64(d[k])*float64(x[k]) + float64(d[h+k])*float64(x[h+k])
		}
	}
	if parameters {
		for k := range h {
			p.gradients[1].Data[k], p.gradients[2].Data[k] = float32(along[k]), float32(sum[k])
		}
	}
	p.dfirst.Reshape(n, 2*h)
	count := float64(n) * float64(n)
	for i := range n {
		for k, d := range p.dscaled.Row(i) {
			at := k % h
			centred := float64(d) - float64(n)*(sum[at]+float64(p.first.Row(i)[k])*along[at])/count
			p.dfirst.Row(i)[k] = float32(float64(p.gain1.Data[at]) / p.deviation1[at] * centred)
		}
	}
}
