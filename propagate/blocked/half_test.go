package blocked_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// star joins node 0 to all others but the last, which is isolated, and each node to the next. Degrees go from 0 to n−2.
// With weights, degrees go up to 2³².
func star(n int, weighted bool) *mat.CSR {
	var list [][2]int32
	for v := int32(1); v < int32(n)-1; v++ {
		list = append(list, [2]int32{0, v})
		if v+1 < int32(n)-1 {
			list = append(list, [2]int32{v, v + 1})
		}
	}
	a := edges(n, list)
	if weighted {
		a.Data = make([]float32, len(a.Indices))
		for i := range n {
			for e := a.Indptr[i]; e < a.Indptr[i+1]; e++ {
				low, high := min(i, int(a.Indices[e])), max(i, int(a.Indices[e]))
				a.Data[e] = 1 / float32(1+high)
				if low == 1 && high == 2 {
					a.Data[e] = 1<<32 - 1<<12
				}
			}
		}
	}
	return a
}

// uneven returns features whose columns differ: of order 1, 1e30, 1e-30, all zeros, a few ones, and values of many
// magnitudes.
func uneven(n, d int, random *rand.Rand) *mat.Dense {
	x := mat.NewDense(n, d)
	for i := range n {
		for j, v := range x.Row(i) {
			switch v = float32(random.NormFloat64()); j % 6 {
			case 1:
				v *= 1e30
			case 2:
				v *= 1e-30
			case 3:
				v = 0
			case 4:
				v = float32(int(math.Abs(float64(v))) / 2)
			case 5:
				v *= float32(math.Ldexp(1, -random.IntN(40)))
			}
			x.Row(i)[j] = v
		}
	}
	return x
}

// exact computes H⁽⁰⁾ … H⁽ᴷ⁾ of all nodes in float64.
func exact(p propagate.Propagation, a *mat.CSR, x []float64, d int) [][]float64 {
	n := a.Rows
	weight := func(e int64) float64 {
		if a.Data == nil {
			return 1
		}
		return float64(a.Data[e])
	}
	degree := make([]float64, n)
	for i := range n {
		degree[i] = 1
		for e := a.Indptr[i]; e < a.Indptr[i+1]; e++ {
			degree[i] += weight(e)
		}
	}
	coefficient := func(i, j int) float64 {
		if p.Rule == propagate.SAGE {
			return 1 / degree[i]
		}
		return 1 / math.Sqrt(degree[i]*degree[j])
	}
	beta := 0.0
	if p.Rule == propagate.PPR {
		beta = float64(float32(p.Teleport))
	}
	h := [][]float64{x}
	for l := range p.Hops {
		next := make([]float64, n*d)
		for i := range n {
			for j := range d {
				sum := coefficient(i, i) * h[l][i*d+j]
				for e := a.Indptr[i]; e < a.Indptr[i+1]; e++ {
					v := int(a.Indices[e])
					sum += weight(e) * coefficient(i, v) * h[l][v*d+j]
				}
				next[i*d+j] = (1-beta)*sum + beta*x[i*d+j]
			}
		}
		h = append(h, next)
	}
	return h
}

// The error bound of blocked.Half holds for every value, whatever the magnitudes of features and degrees. The rounding
// errors of float32 are added: for each hop, the sum of at most n+1 terms and five products, each within 2⁻²⁴.
func TestHalfIsWithinItsBound(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 0))
	const n, d, u = 60, 75, 1.0 / (1 << 11)
	x := uneven(n, d, random)
	wide, magnitudes, largest := make([]float64, n*d), make([]float64, n*d), make([]float64, d)
	for k, v := range x.Data {
		wide[k], magnitudes[k] = float64(v), math.Abs(float64(v))
		largest[k%d] = max(largest[k%d], magnitudes[k])
	}
	worst := 0.0
	for _, weighted := range []bool{false, true} {
		a := star(n, weighted)
		for _, rule := range propagate.Rules() {
			p := propagate.Propagation{Rule: rule, Hops: 5, Teleport: 0.2}
			want, size := exact(p, a, wide, d), exact(p, a, magnitudes, d)
			for hops := 1; hops <= p.Hops; hops++ { // covers the sparse first hop and both panels
				p.Hops = hops
				for kind, features := range map[string]mat.Matrix{"dense": x, "sparse": x.Sparse(), "read": inPanels{x, 16, nil}} {
					got := embeddings(t, blocked.Engine{Precision: blocked.Half}, p,
						propagate.Input{Adj: a, X: features, Rows: memory.Range(0, n)})
					for l := range got {
						for k, v := range got[l].Dense().Data {
							bound := 0.0
							if l > 0 {
								bound = (math.Pow(1+u, float64(l+1))-1)*size[l][k] + float64(l+1)*math.Ldexp(largest[k%d], -23) +
									float64(l)*(n+6)*math.Ldexp(size[l][k], -24)
							}
							off := math.Abs(float64(v) - want[l][k])
							if !(off <= bound) {
								t.Fatalf("%s, weights %t, %s, %d hops: H(%d) of node %d, feature %d is %v, want %v ± %g", rule, weighted,
									kind, hops, l, k/d, k%d, v, want[l][k], bound)
							}
							if bound > 0 {
								worst = max(worst, off/bound)
							}
						}
					}
				}
			}
		}
	}
	if worst < 0.3 {
		t.Errorf("no error comes nearer to its bound than %.0f%%: is this half precision?", 100*worst)
	}
}

// The largest value of a column determines its power of two, whichever node has it: no value overflows.
func TestHalfFindsTheLargest(t *testing.T) {
	const n, d = 40_000, 3
	a := &mat.CSR{Rows: n, Cols: n, Indptr: make([]int64, n+1)} // no edges: H⁽¹⁾ = X
	for _, at := range []int{0, n / 2, n - 1} {
		x := mat.NewDense(n, d)
		for v := range n {
			x.Row(v)[1] = 1
		}
		x.Row(at)[1] = -1 << 100
		for kind, features := range map[string]mat.Matrix{"dense": x, "sparse": x.Sparse(), "read": inPanels{x, 16, nil}} {
			in := propagate.Input{Adj: a, X: features, Rows: memory.Range(0, n)}
			p := propagate.Propagation{Rule: propagate.SAGE, Hops: 1}
			h := embeddings(t, blocked.Engine{Precision: blocked.Half}, p, in)
			for v := range n {
				want := float32(0) // 1 vanishes next to 2¹⁰⁰
				if v == at {
					want = -1 << 100
				}
				if got := h[1].Row(v); got[1] != want || got[0] != 0 || got[2] != 0 {
					t.Fatalf("%s, the largest at node %d: node %d has %v, want %v in column 1", kind, at, v, got, want)
				}
			}
		}
	}
}

// A degree above 2³² is an error that names the node. Invalid weights are an error too, and never give values that are
// not finite.
func TestHalfRefusesWeights(t *testing.T) {
	for _, c := range []struct {
		weight float32
		rule   propagate.Rule
		want   string
	}{
		{1 << 33, propagate.SGC, "weights of edges give node 1 the degree 8.59e+09, must be at most 4.29e+09 " +
			"with"},
		{1 << 33, propagate.SAGE, "weights of edges give node 1 the degree 8.59e+09, must be at most 4.29e+09 " +
			"with"},
		{1e38, propagate.PPR, "weights of edges give node 1 the degree 1e+38, must"},
		{-0.9999, propagate.SAGE, "must be a finite number"},
		{-5, propagate.SGC, "weights of edges give node 1 the degree"},
	} {
		a := edges(4, [][2]int32{{1, 2}, {2, 3}})
		a.Data = []float32{c.weight, c.weight, 1, 1}
		x := mat.NewDense(4, 3)
		x.Data[3] = 1
		p := propagate.Propagation{Rule: c.rule, Hops: 3, Teleport: 0.5}
		in := propagate.Input{Adj: a, X: x, Rows: memory.Range(0, 4)}
		mattest.Fails(t, c.want)(propagate.Run(t.Context(), blocked.Engine{Precision: blocked.Half}, p, in))
	}
}

func TestPrecision(t *testing.T) {
	in := propagate.Input{Adj: ring(9, 2), X: mat.NewDense(9, 3), Rows: memory.Range(0, 9)}
	p := propagate.Propagation{Rule: propagate.SGC, Hops: 1}
	want := "precision 7, must be one of [float32 half]"
	if _, err := (blocked.Engine{Precision: 7}).Embeddings(t.Context(), p, in); err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
	if _, err := (blocked.Engine{Precision: 7}).Footprint(p, in); err == nil || err.Error() != want {
		t.Errorf("the error of a footprint is %v, want %s", err, want)
	}
	for _, p := range blocked.Precisions() {
		var read blocked.Precision
		text, err := json.Marshal(p)
		if err != nil || json.Unmarshal(text, &read) != nil || read != p {
			t.Errorf("%v is %s in JSON, and read as %v", p, text, read)
		}
	}
	var read blocked.Precision
	if err := json.Unmarshal([]byte(`"bfloat16"`), &read); err == nil {
		t.Error("bfloat16 is a precision")
	}
	if _, err := json.Marshal(blocked.Precision(2)); err == nil {
		t.Error("precision 2 has a text")
	}
}
