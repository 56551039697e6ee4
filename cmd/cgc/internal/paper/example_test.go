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

func ExampleFind() {
	studies, err := paper.Find([]string{"ablation"})
	for _, s := range studies {
		fmt.Println(s.Name+":", s.Title)
	}
	fmt.Println(err)
	// Output:
	// table6: what the parts of CGC-X contribute
	// table11: what the parts of CGC contribute
	// <nil>
}
