package condense_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// grouped returns a condensed graph of random nodes of three classes, with soft labels, members and their names.
func grouped(seed uint64) *condense.Condensed {
	random := rand.New(rand.NewPCG(seed, 1))
	const n, d, nodes = 23, 3, 200
	c := &condense.Condensed{
		X: mattest.Normal(n, d, random), Soft: mat.NewDense(n, 4), Classes: 4, GraphNodes: nodes, Graph: "random",
		Method: "cgc-x", Config: json.RawMessage(`{"method":"cgc-x"}`), Budget: []int{5, 0, 7, 11},
		Account: json.RawMessage(`{"kept":1}`),
		Members: &mat.CSR{Rows: n, Cols: nodes, Indptr: []int64{0}},
	}
	for class, count := range c.Budget {
		for range count {
			c.Y = append(c.Y, int32(class))
		}
	}
	for i := range n {
		c.Soft.Row(i)[i%4] = 1
		for node := i % 3; node < nodes; node += 20 + i { // some are source nodes of several condensed nodes
			c.Members.Indices = append(c.Members.Indices, int32(node))
			c.MemberIDs = append(c.MemberIDs, strings.Repeat("n", node))
		}
		from := c.Members.Indptr[i]
		for range len(c.Members.Indices) - int(from) {
			c.Members.Data = append(c.Members.Data, 1/float32(len(c.Members.Indices)-int(from)))
		}
		c.Members.Indptr = append(c.Members.Indptr, int64(len(c.Members.Indices)))
	}
	return c
}

// partOf returns, for each node of the larger condensed graph, the node of the cut that contains it.
func partOf(t *testing.T, c *condense.Condensed) []int {
	t.Helper()
	var account struct {
		Kept   int   `json:"kept"`
		PartOf []int `json:"part_of"`
	}
	mattest.OK(t, json.Unmarshal(c.Account, &account))
	if account.Kept != 1 || c.CutFrom() != len(account.PartOf) {
		t.Errorf("account %s", c.Account)
	}
	return account.PartOf
}

// obvious returns the parts after each merge, by the definition: a merge unites the two parts of a class whose union
// raises the sum of squared distances to the means least.
func obvious(c *condense.Condensed) (steps [][][]int) {
	loss := func(part []int) (sum float64) {
		mean, total := make([]float64, c.X.Cols), 0.0
		mass := func(i int) float64 { return float64(c.Members.Indptr[i+1] - c.Members.Indptr[i]) }
		for _, i := range part {
			total += mass(i)
			for k, v := range c.X.Row(i) {
				mean[k] += mass(i) * float64(v)
			}
		}
		for _, i := range part {
			for k, v := range c.X.Row(i) {
				sum += mass(i) * (float64(v) - mean[k]/total) * (float64(v) - mean[k]/total)
			}
		}
		return sum
	}
	var parts [][]int
	for i := range c.Y {
		parts = append(parts, []int{i})
	}
	for {
		steps = append(steps, slices.Clone(parts))
		least, at := math.Inf(1), [2]int{-1, -1}
		for a := range parts {
			for b := range a {
				if c.Y[parts[a][0]] == c.Y[parts[b][0]] {
					if r := loss(slices.Concat(parts[a], parts[b])) - loss(parts[a]) - loss(parts[b]); r < least {
						least, at = r, [2]int{b, a}
					}
				}
			}
		}
		if at[0] < 0 {
			return steps
		}
		united := slices.Concat(parts[at[0]], parts[at[1]])
		parts = append(slices.Delete(slices.Clone(parts), at[1], at[1]+1), nil)
		parts[at[0]], parts = united, parts[:len(parts)-1]
	}
}

// TestCut compares every cut with the definition, and checks means, budgets, members and their names.
func TestCut(t *testing.T) {
	for seed := range uint64(20) {
		c := grouped(seed)
		steps := obvious(c)
		for k, parts := range steps {
			cut := mattest.Must(c.Cut(t.Context(), len(c.Y)-k))
			mattest.OK(t, cut.Validate())
			of, owner := partOf(t, cut), make([]int, len(c.Y))
			slices.SortStableFunc(parts, func(a, b []int) int {
				if c.Y[a[0]] != c.Y[b[0]] {
					return int(c.Y[a[0]] - c.Y[b[0]])
				}
				return slices.Min(a) - slices.Min(b)
			})
			sizes, budget := make([]int, c.Classes), 0
			for j, part := range parts {
				sizes[c.Y[part[0]]]++
				for _, i := range part {
					owner[i] = j
				}
				var total, x, soft float64
				weights := map[int32]float64{}
				for _, i := range part {
					from, to := c.Members.Indptr[i], c.Members.Indptr[i+1]
					m := float64(to - from)
					total, x, soft = total+m, x+m*float64(c.X.Row(i)[1]), soft+m*float64(c.Soft.Row(i)[2])
					for e := from; e < to; e++ {
						weights[c.Members.Indices[e]] += m * float64(c.Members.Data[e])
					}
				}
				if math.Abs(float64(cut.X.Row(j)[1])-x/total) > 1e-6 || math.Abs(float64(cut.Soft.Row(j)[2])-soft/total) > 1e-6 {
					t.Fatalf("seed %d, cut to %d: node %d has other means", seed, len(parts), j)
				}
				found := 0
				for e := cut.Members.Indptr[j]; e < cut.Members.Indptr[j+1]; e++ {
					node := cut.Members.Indices[e]
					found++
					if math.Abs(float64(cut.Members.Data[e])-weights[node]/total) > 1e-6 || len(cut.MemberIDs[e]) != int(node) {
						t.Fatalf("seed %d, cut to %d: node %d has the member %d with weight %v and another name or weight", seed,
							len(parts), j, node, cut.Members.Data[e])
					}
				}
				budget += len(weights) - found
			}
			if !reflect.DeepEqual(of, owner) || !slices.Equal(cut.Budget, sizes) || budget != 0 {
				t.Fatalf("seed %d, cut to %d: parts %v, want %v; budget %v, want %v", seed, len(parts), of, owner, cut.Budget,
					sizes)
			}
		}
		mattest.Equal(t, len(steps), len(c.Y)-2, "cuts")
	}
}

// TestCutOfEqualNodes cuts equal nodes without members.
func TestCutOfEqualNodes(t *testing.T) {
	c := grouped(1)
	c.Members, c.MemberIDs, c.Soft, c.X = nil, nil, nil, mat.NewDense(23, 3)
	for n := 3; n <= 23; n++ {
		cut := mattest.Must(c.Cut(t.Context(), n))
		mattest.OK(t, cut.Validate())
		mattest.Equal(t, len(cut.Y), n, "nodes")
	}
}

// TestCutRefuses checks the errors for impossible sizes.
func TestCutRefuses(t *testing.T) {
	c := grouped(1)
	mattest.Fails(t, "nodes 2, must be 3 (the classes with condensed nodes) to 23")(c.Cut(t.Context(), 2))
	mattest.Fails(t, "nodes 24, must be 3")(c.Cut(t.Context(), 24))
	mattest.Fails(t, "the condensed graph is not valid: x is 0×0")(new(condense.Condensed).Cut(t.Context(), 1))
}

// TestCutPropagates checks that a cut of a graph with edges equals a cut without edges, after the features were
// propagated twice. An edge of weight 3 between nodes 0 and 1 gives them weights of 1/4 and 3/4.
func TestCutPropagates(t *testing.T) {
	c := grouped(1)
	plain := *c
	indptr := append([]int64{0, 1, 2}, slices.Repeat([]int64{2}, 21)...)
	c.Adj = &mat.CSR{Rows: 23, Cols: 23, Indptr: indptr, Indices: []int32{1, 0}, Data: []float32{3, 3}}
	plain.X = &mat.Dense{Rows: 23, Cols: 3, Data: slices.Clone(c.X.Data)}
	for k := range 3 {
		a, b := c.X.Row(0)[k], c.X.Row(1)[k]
		plain.X.Row(0)[k], plain.X.Row(1)[k] = 0.625*a+0.375*b, 0.375*a+0.625*b // (1/4 3/4; 3/4 1/4)²
	}
	for _, n := range []int{23, 11, 3} {
		got, want := mattest.Must(c.Cut(t.Context(), n)), mattest.Must(plain.Cut(t.Context(), n))
		if got.Adj != nil || !slices.Equal(got.Y, want.Y) || !reflect.DeepEqual(got.Members, want.Members) {
			t.Errorf("cut to %d: other nodes", n)
		}
		for i, v := range want.X.Data {
			if math.Abs(float64(got.X.Data[i]-v)) > 1e-6 {
				t.Fatalf("cut to %d: features %v, want %v", n, got.X.Data, want.X.Data)
			}
		}
	}
}

// BenchmarkCut cuts a condensed graph of the size of ogbn-products to about half.
func BenchmarkCut(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	c := &condense.Condensed{X: mattest.Normal(1238, 100, random), Classes: 47}
	for i := range 1238 {
		c.Y = append(c.Y, int32(i*47/1238))
	}
	for b.Loop() {
		mattest.Must(c.Cut(b.Context(), 600))
	}
}
