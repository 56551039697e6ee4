package condense_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/safetensors"
	"github.com/graph-condensation/cgc/mat"
)

// whole returns a condensed graph with everything that a file can contain: 12 nodes of 3 classes, 8 features, edges
// with weights, members, soft labels and scaling. Its method is not one of the paper's.
func whole(t testing.TB) *condense.Condensed {
	t.Helper()
	random := rand.New(rand.NewPCG(30, 0))
	x := mattest.Normal(12, 8, random)
	b := graph.Builder{X: x}
	for i := range 9 {
		b.AddWeightedEdge(i, i+3, 0.25+random.Float32())
	}
	g := mattest.First(b.Graph(t.Context()))
	c := &condense.Condensed{
		X: x, Adj: g.Adj, Y: []int32{0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2}, Soft: mat.NewDense(12, 3), Classes: 3,
		Members: condense.FromRows([]int32{90, 3, 14, 15, 9, 26, 53, 58, 97, 93, 2, 38}, 100),
		Scaling: &graph.Scaling{Mean: make([]float32, 8), Std: slices.Repeat([]float32{2}, 8)},
		Source: &condense.Source{Unlabelled: 3, Digest: graph.Digest{
			Nodes: 100, Edges: 7, Features: 8, Classes: 3, TrainNodes: 9, ValNodes: 1, TestNodes: 2,
			Adjacency: "0a", X: "1b", Labels: "2c", Train: "3d", Val: "4e", Test: "5f",
		}},
		Graph: "small", GraphNodes: 100, Method: "herding", Inductive: true,
		Config:   json.RawMessage(`{"method":"herding","inductive":true,"hops":2}`),
		Budget:   []int{5, 4, 3},
		Seconds:  condense.Seconds{Steps: []condense.Step{{"embed", 0.5}, {"herd", 0.25}}, Total: 1},
		Timed:    true,
		Account:  json.RawMessage(`{"distance":[0.5,1e-07],"note":"a \"word\""}`),
		Warnings: []string{"features differ in scale"},
	}
	for i := range 12 {
		copy(c.Soft.Row(i), []float32{0.25, 0.25, 0.5})
	}
	return c
}

// save writes c and returns the path.
func save(t *testing.T, c *condense.Condensed) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "small.safetensors")
	mattest.OK(t, c.Save(t.Context(), path))
	return path
}

// The version of a file is the lowest that can represent the graph. Package formattest checks that Load returns what
// was saved; a file without a source is an old one.
func TestVersions(t *testing.T) {
	for _, c := range []struct {
		version string
		change  func(*condense.Condensed)
	}{
		{"1", func(c *condense.Condensed) { c.Soft, c.Source = nil, nil }},
		{"2", func(*condense.Condensed) {}},
		{"3", func(c *condense.Condensed) { c.Members = nil }},
		{"3", func(c *condense.Condensed) { c.Members, c.Soft = nil, nil }},
	} {
		want := whole(t)
		c.change(want)
		path := save(t, want)
		if meta, _ := contents(t, path); meta["format_version"] != c.version {
			t.Errorf("format version %s, want %s", meta["format_version"], c.version)
		}
		if got, err := condense.Load(path); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("version %s: read back as\n%+v, %v, want\n%+v", c.version, got, err, want)
		}
	}
}

// An adjacency without weights is loaded with weights of 1. An adjacency without entries is loaded as nil.
func TestLoadEdges(t *testing.T) {
	c := whole(t)
	c.Adj.Data = nil
	got := mattest.Must(condense.Load(save(t, c)))
	if want := slices.Repeat([]float32{1}, 18); !slices.Equal(got.Adj.Data, want) || got.Edges() != 9 {
		t.Errorf("weights %v of %d edges, want ones of 9", got.Adj.Data, got.Edges())
	}
	c.Adj = &mat.CSR{Rows: 12, Cols: 12, Indptr: make([]int64, 13)}
	if got = mattest.Must(condense.Load(save(t, c))); got.Adj != nil || got.Edges() != 0 {
		t.Errorf("adjacency %v, want none", got.Adj)
	}
}

func TestLoadNamesTheFault(t *testing.T) {
	good := save(t, whole(t))
	nan := float32(math.NaN())
	type tensors = map[string]*safetensors.Tensor
	for want, change := range map[string]func(meta map[string]string, t tensors){
		`format "" in the metadata, expected`: func(m map[string]string, _ tensors) { delete(m, "format") },
		`format version "9", must be`:         func(m map[string]string, _ tensors) { m["format_version"] = "9" },
		`classes "x"`:                         func(m map[string]string, _ tensors) { m["classes"] = "x" },
		`y[9] is 2, must be 0 to 1`:           func(m map[string]string, _ tensors) { m["classes"] = "2" },
		`configuration in the metadata`:       func(m map[string]string, _ tensors) { m["config"] = "{" },
		`account in the metadata`:             func(m map[string]string, _ tensors) { m["account"] = "[]" },
		`no array "y"`:                        func(_ map[string]string, t tensors) { delete(t, "y") },
		`x is 8×12 for 12 labels`:             func(_ map[string]string, t tensors) { t["x"].Shape = []int{8, 12} },
		`"x" has shape [96], expected`:        func(_ map[string]string, t tensors) { t["x"].Shape = []int{96} },
		`y_soft is 9×4, expected 12`:          func(_ map[string]string, t tensors) { t["y_soft"].Shape = []int{9, 4} },
		`y_soft[1][2] is NaN`:                 func(_ map[string]string, t tensors) { t["y_soft"].Data.([]float32)[5] = nan },
		`row 1 of y_soft has the sum`:         func(_ map[string]string, t tensors) { t["y_soft"].Data.([]float32)[5]++ },
		`is not a finite number`:              func(_ map[string]string, t tensors) { t["x"].Data.([]float32)[5] = nan },
		`must be nodes 0 to 11`:               func(_ map[string]string, t tensors) { t["edge_index"].Data.([]int64)[0]-- },
		`must be 2×17`:                        func(_ map[string]string, t tensors) { shorten(t["edge_weight"]) },
		`scaling of 7 and 8 features`:         func(_ map[string]string, t tensors) { shorten(t["scaling.mean"]) },
		`members: row 2 runs from entry 2 to 999`: func(_ map[string]string, t tensors) {
			t["members.indptr"].Data.([]int64)[3] = 999
		},
		`members.indices[0] is -4`: func(_ map[string]string, t tensors) {
			t["members.indices"].Data.([]int64)[0] = -4
		},
	} {
		meta, parts := contents(t, good)
		change(meta, parts)
		bad := filepath.Join(t.TempDir(), "bad.safetensors")
		var list []safetensors.Tensor
		for _, v := range parts {
			list = append(list, *v)
		}
		mattest.OK(t, safetensors.Write(t.Context(), bad, meta, list))
		mattest.Fails(t, want, bad)(condense.Load(bad))
	}
	missing := filepath.Join(t.TempDir(), "missing.safetensors")
	if _, err := condense.Load(missing); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), missing) {
		t.Errorf("missing file: error %v", err)
	}
}

// shorten removes the last value of a one-dimensional tensor.
func shorten(t *safetensors.Tensor) {
	data := t.Data.([]float32)
	t.Data, t.Shape = data[:len(data)-1], []int{len(data) - 1}
}

// contents returns the metadata and the tensors of a file.
func contents(t *testing.T, path string) (map[string]string, map[string]*safetensors.Tensor) {
	t.Helper()
	file := mattest.Must(safetensors.Open(path))
	defer file.Close()
	tensors := map[string]*safetensors.Tensor{}
	for _, info := range file.Tensors() {
		tensor := &safetensors.Tensor{Name: info.Name, DType: info.DType, Shape: info.Shape}
		switch info.DType {
		case safetensors.F32:
			tensor.Data = elements[float32](t, file, info.Name)
		case safetensors.I64:
			tensor.Data = elements[int64](t, file, info.Name)
		default:
			t.Fatalf("tensor %s has type %s", info.Name, info.DType)
		}
		tensors[info.Name] = tensor
	}
	return file.Metadata, tensors
}

func elements[E safetensors.Element](t *testing.T, file *safetensors.File, name string) []E {
	t.Helper()
	return slices.Clone(mattest.Must(safetensors.Slice[E](file, name)))
}

// An invalid graph or a cancelled write leaves no file.
func TestSaveStopsWithoutAFile(t *testing.T) {
	ctx := mattest.Cancelled(t)
	invalid, odd := whole(t), whole(t)
	invalid.Y[3] = 7
	odd.Account = json.RawMessage(`[1]`)
	for _, c := range []struct {
		ctx   context.Context
		small *condense.Condensed
		want  string
	}{
		{ctx, whole(t), "context canceled"},
		{t.Context(), invalid, "label 7 of node 3, must be 0 to 2"},
		{t.Context(), odd, "account: not a JSON object"},
	} {
		folder := t.TempDir()
		mattest.WantError(t, c.small.Save(c.ctx, filepath.Join(folder, "small.safetensors")), c.want)
		if left, _ := os.ReadDir(folder); len(left) != 0 {
			t.Errorf("%v left behind", left)
		}
	}
}

// The file contains what users of PyTorch Geometric expect in Python, under these names and with these types.
func TestFileInPython(t *testing.T) {
	small := whole(t)
	const script = `
import sys, numpy as np
from safetensors.numpy import load_file
f = load_file(sys.argv[1])
p = f["members.indptr"]
for name in sorted(f): print(name, f[name].dtype, f[name].shape)
print(np.allclose(f["y_soft"].sum(1), 1), np.allclose(np.add.reduceat(f["members.weights"], p[:-1]), 1))
print(np.float32(f["x"][3, 2]), f["y"].tolist(), f["members.indices"].tolist())
e = f["edge_index"]
print(sorted(set(map(tuple, e.T))) == sorted(set(map(tuple, e[::-1].T))))
`
	got := mattest.Python(t, "numpy, safetensors.numpy", script, save(t, small))
	want := fmt.Sprintf(`edge_index int64 (2, 18)
edge_weight float32 (18,)
members.indices int64 (12,)
members.indptr int64 (13,)
members.weights float32 (12,)
scaling.mean float32 (8,)
scaling.std float32 (8,)
x float32 (12, 8)
y int64 (12,)
y_soft float32 (12, 3)
True True
%v %s %s
True`, small.X.Row(3)[2], listed(small.Y), listed(small.Members.Indices))
	mattest.Equal(t, got, want, "python3 reads")
}

// listed formats numbers as Python does.
func listed(v []int32) string { return strings.ReplaceAll(fmt.Sprint(v), " ", ", ") }

// If the nodes and classes of a graph have names, the file contains the names of the source nodes and of the classes,
// in each setting.
func TestNamesOfMembersAndClasses(t *testing.T) {
	bare := hundred(t)
	g := *bare
	for i := range g.Nodes() {
		g.IDs = append(g.IDs, fmt.Sprintf("node-%d", i))
	}
	for c := range g.Classes {
		g.ClassNames = append(g.ClassNames, fmt.Sprintf("class-%d", c))
	}
	for _, setting := range []condense.Setting{{}, {Standardize: true}, {Inductive: true}} {
		view := mattest.Must(setting.View(t.Context(), &g))
		small := whole(t)
		small.Members = condense.FromRows([]int32{3, 1, 4, 0, 5, 9, 2, 6, 7, 8, 10, 11}, view.Graph.Nodes())
		if view.Adopt(small); g.Classes != small.Classes {
			t.Fatalf("%d classes, want those of whole, %d", g.Classes, small.Classes)
		}
		mattest.OK(t, small.TakeSource(&g))
		small.ClassNames[0] = "renamed"
		if g.ClassNames[0] != "class-0" {
			t.Fatal("the condensed graph shares the names of the graph's classes")
		}
		mattest.OK(t, small.TakeSource(&g))
		small.Scaling = nil // g has another number of features
		again := mattest.Must(condense.Load(save(t, small)))
		for e, v := range again.Members.Indices {
			if len(again.MemberIDs) != len(again.Members.Indices) || again.MemberIDs[e] != g.IDs[v] {
				t.Errorf("%+v: names of members %q, want those of %v", setting, again.MemberIDs, again.Members.Indices)
				break
			}
		}
		mattest.Equal(t, again.ClassNames, g.ClassNames, "%+v: names of classes", setting)
	}
}

// If a graph has no names, the file contains none.
func TestFilesWithoutNames(t *testing.T) {
	small := whole(t)
	mattest.OK(t, small.TakeSource(hundred(t)))
	data := mattest.Must(os.ReadFile(save(t, small)))
	if strings.Contains(string(data), "class_names") || strings.Contains(string(data), "members.ids") {
		t.Error("the file of a graph without names has names")
	}
}

// TestFieldsWithoutAKey checks that files keep the method, the setting and the weights of source nodes if neither the
// configuration nor the data of Members contains them.
func TestFieldsWithoutAKey(t *testing.T) {
	c := whole(t)
	c.Config, c.Members.Data, c.NormalizedFeatures = json.RawMessage(`{"method":"other","hops":2}`), nil, true
	for _, extension := range []string{".safetensors", ".graphml"} {
		path := filepath.Join(t.TempDir(), "small"+extension)
		mattest.OK(t, c.Save(t.Context(), path))
		got := mattest.Must(condense.Load(path))
		if got.Method != "herding" || got.Setting() != c.Setting() || !slices.Equal(got.Members.Data, slices.Repeat(
			[]float32{1}, 12)) {
			t.Errorf("%s: method %s, setting %+v, weights %v", extension, got.Method, got.Setting(), got.Members.Data)
		}
		want := `{"hops":2,"method":"herding","inductive":true,"normalize_features":true}`
		if string(got.Config) != want {
			t.Errorf("%s: configuration %s, want %s", extension, got.Config, want)
		}
	}
	c.Config, c.NormalizedFeatures = json.RawMessage(`{ "method": "herding", "inductive": true }`), false
	if got := mattest.Must(condense.Load(save(t, c))); string(got.Config) != string(c.Config) {
		t.Errorf("a configuration with spaces is read back as %s, was %s", got.Config, c.Config)
	}
	if cut := mattest.Must(c.Cut(t.Context(), 3)); !slices.Equal(cut.Members.Data[:5], slices.Repeat([]float32{0.2}, 5)) {
		t.Errorf("members of a cut weigh %v, want 1/5 in the class of 5 nodes", cut.Members.Data)
	}
}

func TestValidateNamesTheField(t *testing.T) {
	for want, change := range map[string]func(*condense.Condensed){
		"configuration: not a JSON object": func(c *condense.Condensed) { c.Config = json.RawMessage("[1]") },
		"account: not a JSON object":       func(c *condense.Condensed) { c.Account = json.RawMessage("[1]") },
		"-1 nodes of the graph, must be at least 0": func(c *condense.Condensed) {
			c.GraphNodes, c.Members = -1, nil
		},
		"the weight of member 9 of node 4 is not a finite number": func(c *condense.Condensed) {
			c.Members.Data[4] = float32(math.NaN())
		},
		"1 names of members":  func(c *condense.Condensed) { c.MemberIDs = []string{"a"} },
		"2 names for 3 class": func(c *condense.Condensed) { c.ClassNames = []string{"a", "b"} },
	} {
		small := whole(t)
		change(small)
		mattest.WantError(t, small.Validate(), want)
	}
}

// The reference page of the condensed file lists every tensor and metadata key that Save writes, with its type.
func TestPageListsTheFile(t *testing.T) {
	const page = "../docs/reference/condensed-file.md"
	text := mattest.Must(os.ReadFile(page))
	c := whole(t)
	c.ClassNames = []string{"a", "b", "c"}
	c.MemberIDs = slices.Repeat([]string{"name"}, len(c.Members.Indices))
	file := mattest.Must(safetensors.Open(save(t, c)))
	defer file.Close()
	row := func(name string) string {
		for line := range strings.Lines(string(text)) {
			if first, _, is := strings.Cut(strings.TrimPrefix(line, "| "), " |"); is && strings.Contains(first, "`"+name+"`") {
				return line
			}
		}
		t.Errorf("%s has no row for %s", page, name)
		return ""
	}
	for _, info := range file.Tensors() {
		if !strings.Contains(row(info.Name), string(info.DType)) {
			t.Errorf("%s does not say that %s is %s: %s", page, info.Name, info.DType, row(info.Name))
		}
	}
	for key := range file.Metadata {
		row(key)
	}
}
