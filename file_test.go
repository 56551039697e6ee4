package cgc_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/internal/safetensors"
)

func TestSaveAndLoad(t *testing.T) {
	g, _ := smallGraph(100, 8, 3, false, false, rand.New(rand.NewPCG(30, 0)))
	for i, method := range append(cgc.Variants(), cgc.CGC) {
		want := mustCondense(t, g, configured(12, func(c *cgc.Config) {
			c.Variant, c.Threshold, c.Standardize, c.SoftLabels = method, 0.3, method == cgc.CGCX, method == cgc.CGC
			if i == len(cgc.Variants()) {
				c.Edges = cgc.RealEdges
			}
		}))
		path := filepath.Join(t.TempDir(), "small.safetensors")
		if err := want.Save(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		got, err := cgc.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if method == cgc.CGC && want.Edges() == 0 {
			t.Fatal("the test wants a graph with edges")
		}
		if !bytes.Equal(bytesOf(t, got), bytesOf(t, unweightedAsWeighted(want))) {
			t.Errorf("%s: read back differs", method)
		}
		if (want.Soft != nil) != (method == cgc.CGC) || !reflect.DeepEqual(got.Soft, want.Soft) {
			t.Errorf("%s: soft labels read back as %v, want %v", method, got.Soft, want.Soft)
		}
		meta, _ := contents(t, path)
		if version := meta["format_version"]; version != map[bool]string{false: "1", true: "2"}[want.Soft != nil] {
			t.Errorf("%s: format version %s", method, version)
		}
		if got.Graph != "small" || got.Classes != 3 || !reflect.DeepEqual(got.Seconds, want.Seconds) || !bytes.Equal(got.Config, want.Config) || (got.Scaling != nil) != (want.Scaling != nil) {
			t.Errorf("%s: read back as %+v", method, got)
		}
	}
}

// unweightedAsWeighted gives A′ the explicit ones that the file holds.
func unweightedAsWeighted(c *cgc.Condensed) *cgc.Condensed {
	w := *c
	if c.Adj != nil {
		a := *c.Adj
		if a.Data != nil {
			return c
		}
		a.Data = slices.Repeat([]float32{1}, a.NNZ())
		w.Adj = &a
	}
	return &w
}

func TestLoadNamesTheFault(t *testing.T) {
	g, _ := smallGraph(100, 8, 3, false, false, rand.New(rand.NewPCG(31, 0)))
	folder := t.TempDir()
	good := filepath.Join(folder, "good.safetensors")
	if err := mustCondense(t, g, configured(12, func(c *cgc.Config) { c.Threshold, c.SoftLabels = 0.3, true })).Save(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(meta map[string]string, tensors map[string]*safetensors.Tensor){
		`format "" in the metadata, want`: func(m map[string]string, _ map[string]*safetensors.Tensor) { delete(m, "format") },
		`format version "9", want 1 to 3`: func(m map[string]string, _ map[string]*safetensors.Tensor) { m["format_version"] = "9" },
		`classes "x"`:                     func(m map[string]string, _ map[string]*safetensors.Tensor) { m["classes"] = "x" },
		`y[9] is 2, want 0 to 1`:          func(m map[string]string, _ map[string]*safetensors.Tensor) { m["classes"] = "2" },
		`configuration in the metadata`:   func(m map[string]string, _ map[string]*safetensors.Tensor) { m["config"] = "{" },
		`no tensor "y"`:                   func(_ map[string]string, t map[string]*safetensors.Tensor) { delete(t, "y") },
		`x is 8×12 for 12 labels`:         func(_ map[string]string, t map[string]*safetensors.Tensor) { t["x"].Shape = []int{8, 12} },
		`"x" has shape [96], want 2 side`: func(_ map[string]string, t map[string]*safetensors.Tensor) { t["x"].Shape = []int{96} },
		`y_soft is 9×4, want 12 labels`:   func(_ map[string]string, t map[string]*safetensors.Tensor) { t["y_soft"].Shape = []int{9, 4} },
		`y_soft[1][2] is NaN`:             func(_ map[string]string, t map[string]*safetensors.Tensor) { t["y_soft"].Data.([]float32)[5] = nan },
		`row 1 of y_soft has the sum`:     func(_ map[string]string, t map[string]*safetensors.Tensor) { t["y_soft"].Data.([]float32)[5]++ },
		`is not a finite number`:          func(_ map[string]string, t map[string]*safetensors.Tensor) { t["x"].Data.([]float32)[5] = nan },
		`want nodes 0 to 11`:              func(_ map[string]string, t map[string]*safetensors.Tensor) { t["edge_index"].Data.([]int64)[0] = 99 },
		`members: mat: `: func(_ map[string]string, t map[string]*safetensors.Tensor) {
			t["members.indptr"].Data.([]int64)[3] = 999
		},
		`members.indices[0] is -4`: func(_ map[string]string, t map[string]*safetensors.Tensor) {
			t["members.indices"].Data.([]int64)[0] = -4
		},
	} {
		meta, tensors := contents(t, good)
		change(meta, tensors)
		bad := filepath.Join(folder, "bad.safetensors")
		var list []safetensors.Tensor
		for _, v := range tensors {
			list = append(list, *v)
		}
		if err := safetensors.Write(t.Context(), bad, meta, list); err != nil {
			t.Fatal(err)
		}
		if _, err := cgc.Load(bad); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), bad) {
			t.Errorf("error %v, want one with %q and the file", err, want)
		}
	}
	if _, err := cgc.Load(filepath.Join(folder, "missing.safetensors")); err == nil || !strings.Contains(err.Error(), "missing.safetensors") {
		t.Errorf("missing file: error %v", err)
	}
}

var nan = float32(0) / zero

var zero float32

func contents(t *testing.T, path string) (map[string]string, map[string]*safetensors.Tensor) {
	t.Helper()
	file, err := safetensors.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	tensors := map[string]*safetensors.Tensor{}
	for _, info := range file.Tensors() {
		tensor := &safetensors.Tensor{Name: info.Name, DType: info.DType, Shape: info.Shape}
		switch info.DType {
		case safetensors.F32:
			data, err := safetensors.Slice[float32](file, info.Name)
			if err != nil {
				t.Fatal(err)
			}
			tensor.Data = slices.Clone(data)
		case safetensors.I64:
			data, err := safetensors.Slice[int64](file, info.Name)
			if err != nil {
				t.Fatal(err)
			}
			tensor.Data = slices.Clone(data)
		default:
			t.Fatalf("tensor %s has type %s", info.Name, info.DType)
		}
		tensors[info.Name] = tensor
	}
	return file.Metadata, tensors
}

func TestSaveStopsWithoutAFile(t *testing.T) {
	g, _ := smallGraph(100, 8, 3, false, false, rand.New(rand.NewPCG(32, 0)))
	small := mustCondense(t, g, configured(12, nil))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	folder := t.TempDir()
	if err := small.Save(ctx, filepath.Join(folder, "small.safetensors")); err == nil {
		t.Error("no error from a cancelled write")
	}
	if left, _ := os.ReadDir(folder); len(left) != 0 {
		t.Errorf("%v left behind", left)
	}
}

// The file is for Python: what PyTorch Geometric's users read must be there, under these names, with these types.
func TestFileInPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 on this machine")
	}
	if err := exec.Command(python, "-c", "import numpy, safetensors.numpy").Run(); err != nil {
		t.Skip("python3 has no numpy and safetensors")
	}
	g, _ := smallGraph(100, 8, 3, false, false, rand.New(rand.NewPCG(33, 0)))
	small := mustCondense(t, g, configured(12, func(c *cgc.Config) { c.Threshold, c.SoftLabels = 0.3, true }))
	path := filepath.Join(t.TempDir(), "small.safetensors")
	if err := small.Save(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	const script = `
import sys, numpy as np
from safetensors.numpy import load_file
f = load_file(sys.argv[1])
p = f["members.indptr"]
print(sorted(f))
print(f["x"].dtype, f["x"].shape, f["y"].dtype, f["y"].shape, f["edge_index"].dtype, f["edge_index"].shape, f["edge_weight"].dtype, f["edge_weight"].shape)
print(f["y_soft"].dtype, f["y_soft"].shape, np.allclose(f["y_soft"].sum(1), 1))
print(np.float32(f["x"][3, 2]), f["y"].tolist(), p.dtype, f["members.indices"].dtype, f["members.weights"].dtype)
print(np.allclose(np.add.reduceat(f["members.weights"], p[:-1]), 1), sorted(set(map(tuple, f["edge_index"].T))) == sorted(set(map(tuple, f["edge_index"][::-1].T))))
`
	out, err := exec.Command(python, "-c", script, path).CombinedOutput()
	if err != nil {
		t.Fatalf("python3: %v\n%s", err, out)
	}
	want := fmt.Sprintf(`['edge_index', 'edge_weight', 'members.indices', 'members.indptr', 'members.weights', 'x', 'y', 'y_soft']
float32 (12, 8) int64 (12,) int64 (2, %[1]d) float32 (%[1]d,)
float32 (12, 3) True
%[2]v %[3]s int64 int64 float32
True True
`, small.Adj.NNZ(), small.X.Row(3)[2], strings.ReplaceAll(fmt.Sprint(small.Y), " ", ", "))
	if string(out) != want {
		t.Errorf("python3 reads\n%swant\n%s", out, want)
	}
}
