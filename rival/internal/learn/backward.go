package learn

import (
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Backward returns gradients of a function of A′ whose gradient is da, N′×N′. If parameters is set, it returns the
// gradients with respect to the parameters, in their order. If features is set, it returns the gradient with respect to
// X′, N′×d. Otherwise, they are nil. Call Backward once after each Forward. The results are in p's memory and valid
// until the next Backward.
func (p *Pairs) Backward(da *mat.Dense, parameters, features bool) (gradients []*mat.Dense, dx *mat.Dense) {
	n, h := p.Nodes, p.Hidden
	SigmoidGrad(&p.dz, &p.a, da)
	if parameters {
		p.outGradient()
	}
	out := p.repeat(p.out.Data)
	sum, product := p.sums(func(i, from, to int) (rows, along []float32) { // replace h² with dỹ, and add up dỹ and dỹ·u
		rows, along = p.rows(&p.h2, i, from, to), p.rows(&p.dh, i, 0, to-from) // dh is unused until the sums are known
		kernel.ReLUGrad(rows, out[:len(rows)], rows)
		for j := from; j < to; j++ {
			row := p.row(&p.h2, i, j)
			kernel.Scale(row, p.dz.Row(i)[j], row)
		}
		kernel.Mul(along, rows, p.rows(&p.u, i, from, to))
		return rows, along
	})
	// Here dỹ is the gradient with respect to the output of the second BN. Let ŷ be the normalised u, c₀ the mean of dỹ
	// and c₁ the mean of dỹ·ŷ. Then du = gain/deviation·(dỹ − c₀ − ŷ·c₁).
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
	scales, slopes, constants := p.repeat(p.scale2), p.repeat(slope), p.repeat(constant)
	p.tiles(func(i, from, to int) {
		rows, u := p.rows(&p.h2, i, from, to), p.rows(&p.u, i, from, to)
		kernel.Mul(rows, rows, scales[:len(rows)])
		kernel.Mul(u, u, slopes[:len(rows)])
		kernel.Add(rows, rows, u)
		kernel.Add(rows, rows, constants[:len(rows)])
	})
	if parameters {
		mat.MulTA(p.gradients[3], &p.h1, &p.h2)
	}
	mat.MulTB(&p.dh, &p.h2, p.v)
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

// outGradient computes the gradients with respect to w and b: Σ dz·h² and Σ dz.
func (p *Pairs) outGradient() {
	n, h := p.Nodes, p.Hidden
	p.partial.Reshape(n, h)
	parallel.For(n, 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			sum := p.partial.Row(i)
			clear(sum)
			for j := range n {
				kernel.Axpy(p.dz.Row(i)[j], p.row(&p.h2, i, j), sum)
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

// firstGradient sets dfirst to the gradient with respect to X·[W₁ᵀ W₂ᵀ], given dh.
func (p *Pairs) firstGradient(parameters bool) {
	n, h := p.Nodes, p.Hidden
	p.dscaled.Reshape(n, 2*h)
	clear(p.dscaled.Data)
	p.tiles(func(i, from, to int) { // sums over j, with node i first in the pair
		rows := p.rows(&p.dh, i, from, to)
		kernel.ReLUGrad(rows, rows, p.rows(&p.h1, i, from, to))
		addRows(p.dscaled.Row(i)[:h], rows)
	})
	parallel.For(n, 1, func(lo, hi int) { // sums over i, with node j second in the pair
		for j := lo; j < hi; j++ {
			for i := range n {
				kernel.Add(p.dscaled.Row(j)[h:], p.dscaled.Row(j)[h:], p.row(&p.dh, i, j))
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
