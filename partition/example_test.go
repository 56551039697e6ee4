package partition_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/partition"
)

// Distribute six condensed nodes over three classes of 20, 30 and 50 training nodes.
func ExampleBudgets() {
	budgets, err := partition.Budgets([]int{20, 30, 50}, 6)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(budgets)
	_, err = partition.Budgets([]int{20, 30, 50}, 2)
	fmt.Println(err)
	// Output:
	// [1 1 4]
	// 2 condensed nodes, must be 3 (the classes with training nodes) to 100 (the training nodes)
}

// Split the rows of one class into two groups.
func ExampleKMeans() {
	x := [][]float32{{0, 0}, {10, 0}, {0, 1}, {10, 1}}
	groups, err := partition.KMeans{}.Partition(context.Background(), x, 2, rand.NewPCG(1, 2))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(groups.Of[0] == groups.Of[2], groups.Of[1] == groups.Of[3], groups.Of[0] == groups.Of[1])
	// Output: true true false
}

// Aggregate two classes to the means of their groups.
func ExamplePlan_Aggregate() {
	x := &mat.Dense{Rows: 5, Cols: 1, Data: []float32{1, 3, 100, 7, 9}}
	plan := partition.Plan{Budgets: []int{2, 1}, Partitioner: partition.KMeans{}, Temperature: 1}
	a, err := plan.Aggregate(context.Background(), x.View().Rows(), []int32{0, 0, 0, 1, 1}, nil, rand.NewPCG(1, 2))
	if err != nil {
		fmt.Println(err)
		return
	}
	for j, class := range a.Y {
		for i, weight := range a.Members.Row(j) {
			fmt.Printf("class %d: row %d of value %v with weight %v\n", class, i, x.Row(i)[0], weight)
		}
	}
	// Unordered output:
	// class 0: row 0 of value 1 with weight 0.5
	// class 0: row 1 of value 3 with weight 0.5
	// class 0: row 2 of value 100 with weight 1
	// class 1: row 3 of value 7 with weight 0.5
	// class 1: row 4 of value 9 with weight 0.5
}

// inTurn assigns rows to groups in round-robin order.
type inTurn struct{}

func (inTurn) Partition(_ context.Context, x [][]float32, k int, _ rand.Source) (partition.Groups, error) {
	if k < 1 || k > len(x) {
		return partition.Groups{}, fmt.Errorf("%d groups of %d rows", k, len(x))
	}
	groups := partition.Groups{Of: make([]int32, len(x)), K: k}
	for i := range x {
		groups.Of[i] = int32(i % k)
	}
	return groups, nil
}

// Register makes your own partitioner available to configurations. Package partitiontest tests such a partitioner.
func ExampleRegister() {
	partition.Register("in-turn", inTurn{})
	p, err := partition.Find("in-turn")
	if err != nil {
		fmt.Println(err)
		return
	}
	groups, err := p.Partition(context.Background(), [][]float32{{1}, {2}, {3}}, 2, rand.NewPCG(1, 2))
	fmt.Println(groups.Of, err)
	fmt.Println(partition.Names())
	// Output:
	// [0 1 0] <nil>
	// [kmeans spectral random in-turn]
}
