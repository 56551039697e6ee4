package assess_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/graph-condensation/cgc/internal/assess"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// The embeddings of four training nodes before and after one hop.
func ExampleFit() {
	h0 := &mat.Dense{Rows: 4, Cols: 2, Data: []float32{1, 0, 0.4, 0.6, 0, 1, 0.1, 0.9}}
	h1 := &mat.Dense{Rows: 4, Cols: 2, Data: []float32{0.9, 0.1, 0.8, 0.2, 0.1, 0.9, 0, 1}}
	h, y := []mat.View{h0.View(), h1.View()}, []int32{0, 0, 1, 1}
	a := mattest.Must(assess.Fit(context.Background(), h, y, 2))
	a.Judge(h, y)
	fmt.Printf("accuracy %.2f, error of the classes %.2f\n", a.Accuracy, a.Error)
	fmt.Printf("confidence before the hop %.2f\n", a.Confidence[0])
	fmt.Printf("rank %d, condition %.1f\n", a.Rank, a.Condition)
	// Output:
	// accuracy 1.00, error of the classes [0.00 0.00]
	// confidence before the hop [0.81 0.49 0.73 0.68]
	// rank 2, condition 1.4
}

// A feature in other units does not change the predictions of the classifier, but causes a warning.
func ExampleClassifier_Warning() {
	t := &mat.Dense{Rows: 4, Cols: 3, Data: []float32{1, 0, 5e4, 1, 1, 3e4, 0, 1, 4e4, 0, 2, 2e4}}
	c := mattest.Must(assess.LeastSquares(context.Background(), []mat.View{t.View()}, []int32{0, 0, 1, 1}, 2))
	fmt.Println(c.Rank)
	what, fix, _ := strings.Cut(c.Warning(), ": ")
	fmt.Println(what)
	fmt.Println(fix)
	// Output:
	// 3
	// feature 2 (counted from 0) is 30000 times as large as the median one, and distances between nodes depend only on it
	// --standardize gives all features one scale
}
