package experiment_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// Picked is a new method: it selects random training nodes, from each class in turn, with their edges.
type Picked struct{}

func (Picked) Name() string { return "picked" }

func (Picked) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	clock := condense.StartClock(ctx, "pick")
	order := rand.New(rand.NewPCG(seed, 1)).Perm(len(g.Split.Train))
	var picked []int32
	for round := 0; len(picked) < nodes; round++ { // one node of each class per round
		in := make([]int, g.Classes)
		for _, i := range order {
			node := g.Split.Train[i]
			if in[g.Y[node]]++; in[g.Y[node]] == round+1 && len(picked) < nodes {
				picked = append(picked, node)
			}
		}
	}
	part := g.Induced(picked)
	x := new(mat.Dense)
	if err := g.X.ReadBlock(x, picked, 0, g.Features()); err != nil {
		return nil, err
	}
	config, err := condense.Configuration(Picked{}, nodes, seed)
	small := &condense.Condensed{
		X: x, Adj: part.Adj, Y: part.Y, Classes: g.Classes, Graph: g.Name, GraphNodes: g.Nodes(), Config: config,
		Method: "picked", Members: condense.FromRows(picked, g.Nodes()), Seconds: clock.Stop(),
		Budget: condense.CountBudget(part.Y, g.Classes),
	}
	return small, err
}

// Compare a new method with cgc. Its condensed graphs keep their edges when saved and loaded.
func ExampleGrid_method() {
	ctx, g, size := context.Background(), synth.Demo(), condense.Size{Nodes: 28}
	training := gnn.Defaults()
	training.Epochs, training.Hidden = 30, 16 // smaller than the defaults, to keep the example fast
	records, err := experiment.Grid{
		Arms:  []experiment.Arm{{"cgc", cgc.Defaults(), size, training}, {"picked", Picked{}, size, training}},
		Seeds: 3, Trainings: 1, Models: []gnn.Model{gnn.GCN()},
	}.Run(ctx, g, nil)
	fmt.Println(len(records), "trainings, error:", err)
	difference := experiment.Comparisons(experiment.Summarize(records))[0]
	fmt.Println(difference.Arm, "is", difference.Verdict, "than", difference.Base)

	small, err := Picked{}.Condense(ctx, g, 28, 0)
	folder, _ := os.MkdirTemp("", "cgc")
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "picked.safetensors")
	fmt.Println("errors:", err, small.Save(ctx, path))
	loaded, err := condense.Load(path)
	fmt.Println(loaded.Method, loaded.Nodes(), "nodes", loaded.Edges() > 0, loaded.Edges() == small.Edges(), "error:", err)
	// Output:
	// 6 trainings, error: <nil>
	// picked is worse than cgc
	// errors: <nil> <nil>
	// picked 28 nodes true true error: <nil>
}
