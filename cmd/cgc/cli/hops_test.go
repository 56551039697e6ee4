package cli_test

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// TestPropagateFolder compares the arrays with the embeddings, for all nodes and for a part in f16.
func TestPropagateFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "propagated")
	array := func(name string) []byte {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(folder, name+".npy"))
		mattest.OK(t, err)
		return text[10+int(binary.LittleEndian.Uint16(text[8:])):]
	}
	g := synth.Demo()
	var all []int32
	for v := range int32(g.Nodes()) {
		all = append(all, v)
	}
	p := propagate.Propagation{Rule: propagate.SGC, Hops: 2}
	views, err := propagate.Run(t.Context(), blocked.Engine{}, p, propagate.Input{Adj: g.Adj, X: g.X, Rows: all})
	mattest.OK(t, err)

	ok(t, "propagate", "demo", "--hops", "2", "-o", folder)
	for k, name := range []string{"hop0", "hop1", "hop2"} {
		raw := array(name)
		for i := range all {
			for j, want := range views[k].Row(i) {
				if got := math.Float32frombits(binary.LittleEndian.Uint32(raw[4*(i*g.Features()+j):])); got != want {
					t.Fatalf("%s (%d, %d) is %v, want %v", name, i, j, got, want)
				}
			}
		}
	}
	if y := int64(binary.LittleEndian.Uint64(array("y")[8*7:])); y != int64(g.Y[7]) {
		t.Errorf("the label of node 7 is %d, want %d", y, g.Y[7])
	}

	ok(t, "propagate", "demo", "--hops", "1", "--part", "val", "--store", "f16", "-o", folder) // replaces the folder
	if _, err := os.Stat(filepath.Join(folder, "hop2.npy")); err == nil {
		t.Error("hop2.npy of the first run is still there")
	}
	if n := len(array("hop1")); n != 2*len(g.Split.Val)*g.Features() {
		t.Errorf("hop1.npy has %d bytes in f16", n)
	}
	nodes, val := array("nodes"), array("val")
	for i, v := range g.Split.Val {
		row := binary.LittleEndian.Uint64(val[8*i:])
		if got := binary.LittleEndian.Uint64(nodes[8*row:]); got != uint64(v) {
			t.Errorf("row %d of the validation nodes is node %d, want %d", row, got, v)
		}
	}
	if n := len(array("train")); n != 0 {
		t.Errorf("%d bytes of rows of training nodes, want none", n)
	}
}
