package graphml_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format/formattest"
	"github.com/graph-condensation/cgc/dataset/format/internal/formats/graphml"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// open returns the graph of a document, and the notes.
func open(t *testing.T, path string) (*graph.Graph, string) {
	t.Helper()
	g, notes := fixture.Noted(t, path)
	return g, strings.Join(notes, "\n")
}

func write(t testing.TB, text string) string {
	t.Helper()
	return fixture.File(t, "own.graphml", []byte(text))
}

func TestContract(t *testing.T) {
	formattest.Run(t, graphml.Name, filepath.Join("testdata", "networkx.graphml"))
	formattest.Condensed(t, graphml.Name)
}

// TestReadFilesOfOthers checks that the files of testdata are read: testdata/write.py wrote them with networkx and
// igraph, and one is written by hand in the form of Gephi 0.10.
func TestReadFilesOfOthers(t *testing.T) {
	packed := filepath.Join(t.TempDir(), "packed.graphml.gz")
	data := fixture.Base64(t, filepath.Join("testdata", "packed.graphml.gz.b64"))
	mattest.OK(t, os.WriteFile(packed, data, 0o600))
	for file, note := range map[string]string{
		packed: "attributes of nodes that are not read: note",
		filepath.Join("testdata", "networkx.graphml"): "3 edge entries became 2 undirected edges",
		filepath.Join("testdata", "igraph.graphml"):   "",
		filepath.Join("testdata", "gephi.graphml"):    "they say how Gephi draws nodes",
	} {
		g, notes := open(t, file)
		fixture.Is(t, g, "edges 0-1*2.5 1-2*1; dense 3 1, 1.5 0, -2 1, 0.25 0; y 1 0 1 -; ids a|b & co|c|d; split 0 / 1 / 2")
		if strings.Contains(file, "igraph") {
			fixture.Is(t, g, "classes")
		} else {
			fixture.Is(t, g, "classes blue|red")
		}
		if !strings.Contains(notes, note) || note == "" && notes != "" {
			t.Errorf("%s: notes %s", file, notes)
		}
	}
}

const (
	keys = `<graphml><key id="c" for="node" attr.name="class" attr.type="int"/>` +
		`<key id="f" for="node" attr.name="age" attr.type="double"/>` +
		`<key id="p" for="node" attr.name="split" attr.type="string"/>` +
		`<key id="w" for="edge" attr.name="weight" attr.type="double"/>`
	nodes = `<graph><node id="a"><data key="c">0</data><data key="f">1</data><data key="p">train</data></node>` +
		`<node id="b"><data key="c">1</data><data key="f">2</data><data key="p">test</data></node>`
	end = `</graph></graphml>`
)

// TestReadVariants checks a list of features, edges before their nodes, and ids that are numbers.
func TestReadVariants(t *testing.T) {
	list := `<graphml><key id="c" attr.name="y" attr.type="long"/><key id="f" attr.name="x" attr.type="string"/>` +
		`<graph><edge source="0" target="n1"/><node id="0"><data key="c">5</data><data key="f">[1, 2.5]</data></node>` +
		`<node id="n1"><data key="f">3 4</data><data key="c">7</data></node>` + end
	// networkx numbers attributes, and declares the last one first.
	turned := `<graphml><key id="d2" for="node" attr.name="ID" attr.type="int"/>` +
		`<key id="d1" for="node" attr.name="a" attr.type="int"/><key id="d0" for="node" attr.name="y" attr.type="int"/>` +
		`<graph><node id="q"><data key="d0">0</data><data key="d1">1</data><data key="d2">2</data></node>` + end
	g, notes := open(t, write(t, turned))
	fixture.Is(t, g, "dense 1 2") // features a and ID
	if want := "the attribute ID is a feature: leave it out if it holds the id"; !strings.Contains(notes, want) {
		t.Errorf("notes %s, want %s", notes, want)
	}
	fixture.Is(t, fixture.Open(t, write(t, list)), "ids; edges 0-1; dense 1 2.5, 3 4; y 0 1; classes 5|7")
}

// TestSparseFeatures checks that features with the default 0 are sparse.
func TestSparseFeatures(t *testing.T) {
	const n, d = 3000, 2000
	var b strings.Builder
	b.WriteString(`<graphml><key id="c" for="node" attr.name="class" attr.type="int"><default>1</default></key>`)
	for j := range d {
		fmt.Fprintf(&b, `<key id="x%d" for="node" attr.name="x%d" attr.type="float"><default>0</default></key>`, j, j)
	}
	b.WriteString("<graph>")
	for i := range n {
		fmt.Fprintf(&b, `<node id="%d"><data key="x%d">2</data><data key="x%d">1</data></node>`, i, i%d, (i+7)%d)
	}
	b.WriteString(`<edge source="0" target="1"/>` + end)
	g, _ := open(t, write(t, b.String()))
	x, ok := g.X.(*mat.CSR)
	if !ok || x.NNZ() != 2*n || x.Indices[2*1999] != 6 || x.Data[2*1999] != 1 || g.Y[9] != 0 {
		t.Errorf("features %T, %v", g.X, g.Y[9])
	}
	dense := strings.ReplaceAll(b.String(), "<default>0<", "<default>1<")
	fixture.RefusesAt(t, write(t, dense), "most are left out, and have a default other than 0")
}

func TestRefuses(t *testing.T) {
	long := strings.Repeat("<a>", 40)
	for _, c := range []struct{ text, want string }{
		{"", "no graph in it: expected <graphml> with one <graph>"},
		{"<html></html>", "own.graphml:1: the document is a <html>, expected <graphml>"},
		{keys + nodes, "the file ends within <graph>"},
		{keys + "\n" + nodes + "</edge>", "own.graphml:2: </edge> closes no open tag"},
		{keys + "<graph><node id=a/>", "not well-formed XML"},
		{keys + nodes + "&bomb;" + end, "not well-formed XML: invalid character entity &bomb;"},
		{`<?xml version="1.0" encoding="latin1"?>` + keys, `the encoding "latin1", expected UTF-8`},
		{keys + nodes + long, "tags are nested more than 32 deep"},
		{keys + nodes + "</graph><graph/></graphml>", "a second graph, expected one"},
		{keys + nodes + `<hyperedge/>` + end, "a hyperedge, expected edges of two nodes"},
		{keys + nodes + `<node id="q"><port name="n"/></node>` + end, `a port of the node "q", expected nodes without ports`},
		{keys + nodes + `<node id="q"><graph/></node>` + end, "a graph within a node, expected one graph that is not nested"},
		{keys + nodes + `<node id="a"/>` + end, `the node "a" appears twice`},
		{keys + nodes + `<node/>` + end, "a node without an id"},
		{keys + nodes + `<node id="q"/>` + end, `node "q" has no attribute "age", must be a number for each node`},
		{keys + nodes + `<node id="q"><data key="f">?</data></node>` + end,
			`node "q": attribute age: "?", must be a finite number`},
		{keys + nodes + `<node id="q"><data key="f">NaN</data></node>` + end, `"NaN", must be a finite number`},
		{keys + nodes + `<node id="q"><data key="p">dev</data></node>` + end, `split "dev", must be train, val, test`},
		{keys + nodes + `<node id="q"><data key="z">1</data></node>` + end, `the key "z", which is not declared`},
		{keys + nodes + `<node id="q"><data key="f">1</data><data key="f">1</data></node>` + end,
			`the attribute "age" appears twice`},
		{keys + "\n" + nodes + "\n" + `<edge source="a" target="z"/>` + end,
			`own.graphml:3: an edge "a"–"z": there is no node "z"`},
		{keys + nodes + `<edge source="a" target="b"><data key="w">0</data></edge>` + end,
			`weight "0" of the edge "a"–"b", must be a positive finite number`},
		{keys + "<graph/></graphml>", "the graph has no nodes"},
		{keys + keys[len("<graphml>"):] + nodes + end, `the key "c" appears twice`},
		{"<graphml><graph/></graphml>", "no attribute of nodes is called class, label or y (there are: none)"},
		{`<graphml><key id="c" for="node" attr.name="y" attr.type="int"/><graph/></graphml>`,
			"no attribute of nodes is a feature, must be at least one number"},
		{`<graphml><key id="c" for="node" attr.name="y" attr.type="int"/>` +
			`<key id="a" for="node" attr.name="f" attr.type="int"/>` +
			`<key id="b" for="node" attr.name="f" attr.type="string"/><graph/></graphml>`,
			`the attribute "f" of nodes is declared as int and as string, must be numbers or text`},
		{strings.Replace(keys+nodes+end, ">1<", ">x<", 1), `attribute age: "x"`},
		{strings.Replace(keys+nodes+end, `"c">1<`, `"c">x<`, 1), `label "x", and label "0" in line 1: must be only integers`},
		{strings.Replace(keys+nodes+end, `"c">1<`, `"c">-2<`, 1), "own.graphml:1: label -2, must be at least 0"},
	} {
		fixture.RefusesAt(t, write(t, c.text), c.want)
	}
}

// TestWrite checks that sparse features are read back, compressed or not.
func TestWrite(t *testing.T) {
	made := fixture.Made(t, "cora", 0.2)
	made.Y[3] = graph.Unlabelled
	made.Split = graph.Split{Train: []int32{0, 1}, Val: []int32{2}, Test: []int32{4}}
	for _, extension := range []string{".graphml", ".graphml.gz"} {
		path := filepath.Join(t.TempDir(), "out"+extension)
		mattest.OK(t, dataset.Write(t.Context(), path, made))
		again, notes := open(t, path)
		if fixture.Same(t, again, made); notes != "" || again.IDs != nil || again.Classes != made.Classes {
			t.Errorf("%s: %d classes, ids %q, notes %q", extension, again.Classes, again.IDs, notes)
		}
	}
}

// TestKeepsNumberedNames checks that names such as n0, n1, … are kept in files of cgc and if they are an attribute. The
// ids n0, n1, … of igraph are no names.
func TestKeepsNumberedNames(t *testing.T) {
	g := fixture.Open(t, filepath.Join("testdata", "networkx.graphml"))
	g.IDs = []string{"n0", "n1", "n2", "n3"}
	path := filepath.Join(t.TempDir(), "out.graphml")
	mattest.OK(t, dataset.Write(t.Context(), path, g))
	fixture.Is(t, fixture.Open(t, path), "ids n0|n1|n2|n3")
	const own = keys + `<key id="i" for="node" attr.name="name" attr.type="string"/><graph><node id="n0">` +
		`<data key="c">1</data><data key="f">1</data>`
	for name, want := range map[string]string{`<data key="i">n0</data>`: "ids n0", "": "ids"} {
		fixture.Is(t, fixture.Open(t, write(t, own+name+"</node>"+end)), want)
	}
}

// TestWriteRefuses checks that names with characters that XML does not allow are errors.
func TestWriteRefuses(t *testing.T) {
	for _, c := range []struct{ ids, want string }{
		{"a,a,c,d", `nodes 0 and 1 have the same name "a", must have distinct names`},
		{"a,\x01,c,d", `the name "\x01" of node 1 is empty or has characters that XML cannot hold`},
	} {
		g := fixture.Open(t, filepath.Join("testdata", "networkx.graphml"))
		g.IDs = strings.Split(c.ids, ",")
		err := dataset.Write(t.Context(), filepath.Join(t.TempDir(), "out.graphml"), g)
		fixture.Says(t, err, c.want)
	}
}

// TestNetworkXReads checks that networkx reads a written graph, its attributes with their types, and the members of a
// condensed graph.
func TestNetworkXReads(t *testing.T) {
	g := fixture.Open(t, filepath.Join("testdata", "networkx.graphml"))
	dir := t.TempDir()
	graphFile, smallFile := filepath.Join(dir, "graph.graphml"), filepath.Join(dir, "small.graphml")
	mattest.OK(t, dataset.Write(t.Context(), graphFile, g))
	small := formattest.Small()
	small.MemberIDs = []string{"c", "a", "b & co"}
	mattest.OK(t, small.Save(t.Context(), smallFile))
	small.ClassNames = nil
	numbersFile := filepath.Join(dir, "numbers.graphml")
	mattest.OK(t, small.Save(t.Context(), numbersFile))
	mattest.Python(t, "networkx", `
import json, sys
import networkx as nx
g = nx.read_graphml(sys.argv[1])
assert list(g) == ["a", "b & co", "c", "d"], list(g)
assert not g.is_directed() and g.number_of_edges() == 2, g
assert g["a"]["b & co"]["weight"] == 2.5 and g["c"]["b & co"]["weight"] == 1
assert g.nodes["b & co"] == {"class": "blue", "split": "val", "x0": 1.5, "x1": 0.0}, g.nodes["b & co"]
assert g.nodes["d"] == {"x0": 0.25, "x1": 0.0}, g.nodes["d"]
assert g.graph["format"] == "cgc.graph" and json.loads(g.graph["class_names"]) == ["blue", "red"]
s = nx.read_graphml(sys.argv[2])
assert list(s) == ["0", "1"] and s["0"]["1"]["weight"] == 0.5, s
one = s.nodes["1"]
assert json.loads(one["members"]) == [0, 3] and json.loads(one["member_weights"]) == [0.5, 0.5], one
assert json.loads(one["member_ids"]) == ["a", "b & co"] and one["class"] == "blue", one
assert one["weight"] == 2 and isinstance(one["weight"], float), one
assert type(nx.read_graphml(sys.argv[3]).nodes["0"]["class"]) is int
assert [one["x0"], one["x1"]] == [0.25, -3.0] and s.graph["format"] == "cgc-condensed", (one, s.graph)
`, graphFile, smallFile, numbersFile)
}

// FuzzRead checks that no input causes a panic or unbounded memory use. Errors are allowed.
func FuzzRead(f *testing.F) {
	f.Add(keys + nodes + `<edge source="a" target="b"><data key="w">2</data></edge>` + end)
	for _, name := range []string{"networkx", "igraph", "gephi"} {
		text := mattest.Must(os.ReadFile(filepath.Join("testdata", name+".graphml")))
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) { fixture.Valid(t, write(t, text)) })
}
