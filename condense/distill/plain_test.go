package distill_test

import (
	"math"
	"testing"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/selftrain"
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
	ridge, err := selftrain.FitRidge(t.Context(), h, g.Labels(g.Split.Train), g.Classes)
	if err != nil {
		t.Fatal(err)
	}
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
