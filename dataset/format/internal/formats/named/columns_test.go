package named_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// opened returns a hash of the native file of the graph in a folder, and the notes. Reading in parts must give the same
// file.
func opened(t *testing.T, files map[string][]byte) (hash string, notes []string) {
	t.Helper()
	path := fixture.Folder(t, files)
	whole, notes, err := fixture.Written(t.Context(), t, path, 0)
	mattest.OK(t, err)
	parts, _, err := fixture.Written(t.Context(), t, path, 1<<20)
	if err != nil || !bytes.Equal(parts, whole) {
		t.Errorf("in parts: %v, %d bytes are not the %d of the graph read at once", err, len(parts), len(whole))
	}
	return fmt.Sprintf("%x", sha256.Sum256(whole)), notes
}

// TestIndexColumns checks that a pandas index column is left out of the features, with a note, and does not affect
// edges.
func TestIndexColumns(t *testing.T) {
	want, _ := opened(t, folder("id,label,split,f\na,x,train,1\nb,y,test,2\n", "source,target\na,b\n"))
	for name, c := range map[string]struct {
		nodes, edges string
		notes        []string
	}{
		"no name": {",id,label,split,f\n0,a,x,train,1\n1,b,y,test,2\n", ",source,target\n0,a,b\n",
			[]string{"nodes.csv: the first column, which has no name, is left out"}},
		"read again": {"Unnamed: 0,id,label,split,f\n0,a,x,train,1\n1,b,y,test,2\n", "Unnamed: 0,source,target\n0,a,b\n",
			[]string{`nodes.csv: the column "Unnamed: 0" is left out of the features`}},
		"twice": {
			"Unnamed: 0.1,Unnamed: 0,id,label,split,f\n0,0,a,x,train,1\n1,1,b,y,test,2\n", "source,target\na,b\n",
			[]string{`the column "Unnamed: 0.1" is left out`, `the column "Unnamed: 0" is left out`}},
		"from a database": {"index,id,label,split,f\n0,a,x,train,1\n1,b,y,test,2\n", "index,source,target\n0,a,b\n",
			[]string{`nodes.csv: the column "index" is left out of the features`}},
		"from Parquet": {"id,label,split,f,__index_level_0__\na,x,train,1,0\nb,y,test,2,1\n", "source,target\na,b\n",
			[]string{`the column "__index_level_0__" is left out`}},
		"a word": {"Unnamed: 0,id,label,split,f\nfirst,a,x,train,1\nlast,b,y,test,2\n", "source,target\na,b\n",
			[]string{`the column "Unnamed: 0" is left out`}},
	} {
		got, notes := opened(t, folder(c.nodes, c.edges))
		mattest.Equal(t, got, want, "%s: the graph is", name)
		fixture.Notes(t, notes, c.notes...)
	}
	for _, nodes := range []string{
		"unnamed,id,label,split,f\n0,a,x,train,1\n1,b,y,test,2\n",
		"id,index,label,split,f\na,0,x,train,1\nb,1,y,test,2\n",
	} {
		if kept, notes := opened(t, folder(nodes, "source,target\na,b\n")); kept == want || len(notes) > 0 {
			t.Errorf("a feature is left out of %q: %q", nodes, notes)
		}
	}
}

// TestUnreadColumns checks that a note lists the columns of edges that are not read.
func TestUnreadColumns(t *testing.T) {
	const rows = "id,label,split,f\na,x,train,1\nb,y,test,2\n"
	for edges, want := range map[string]string{
		"source,amount,target,ts\na,2.5,b,monday\n": "edges.csv: columns that are not read: amount, ts (edge weights must " +
			"be in a column called weight)",
		"source,target,weight,ts\na,b,2.5,monday\n": "edges.csv: columns that are not read: ts",
	} {
		_, notes := opened(t, folder(rows, edges))
		fixture.Notes(t, notes, want)
	}
}

// TestRepeatsAmongFeatures checks that notes name features that may hold the label, the id or the split.
func TestRepeatsAmongFeatures(t *testing.T) {
	const nodes = "id,label,split,y,Target,node_id\na,x,train,1,0,7\nb,y,test,2,1,8\n"
	_, notes := opened(t, folder(nodes, "source,target\na,b\n"))
	fixture.Notes(t, notes, "the label is in column label, and column Target is a feature",
		"the id is in column id, and column node_id is a feature: leave it out if it holds the id too")
	_, notes = opened(t, folder("id,label,f,is_train\na,x,1,1\nb,y,2,0\n", "source,target\na,b\n"))
	fixture.Notes(t, notes, "there is no split, and column is_train is a feature: if it holds the split, leave it out or",
		"own comes without a split")
}

// TestSeparators checks that semicolons or tabs separate the fields of a file whose header has no comma.
func TestSeparators(t *testing.T) {
	nodes, edges := "id,label,split,f,g\na,x,train,1,3\n\"b\",y,test,2,\"4\"\n", "source,target\na,\"b\"\n"
	want, _ := opened(t, folder(nodes, edges))
	for _, separator := range []string{";", "\t"} {
		of := func(text string) string { return strings.ReplaceAll(text, ",", separator) }
		if got, notes := opened(t, folder(of(nodes), of(edges))); got != want || len(notes) > 0 {
			t.Errorf("%q: the graph is %s, want %s; notes %q", separator, got, want, notes)
		}
	}
	// A comma in quotes does not count, nor does a semicolon in a header with commas.
	for _, header := range []string{"id;label;split;\"f,h\";g\na;x;train;1;3\nb;y;test;2;4\n",
		"id,label,split,f;h,g\na,x,train,1,3\nb,y,test,2,4\n"} {
		g := fixture.Open(t, fixture.Folder(t, folder(header, edges)))
		fixture.Same(t, g, fixture.Open(t, fixture.Folder(t, folder(nodes, edges))))
	}
}

// TestUsualNames checks that columns are found by the names that other programs give them.
func TestUsualNames(t *testing.T) {
	read := func(nodes, edges string) string {
		g, _ := opened(t, map[string][]byte{"nodes.csv": []byte(nodes), "edges.csv": []byte(edges)})
		return g
	}
	rows, pairs := "a,x,1\nb,y,2\n", "a,b\n"
	want := read("id,label,f\n"+rows, "source,target\n"+pairs)
	for _, header := range [][2]string{{"node,target,f", "from,to"}, {"node_id,class,f", "id_1,id_2"}} {
		mattest.Equal(t, read(header[0]+"\n"+rows, header[1]+"\n"+pairs), want, "%q: the graph is", header)
	}
}

// TestColumnsThatAreWrong checks that errors name columns and cells, and suggest a remedy.
func TestColumnsThatAreWrong(t *testing.T) {
	const nodes, edges = "id,label,f\na,x,1\nb,y,2\n", "source,target\na,b\n"
	for _, c := range []struct{ nodes, edges, want string }{
		{"name,group,f\na,x,1\n", edges, "nodes.csv:1: there is no column id and no column label, the columns are " +
			`"name,group,f" (id may also be called node_id or node, label may also be called class or y or target)`},
		{",label,f\na,x,1\n", edges, "if the first column, which has no name, holds the ids, call it id"},
		{"id|label|f\na|x|1\n", edges, "fields must be separated by commas, semicolons or tabs"},
		{nodes, "source,end\na,b\n", `edges.csv:1: there is no column target, the columns are "source,end" (target may`},
		{nodes + "c,x,\n", edges, "nodes.csv:4: column f: missing value, must be a finite number: fill it in, or drop"},
		{nodes + "c,x,N/A\n", edges, "nodes.csv:4: column f: missing value"},
		{nodes + "c,x,red\n", edges, `column f: the text "red", must be a finite number: drop the column or one-hot enc`},
		{nodes + "c,x,Test\n", edges, `column f: the text "Test", must be a finite number: drop the column, or call it`},
		{nodes + "c,x,\"[1, 2]\"\n", edges, `column f: the text "[1, 2]", must be a finite number: give each number of a li`},
		{nodes + "c,x,-inf\n", edges, `nodes.csv:4: column f: "-inf", must be a finite number`},
		{nodes + "c,x,1e99\n", edges, `nodes.csv:4: column f: "1e99", must be a finite number`},
		{"id;label;f\na;x;0,5\n", edges, `nodes.csv:2: column f: "0,5", must be a number with a decimal point, not a`},
		{"id,label,f,\na,x,1,\n", edges, "nodes.csv:2: column 4, which has no name: missing value"},
	} {
		fixture.Refuses(t, folder(c.nodes, c.edges), c.want)
	}
	mistyped := fixture.Folder(t, folder("id,lable,f\na,x,1\n", edges))
	mattest.Fails(t, `column lable: the text "x", must be a finite number: drop the column or one-hot encode it, or call `+
		"it label")(dataset.Options{Unlabelled: true}.Open(t.Context(), mistyped))
	missing := fixture.Folder(t, fixture.With(folder(nodes, edges), "edges.csv", nil))
	_, err := dataset.Options{}.Open(t.Context(), missing)
	if !errors.Is(err, fs.ErrNotExist) || errors.As(err, new(*fs.PathError)) ||
		!strings.Contains(err.Error(), "edges.csv: there is no such file, and the format of this graph (text with names)") {
		t.Errorf("without edges.csv: %v", err)
	}
	mattest.OK(t, os.WriteFile(filepath.Join(missing, "edge.csv"), []byte(edges), 0o666))
	mattest.Fails(t, `needs it; "edge.csv" must be edges.csv`)(dataset.Options{}.Open(t.Context(), missing))
}

// TestDoubts checks that class names that differ only in case, and a graph without edges, are noted.
func TestDoubts(t *testing.T) {
	for text, want := range map[string]string{
		"id,label,f\na,Tea,1\nb,tea,2\nc,TEA,3\n": `has the classes "TEA" and "Tea": if they are one class`,
		"id,label,f\na,x,1\nb,y,2\n":              "has no edges, so propagation changes nothing",
	} {
		var notes []string
		o := dataset.Options{Note: func(note string) { notes = append(notes, note) }}
		path := fixture.Folder(t, folder(text, "source,target\n"))
		mattest.Must(o.Open(t.Context(), path))
		if got := strings.Join(notes, "\n"); strings.Count(got, want) != 1 {
			t.Errorf("notes %q, want once %q", got, want)
		}
	}
}
