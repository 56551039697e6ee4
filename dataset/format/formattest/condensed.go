package formattest

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// Condensed tests that the format registered under name, a format.ArrayStore or a format.TableStore, stores condensed
// graphs. Graphs with and without each optional part are read back unchanged. A format.Teller recognises the file.
// Equal graphs give equal bytes. A cancelled write leaves nothing. The file is not read as a graph, and a graph is not
// read as a condensed one. A format.Writer keeps the names, the weights and the classes of a graph.
func Condensed(t *testing.T, name string) {
	t.Helper()
	f := mattest.Must(format.Find(name))
	if !slices.Contains(format.Stores(), name) {
		t.Fatalf("the format %s is neither an ArrayStore nor a TableStore", name)
	}
	extension := ""
	if all := f.Describe().Extensions; len(all) > 0 {
		extension = all[0]
	}
	for variant, small := range condensedGraphs(t) {
		path := twice(t, variant, "small"+extension, func(path string) error { return small.SaveAs(t.Context(), path, name) })
		got, err := condense.Load(path)
		if err != nil {
			t.Errorf("%s: %v", variant, err)
		} else if difference := differ(got, small); difference != "" {
			t.Errorf("%s: what was written is not what is read: %s", variant, difference)
		}
		if told, is := f.(format.Teller); is {
			meta, err := told.ReadMetadata(t.Context(), path)
			if err != nil || meta["format"] != format.CondensedKind {
				t.Errorf("%s: the metadata are %v, error %v", variant, meta, err)
			}
		}
		if _, _, err := f.Read(t.Context(), path); !errors.Is(err, format.ErrCondensed) {
			t.Errorf("%s: read as a graph: error %v, want format.ErrCondensed", variant, err)
		}
	}
	cancelled(t, name, extension)
	if w, ok := f.(format.Writer); ok {
		keeps(t, w, extension)
	}
}

// keeps tests that a graph with names and weights, whose first class has no nodes, is read back as it was written.
// Equal graphs must give equal bytes, and a graph must not be read as a condensed one.
func keeps(t *testing.T, w format.Writer, extension string) {
	t.Helper()
	for _, classes := range [][]string{
		{"never", "z", `a "b" <&>`}, {"2", "0", "1"}, {"a", "b", "b "}, {"a", "", "a"}, {"never", "", "z"}, nil,
	} {
		b := graph.Builder{
			Name: "kept", X: &mat.Dense{Rows: 4, Cols: 2, Data: []float32{1, 0.5, -2, 0, 1e-30, 3, 0, 7}},
			Y: []int32{2, 1, graph.Unlabelled, 1}, Classes: 3, ClassNames: classes,
			IDs:   []string{"ann", "b & co", "zoë, d", "7"},
			Split: graph.Split{Train: []int32{0}, Val: []int32{1}, Test: []int32{3}},
		}
		if classes != nil {
			b.FeatureNames = []string{"size, in m", "<\"é\">"}
		}
		b.AddWeightedEdge(0, 1, 0.5)
		b.AddWeightedEdge(1, 2, 2)
		g := mattest.First(b.Graph(t.Context()))
		path := twice(t, "a graph with names", "out"+extension, func(path string) error {
			return w.Write(t.Context(), path, g)
		})
		again := read(t, w, path)
		if identify(again) != identify(g) || again.Name != g.Name || again.Classes != g.Classes ||
			!slices.Equal(again.IDs, g.IDs) || !slices.Equal(again.ClassNames, classes) ||
			!slices.Equal(again.FeatureNames, b.FeatureNames) {
			t.Errorf("%+v is read back as %+v", g, again)
		}
		if _, err := condense.Load(path); err == nil || !strings.Contains(err.Error(), "not a condensed graph") {
			t.Errorf("a graph is read as a condensed one: error %v", err)
		}
	}
}

// cancelled tests that a write whose context has ended leaves no file.
func cancelled(t *testing.T, name, extension string) {
	t.Helper()
	folder := t.TempDir()
	err := everything(t).SaveAs(mattest.Cancelled(t), filepath.Join(folder, "small"+extension), name)
	if left := files(t, folder); err == nil || len(left) > 0 {
		t.Errorf("a cancelled write gives the error %v and leaves %d files", err, len(left))
	}
}

// twice writes a file or a folder called name, and then replaces it by writing it again. It tests that both results
// have the same bytes, and returns the path. what names the content in errors.
func twice(t *testing.T, what, name string, write func(path string) error) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	var written [2]map[string]string
	for i := range written {
		if err := write(path); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		written[i] = files(t, filepath.Dir(path))
	}
	if !reflect.DeepEqual(written[0], written[1]) {
		t.Errorf("%s: the same content gives different bytes", what)
	}
	return path
}

// files returns the content of each file below folder, by its path in it.
func files(t *testing.T, folder string) map[string]string {
	t.Helper()
	content := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		content[strings.TrimPrefix(path, folder)] = string(data)
		return err
	})
	mattest.OK(t, err)
	return content
}

// differ returns the first field that differs, with both values, or "".
func differ(got, want *condense.Condensed) string {
	g, w := reflect.ValueOf(*got), reflect.ValueOf(*want)
	for i := range g.NumField() {
		if a, b := g.Field(i).Interface(), w.Field(i).Interface(); !reflect.DeepEqual(a, b) {
			field := g.Type().Field(i).Name
			text, _ := json.Marshal(map[string]any{"read": a, "written": b})
			return field + ": " + string(text)
		}
	}
	return ""
}

// condensedGraphs returns a condensed graph with all optional parts, and variants with parts changed or left out.
func condensedGraphs(t *testing.T) map[string]*condense.Condensed {
	t.Helper()
	graphs := map[string]*condense.Condensed{"everything": everything(t)}
	for name, change := range map[string]func(*condense.Condensed){
		"no soft labels":    func(c *condense.Condensed) { c.Soft = nil },
		"no members":        func(c *condense.Condensed) { c.Members, c.MemberIDs = nil, nil },
		"numbered nodes":    func(c *condense.Condensed) { c.MemberIDs = nil },
		"numbered classes":  func(c *condense.Condensed) { c.ClassNames = nil },
		"names like digits": func(c *condense.Condensed) { c.ClassNames = []string{"2", "0", "1"} },
		"equal names":       func(c *condense.Condensed) { c.ClassNames = []string{"a", "a", "b"} },
		"no seconds":        func(c *condense.Condensed) { c.Seconds, c.Timed = condense.Seconds{}, false },
		"no edges":          func(c *condense.Condensed) { c.Adj = nil },
		"weights of 1": func(c *condense.Condensed) {
			c.Adj.Data = slices.Repeat([]float32{1}, c.Adj.NNZ())
		},
		"one feature": func(c *condense.Condensed) {
			c.X, c.Scaling, c.FeatureNames = &mat.Dense{Rows: 12, Cols: 1, Data: c.X.Data[:12]}, nil, nil
		},
		"little told": func(c *condense.Condensed) {
			*c = condense.Condensed{
				X: c.X, Y: c.Y, Classes: 3, GraphNodes: 100, Method: "herding", Account: json.RawMessage("{}"),
				Config: json.RawMessage(`{"method":"herding"}`),
			}
		},
	} {
		graphs[name] = everything(t)
		change(graphs[name])
	}
	return graphs
}

// everything returns a condensed graph with all that a file can store: 12 nodes of 3 classes, 8 features, weighted
// edges, clusters of different sizes, names, soft labels and scaling.
func everything(t *testing.T) *condense.Condensed {
	t.Helper()
	random := rand.New(rand.NewPCG(30, 0))
	x := mattest.Normal(12, 8, random)
	copy(x.Data, []float32{0, 1, -2, math.MaxFloat32, math.SmallestNonzeroFloat32, 1e-30, 0.1, 16777217})
	b := graph.Builder{X: x}
	for i := range 9 {
		b.AddWeightedEdge(i, i+3, 0.25+random.Float32())
	}
	g := mattest.First(b.Graph(t.Context()))
	members := &mat.CSR{Rows: 12, Cols: 100, Indptr: []int64{0}}
	names := []string{"alice", "bob, the", `"quoted"`, "zoë", "[1]", "7", "007", "a\\b", " x ", "<&>", "名前", "a'b"}
	var ids []string
	for i := range 12 {
		for k := range i%3 + 1 {
			members.Indices = append(members.Indices, int32(8*i+3*k))
			members.Data = append(members.Data, 1/float32(i%3+1))
			ids = append(ids, names[(i+k)%len(names)])
		}
		members.Indptr = append(members.Indptr, int64(len(members.Indices)))
	}
	c := &condense.Condensed{
		X: x, Adj: g.Adj, Y: []int32{0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2}, Soft: mat.NewDense(12, 3), Classes: 3,
		Members: members, MemberIDs: ids, ClassNames: []string{"blue, dark", "grün", "<red>"},
		FeatureNames: names[:8],
		Scaling:      &graph.Scaling{Mean: slices.Clone(x.Data[8:16]), Std: slices.Repeat([]float32{2.5}, 8)},
		Source: &condense.Source{Unlabelled: 3, Digest: graph.Digest{
			Nodes: 100, Edges: 7, Features: 8, Classes: 3, TrainNodes: 9, ValNodes: 1, TestNodes: 2,
			Adjacency: "0a", X: "1b", Labels: "2c", Train: "3d", Val: "4e", Test: "5f",
		}},
		Graph: "small, or not", GraphNodes: 100, Method: "herding", Inductive: true,
		Config:   json.RawMessage(`{"method":"herding","inductive":true,"hops":2}`),
		Budget:   []int{5, 4, 3},
		Seconds:  condense.Seconds{Steps: []condense.Step{{Name: "embed", Seconds: 0.5}}, Total: 1},
		Timed:    true,
		Account:  json.RawMessage(`{"distance":[0.5,1e-07],"note":"a \"word\" <é>"}`),
		Warnings: []string{"features differ in scale"},
	}
	for i := range 12 {
		copy(c.Soft.Row(i), []float32{0.25, 0.15, 0.6})
	}
	return c
}

// Small returns a condensed graph of two nodes, which tests write to a file.
func Small() *condense.Condensed {
	return &condense.Condensed{
		X: &mat.Dense{Rows: 2, Cols: 2, Data: []float32{1, 0, 0.25, -3}}, Y: []int32{1, 0}, Classes: 2,
		ClassNames: []string{"blue", "red"}, Graph: "own", GraphNodes: 4, Method: "cgc",
		Config: json.RawMessage(`{"method":"cgc"}`), Account: json.RawMessage("{}"),
		Members: &mat.CSR{Rows: 2, Cols: 4, Indptr: []int64{0, 1, 3}, Indices: []int32{2, 0, 3}, Data: []float32{1, .5, .5}},
		Adj:     &mat.CSR{Rows: 2, Cols: 2, Indptr: []int64{0, 1, 2}, Indices: []int32{1, 0}, Data: []float32{.5, .5}},
	}
}
