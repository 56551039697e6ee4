package fuzzy

import (
	"math"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// line returns a graph with one class and without edges. Node i has the feature places[i], after the given number of
// zeros.
func line(t *testing.T, zeros int, places ...float32) *graph.Graph {
	t.Helper()
	x := mat.NewDense(len(places), zeros+1)
	b := graph.Builder{Name: "line", X: x, Classes: 1, Y: make([]int32, len(places))}
	for v, place := range places {
		x.Row(v)[zeros] = place
		b.Split.Train = append(b.Split.Train, int32(v))
	}
	return mattest.First(b.Graph(t.Context()))
}

func by(t *testing.T, m gecc, g *graph.Graph, nodes int) *condense.Condensed {
	t.Helper()
	return mattest.Must(m.Condense(t.Context(), g, nodes, 1))
}

// of returns GECC with the given fuzziness and weight of balance, on the features without propagation.
func of(fuzziness, balance float64) gecc {
	m := New().(gecc)
	m.HopWeights, m.Fuzziness, m.Balance = []float64{1}, fuzziness, balance
	return m
}

// centres returns the last feature of each condensed node, ascending.
func centres(small *condense.Condensed) (places []float32) {
	for j := range small.Nodes() {
		places = append(places, small.X.Row(j)[small.X.Cols-1])
	}
	slices.Sort(places)
	return places
}

// TestBalance compares hard clusters on a line with clusters worked out by hand. {0, 0, 3, 3} and {9} have the sum of
// squares 9, and their sizes differ by 1.5 from the mean. {0, 0} and {3, 3, 9} have the sum of squares 24, and their
// sizes differ by 0.5.
func TestBalance(t *testing.T) {
	for balance, want := range map[float64][]float32{0: {1.5, 9}, 3: {1.5, 9}, 4: {0, 5}} {
		small := by(t, of(1, balance), line(t, 0, 0, 0, 3, 3, 9), 2)
		mattest.Equal(t, centres(small), want, "balance %v: centres", balance)
	}
}

// TestFixedPoint checks the centres of fuzzy clusters against the equations of c-means, in plain loops, and that the
// weighted mean of the source nodes is the centre. The centres must be the same in one dimension and in ten, where
// distances come from inner products.
func TestFixedPoint(t *testing.T) {
	places := []float32{0, 0.5, 1, 2.5, 4, 4.25, 7}
	for _, fuzziness := range []float64{1.3, 2} {
		small := by(t, of(fuzziness, 0), line(t, 0, places...), 3)
		for j := range small.Nodes() {
			var sum, weights, shares, shared float64
			for _, x := range places {
				rest := 0.0 // Σ_l (d_ji/d_li)^(1/(m−1))
				for l := range small.Nodes() {
					d := func(c int) float64 { return math.Pow(float64(x-small.X.Row(c)[0]), 2) }
					rest += math.Pow(d(j)/d(l), 1/(fuzziness-1))
				}
				weight := math.Pow(1/rest, fuzziness)
				sum, weights = sum+weight*float64(x), weights+weight
			}
			for e := small.Members.Indptr[j]; e < small.Members.Indptr[j+1]; e++ {
				share := float64(small.Members.Data[e])
				shares, shared = shares+share, shared+share*float64(places[small.Members.Indices[e]])
			}
			got := float64(small.X.Row(j)[0])
			const rounding = 1e-5 // float32 rounding of X′ times the slope of the powers; and omitted members
			mattest.Near(t, got, sum/weights, rounding, "m=%v: centre %d (want that of c-means) is", fuzziness, j)
			mattest.Near(t, shared, got, rounding, "m=%v: mean of the members of centre %d", fuzziness, j)
			mattest.Near(t, shares, 1, rounding, "m=%v: sum of the shares in centre %d", fuzziness, j)
		}
		one, ten := centres(small), centres(by(t, of(fuzziness, 0), line(t, 9, places...), 3))
		for j := range one {
			mattest.Near(t, float64(ten[j]), float64(one[j]), 1e-6, "m=%v: centre in ten dimensions", fuzziness)
		}
	}
}

// TestHops checks the weights of the hops on an edge with features 1 and 0: ÂX and Â²X are ½ at both ends. The only
// centre is the mean −0.1·½ + 0.9·½ + 0.9·½.
func TestHops(t *testing.T) {
	b := graph.Builder{Name: "edge", X: &mat.Dense{Rows: 2, Cols: 1, Data: []float32{1, 0}}, Y: []int32{0, 0}, Classes: 1}
	b.AddEdge(0, 1)
	b.Split.Train = []int32{0, 1}
	g := mattest.First(b.Graph(t.Context()))
	mattest.Near(t, float64(by(t, New().(gecc), g, 1).X.Row(0)[0]), 0.85, 1e-6, "centre")
}
