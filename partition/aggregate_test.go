package partition_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/partition"
)

// labelled draws n rows with classes and confidences; class 2 has no rows.
func labelled(n int, seed uint64) (x *mat.Dense, y []int32, confidence []float32, budgets []int) {
	random := rand.New(rand.NewPCG(seed, 1))
	x = mattest.Mixture(n, 6, 9, seed)
	y, confidence = make([]int32, n), make([]float32, n)
	for i := range y {
		y[i] = []int32{0, 1, 1, 3, 3, 3, 4}[random.IntN(7)]
		confidence[i] = random.Float32()
	}
	counts := make([]int, 5)
	for _, c := range y {
		counts[c]++
	}
	budgets = make([]int, 5)
	for c, has := range counts {
		budgets[c] = (has + 4) / 5
	}
	return x, y, confidence, budgets
}

// aggregate returns the outcome of a plan.
func aggregate(t *testing.T, m partition.Partitioner, temperature float64, budgets []int, x *mat.Dense, y []int32,
	confidence []float32) *partition.Aggregation {
	t.Helper()
	plan := partition.Plan{Budgets: budgets, Partitioner: m, Temperature: temperature}
	return mattest.Must(plan.Aggregate(t.Context(), x.View().Rows(), y, confidence, rand.NewPCG(1, 2)))
}

// Aggregate agrees with its definition, computed with plain loops.
func TestAggregate(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 150).Draw(r, "n")
		temperature := rapid.SampledFrom([]float64{math.Inf(1), 10, 1, 0.1, 1e-3, 1e-30, 1e-320}).Draw(r, "temperature")
		x, y, confidence, budgets := labelled(n, rapid.Uint64().Draw(r, "seed"))
		a := aggregate(t, partition.KMeans{}, temperature, budgets, x, y, confidence)
		if !slices.IsSorted(a.Y) || a.H.Rows != len(a.Y) || a.Members.Rows != len(a.Y) || a.Members.Cols != n ||
			len(a.Stats) != len(budgets) {
			r.Fatalf("shapes: %d×%d, %d classes %v, members %d×%d", a.H.Rows, a.H.Cols, len(a.Y), a.Y, a.Members.Rows,
				a.Members.Cols)
		}
		if err := a.Members.Validate(r.Context()); err != nil {
			r.Fatal(err)
		}
		perClass, seen := make([]int, len(budgets)), make([]int, n)
		for j, c := range a.Y {
			perClass[c]++
			var total, norm float64
			for i := range a.Members.Row(j) {
				norm += math.Exp((float64(confidence[i]) - 1) / max(temperature, 1e-2)) // exp would underflow below this
			}
			mean := make([]float64, x.Cols)
			members := 0
			for i, w := range a.Members.Row(j) {
				seen[i]++
				members++
				total += float64(w)
				if y[i] != c {
					r.Fatalf("node %d of class %d has row %d of class %d", j, c, i, y[i])
				}
				if want := math.Exp((float64(confidence[i])-1)/temperature) / norm; temperature >= 1e-2 &&
					math.Abs(float64(w)-want) > 1e-6*want {
					r.Fatalf("weight of row %d is %v, expected %v", i, w, want)
				}
				for col, v := range x.Row(i) {
					mean[col] += float64(w) * float64(v)
				}
			}
			if members == 0 {
				r.Fatalf("node %d has no rows", j)
			}
			if math.Abs(total-1) > 1e-6 { // each weight is rounded to float32
				r.Fatalf("weights of node %d sum to %v", j, total)
			}
			for col, v := range mean {
				if math.Abs(float64(a.H.Row(j)[col])-v) > 1e-5 { // values of size 10, weights and result in float32
					r.Fatalf("node %d column %d is %v, expected %v", j, col, a.H.Row(j)[col], v)
				}
			}
		}
		if !slices.Equal(perClass, budgets) {
			r.Fatalf("condensed nodes per class %v, expected %v", perClass, budgets)
		}
		for i, times := range seen {
			if times != 1 {
				r.Fatalf("row %d is in %d groups", i, times)
			}
		}
	})
}

func TestAggregateByConfidence(t *testing.T) {
	x := &mat.Dense{Rows: 3, Cols: 2, Data: []float32{0, 0, 4, 0, 0, 8}}
	y, confidence := []int32{0, 0, 0}, []float32{0.2, 0.9, 0.1}
	for _, c := range []struct {
		temperature float64
		confidence  []float32
		want        []float32
	}{
		{math.Inf(1), confidence, []float32{4. / 3, 8. / 3}},
		{1, nil, []float32{4. / 3, 8. / 3}},
		{1e-9, confidence, []float32{4, 0}}, // only the most confident row
	} {
		a := aggregate(t, partition.KMeans{}, c.temperature, []int{1}, x, y, c.confidence)
		mattest.Equal(t, a.H.Data, c.want, "temperature %v", c.temperature)
	}
}

// With as many condensed nodes as rows, H′ consists of the rows, sorted by class.
func TestAggregateOfSingletons(t *testing.T) {
	x := &mat.Dense{Rows: 3, Cols: 1, Data: []float32{5, 6, 7}}
	for name, m := range methods {
		if name == "random" {
			continue // Random shuffles the rows
		}
		a := aggregate(t, m, 1, []int{2, 1}, x, []int32{1, 0, 0}, nil)
		if !slices.Equal(a.H.Data, []float32{6, 7, 5}) || !slices.Equal(a.Y, []int32{0, 0, 1}) ||
			!slices.Equal(a.Members.Indices, []int32{1, 2, 0}) {
			t.Errorf("%s: H′ %v, classes %v, members %v", name, a.H.Data, a.Y, a.Members.Indices)
		}
	}
}

// A change in one class does not change the groups of other classes.
func TestAggregateKeepsClassesApart(t *testing.T) {
	x, y, confidence, budgets := labelled(300, 2)
	members := func() (of3 []int32) {
		a := aggregate(t, partition.KMeans{}, 1, budgets, x, y, confidence)
		for j, c := range a.Y {
			if c == 3 {
				of3 = append(of3, a.Members.Indices[a.Members.Indptr[j]:a.Members.Indptr[j+1]]...)
			}
		}
		return of3
	}
	want := members()
	budgets[0]++
	for i, c := range y {
		if c == 1 {
			x.Row(i)[0] *= -2
		}
	}
	if !slices.Equal(members(), want) {
		t.Error("changes in classes 0 and 1 change the groups of class 3")
	}
}

// fixed is a partitioner that returns these groups for any rows.
type fixed partition.Groups

func (f fixed) Partition(context.Context, [][]float32, int, rand.Source) (partition.Groups, error) {
	return partition.Groups(f), nil
}

// TestAggregateRefusesGroups checks the errors for a partitioner that breaks its contract.
func TestAggregateRefusesGroups(t *testing.T) {
	x := mattest.Mixture(4, 2, 2, 1)
	for says, groups := range map[string]fixed{
		"2 groups of 3 rows, expected 2 of 4": {Of: []int32{0, 1, 0}, K: 2},
		"1 groups of 4 rows, expected 2 of 4": {Of: []int32{0, 0, 0, 0}, K: 1},
		"group 2 of row 3, must be 0 to 1":    {Of: []int32{0, 1, 0, 2}, K: 2},
		"group -1 of row 1, must be 0 to 1":   {Of: []int32{0, -1, 0, 1}, K: 2},
		"group 1 with 0 rows, must be at":     {Of: []int32{0, 0, 0, 0}, K: 2},
	} {
		p := partition.Plan{Budgets: []int{2}, Partitioner: groups, Temperature: 1}
		mattest.Fails(t, "partitioning class 0: partitioner partition_test.fixed returned "+says)(
			p.Aggregate(t.Context(), x.View().Rows(), make([]int32, 4), nil, rand.NewPCG(1, 2)))
	}
}

func TestAggregateRefuses(t *testing.T) {
	x := mattest.Mixture(4, 2, 2, 1)
	y, r := []int32{0, 0, 1, 1}, []float32{0, 0, 0, 0}
	ok := partition.Plan{Budgets: []int{1, 2}, Partitioner: partition.KMeans{}, Temperature: 1}
	with := func(change func(*partition.Plan)) partition.Plan {
		p := ok
		change(&p)
		return p
	}
	nan := float32(math.NaN())
	bad := x.Clone()
	bad.Data[5] = nan
	for _, c := range []struct {
		plan partition.Plan
		x    *mat.Dense
		y    []int32
		r    []float32
		says string
	}{
		{with(func(p *partition.Plan) { p.Partitioner = nil }), x, y, r, "no partitioner"},
		{with(func(p *partition.Plan) { p.Temperature = 0 }), x, y, r, "temperature 0"},
		{with(func(p *partition.Plan) { p.Temperature = math.NaN() }), x, y, r, "temperature NaN"},
		{with(func(p *partition.Plan) { p.Budgets = []int{1, 3} }), x, y, r,
			"class 1: 3 condensed nodes for 2 rows, must be 1 to 2"},
		{with(func(p *partition.Plan) { p.Budgets = []int{1, 0} }), x, y, r, "class 1: 0 condensed nodes for 2 rows"},
		{with(func(p *partition.Plan) { p.Budgets = []int{1, 1, 1} }), x, y, r, "class 2: 1 condensed nodes for 0 rows"},
		{ok, x, y[:3], r, "4 rows with 3 labels"},
		{ok, x, y, r[:1], "1 confidences"},
		{ok, x, []int32{0, 0, 1, 2}, r, "row 3 has class 2, must be 0 to 1"},
		{ok, x, []int32{0, 0, -1, 1}, r, "row 2 has class -1"},
		{ok, x, y, []float32{0, nan, 0, 0}, "row 1 has confidence NaN"},
		{with(func(p *partition.Plan) { p.Budgets = []int{1, 1} }), bad, y, r,
			"partitioning class 1: row 0 column 1 is NaN"},
	} {
		mattest.Fails(t, c.says)(c.plan.Aggregate(t.Context(), c.x.View().Rows(), c.y, c.r, rand.NewPCG(1, 2)))
	}
	if _, err := ok.Aggregate(mattest.Cancelled(t), x.View().Rows(), y, r, rand.NewPCG(1, 2)); err != context.Canceled {
		t.Errorf("error %v after cancel", err)
	}
}
