package rival_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/rival"
	"github.com/graph-condensation/cgc/mat"
)

// TestMemory checks that common notations for sizes are parsed.
func TestMemory(t *testing.T) {
	for text, want := range map[string]rival.Memory{
		`8589934592`: 8 << 30, `"8GiB"`: 8 << 30, `"500MB"`: 500e6, `"1.5 kb"`: 1500, `"7"`: 7, `"3b"`: 3,
	} {
		var m rival.Memory
		if err := json.Unmarshal([]byte(text), &m); err != nil || m != want {
			t.Errorf("%s is read as %d (error %v), want %d", text, int64(m), err, int64(want))
		}
	}
	for _, text := range []string{`"much"`, `-1`, `"-2GB"`, `"1e30GB"`, `"NaN"`, `""`} {
		var m rival.Memory
		mattest.WantError(t, json.Unmarshal([]byte(text), &m), "must be a size such as 8GiB")
	}
}

// plain is a method that checks only what all baselines check.
type plain struct{}

func (plain) Name() string { return "plain" }
func (plain) Check(g *graph.Graph, nodes int) error {
	return rival.Check(g, nodes, rival.Memory(0).Fits(rival.Training("plain", g), 8))
}
func (plain) Condense(context.Context, *graph.Graph, int, uint64) (*condense.Condensed, error) {
	return nil, errors.ErrUnsupported
}

// TestRunRejectsNaN checks that a NaN among the features causes an error that names its position.
func TestRunRejectsNaN(t *testing.T) {
	b := graph.Builder{Name: "two", X: mat.NewDense(2, 3), Y: []int32{0, 0}, Classes: 1}
	b.Split.Train = memory.Range(0, 2)
	g := mattest.First(b.Graph(t.Context()))
	x := mat.NewDense(2, 3)
	x.Row(1)[2] = float32(math.NaN())
	work := func(context.Context, *rival.Task) (*condense.Condensed, error) {
		return &condense.Condensed{X: x, Y: []int32{0, 0}}, nil
	}
	small, err := rival.Run(t.Context(), plain{}, g, 2, 0, work)
	const want = "plain diverged: feature 2 of condensed node 1 is NaN, must be a finite number"
	if small != nil || err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
