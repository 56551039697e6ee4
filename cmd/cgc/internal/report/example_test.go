package report_test

import (
	"fmt"
	"os"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
)

func Example() {
	t := &report.Table{Columns: []report.Column{
		{Name: "method"}, {Name: "nodes"}, {Name: "test", Unit: "%", Parts: []string{"mean", "std"}},
	}}
	t.Row("cgc", 70, report.PlusMinus(82.0416, 0.5123, 1))
	t.Row("whole", 2708, report.PlusMinus(81.5, 0.4, 1))
	d := &report.Document{Title: "cora"}
	d.Add(t, report.Notes{"±: standard deviation over 5 seeds"})
	if err := report.Text(os.Stdout, d); err != nil { // or Markdown, CSV
		fmt.Println(err)
	}
	// Output:
	// cora
	//
	// method  nodes     test, %
	// cgc        70  82.0 ± 0.5
	// whole   2,708  81.5 ± 0.4
	//
	// ±: standard deviation over 5 seeds
}
