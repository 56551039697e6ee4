package native_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format/formattest"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/paneled"
	"github.com/graph-condensation/cgc/internal/safetensors"
	"github.com/graph-condensation/cgc/mat"
)

func TestContract(t *testing.T) {
	formattest.Run(t, "safetensors", writeTensors(t, foreign(), nil))
	formattest.Condensed(t, "safetensors")
}

func TestWriteAndOpenAgain(t *testing.T) {
	sparse := fixture.Made(t, "cora", 1)
	dense := fixture.Made(t, "arxiv", 0.01)
	weighted := fixture.Open(t, fixture.Folder(t, fixture.With(fixture.Plain(), "edges.csv", []byte("0,1,2\n1,2,0.25\n"))))
	values := fixture.Made(t, "citeseer", 1)
	x := values.X.(*mat.CSR)
	x.Data = make([]float32, x.NNZ())
	for i := range x.Data {
		x.Data[i] = float32(i)
	}
	values.Classes++ // a class without a node
	values.Split.Val = []int32{}
	for name, g := range map[string]*graph.Graph{
		"sparse": sparse, "dense": dense, "weighted": weighted, "values": values,
	} {
		file := filepath.Join(t.TempDir(), name+".safetensors")
		mattest.OK(t, dataset.Write(t.Context(), file, g))
		again := fixture.Open(t, file)
		if fixture.Same(t, again, g); again.Name != g.Name || again.Classes != g.Classes {
			t.Errorf("%s is read as %s of %d classes", g.Name, again.Name, again.Classes)
		}
		if data, err := os.ReadFile(file); err != nil || bytes.Contains(data, []byte("_names")) ||
			bytes.Contains(data, []byte(`"ids`)) {
			t.Errorf("%s: %v, or its header has names", name, err)
		}
		if g.Mapped || again.Mapped != (runtime.GOOS != "windows") {
			t.Errorf("%s: mapped %v as it was made, %v as it was read", name, g.Mapped, again.Mapped)
		}
		again.Adj.Indices[0] = -1 // changes only a private copy of the page
		if err := again.Check(t.Context()); err != nil {
			t.Errorf("%s: a graph that was opened is checked once more: %v", name, err)
		}
	}
}

// foreign is a graph as another program may write it: int64 throughout, one direction of each edge, no metadata.
func foreign() []safetensors.Tensor {
	return []safetensors.Tensor{
		{Name: "adj.indptr", Data: []int64{0, 2, 2, 3}},
		{Name: "adj.indices", Data: []int64{2, 1, 2}},
		{Name: "x", Shape: []int{3, 2}, DType: safetensors.BF16, Data: []uint16{0x3f80, 0, 0xbf80, 0, 0x4000, 0}},
		{Name: "y", Data: []int64{0, 1, 0}},
		{Name: "train", Data: []int64{1, 0}},
	}
}

// replaced returns the foreign graph with the given tensors in place of one.
func replaced(name string, by ...safetensors.Tensor) []safetensors.Tensor {
	return append(slices.DeleteFunc(foreign(), func(t safetensors.Tensor) bool { return t.Name == name }), by...)
}

func writeTensors(t testing.TB, tensors []safetensors.Tensor, meta map[string]string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "own.safetensors")
	mattest.OK(t, safetensors.Write(t.Context(), file, meta, tensors))
	return file
}

func TestOpenForeignTensors(t *testing.T) {
	g := fixture.Open(t, writeTensors(t, foreign(), nil))
	if x, ok := g.X.(*paneled.Matrix); !ok || x.Storage() != mat.BF16 || x.Count() != 1 {
		t.Errorf("x is %T, want it as it is kept", g.X)
	}
	if g.Name != "own" || g.Classes != 2 {
		t.Errorf("the graph %s of %d classes", g.Name, g.Classes)
	}
	fixture.Is(t, g, "edges 0-1 0-2; x 1 0, -1 0, 2 0; y 0 1 0; split 0 1 /  /")
}

func written(t *testing.T, x mat.Matrix) *mat.Dense {
	t.Helper()
	rows, _ := x.Dims()
	dense := new(mat.Dense)
	mattest.OK(t, mat.Rows(dense, x, memory.Range(0, rows)))
	return dense
}

func TestOpenEdgeList(t *testing.T) {
	with := func(list, weight any, shape ...int) []safetensors.Tensor {
		tensors := append(foreign()[2:], safetensors.Tensor{Name: "edge_index", Shape: shape, Data: list})
		if weight != nil {
			tensors = append(tensors, safetensors.Tensor{Name: "edge_weight", Data: weight})
		}
		return tensors
	}
	entries := []int64{1, 0, 2, 2, 0, 2, 0, 2}
	g := fixture.Open(t, writeTensors(t, with(entries, nil, 2, 4), nil))
	fixture.Same(t, g, fixture.Open(t, writeTensors(t, foreign(), nil)))
	g = fixture.Open(t, writeTensors(t, with(entries, []float64{2, 0.5, 3, 9}, 2, 4), nil))
	fixture.Is(t, g, "edges 0-1*2 0-2*3")
	for want, tensors := range map[string][]safetensors.Tensor{
		"shape [4 2], must have 2 rows":   with(entries, nil, 4, 2),
		"node 3, must be 0 to 2":          with([]int64{0, 3}, nil, 2, 1),
		"weight 0":                        with([]int64{0, 1}, []float32{0}, 2, 1),
		"1 sources, 1 targets and 2 weig": with([]int64{0, 1}, []float32{1, 1}, 2, 1),
		"does not fit in int32":           with([]int64{0, 1 << 40}, nil, 2, 1),
	} {
		fixture.RefusesAt(t, writeTensors(t, tensors, nil), want)
	}
}

// TestOpenMasks reads the masks of a file that PyTorch Geometric's data.to_dict() became.
func TestOpenMasks(t *testing.T) {
	masked := func(train, test []uint8) string {
		return writeTensors(t, append(foreign()[:4],
			safetensors.Tensor{Name: "train_mask", DType: safetensors.Bool, Data: train},
			safetensors.Tensor{Name: "test_mask", Data: test}), nil)
	}
	fixture.Is(t, fixture.Open(t, masked([]uint8{0, 1, 0}, []uint8{1, 0, 1})), "split 1 /  / 0 2")
	several := writeTensors(t, append(foreign()[:4],
		safetensors.Tensor{Name: "train_mask", Shape: []int{3, 2}, Data: []uint8{0, 1, 1, 0, 0, 0}},
		safetensors.Tensor{Name: "test_mask", Data: []uint8{0, 0, 1}}), nil)
	for split, want := range []string{"split 1 /  / 2", "split 0 /  / 2"} {
		fixture.Is(t, mattest.Must(dataset.Options{Split: split}.Open(t.Context(), several)), want)
	}
	_, err := dataset.Options{Split: 2}.Open(t.Context(), several)
	fixture.Says(t, err, "tensor train_mask: split 2, must be 0 to 1")
	_, err = dataset.Options{Split: 1}.Open(t.Context(), writeTensors(t, foreign(), nil))
	fixture.Says(t, err, "split 1, must be 0: the file holds 1 split")
	fixture.RefusesAt(t, masked([]uint8{0, 1, 0}, []uint8{0, 1, 0}), "test_mask: node 1 is in train_mask too")
	fixture.RefusesAt(t, masked([]uint8{0, 1, 0}, []uint8{0, 1}), "tensor test_mask: shape [2], expected [3]")
}

func TestOpenTensorsRefuses(t *testing.T) {
	nan := float32(math.NaN())
	fixture.Open(t, writeTensors(t, replaced("train", safetensors.Tensor{Name: "train", Data: []int64{}}), nil))
	for _, c := range []struct {
		name string
		data any
		meta map[string]string
		want string
	}{
		{"adj.indices", []int64{2, 3, 2}, nil, "column 3 of entry 1, must be 0 to 2"},
		{"adj.indices", []int64{2, 1 << 40, 2}, nil, "does not fit in int32"},
		{"adj.indptr", []int64{0, 2, 2, 4}, nil, "row pointers run from 0 to 4"},
		{"adj.indptr", []int64{}, nil, "adj"},
		{"adj.data", []float32{1, nan, 1}, nil, "weight NaN"},
		{"y", []int64{0, 1}, nil, "2 labels for 3 nodes"},
		{"y", []int64{0, 1, -2}, nil, "label -2 of node 2"},
		{"y", []int64{0, 1, 4501234}, nil, "label 4501234 of node 2, must be 0 to 65535, or -1 for none: only"},
		{"train", []int64{0, 3}, nil, "node 3 of train, must be 0 to 2"},
		{"train", []int64{0, 0}, nil, "node 0 is in train and again in train"},
		{"val", []int64{0}, nil, "node 0 is in train and again in val"},
		{"y", []int64{0, 1, 0}, map[string]string{"classes": "1"}, `classes is "1"`},
		{"y", []int64{0, 1, 0}, map[string]string{"format_version": "3"}, `format_version "3", must be 1 to 2`},
		{"y", []int64{0, 1, 0}, map[string]string{"format": "cgc-condensed"}, "it is a condensed graph"},
		{"y", []int64{0, 1, 0}, map[string]string{"format": "cgc-model"}, "it is a model, must be a graph"},
		{"y", []int64{0, 1, 0}, map[string]string{"class_names": `["a"]`},
			`class_names is "[\"a\"]", must be a JSON list of 2`},
		{"ids", []uint8("abc"), nil, "ids.offsets"},
		{"y", []int64{0, 1, 5}, map[string]string{"format": "cgc.graph", "classes": "6"},
			"columns 2, 1 in row 0 do not ascend"},
	} {
		tensors := replaced(c.name, safetensors.Tensor{Name: c.name, Data: c.data})
		fixture.RefusesAt(t, writeTensors(t, tensors, c.meta), c.want)
	}
	for missing, want := range map[string]string{
		"adj.indptr": "no tensor adj.indptr", "adj.indices": "no tensor adj.indices", "x": "metadata features is",
		"y": "no tensor y",
	} {
		fixture.RefusesAt(t, writeTensors(t, replaced(missing), nil), want)
	}
}

func TestPythonReadsGraphs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "g.safetensors")
	mattest.OK(t, dataset.Write(t.Context(), file, fixture.Open(t, fixture.Folder(t, fixture.Plain()))))
	mattest.Python(t, "numpy, scipy.sparse, safetensors.numpy", `
import sys, numpy as np, scipy.sparse as sp
from safetensors.numpy import load_file
g = load_file(sys.argv[1])
n = len(g["y"])
a = sp.csr_matrix((np.ones(len(g["adj.indices"])), g["adj.indices"], g["adj.indptr"]), (n, n))
assert a.toarray().tolist() == [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]], a
assert (g["x"] == np.float32([[1, 0.5], [0, -2e-3], [0, 0], [3, 4]])).all(), g["x"]
assert (g["y"].tolist(), g["train"].tolist(), g["test"].tolist()) == ([0, 1, -1, 1], [0], [3]), g`, file)
}

func TestReadScipysFolders(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "own")
	mattest.Python(t, "numpy, scipy.sparse", `
import sys, os, json, numpy as np, scipy.sparse as sp
d = sys.argv[1]; os.mkdir(d)
sp.save_npz(d + "/adj_full.npz", sp.csr_matrix((np.ones(2), ([0, 2], [1, 1])), (3, 3)))
np.save(d + "/feats.npy", np.asfortranarray(np.arange(6, dtype=np.float16).reshape(3, 2)))
json.dump({i: i % 2 for i in range(3)}, open(d + "/class_map.json", "w"))
json.dump({"tr": [0, 1], "va": [2], "te": []}, open(d + "/role.json", "w"))`, dir)
	fixture.Is(t, fixture.Open(t, dir), "edges 0-1 1-2; dense 0 1, 2 3, 4 5")
}

func FuzzSafetensors(f *testing.F) {
	data := mattest.Must(os.ReadFile(writeTensors(f, foreign(), nil)))
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		fixture.Valid(t, fixture.File(t, "own.safetensors", data))
	})
}
