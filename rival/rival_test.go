package rival_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/rival"
	"github.com/graph-condensation/cgc/rival/selection"
)

// TestMemory: sizes are read as people write them.
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
		if err := json.Unmarshal([]byte(text), &m); err == nil || !strings.Contains(err.Error(), "want a size as 8GiB") {
			t.Errorf("%s is read as %d (error %v), want an error", text, int64(m), err)
		}
	}
}

// TestFinishRefusesWhatDiverged: a NaN is an error that says where it stands.
func TestFinishRefusesWhatDiverged(t *testing.T) {
	b := graph.Builder{Name: "two", X: mat.NewDense(2, 3), Y: []int32{0, 0}, Classes: 1}
	b.Split.Train = []int32{0, 1}
	g, _, err := b.Graph()
	if err != nil {
		t.Fatal(err)
	}
	task, err := rival.Begin(t.Context(), g, selection.Random{}, 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	x := mat.NewDense(2, 3)
	x.Row(1)[2] = float32(math.NaN())
	small, err := task.Finish(t.Context(), &condense.Condensed{X: x, Y: []int32{0, 0}})
	const want = "rival: random diverged: feature 2 of condensed node 1 is NaN, want a finite number"
	if small != nil || err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
