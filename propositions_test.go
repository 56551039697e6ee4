package cgc_test

// This file checks propositions 1 to 3 of the paper (§2.2, appendix B) on random matrices. The test of graph generation
// checks proposition 4.

import (
	"github.com/graph-condensation/cgc/internal/mattest"
	"math"
	"math/rand/v2"
	"testing"
)

func gaussian(rows, cols int, random *rand.Rand) dense {
	m := zeros(rows, cols)
	for i := range m {
		for j := range m[i] {
			m[i][j] = random.NormFloat64()
		}
	}
	return m
}

func oneHotRows(y []int, classes int) dense {
	m := zeros(len(y), classes)
	for i, c := range y {
		m[i][c] = 1
	}
	return m
}

func cyclicLabels(n, classes int) []int {
	y := make([]int, n)
	for i := range y {
		y[i] = i % classes
	}
	return y
}

func refSub(a, b dense) dense {
	c := zeros(len(a), len(a[0]))
	for i := range a {
		for j := range a[i] {
			c[i][j] = a[i][j] - b[i][j]
		}
	}
	return c
}

func refScale(s float64, a dense) dense {
	c := zeros(len(a), len(a[0]))
	for i := range a {
		for j := range a[i] {
			c[i][j] = s * a[i][j]
		}
	}
	return c
}

func square(a dense) (sum float64) {
	for i := range a {
		for _, v := range a[i] {
			sum += v * v
		}
	}
	return sum
}

// Proposition 1: let Θ* and Θ′* be the optima of the two linear models. The error of Θ′* on the original graph is
//
//	‖Y − ZΘ′*‖² = ‖Y − ZΘ*‖² + ‖Z(Θ* − Θ′*)‖²,
//
// a constant plus a distance of the parameters in the metric ZᵀZ. So both objectives have the same optima.
func TestProposition1(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		z, y := gaussian(40, 6, random), oneHotRows(cyclicLabels(40, 3), 3)
		small, labels := gaussian(5, 6, random), oneHotRows(cyclicLabels(5, 3), 3)
		theta := refSolve(refMul(refT(z), z), refMul(refT(z), y))
		thetaSmall := refMul(refT(small), refSolve(refMul(small, refT(small)), labels))
		performance := square(refSub(y, refMul(z, thetaSmall)))
		constant := square(refSub(y, refMul(z, theta)))
		distance := square(refMul(z, refSub(theta, thetaSmall)))
		if math.Abs(performance-constant-distance) > 1e-9*performance { // rounding of float64 in 40×6 matrices
			t.Errorf("performance %v, constant %v + parameter distance %v", performance, constant, distance)
		}
	}
}

// Proposition 2: if features are uncorrelated, ZᵢᵀZᵢ = |Cᵢ|·I for each class i, then performance matching of each
// class is distribution matching.
func TestProposition2(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for range 20 {
		var matching, distribution float64
		for range 3 { // each class has 12 original nodes, 8 condensed nodes and 4 features
			z, small := whitened(12, 4, random), whitened(8, 4, random)
			one, oneSmall := refScale(1, ones(12)), refScale(1, ones(8))
			matching += square(refSub(
				refSolve(refMul(refT(z), z), refMul(refT(z), one)),
				refSolve(refMul(refT(small), small), refMul(refT(small), oneSmall))))
			mean, meanSmall := refScale(1.0/12, refMul(refT(z), one)), refScale(1.0/8, refMul(refT(small), oneSmall))
			distribution += square(refSub(mean, meanSmall))
		}
		mattest.Near(t, matching, distribution, 1e-9*distribution, "performance matching (want distribution matching)")
	}
}

func ones(n int) dense {
	m := zeros(n, 1)
	for i := range m {
		m[i][0] = 1
	}
	return m
}

// whitened returns an n×d matrix with ZᵀZ = n·I, by Gram-Schmidt on its columns.
func whitened(n, d int, random *rand.Rand) dense {
	columns := refT(gaussian(n, d, random))
	for j := range columns {
		for range 2 { // twice, for orthogonality to rounding
			for k := range j {
				dot := 0.0
				for i := range n {
					dot += columns[j][i] * columns[k][i]
				}
				for i := range n {
					columns[j][i] -= dot / float64(n) * columns[k][i]
				}
			}
		}
		scale := math.Sqrt(float64(n) / square(columns[j:j+1]))
		columns[j] = refScale(scale, columns[j:j+1])[0]
	}
	return refT(columns)
}

// Proposition 3: gradient matching of class i minimises ‖A + B‖². A is the difference of the prototypes, and B is the
// difference of the correlations times Θ. The paper bounds ‖A + B‖² by ‖A‖² + ‖B‖². For squares, the triangle
// inequality gives twice this bound, and the factor 2 is needed.
func TestProposition3(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	paperHolds := true
	for i := range 50 {
		d := 1 + i%4
		h, y := gaussian(12, d, random), ones(12)
		small, ySmall := gaussian(8, d, random), ones(8)
		theta := gaussian(d, 1, random)
		gradient := func(h, y dense) dense {
			n := float64(len(h))
			return refScale(1/n, refMul(refT(h), refSub(refMul(h, theta), y)))
		}
		matching := square(refSub(gradient(h, y), gradient(small, ySmall)))
		prototypes := square(refSub(refScale(1.0/12, refMul(refT(h), y)), refScale(1.0/8, refMul(refT(small), ySmall))))
		correlation := square(refSub(refScale(1.0/12, refMul(refT(h), h)), refScale(1.0/8, refMul(refT(small), small))))
		bound := prototypes + correlation*square(theta)
		if matching > 2*bound*(1+1e-12) {
			t.Errorf("gradient matching %v above twice the bound %v", matching, bound)
		}
		paperHolds = paperHolds && matching <= bound
	}
	if paperHolds {
		t.Error("the bound holds without the factor 2 on all matrices: the comment above is wrong")
	}
}
