package assess_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/graph-condensation/cgc/internal/assess"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// A feature in other units does not change the predictions of the classifier, but causes a warning.
func ExampleClassifier_Warning() {
	t := &mat.Dense{Rows: 4, Cols: 3, Data: []float32{1, 0, 5e4, 1, 1, 3e4, 0, 1, 4e4, 0, 2, 2e4}}
	c := mattest.Must(assess.LeastSquares(context.Background(), []mat.View{t.View()}, []int32{0, 0, 1, 1}, 2))
	fmt.Println(c.Rank)
	what, fix, _ := strings.Cut(c.Warning(), ": ")
	what, why, _ := strings.Cut(what, ", and ")
	fmt.Println(what)
	fmt.Println(why)
	fmt.Println(fix)
	// Output:
	// 3
	// propagated to the training nodes, feature 2 (counted from 0) is 30000 times as large as the median feature
	// distances between nodes depend only on it
	// --standardize gives all features one scale
}
