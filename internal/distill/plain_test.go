package distill_test

import (
	"math"
	"testing"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/distill"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// columns returns the rows of x in float64.
func columns(x *mat.Dense) [][]float64 {
	rows := make([][]float64, x.Rows)
	for i := range rows {
		for _, v := range x.Row(i) {
			rows[i] = append(rows[i], float64(v))
		}
	}
	return rows
}

// walk returns Z⁽ᴸ⁾ for Z⁽ˡ⁾ = (1−β)ÂZ⁽ˡ⁻¹⁾ + βz on an unweighted graph.
func walk(g *graph.Graph, z [][]float64, hops int, teleport float64) [][]float64 {
	degree := func(v int) float64 { return float64(1 + g.Adj.Indptr[v+1] - g.Adj.Indptr[v]) }
	now := z
	for range hops {
		next := make([][]float64, len(z))
		for v := range next {
			next[v] = make([]float64, len(z[v]))
			neighbours := append([]int32{int32(v)}, g.Adj.Indices[g.Adj.Indptr[v]:g.Adj.Indptr[v+1]]...)
			for k := range next[v] {
				for _, u := range neighbours {
					next[v][k] += (1 - teleport) * now[u][k] / math.Sqrt(degree(v)*degree(int(u)))
				}
				next[v][k] += teleport * z[v][k]
			}
		}
		now = next
	}
	return now
}

// taught returns softmax(s·zW) of each row of z. W and s come from ridge regression on the training nodes.
func taught(t *testing.T, g *graph.Graph, z [][]float64) [][]float64 {
	t.Helper()
	h := mat.NewDense(len(g.Split.Train), len(z[0]))
	for i, v := range g.Split.Train {
		for k, x := range z[v] {
			h.Row(i)[k] = float32(x)
		}
	}
	ridge := mattest.Must(distill.FitRidge(t.Context(), h, g.Labels(g.Split.Train), g.Classes))
	said := make([][]float64, len(z))
	for v, row := range z {
		said[v] = make([]float64, g.Classes)
		var sum float64
		for c := range said[v] {
			var output float64
			for k, x := range row {
				output += x * float64(ridge.W.Row(k)[c])
			}
			said[v][c] = math.Exp(ridge.Scale * output)
			sum += said[v][c]
		}
		for c := range said[v] {
			said[v][c] /= sum
		}
	}
	return said
}

// studied returns the labels after rounds of students on embeddings h with two features, in float64: W = (HᵀH +
// λI)⁻¹HᵀT by the inverse of a 2×2 matrix.
func studied(g *graph.Graph, h, labels [][]float64, rounds int) [][]float64 {
	for range rounds {
		targets := make([][]float64, len(labels))
		for v := range labels {
			targets[v] = append([]float64(nil), labels[v]...)
		}
		for _, v := range g.Split.Train {
			targets[v] = []float64{0, 0}
			targets[v][g.Y[v]] = 1
		}
		var a, b, d, penalty float64 // HᵀH = [a b; b d]
		var right [2][2]float64      // HᵀT
		for v, row := range h {
			a, b, d = a+row[0]*row[0], b+row[0]*row[1], d+row[1]*row[1]
			for k := range 2 {
				for c := range 2 {
					right[k][c] += row[k] * targets[v][c]
				}
			}
		}
		penalty = (a + d) / float64(len(h))
		a, d = a+penalty, d+penalty
		next := make([][]float64, len(h))
		for v, row := range h {
			next[v] = make([]float64, 2)
			sum := 0.0
			for c := range 2 {
				w0 := (d*right[0][c] - b*right[1][c]) / (a*d - b*b)
				w1 := (a*right[1][c] - b*right[0][c]) / (a*d - b*b)
				next[v][c] = math.Max(0, row[0]*w0+row[1]*w1)
				sum += next[v][c]
			}
			for c := range 2 {
				next[v][c] /= sum
			}
		}
		labels = next
	}
	return labels
}
