package paper_test

import (
	"fmt"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/paper"
)

func ExamplePublished() {
	printed, known := paper.Published().Table("table3").Value("cora", "2.60%", "", "CGC")
	fmt.Println(printed, known)
	// Output:
	// 82.3 ± 1.3 true
}
