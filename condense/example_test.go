package condense_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/condense/condensetest"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/partition"
)

// Draw condenses a graph to random training nodes of each class, without edges. With Replace, a node may be drawn more
// than once.
type Draw struct {
	Replace bool `json:"replace"`
}

// Name returns the name of the method in flags and files.
func (Draw) Name() string { return "draw" }

// Condense draws the nodes.
func (d Draw) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error) {
	clock := condense.StartClock(ctx, "draw")
	done := clock.Step("draw")
	train := g.Split.Train
	budget, err := partition.Budgets(g.Counts(train), nodes)
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(seed, 0))
	var picked []int32
	for class, n := range budget {
		own := slices.DeleteFunc(slices.Clone(train), func(v int32) bool { return int(g.Y[v]) != class })
		random.Shuffle(len(own), func(i, j int) { own[i], own[j] = own[j], own[i] })
		for i := range n {
			if d.Replace {
				i = random.IntN(len(own))
			}
			picked = append(picked, own[i])
		}
	}
	small := &condense.Condensed{
		X: new(mat.Dense), Y: g.Labels(picked), Classes: g.Classes, Budget: budget,
		Members: condense.FromRows(picked, g.Nodes()),
		Graph:   g.Name, GraphNodes: g.Nodes(), Method: d.Name(),
	}
	if err := g.X.ReadBlock(small.X, picked, 0, g.Features()); err != nil {
		return nil, err
	}
	if err := small.TakeSource(g); err != nil {
		return nil, err
	}
	if small.Config, err = condense.Configuration(d, nodes, seed); err != nil {
		return nil, err
	}
	done()
	small.Seconds = clock.Stop()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return small, nil
}

// A type with the methods Name and Condense is a condensation method. Once registered, it is available by name.
func ExampleRegister() {
	condense.Register(Draw{})
	m, err := condense.New("draw", []byte(`{"replace": true}`))
	if err != nil {
		panic(err)
	}
	small, err := m.Condense(context.Background(), synth.Demo(), 70, 1)
	if err != nil {
		panic(err)
	}
	fmt.Println(small.Nodes(), small.Edges(), small.Budget)
	fmt.Println(string(small.Config))
	// Output:
	// 70 0 [10 10 10 10 10 10 10]
	// {"method":"draw","nodes":70,"seed":1,"replace":true}
}

// The file extension determines the format.
func ExampleCondensed_Save() {
	small, err := Draw{}.Condense(context.Background(), synth.Demo(), 70, 1)
	if err != nil {
		panic(err)
	}
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	for _, name := range []string{"small.safetensors", "small.pt", "small.npz"} {
		path := filepath.Join(folder, name)
		if err := small.Save(context.Background(), path); err != nil {
			panic(err)
		}
		again, err := condense.Load(path)
		fmt.Println(name, again.Nodes(), err)
	}
	// Output:
	// small.safetensors 70 <nil>
	// small.pt 70 <nil>
	// small.npz 70 <nil>
}

func TestDraw(t *testing.T) {
	for _, replace := range []bool{false, true} {
		condensetest.Test(t, Draw{Replace: replace}, condensetest.Proportional, condensetest.Random)
	}
}
