package cgc_test

// This file tests real edges, mixtures of hops and the best of several partitions, which go beyond the paper.

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/internal/generate"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/propagate"
)

// randomMembers returns an aggregation matrix of n nodes. Some nodes are in no group, some in several.
func randomMembers(groups, n int, random *rand.Rand) dense {
	p := zeros(groups, n)
	for i := range p {
		total := 0.0
		for j := range p[i] {
			if random.Float64() < 0.15 {
				p[i][j] = random.Float64()
				total += p[i][j]
			}
		}
		for j := range p[i] {
			p[i][j] = float64(float32(p[i][j] / total))
		}
	}
	return p
}

func TestAggregatedEqualsReference(t *testing.T) {
	random := rand.New(rand.NewPCG(40, 0))
	for _, weighted := range []bool{false, true} {
		g, a := smallGraph(60, 4, 3, weighted, false, random)
		members := randomMembers(14, 60, random)
		p := toDense(members).Sparse()
		all, used, err := generate.Aggregated(t.Context(), p, g.Adj, 0)
		mattest.OK(t, err)
		want := refTies(members, a, 0.01)
		if err := all.Validate(t.Context()); err != nil || used != 0.01 || all.NNZ() == 0 {
			t.Fatalf("A′ of %d entries above %v: %v", all.NNZ(), used, err)
		}
		wantClose(t, "A′", all.Dense(), want, 1e-6) // float64, rounded to float32
		h := gaussian(14, 5, random)
		for _, w := range [][]float64{last(2), {0.2, 0.3, 0.5}} {
			for _, alpha := range []float64{0.3, 3} {
				x := mattest.First(generate.Solve(t.Context(), all, toDense(h), w, alpha))
				wantClose(t, fmt.Sprintf("X′ over weighted edges, %v", w), x, refFeatures(want, h, w, alpha), 1e-4)
			}
		}
		for _, degree := range []float64{0.1, 1, 2.5, 100} {
			few, used, err := generate.Aggregated(t.Context(), p, g.Adj, degree)
			mattest.OK(t, err)
			most := int(degree * 14 / 2)
			if edges := few.NNZ() / 2; edges > most || edges < most && few.NNZ() < all.NNZ() {
				t.Errorf("degree %v: %d edges, want the strongest %d of %d", degree, edges, most, all.NNZ()/2)
			}
			ties := refTies(members, a, used+1e-7) // used is the weight of the strongest edge left out
			wantClose(t, fmt.Sprintf("A′ of mean degree %v", degree), few.Dense(), ties, 1e-6)
		}
	}
}

func TestAggregatedIgnoresThreads(t *testing.T) {
	random := rand.New(rand.NewPCG(42, 0))
	g, _ := smallGraph(200, 4, 3, true, false, random)
	members := toDense(randomMembers(40, 200, random)).Sparse()
	var first *mat.CSR
	mattest.AtThreads(func(threads int) {
		a := mattest.First(generate.Aggregated(t.Context(), members, g.Adj, 5))
		if first == nil {
			first = a
		} else if !slices.Equal(first.Data, a.Data) || !slices.Equal(first.Indices, a.Indices) {
			t.Errorf("%d threads change the edges", threads)
		}
	})
}

func TestMixtureEqualsReference(t *testing.T) {
	random := rand.New(rand.NewPCG(43, 0))
	h := []dense{gaussian(30, 5, random), gaussian(30, 5, random), gaussian(30, 5, random)}
	m := []mat.View{toDense(h[0]).View(), toDense(h[1]).View(), toDense(h[2]).View()}
	for _, w := range [][]float64{{0.2, 0.3, 0.5}, {1, 0, 0}, {0, 0.5, 0.5}} {
		wantClose(t, fmt.Sprint(w), propagate.Mix(m, w), refMix(h, w), float32Error)
	}
	if !slices.Equal(propagate.Mix(m, last(2)).Data, m[2].Dense().Data) {
		t.Error("the last hop alone is not the last hop")
	}
}

// With all these extensions, the full run equals the formulas, given the groups that were found. In the inductive
// setting, the formulas apply to the training graph.
func TestOptionsEqualReference(t *testing.T) {
	g, _ := smallGraph(60, 6, 3, true, false, rand.New(rand.NewPCG(44, 0)))
	weights := cgc.HopWeights{1, 2, 5} // ⅛, ¼, ⅝
	for _, inductive := range []bool{false, true} {
		for _, method := range []cgc.Variant{cgc.CGC, cgc.CGCX} {
			small := mustCondense(t, g, configured(8, func(c *cgc.Config) {
				c.Variant, c.Inductive, c.Edges, c.Degree = method, inductive, cgc.RealEdges, 0
				c.HopWeights, c.Partitions, c.Temperature = weights, 4, 0.05
			}))
			of := groupsOf(t, small, g, false)
			seen, train := g, g.Split.Train
			if inductive {
				seen = g.TrainingGraph()
				train = seen.Split.Train
			}
			a := fromMatrix(seen.Adj)
			y := ints(seen.Labels(train))
			var h []dense
			for _, hop := range refPropagate(refNormalize(a), fromMatrix(seen.X), 2, 0) {
				h = append(h, pickRows(hop, train))
			}
			mixture := refMix(h, []float64{0.125, 0.25, 0.625})
			r, _ := refJudge(mixture, refClassifier(h, y, 3, 1e-9), y)
			want := refAggregate(mixture, r, of, 8, 0.05)
			if method == cgc.CGC {
				members := refPool{confidence: r, node: train}.members(of, 8, seen.Nodes(), 0.05)
				ties := refTies(members, a, 0.01)
				name := fmt.Sprintf("A′, inductive %v", inductive)
				wantClose(t, name, small.Adj.Dense(), ties, 1e-3) // softmax(r/τ) magnifies an error of r
				want = refFeatures(ties, want, []float64{0.125, 0.25, 0.625}, 1)
				if small.Edges() == 0 {
					t.Error("the test wants edges")
				}
			}
			wantClose(t, fmt.Sprintf("X′, %s, inductive %v", method, inductive), small.X, want, 1e-3)
		}
	}
}

// canned is a partitioner that groups at random and records its groups.
type canned struct{ tried *[][]int }

func (m canned) Partition(_ context.Context, x [][]float32, k int, src rand.Source) (partition.Groups, error) {
	random := rand.New(src)
	g := partition.Groups{Of: make([]int32, len(x)), K: k}
	skew := 1 + 2*random.Float64() // the sizes of the groups differ, in some draws more than in others
	for i := range g.Of {
		g.Of[i] = int32(float64(k) * math.Pow(random.Float64(), skew))
		if i < k {
			g.Of[i] = int32(i)
		}
	}
	*m.tried = append(*m.tried, ints(g.Of))
	return g, nil
}

// Of several partitions, the one with the lowest score is kept. More partitions never raise the lowest score.
func TestTheBestPartitionIsKept(t *testing.T) {
	h := gaussian(40, 3, rand.New(rand.NewPCG(45, 0)))
	previous := math.Inf(1)
	for n := range 12 {
		var tried [][]int
		plan := partition.Plan{Budgets: []int{6}, Partitioner: canned{&tried}, Partitions: n, Temperature: 1}
		a := mattest.Must(plan.Aggregate(t.Context(), toDense(h).View().Rows(), make([]int32, 40), nil, rand.NewPCG(5, 5)))
		if len(tried) != max(1, n) {
			t.Fatalf("%d partitions, want %d", len(tried), n)
		}
		kept := make([]int, 40)
		for j := range 6 {
			for i := range a.Members.Row(j) {
				kept[i] = j
			}
		}
		lowest, at := math.Inf(1), 0
		for i, of := range tried {
			if s := refScore(h, of, 6); s < lowest {
				lowest, at = s, i
			}
		}
		if !slices.Equal(kept, tried[at]) {
			t.Errorf("%d partitions: the kept one is not the best one, %d", n, at)
		}
		if lowest > previous {
			t.Errorf("%d partitions have a lowest score of %v, one partition less had %v", n, lowest, previous)
		}
		previous = lowest
	}
	plan := partition.Plan{Budgets: []int{6}, Partitioner: partition.Random{}, Partitions: -1, Temperature: 1}
	rows := toDense(h).View().Rows()
	if _, err := plan.Aggregate(t.Context(), rows, make([]int32, 40), nil, rand.NewPCG(5, 5)); err == nil {
		t.Error("-1 partitions are accepted")
	}
}
