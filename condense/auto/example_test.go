package auto_test

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/condense/auto"
	"github.com/graph-condensation/cgc/dataset/synth"
)

func ExampleMethod() {
	small, err := auto.New().Condense(context.Background(), synth.Demo(), 70, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	account, err := auto.AccountOf(small)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(small.Method, "chose", account.Chosen)
	// Output:
	// auto chose cgc-d unsmoothed
}
