package native_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/paneled"
	"github.com/graph-condensation/cgc/internal/safetensors"
	"github.com/graph-condensation/cgc/mat"
)

// TestPanelsStayInTheFile checks that panels of each storage are mapped, and that writing them gives the same file.
func TestPanelsStayInTheFile(t *testing.T) {
	g := fixture.Made(t, "arxiv", 0.01)
	dense := g.X
	for _, s := range mat.Storages() {
		for _, width := range []int{0, 16, 48} {
			g.X = mattest.Must(paneled.Copy(dense, width, s))
			file := filepath.Join(t.TempDir(), "g.safetensors")
			mattest.OK(t, dataset.Write(t.Context(), file, g))
			opened := mattest.Must(safetensors.Open(file))
			want := "1"
			if width > 0 {
				want = "2"
			}
			mattest.Equal(t, opened.Metadata["format_version"], want, "%s in panels of %d: format_version", s, width)
			mattest.OK(t, opened.Close())
			again := fixture.Open(t, file)
			if again.Mapped != (runtime.GOOS != "windows") {
				t.Errorf("%s in panels of %d: mapped %v", s, width, again.Mapped)
			}
			if p, ok := again.X.(*paneled.Matrix); ok != (s != mat.F32 || width > 0) || ok && p.Storage() != s {
				t.Errorf("%s in panels of %d comes back as %T", s, width, again.X)
			}
			if got := written(t, again.X); !reflect.DeepEqual(got, written(t, g.X)) {
				t.Errorf("%s in panels of %d: other numbers", s, width)
			}
			second := filepath.Join(t.TempDir(), "g.safetensors")
			mattest.OK(t, dataset.Write(t.Context(), second, again))
			one, _ := os.ReadFile(file)
			if two, err := os.ReadFile(second); err != nil || !bytes.Equal(one, two) {
				t.Errorf("%s in panels of %d: the graph that was read is written differently, %v", s, width, err)
			}
		}
	}
}

func TestPanelsRefuse(t *testing.T) {
	half := func(name string, cols int, d safetensors.DType) safetensors.Tensor {
		return safetensors.Tensor{Name: name, Shape: []int{3, cols}, DType: d, Data: make([]uint16, 3*cols)}
	}
	wrong := half("x.1", 2, safetensors.F16)
	wrong.Data.([]uint16)[3] = 0x7e00
	for want, tensors := range map[string][]safetensors.Tensor{
		"tensor x.0 is U16, expected F32, F16 or BF16": {half("x.0", 2, "")},
		"tensor x.1 is BF16 [3 2], expected F16 with 3 row": {half("x.0", 2, safetensors.F16), half("x.1", 2,
			safetensors.BF16)},
		"tensor x.1 is F16 [3 3], expected F16 with 3 rows": {half("x.0", 2, safetensors.F16), half("x.1", 3,
			safetensors.F16)},
		"tensor x.2 is F16 [3 2], expected F16 with 3 rows": {half("x.0", 2, safetensors.F16), half("x.1", 1,
			safetensors.F16),
			half("x.2", 2, safetensors.F16)},
		"tensor x.1 is F16 [3 0]":  {half("x.0", 2, safetensors.F16), half("x.1", 0, safetensors.F16)},
		"tensor x.0 has shape [6]": {{Name: "x.0", DType: safetensors.F16, Data: make([]uint16, 6)}},
		"features are 1×2, expected 3 rows": {
			{Name: "x.0", Shape: []int{1, 2}, DType: safetensors.F16, Data: make([]uint16, 2)}},
		"feature 3 of node 1 is not a finit": {half("x.0", 2, safetensors.F16), wrong},
	} {
		fixture.RefusesAt(t, writeTensors(t, replaced("x", tensors...), nil), want)
	}
}

// TestPanelsThatPythonWrote checks that 16-bit files written by Python's safetensors are mapped, and have the values
// that numpy reads.
func TestPanelsThatPythonWrote(t *testing.T) {
	for _, s := range []mat.Storage{mat.F16, mat.BF16} {
		modules := "numpy, safetensors.numpy"
		if s == mat.BF16 {
			modules += ", ml_dtypes"
		}
		for _, name := range []string{"x", "panels"} {
			file := filepath.Join(t.TempDir(), "g.safetensors")
			mattest.Python(t, modules, `
import sys, numpy as np
from safetensors.numpy import save_file
kind, layout, file = sys.argv[1:]
if kind == "bf16":
    from ml_dtypes import bfloat16 as half
else:
    half = np.float16
x = (np.arange(-20, 20, dtype=np.float32) / 8).reshape(8, 5).astype(half)
parts = {"x": x} if layout == "x" else {"x.0": x[:, :3].copy(), "x.1": x[:, 3:].copy()}
edges = np.array([[0, 1, 2, 3], [4, 5, 6, 7]])
save_file({"edge_index": edges, "y": np.array([0, 1] * 4), "train": np.array([0, 1]), **parts}, file)`,
				string(s), name, file)
			g := fixture.Open(t, file)
			p, ok := g.X.(*paneled.Matrix)
			if !ok || p.Storage() != s || (p.Count() > 1) != (name == "panels") {
				t.Fatalf("%s %s: x is %T", s, name, g.X)
			}
			got := written(t, p)
			for i, v := range got.Data {
				if want := float32(i-20) / 8; v != want || len(got.Data) != 40 {
					t.Fatalf("%s %s: number %d is %v, want %v", s, name, i, v, want)
				}
			}
		}
	}
}

// TestPythonReadsPanels checks that the Python code in format.md reads panels with numpy.
func TestPythonReadsPanels(t *testing.T) {
	g := fixture.Open(t, fixture.Folder(t, fixture.Plain()))
	for _, s := range mat.Storages() {
		g.X = mattest.Must(paneled.Copy(g.X, 1, s))
		file := filepath.Join(t.TempDir(), "g.safetensors")
		mattest.OK(t, dataset.Write(t.Context(), file, g))
		program := `
from safetensors import safe_open
with safe_open(sys.argv[1], "np") as g:
    parts = [g.get_tensor(f"x.{k}") for k in range(2)]`
		if s == mat.BF16 { // numpy has no bfloat16
			program = `
import safetensors
def panel(t):
    bits = np.frombuffer(t["data"], "<u2").astype("<u4") << 16
    return bits.view("<f4").reshape(t["shape"])
tensors = dict(safetensors.deserialize(open(sys.argv[1], "rb").read()))
parts = [panel(tensors[f"x.{k}"]) for k in range(2)]`
		}
		want := mattest.Must(json.Marshal(written(t, g.X).Data))
		mattest.Python(t, "numpy, safetensors", "import json, sys, numpy as np"+program+`
x = np.concatenate(parts, axis=1).astype(np.float32)
assert (x.ravel() == np.float32(json.loads(sys.argv[2]))).all(), x`, file, string(want))
	}
}
