package cgc_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// TestExpect checks that the budget equals the budget of the condensed graph, that a memory limit lowers the expected
// memory, and that errors about the size equal the errors of Condense.
func TestExpect(t *testing.T) {
	shape := mattest.Must(synth.Like("arxiv"))
	g := mattest.Must(synth.Make(t.Context(), shape.Scale(0.05), rand.NewPCG(1, 0)))
	config := cgc.Defaults()
	config.Nodes = 90
	free := mattest.Must(cgc.Expect(g, config))
	small := mattest.Must(cgc.Condense(t.Context(), g, config))
	if free.Nodes != small.Nodes() || !slices.Equal(free.Budget, small.Budget) {
		t.Errorf("%d nodes, %v; Condense makes %d, %v", free.Nodes, free.Budget, small.Nodes(), small.Budget)
	}
	embeddings := int64(4 * len(g.Split.Train) * g.Features())
	if p := free.Propagation; p.Results != 2*embeddings || p.Blocks <= 0 || p.Entries <= 0 || p.Passes < 2 {
		t.Errorf("%+v, want results of 2 hops of %d bytes", p, embeddings)
	}
	config.Memory = 1 << 20
	bounded, err := cgc.Expect(g, config)
	p := bounded.Propagation
	if err != nil || bounded.Memory >= free.Memory || p.Columns != 16 || p.Entries != 0 {
		t.Errorf("with a bound %+v (%v), without %+v", bounded, err, free)
	}
	config.Nodes = 1
	_, err = cgc.Expect(g, config)
	if _, other := cgc.Condense(t.Context(), g, config); err == nil || other == nil || err.Error() != other.Error() {
		t.Errorf("Expect says %v, Condense %v", err, other)
	}
}

func ExampleExpect() {
	config := cgc.Defaults()
	config.Nodes = 70
	e, err := cgc.Expect(synth.Demo(), config)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.Budget, e.Memory < 100<<20)
	// Output: [10 10 10 10 10 10 10] true
}
