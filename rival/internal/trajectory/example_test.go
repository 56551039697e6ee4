package trajectory_test

import (
	"context"
	"fmt"

	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/rival/internal/trajectory"
)

func ExampleNewSFGC() {
	m := trajectory.NewSFGC()
	m.Experts.Experts, m.ExpertEpochs, m.Hidden = 2, 20, 8 // smaller than the defaults, to keep the example fast
	m.Epochs, m.Steps, m.JudgeEpochs = 4, 10, 20
	small, err := m.Condense(context.Background(), synth.Demo(), 20, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(small.X.Rows, small.Adj == nil)
	// Output: 20 true
}

func ExampleNewGEOM() {
	m := trajectory.NewGEOM()
	m.Experts.Experts, m.ExpertEpochs, m.MaxStart, m.Hidden = 2, 20, 20, 8
	m.Epochs, m.Steps, m.JudgeEpochs = 4, 10, 20
	small, err := m.Condense(context.Background(), synth.Demo(), 20, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(small.X.Rows, small.Soft.Rows, small.Soft.Cols == small.Classes)
	// Output: 20 20 true
}

func ExampleNewGCSR() {
	m := trajectory.NewGCSR()
	m.Experts.Experts, m.MaxStart, m.Hidden = 2, 10, 8
	m.Epochs, m.JudgeEpochs = 4, 20
	small, err := m.Condense(context.Background(), synth.Demo(), 20, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(small.X.Rows, small.Edges() > 0)
	// Output: 20 true
}
