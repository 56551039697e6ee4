package learn

import (
	"math"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
)

// Pairs is the network that makes A′ of X′ (Jin et al., Graph condensation for graph neural networks, ICLR 2022, eq.
// 8). For each pair of nodes
//
//	h¹_ij = ReLU(BN(W₁x_i + W₂x_j)),  h²_ij = ReLU(BN(V·h¹_ij)),  z_ij = w·h²_ij + b,
//	A′_ij = σ((z_ij + z_ji)/2) for i ≠ j,  A′_ii = 0.
//
// W₁ and W₂ are the halves of one matrix for [x_i; x_j]. So the first layer is two products of N′ rows, and not one of
// N′² rows. BN is batch normalisation over all N′² pairs, with ε = 10⁻⁵. Over a full grid of pairs, the variance of
// W₁x_i + W₂x_j is the sum of the two variances. BN removes a bias before it, so W and V have none.
//
// The gradient is written out: it is of first order, and needs no tape.
type Pairs struct {
	// Nodes is N′, Hidden the number of hidden units.
	Nodes, Hidden int

	w             *mat.Dense // d×2·hidden: W₁ᵀ beside W₂ᵀ
	gain1, shift1 *mat.Dense // of the first BN, 1×hidden
	v             *mat.Dense // hidden×hidden
	gain2, shift2 *mat.Dense
	out           *mat.Dense // 1×hidden: w
	bias          *mat.Dense // 1×1: b

	// What Forward leaves for Backward.
	x                *mat.Dense
	first            mat.Dense // X·[W₁ᵀ W₂ᵀ], N′×2·hidden; centred and divided by the deviation
	scaled           mat.Dense // the same times the gain, the shift added to the left half
	h1, u            mat.Dense // N′²×hidden
	scale2, offset2  []float32 // BN of u is u·scale2 + offset2
	mean2, inverse2  []float64 // mean and 1/deviation of u
	deviation1       []float64 // of the first layer
	z, a             mat.Dense // N′×N′
	dz, du, dh       mat.Dense
	partial, another mat.Dense
	dscaled, dfirst  mat.Dense
	gradients        []*mat.Dense
	dx               mat.Dense
}

// epsilon is what batch normalisation adds to variances.
const epsilon = 1e-5

// PairBytes returns the memory that Pairs takes for N′ nodes: four matrices of N′² × hidden float32 values.
func PairBytes(nodes, hidden int) float64 {
	return 16 * float64(nodes) * float64(nodes) * float64(hidden)
}

// NewPairs returns a network for N′ nodes with d features. Weights are uniform in ±1/√(inputs of their layer).
func NewPairs(nodes, features, hidden int, src rand.Source) *Pairs {
	random := rand.New(src)
	p := &Pairs{
		Nodes: nodes, Hidden: hidden,
		w:     Uniform(mat.NewDense(features, 2*hidden), 2*features, random),
		gain1: ones(hidden), shift1: mat.NewDense(1, hidden),
		v:     Uniform(mat.NewDense(hidden, hidden), hidden, random),
		gain2: ones(hidden), shift2: mat.NewDense(1, hidden),
		out:  Uniform(mat.NewDense(1, hidden), hidden, random),
		bias: Uniform(mat.NewDense(1, 1), hidden, random),
	}
	for _, m := range p.Parameters() {
		p.gradients = append(p.gradients, mat.NewDense(m.Dims()))
	}
	return p
}

// Uniform fills m from ±1/√inputs, and returns it.
func Uniform(m *mat.Dense, inputs int, random *rand.Rand) *mat.Dense {
	limit := 1 / math.Sqrt(float64(inputs))
	for i := range m.Data {
		m.Data[i] = float32(limit * (2*random.Float64() - 1))
	}
	return m
}

func ones(n int) *mat.Dense {
	m := mat.NewDense(1, n)
	for i := range m.Data {
		m.Data[i] = 1
	}
	return m
}

// Parameters returns what is learnt.
func (p *Pairs) Parameters() []*mat.Dense {
	return []*mat.Dense{p.w, p.gain1, p.shift1, p.v, p.gain2, p.shift2, p.out, p.bias}
}

// row returns row (i, j) of a matrix with a row for each pair.
func (p *Pairs) row(m *mat.Dense, i, j int) []float32 { return m.Row(i*p.Nodes + j) }

// Forward returns A′ for X′, N′×N′. The result is memory of p, valid until the next Forward.
func (p *Pairs) Forward(x *mat.Dense) *mat.Dense {
	n, h := p.Nodes, p.Hidden
	p.x = x
	mat.Mul(&p.first, x, p.w)
	p.normalise()
	p.h1.Reshape(n*n, h)
	parallel.For(n, 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			left := p.scaled.Row(i)[:h]
			for j := range n {
				row := p.row(&p.h1, i, j)
				kernel.Add(row, left, p.scaled.Row(j)[h:])
				kernel.ReLU(row, row)
			}
		}
	})
	mat.Mul(&p.u, &p.h1, p.v)
	p.statistics()
	p.z.Reshape(n, n)
	parallel.For(n, 1, func(lo, hi int) {
		buffer := make([]float32, h)
		for i := lo; i < hi; i++ {
			for j := range n {
				p.second(buffer, i, j)
				p.z.Row(i)[j] = kernel.Dot(buffer, p.out.Data) + p.bias.Data[0]
			}
		}
	})
	p.a.Reshape(n, n)
	for i := range n {
		for j := range i {
			a := float32(1 / (1 + math.Exp(-(float64(p.z.Row(i)[j])+float64(p.z.Row(j)[i]))/2)))
			p.a.Row(i)[j], p.a.Row(j)[i] = a, a
		}
		p.a.Row(i)[i] = 0
	}
	return &p.a
}

// normalise centres the first layer and divides by its deviation over all pairs.
func (p *Pairs) normalise() {
	n, h := p.Nodes, p.Hidden
	mean, variance := make([]float64, 2*h), make([]float64, 2*h)
	for i := range n {
		for k, x := range p.first.Row(i) {
			mean[k] += float64(x) / float64(n)
		}
	}
	for i := range n {
		for k, x := range p.first.Row(i) {
			d := float64(x) - mean[k]
			variance[k] += d * d / float64(n)
		}
	}
	p.deviation1 = make([]float64, h)
	for k := range h {
		p.deviation1[k] = math.Sqrt(variance[k] + variance[h+k] + epsilon)
	}
	p.scaled.Reshape(n, 2*h)
	for i := range n {
		row, scaled := p.first.Row(i), p.scaled.Row(i)
		for k := range row {
			row[k] = float32((float64(row[k]) - mean[k]) / p.deviation1[k%h])
			scaled[k] = row[k] * p.gain1.Data[k%h]
			if k < h {
				scaled[k] += p.shift1.Data[k]
			}
		}
	}
}

// columns returns Σ_j f(i, j) summed over i, for f that adds a row of hidden values to dst.
func (p *Pairs) columns(partial *mat.Dense) []float64 {
	sum := make([]float64, p.Hidden)
	for i := range p.Nodes {
		kernel.Accumulate(sum, 1, partial.Row(i))
	}
	return sum
}

// statistics finds the second BN.
func (p *Pairs) statistics() {
	n, h := p.Nodes, p.Hidden
	p.partial.Reshape(n, h)
	p.another.Reshape(n, h)
	parallel.For(n, 1, func(lo, hi int) {
		square := make([]float32, h)
		for i := lo; i < hi; i++ {
			sum, squares := p.partial.Row(i), p.another.Row(i)
			clear(sum)
			clear(squares)
			for j := range n {
				row := p.row(&p.u, i, j)
				kernel.Add(sum, sum, row)
				kernel.Mul(square, row, row)
				kernel.Add(squares, squares, square)
			}
		}
	})
	p.mean2, p.inverse2 = p.columns(&p.partial), p.columns(&p.another)
	p.scale2, p.offset2 = make([]float32, h), make([]float32, h)
	count := float64(n) * float64(n)
	for k := range h {
		mean := p.mean2[k] / count
		variance := max(0, p.inverse2[k]/count-mean*mean)
		p.mean2[k], p.inverse2[k] = mean, 1/math.Sqrt(variance+epsilon)
		scale := float64(p.gain2.Data[k]) * p.inverse2[k]
		p.scale2[k], p.offset2[k] = float32(scale), float32(float64(p.shift2.Data[k])-mean*scale)
	}
}

// second sets dst to h²_ij.
func (p *Pairs) second(dst []float32, i, j int) {
	kernel.Mul(dst, p.row(&p.u, i, j), p.scale2)
	kernel.Add(dst, dst, p.offset2)
	kernel.ReLU(dst, dst)
}
