package partition_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gonum "gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/graph-condensation/cgc/internal/factor"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/partition"
)

// centred returns x minus its column means.
func centred(x *mat.Dense) *mat.Dense {
	c := x.Clone()
	for j := range x.Cols {
		mean := 0.0
		for i := range x.Rows {
			mean += float64(x.Row(i)[j]) / float64(x.Rows)
		}
		for i := range x.Rows {
			c.Row(i)[j] = float32(float64(x.Row(i)[j]) - mean)
		}
	}
	return c
}

// explicitKernel returns K_ij = (u_i·u_j + c)², c = 2^-½, and its degrees D = K·1.
func explicitKernel(u *mat.Dense) (k [][]float64, degree []float64) {
	k, degree = make([][]float64, u.Rows), make([]float64, u.Rows)
	for i := range k {
		for j := range k {
			dot := math.Sqrt(0.5)
			for a, v := range u.Row(i) {
				dot += float64(v) * float64(u.Row(j)[a])
			}
			k[i] = append(k[i], dot*dot)
			degree[i] += dot * dot
		}
	}
	return k, degree
}

// cut returns the normalised cut Σ_g (1 − assoc(g,g)/assoc(g,all)) of the groups in K.
func cut(k [][]float64, degree []float64, g partition.Groups) (sum float64) {
	for _, rows := range g.All() {
		var inner, volume float64
		for _, i := range rows {
			volume += degree[i]
			for _, j := range rows {
				inner += k[i][j]
			}
		}
		sum += 1 - inner/volume
	}
	return sum
}

// Products computed without forming the kernel equal products with the kernel, even if u is not orthonormal.
func TestKernelProduct(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 270).Draw(r, "n") // more than one block of rows
		d := rapid.IntRange(1, 18).Draw(r, "d")  // more than one strip of columns
		b := rapid.IntRange(1, 5).Draw(r, "b")
		seed := rapid.Uint64().Draw(r, "seed")
		random := rand.New(rand.NewPCG(seed, 1))
		u, v := mattest.Normal(n, d, random), mattest.Normal(n, b, random)
		got, err := partition.KernelProduct(t.Context(), u, v)
		if err != nil {
			r.Fatal(err)
		}
		k, degree := explicitKernel(u)
		leader, total := partition.Leader(u), 0.0
		for _, d := range degree {
			total += d
		}
		for i := range n {
			if want := math.Sqrt(degree[i] / total); math.Abs(leader[i]-want) > 1e-6*want { // float32 second moments
				r.Fatalf("leading eigenvector: component %d is %v, expected %v", i, leader[i], want)
			}
			for c := range b {
				var want, size float64
				for j := range n {
					term := k[i][j] / math.Sqrt(degree[i]*degree[j]) * float64(v.Row(j)[c])
					want += term
					size += math.Abs(term)
				}
				// Each term is rounded to float32 a few times. Entries of Z that cancel within a term have the size of S_ii.
				size += k[i][i] / degree[i]
				if diff := math.Abs(float64(got.Row(i)[c]) - want); diff > 1e-5*size {
					r.Fatalf("row %d column %d: %v, by the kernel %v", i, c, got.Row(i)[c], want)
				}
			}
		}
	})
}

// The vectors are orthonormal, orthogonal to the vector of ones, and capture nearly as much as the leading singular
// vectors. They capture least for noise, whose singular values have no gap. Many rows are not copied, and no Gram
// matrix of many columns is formed.
func TestLeadingLeft(t *testing.T) {
	for _, c := range []struct {
		n, d, centres, k int
		share            float64 // of the squares that the leading vectors capture
	}{
		{20, 60, 12, 5, 0.9999}, {200, 30, 12, 7, 0.9999}, {50, 50, 12, 10, 0.9999}, {40, 8, 12, 20, 0.9999},
		{9, 300, 12, 20, 0.9999}, {600, 200, 12, 5, 0.9999}, {300, 700, 12, 6, 0.9999},
		{700, 200, 1, 50, 0.999}, {190, 400, 1, 40, 0.999}, {400, 400, 1, 12, 0.999},
		{2600, 40, 12, 6, 0.999}, {2600, 400, 12, 6, 0.999}, {2600, 40, 1, 6, 0.999}, {2600, 400, 1, 6, 0.85},
	} {
		x := mattest.Mixture(c.n, c.d, c.centres, 5)
		exact := centred(x)
		for i := range x.Data {
			x.Data[i] += 100
		}
		u := leadingLeft(t, x, c.k)
		wantOrthonormal(t, fmt.Sprint(c), u)
		got := 0.0
		for a := range u.Cols {
			sum, along := 0.0, make([]float64, c.d)
			for i := range c.n {
				v := float64(u.Row(i)[a])
				sum += v
				for j, e := range exact.Row(i) {
					along[j] += v * float64(e)
				}
			}
			if math.Abs(sum) > 1e-3 { // sum of at most 2600 float32 values whose squares sum to 1
				t.Errorf("%v: vector %d sums to %v", c, a, sum)
			}
			for _, v := range along {
				got += v * v
			}
		}
		gram := mattest.Must(factor.Gram(t.Context(), exact))
		var e gonum.EigenSym
		e.Factorize(gonum.NewSymDense(c.d, gram.Data), false)
		values := e.Values(nil)
		slices.Reverse(values)
		most, rank := 0.0, 0
		for ; rank < min(c.k, c.d) && values[rank] > 1e-6*values[0]; rank++ { // Gram rounds to float32
			most += values[rank]
		}
		t.Logf("%v: %.5f of the squares that the leading vectors carry", c, got/most)
		if u.Cols != rank || got < c.share*most || got > 1.0001*most {
			t.Errorf("%v: %d vectors carry %v of the squares, the leading %d carry %v", c, u.Cols, got, rank, most)
		}
	}
}

// leadingLeft returns the vectors of step 1 of Spectral for the rows of x.
func leadingLeft(t *testing.T, x *mat.Dense, k int) *mat.Dense {
	t.Helper()
	return mattest.Must(partition.LeadingLeft(t.Context(), x.View().Rows(), k))
}

// wantOrthonormal checks the products of the columns of v.
func wantOrthonormal(t *testing.T, name string, v *mat.Dense) {
	t.Helper()
	gram := mattest.Must(factor.Gram(t.Context(), v))
	for i := range gram.N {
		for j, product := range gram.Row(i) {
			if i == j {
				product--
			}
			if math.Abs(product) > 1e-4 { // float32 rotations
				t.Errorf("%s: vectors %d and %d are off orthonormal by %v", name, i, j, product)
			}
		}
	}
}

// The clustered vectors are orthonormal and orthogonal to the leading eigenvector. They capture as much of S as its
// eigenvectors do, whether U has k columns or fewer. If it has fewer, random vectors have to find the rest.
func TestLeadingSpace(t *testing.T) {
	for _, c := range []struct{ n, d, k int }{{150, 30, 10}, {40, 200, 12}, {200, 5, 16}, {120, 2, 10}} {
		u := leadingLeft(t, mattest.Mixture(c.n, c.d, 10, 3), c.k)
		k, degree := explicitKernel(u)
		s := make([][]float64, c.n)
		for i := range s {
			s[i] = make([]float64, c.n)
			for j := range s[i] {
				s[i][j] = k[i][j] / math.Sqrt(degree[i]*degree[j])
			}
		}
		leader := partition.Leader(u)
		want := explicitEmbedding(k, degree, c.k)
		free, dense, err := partition.Leading(t.Context(), u, c.k, rand.NewPCG(1, 2))
		mattest.OK(t, err)
		for name, v := range map[string]*mat.Dense{"dense": dense, "matrix-free": free} {
			if v.Cols != want.Cols {
				t.Errorf("%v, %s: %d vectors, want %d", c, name, v.Cols, want.Cols)
				continue
			}
			for a := range v.Cols {
				along := 0.0
				for i, q := range leader {
					along += q * float64(v.Row(i)[a])
				}
				if math.Abs(along) > 1e-5 { // float32 vectors are orthogonal up to rounding
					t.Errorf("%v, %s: vector %d has the product %v with the leading eigenvector", c, name, a, along)
				}
			}
			wantOrthonormal(t, fmt.Sprintf("%v, %s", c, name), v)
			// The iteration stops at a mean squared sine of 10⁻³, and its last product improves on that.
			if got, most := carried(s, v), carried(s, want); got < most*(1-1e-4) {
				t.Errorf("%v, %s: the vectors carry %v of S, its eigenvectors %v", c, name, got, most)
			}
		}
	}
}

// carried returns the trace of VᵀSV.
func carried(s [][]float64, v *mat.Dense) (trace float64) {
	for i, row := range s {
		for j, e := range row {
			for a := range v.Cols {
				trace += float64(v.Row(i)[a]) * e * float64(v.Row(j)[a])
			}
		}
	}
	return trace
}

// The groups have as low a normalised cut as the groups by the definition in float64, and a lower cut than random
// groups. This holds for both ways to compute the eigenvectors, whether U has k columns or fewer.
func TestSpectralCut(t *testing.T) {
	for _, c := range []struct {
		n, d, centres, k int
		products         bool // whether products with the kernel map are needed
	}{{200, 40, 12, 12, false}, {60, 200, 6, 6, true}, {250, 3, 15, 12, true}} {
		var explicit, dense, free, random float64
		products := 0
		const runs = 4
		for seed := range uint64(runs) {
			x := mattest.Mixture(c.n, c.d, c.centres, seed)
			k, degree := explicitKernel(leadingLeft(t, x, c.k))
			m := partition.KMeans{Restarts: 10}
			explicit += cut(k, degree, group(t, m, explicitEmbedding(k, degree, c.k), c.k, seed)) / runs
			dense += cut(k, degree, group(t, partition.Spectral{KMeans: m, Dense: c.n}, x, c.k, seed)) / runs
			g := group(t, partition.Spectral{KMeans: m, Dense: -1}, x, c.k, seed)
			products += g.Stats.Products
			free += cut(k, degree, g) / runs
			random += cut(k, degree, group(t, partition.Random{}, x, c.k, seed)) / runs
		}
		if (products > 0) != c.products {
			t.Errorf("%d×%d, %d groups: %d products with the kernel map", c.n, c.d, c.k, products)
		}
		t.Logf("%d×%d, %d groups: normalised cut by the definition %.5f, dense %.5f, matrix-free %.5f, random %.5f", c.n, c.d,
			c.k, explicit, dense, free, random)
		// Local optima of k-means may cost 5% of the distance to random groups, averaged over the runs.
		slack := 0.05 * (random - explicit)
		if slack <= 0 || dense > explicit+slack || free > explicit+slack {
			t.Errorf("%d×%d, %d groups: normalised cut by the definition %v, dense %v, matrix-free %v, random %v", c.n, c.d, c.k,
				explicit, dense, free, random)
		}
	}
}

// explicitEmbedding returns the eigenvectors 2 to count+1 of D^-½KD^-½ as columns.
func explicitEmbedding(k [][]float64, degree []float64, count int) *mat.Dense {
	n := len(k)
	s := gonum.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			s.SetSym(i, j, k[i][j]/math.Sqrt(degree[i]*degree[j]))
		}
	}
	var e gonum.EigenSym
	e.Factorize(s, true)
	var vectors gonum.Dense
	e.VectorsTo(&vectors)
	rank := 0
	for values := e.Values(nil); rank < count && values[n-2-rank] > 1e-9*values[n-2]; rank++ {
	}
	x := mat.NewDense(n, rank)
	for i := range n {
		for j := range rank {
			x.Row(i)[j] = float32(vectors.At(i, n-2-j))
		}
	}
	return x
}

func TestSpectralRefusesParameters(t *testing.T) {
	m := partition.Spectral{KMeans: partition.KMeans{Restarts: -1}}
	mattest.Fails(t, "-1 restarts")(
		m.Partition(t.Context(), mattest.Mixture(9, 3, 2, 1).View().Rows(), 2, rand.NewPCG(1, 2)))
}
