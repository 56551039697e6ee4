package bench_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/dataset/format/native"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/slow"
)

// TestPeer checks that the Python program that cgc is compared with computes the same result. If every training node is
// a condensed node, nothing is random, so both programs must find the same edges.
func TestPeer(t *testing.T) {
	slow.Test(t, "starts Python with PyTorch")
	const python = "/usr/bin/python3" // Debian's Python, for which Debian packages the modules
	const find = "import importlib.util as i, sys; sys.exit(not all(map(i.find_spec, ('torch', 'faiss', 'sklearn'))))"
	if err := exec.Command(python, "-c", find).Run(); err != nil {
		t.Skip("Debian's python3-torch, python3-faiss and python3-sklearn are not all installed")
	}
	g := synth.Demo()
	path := filepath.Join(t.TempDir(), "demo.safetensors")
	mattest.OK(t, native.Format.Write(t.Context(), path, g))
	config := cgc.Defaults()
	config.Nodes, config.Threshold, config.Degree = len(g.Split.Train), 0.4, 0
	small := mattest.Must(cgc.Condense(t.Context(), g, config))
	out := mattest.Must(exec.Command(python, "peer/condense.py", path, "--nodes=140", "--threshold=0.4").Output())
	var got struct {
		Nodes, Edges int
		Seconds      map[string]float64
	}
	mattest.OK(t, json.Unmarshal(out, &got))
	if want := small.Adj.NNZ() / 2; got.Nodes != 140 || got.Edges != want || want == 0 {
		t.Errorf("%d nodes, %d edges, want 140 and %d", got.Nodes, got.Edges, want)
	}
	if got.Seconds["condense"] < got.Seconds["propagate"] {
		t.Errorf("seconds are %v", got.Seconds)
	}
}
