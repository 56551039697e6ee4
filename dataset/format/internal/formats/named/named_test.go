package named_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset/format/formattest"
	"github.com/graph-condensation/cgc/dataset/format/internal/formats/named"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/mat"
)

func folder(nodes, edges string) map[string][]byte {
	return map[string][]byte{"nodes.csv": []byte(nodes), "edges.csv": []byte(edges)}
}

// plain is the path alice–bob–zoë, and the isolated node dan.
func plain() map[string][]byte {
	return folder("f0,ID,label,split,f1\n1,alice,red,train,2\n3,bob,blue,val,4\r\n5,zoë,red,TEST,6\n7,dan,,,8\n",
		"source,since,target\nalice,1999,bob\nzoë,2003,bob\n")
}

func TestContract(t *testing.T) { formattest.Run(t, named.Name, fixture.Folder(t, plain())) }

func TestRead(t *testing.T) {
	g := fixture.Open(t, fixture.Folder(t, plain()))
	fixture.Is(t, g, "edges 0-1 1-2; dense 1 2, 3 4, 5 6, 7 8; y 1 0 1 -; split 0 / 1 / 2")
	fixture.Is(t, g, "ids alice|bob|zoë|dan; classes blue|red")
}

// TestReadBooleans reads features that pandas wrote as True and False.
func TestReadBooleans(t *testing.T) {
	g := fixture.Open(t, fixture.Folder(t, folder(
		"id,label,f,train_mask,test_mask\na,True,True,TRUE,False\nb,False,false,False,true\n", "source,target\na,b\n")))
	fixture.Is(t, g, "dense 1, 0; classes False|True; split 0 /  / 1")
}

// TestReadQuotedFields checks files that Python's csv module wrote: quoted fields, another order of columns, and \r\n.
func TestReadQuotedFields(t *testing.T) {
	g := fixture.Open(t, filepath.Join("testdata", "quoted"))
	fixture.Is(t, g, `ids alice|bob "b"|zoë; classes blue|red, dark; edges 0-1*1 0-2*2.5`)
	quoted := folder("\xef\xbb\xbfid,label,f\n\"a\nb\",1,0\n\n\"c\"\"\",2,0\n", "source,target\n\"a\nb\",\"c\"\"\" \n")
	quoted["nodes.csv.gz"] = fixture.Packed(string(quoted["nodes.csv"]))
	delete(quoted, "nodes.csv")
	g = fixture.Open(t, fixture.Folder(t, fixture.With(quoted, "nodes.csv", nil)))
	fixture.Is(t, g, "ids a\nb|c\"; edges 0-1")
}

// TestNumbersHaveNoNames checks that a graph of numbered nodes and labels has no names, and equals the graph of a
// folder without names.
func TestNumbersHaveNoNames(t *testing.T) {
	g := fixture.Open(t, fixture.Folder(t, folder(
		"id,label,split,a,b\n0,0,train,1,.5\n1,1,val,0,-2e-3\n2,-1,,0,0\n3,1,test,3,4\n", "source,target\n0,1\n1,2\n")))
	if g.IDs != nil || g.ClassNames != nil {
		t.Errorf("ids %q, classes %q", g.IDs, g.ClassNames)
	}
	fixture.Same(t, g, fixture.Open(t, fixture.Folder(t, fixture.Plain())))
}

// TestMixedIDs checks that if only some ids are integers, all are compared as text, with a note.
func TestMixedIDs(t *testing.T) {
	for want, files := range map[string]map[string][]byte{
		`nodes.csv: the id "x" in line 3 is a name, and 1 of 2 ids are integers: all are compared as text`: folder(
			"id,label,split,f\n7,a,train,0\nx,b,test,0\n", "source,target\n7,x\n"),
		`nodes.csv: the id "007" in line 4 is another node than "7" in line 2: ids are compared as text`: folder(
			"id,label,split,f\n7,a,train,0\n8,b,test,0\n007,b,test,0\n", "source,target\n7,8\n"),
	} {
		_, notes := fixture.Noted(t, fixture.Folder(t, files))
		fixture.Notes(t, notes, want)
	}
}

func TestRefuses(t *testing.T) {
	const nodes, edges = "id,label,split,f\na,x,train,1\nb,y,test,2\n", "source,target\na,b\n"
	for _, c := range []struct{ nodes, edges, want string }{
		{"id,label,f\n1,x,0\n", "source,target\n1.0,1\n", `source "1.0" is not an id in nodes.csv, which has "1": ids`},
		{nodes, "source,target\n\n,b\n", `edges.csv:3: source "" is not an id`},
		{nodes, "source,target\na\n", "edges.csv:2: 1 fields, and the header has 2"},
		{nodes, "source,target\n\"a,b\n", "edges.csv:2: field 1: its quote is not closed"},
		{nodes, "source,target\n\"a\"x,b\n", "edges.csv:2: field 1: text after its closing quote"},
		{nodes, "", "edges.csv: the file is empty, must begin with a header"},
		{nodes, "source,source\n", `edges.csv:1: the header has the column "source" twice`},
		{"", edges, "nodes.csv: the file is empty, must begin with a header"},
		{nodes + "\xff,x,,1\n", edges, `nodes.csv:4: column id: "\xff" is not UTF-8 text: save the table as UTF-8`},
		{nodes + "c,caf\xe9,,1\n", edges, `nodes.csv:4: column label: "caf\xe9" is not UTF-8 text: save`},
		{"sep=;\r\n" + nodes, edges, "nodes.csv:1: the line tells Excel the separator, must be the header: r"},
		{strings.ReplaceAll(nodes, "\n", "\r"), edges, "nodes.csv:1: lines end in a carriage return alone, must end"},
		{"\xff\xfei\x00d\x00,\x00", edges, "nodes.csv:1: the file is UTF-16 text, must be UTF-8: save it as UTF-8"},
		{"\xfe\xff\x00i\x00d\x00,", edges, "nodes.csv:1: the file is UTF-16 text"},
		{"id,label,split,f\na,x,test,1\nb,y,test,1\n", edges, "nodes.csv: the training split is empty"},
	} {
		fixture.Refuses(t, folder(c.nodes, c.edges), c.want)
	}
	fixture.Refuses(t, fixture.With(plain(), "labels.csv", []byte("0\n")), "may be of the formats "+
		"named (nodes.csv and edges.csv) and csv (edges.csv and labels.csv), expected files of one of them")
	fixture.Refuses(t, fixture.With(plain(), "nodes.csv.gz", []byte("no")), "unpacking gzip")
}

// TestManyParts checks that the runs of a large file are combined, and that the error is about the first wrong line.
func TestManyParts(t *testing.T) {
	const n = 30_000
	long := strings.Repeat("x", 80)
	nodes, edges := []byte("id,label,split,f\n"), []byte("weight,source,target\n")
	for i := range n {
		name := fmt.Sprintf("node %d, \"\"written\n\nat length\"\"%s", i, long)
		nodes = fmt.Appendf(nodes, "\"%s\",%c,train,%d\n", name, 'z'-i*26/n, i)
		edges = fmt.Appendf(edges, "%d,\"%s\",\"node 0, \"\"written\n\nat length\"\"%s\"\n", 1+i%2, name, long)
	}
	if len(nodes) < 3<<20 || len(edges) < 3<<20 {
		t.Fatalf("%d and %d bytes are not several parts", len(nodes), len(edges))
	}
	g := fixture.Open(t, fixture.Folder(t, folder(string(nodes), string(edges))))
	if g.Nodes() != n || g.IDs[n-1] != fmt.Sprintf("node %d, \"written\n\nat length\"%s", n-1, long) || g.Edges() != n-1 ||
		g.Adj.Data[n-2] != 2 || g.ClassNames[g.Y[n-1]] != "a" || g.Y[0] != 25 || g.X.(*mat.Dense).Data[n-1] != n-1 ||
		len(g.Split.Train) != n || g.Split.Train[n-1] != n-1 {
		t.Errorf("%d nodes, %d edges, last id %q, classes %q", g.Nodes(), g.Edges(), g.IDs[n-1], g.ClassNames)
	}
	again := "\"node 1, \"\"written\n\nat length\"\"" + long + "\",a,,1\n"
	for add, want := range map[string]string{
		again + "a,a,,x\n": `nodes.csv:90002: the id "node 1, \"written\n\nat length\"` +
			long[:22] + `" appears twice, first in line 5`,
		"a,a,,x\n" + again: `nodes.csv:90002: column f: the text "x"`,
		"a,1,,1\n":         `nodes.csv:90002: label "1", and label "z" in line 2`,
	} {
		fixture.Refuses(t, folder(string(nodes)+add, string(edges)), want)
	}
	fixture.Refuses(t, folder(string(nodes), string(edges)+"1,b,c\n0,b,c\n"), `edges.csv:150002: source "b" is not`)
}

// FuzzRead checks that no input causes a panic or unbounded memory use. Errors are allowed.
func FuzzRead(f *testing.F) {
	f.Add(string(plain()["nodes.csv"]), string(plain()["edges.csv"]))
	f.Add("id,label,f\n\"a\n\"\"\",1,2", "source,target\r\n\r\n\"")
	f.Fuzz(func(t *testing.T, nodes, edges string) { fixture.Valid(t, fixture.Folder(t, folder(nodes, edges))) })
}
