package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/arrivals"
	"github.com/graph-condensation/cgc/dataset/format/formattest"
	"github.com/graph-condensation/cgc/dataset/format/table"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/tables/internal/sqlite"

	_ "github.com/graph-condensation/cgc/tables"
)

func TestContract(t *testing.T) {
	formattest.Run(t, sqlite.Name, filepath.Join("testdata", "people.sqlite"))
}

func open(ctx context.Context, path, nodes, edges string) (*graph.Graph, error) {
	return (dataset.Options{Queries: format.Queries{Nodes: nodes, Edges: edges}}).Open(ctx, path)
}

// check compares a graph with the graph of testdata/write.py. Nodes are in the order of their ids: ann, bob, dan, eve,
// zoë.
func check(t *testing.T, g *graph.Graph) {
	t.Helper()
	fixture.Is(t, g, "ids ann|bob|dan|eve|zoë; classes blue|red; y 1 0 - 0 1; split 0 1 / 4 / 3")
	fixture.Is(t, g, "edges 0-1*1 1-4*2.5 2-3*1; dense 1 2, 3 4, 7 8, 9.5 -0.25, 5 6")
}

func TestRead(t *testing.T) {
	g := mattest.Must(open(t.Context(), filepath.Join("testdata", "people.sqlite"), "", ""))
	check(t, g)
	mattest.Equal(t, g.Name, "people", "the graph is called")
	check(t, mattest.Must(open(t.Context(), filepath.Join("testdata", "other-names.db"),
		"select f0, id, label, split, f1 from people order by f0 desc", "select target, source, weight from knows")))
}

// TestUnlabelled checks that the label may be missing if graphs without labels are allowed, and only then.
func TestUnlabelled(t *testing.T) {
	path := made(t, "create table nodes (id text, a real)", "insert into nodes values ('x', 1), ('y', 2)",
		"create table edges (source text, target text)", "insert into edges values ('x', 'y')")
	g := mattest.Must(dataset.Options{Unlabelled: true}.Open(t.Context(), path))
	fixture.Is(t, g, "y - -; dense 1, 2; classes")
	mattest.Fails(t, "there is no column label")(dataset.Options{}.Open(t.Context(), path))
}

// made creates a file by running statements.
func made(t *testing.T, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a b?c%d.base")
	db := mattest.Must(sql.Open("sqlite", "file:"+strings.NewReplacer("%", "%25", "?", "%3f").Replace(path)))
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	mattest.OK(t, db.Close())
	return path
}

const (
	nodes = "create table nodes (id, label, split, x)"
	edges = "create table edges (source, target)"
	two   = "insert into nodes values (10, 'a', 'train', 1), (9, 'b', 'train', '2.5')"
)

// TestNumbers checks that integer ids are ordered by value, that views and tables in write-ahead mode are read, and
// that a column of times in edges is ignored.
func TestNumbers(t *testing.T) {
	path := made(t, "pragma journal_mode = wal", "create table n (id, label, x)",
		"create table edges (source, target, ts timestamp)", "insert into n values (10, 1, true), (9, 2, 2.5)",
		"insert into edges values ('9', 10.0, '2026-01-02 03:04:05')",
		"create view nodes as select id, label, case id when 10 then 'train' end as split, x from n")
	g := mattest.Must(open(t.Context(), path, "", ""))
	fixture.Is(t, g, "ids 9|10; edges 0-1; y 1 0; dense 2.5, 1; split 1 /  /")
}

// TestArrivals reads new nodes and late labels from a database. Nodes are in the order of their ids; all else is as in
// text files.
func TestArrivals(t *testing.T) {
	path := made(t, nodes, edges, "insert into nodes values (5, 'b', 'train', 1), (12, 'b', 'test', 4), "+
		"(9, null, null, 2), (10, 'a', 'train', 3), (11, 'a', 'train', 5)",
		"insert into edges values (5, 5), (9, 5), (12, 10), (5, 12)")
	known := []string{"5"}
	from := arrivals.Source{Path: path, Queries: format.Queries{
		Nodes: "select * from nodes where id > 5 order by x desc",
		Edges: "select * from edges where source + target > 10",
	}}
	text := arrivals.Source{Path: fixture.Folder(t, map[string][]byte{
		"nodes.csv": []byte("id,label,split,x\n9,,,2\n10,a,train,3\n11,a,train,5\n12,b,test,4\n"),
		"edges.csv": []byte("source,target\n9,5\n12,10\n5,12\n"),
	})}
	want := mattest.First(text.ReadLabelled(t.Context(), known, 1, 2, []string{"a", "b"}))
	mattest.Equal(t, mattest.First(from.ReadLabelled(t.Context(), known, 1, 2, []string{"a", "b"})), want, "new nodes")
	want = mattest.First(text.Read(t.Context(), known, 1))
	mattest.Equal(t, mattest.First(from.Read(t.Context(), known, 1)), want, "new nodes without labels")

	from.Queries.Nodes = "select * from nodes order by id desc"
	_, _, err := from.Read(t.Context(), known, 1)
	mattest.WantError(t, err, `row 5: id "5" is the id of a known node, must be new`)

	from.Queries.Nodes = "select id, label from nodes where id in (5, 11) order by id desc"
	labels := mattest.First(from.ReadLabels(t.Context(), []string{"11", "9", "5"}, 3, 2, []string{"a", "b"}))
	mattest.Equal(t, labels, &table.Labels{Nodes: []int32{0, 2}, Y: []int32{0, 1}}, "labels")

	text.Queries = from.Queries
	_, _, err = text.Read(t.Context(), known, 1)
	mattest.WantError(t, err, "queries are for databases")
	_, _, err = text.ReadLabels(t.Context(), known, 1, 2, nil)
	mattest.WantError(t, err, "queries are for databases")
	_, _, err = arrivals.Source{Path: "testdata/write.py"}.Read(t.Context(), known, 1)
	mattest.WantError(t, err, "testdata/write.py")
}

// TestIndex checks that a pandas index, from to_sql or imported from a .csv file, does not become a feature.
func TestIndex(t *testing.T) {
	for _, name := range []string{"index", "Unnamed: 0"} {
		path := made(t, fmt.Sprintf("create table nodes (%q, id, label, split, x)", name), edges,
			"insert into nodes values (0, 10, 'a', 'train', 1), (1, 9, 'b', 'train', 2.5)")
		g, notes := fixture.Noted(t, path)
		fixture.Notes(t, notes, fmt.Sprintf("column %q is left", name), "has no edges")
		mattest.Equal(t, g.Features(), 1, "features")
	}
}

func TestRefuses(t *testing.T) {
	good := []string{nodes, edges, two}
	add := func(row string) []string { return append(slices.Clip(good), "insert into "+row) }
	for _, c := range []struct {
		statements   []string
		nodes, edges string
		want         string
	}{
		{[]string{edges}, "", "", "table nodes: there is no such table, the tables are edges: select the nodes with --nodes"},
		{[]string{nodes, two}, "", "", "table edges: there is no such table, the tables are nodes: select the edges"},
		{[]string{"create table accounts (id)", "create view tx as select 1", "create index i on accounts (id)"}, "", "",
			"table nodes: there is no such table, the tables are accounts, tx: select"},
		{[]string{"pragma user_version = 1"}, "", "", "table nodes: there is no such table, the tables are none"},
		{good, "select * from nodes; select 1", "", `the columns are "1" (id may also be called node_id or node, label may ` +
			"also be called class or y or target)\n"},
		{[]string{nodes, edges}, "", "", ".base, table nodes: the table has no rows, must have at least 1 node"},
		{add("nodes values (null, 'a', null, 1)"), "", "", "table nodes: row 3: the id is null"},
		{add("nodes values ('10', 'a', null, 1)"), "", "", `row 3: the id "10" appears twice, first in row 1`},
		{add("nodes values (1, 'a', null, null)"), "", "", "row 3: column x: missing value, must be a finite number"},
		{add("nodes values (1, 'a', null, 9e999)"), "", "", "row 3: column x: +Inf, must be a finite number"},
		{add("nodes values (1, 'a', null, x'00')"), "", "", `row 3: column x: the text "\x00", must be a finite number`},
		{append(add("nodes values (1, 'a', null, 2)"), "create table days (day date)",
			"insert into days values ('2026-01-02')"), "select * from nodes, days", "",
			"the query for nodes: row 1: column day holds times, must hold numbers, text"},
		{add("edges values (10, 11)"), "", "", `table edges: row 1: target "11" is not an id in table nodes`},
		{add("edges values (10, null)"), "", "", "row 1: target is null, must be an id in table nodes"},
		{good, "select id, label from nodes", "", "the query for nodes: no column of features besides id, label and split"},
		{good, "select id, id, label from nodes", "", `the query for nodes: the column "id" appears twice`},
		{[]string{nodes, two, "create view edges as select zeroblob(1 << 27) as source, 0 as target"}, "", "",
			"table edges: SQLite says: string or blob too big"},
		{good, "select", "", "the query for nodes: SQLite says: incomplete input"},
		{good, "delete from nodes", "", "the query for nodes: SQLite says: attempt to write a readonly database"},
		{good, "", "drop table nodes", "the query for edges: SQLite says: attempt to write a readonly database"},
		{good, "select *, datetime() as y, cast(0 as timestamp) as z from no_such", "", "no such table: no_such"},
	} {
		path := made(t, c.statements...)
		before := mattest.Must(os.ReadFile(path))
		if _, err := open(t.Context(), path, c.nodes, c.edges); err == nil || !strings.Contains(err.Error()+"\n", c.want) {
			t.Errorf("%q, %q: %v, want %s", c.nodes, c.edges, err, c.want)
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
			t.Errorf("%q, %q changed the file: %v", c.nodes, c.edges, err)
		}
	}
	cut := made(t, good...)
	data, err := os.ReadFile(cut)
	if err == nil {
		err = os.WriteFile(cut, data[:600], 0o600)
	}
	mattest.OK(t, err)
	mattest.Fails(t, "SQLite says: ")(open(t.Context(), cut, "", ""))
	mattest.Fails(t, "folder testdata holds the graphs other-names, people")(open(t.Context(), "testdata", "select 1", ""))
	want := "graphs of the format demo take no queries, only those of sqlite and postgres do (demo)"
	mattest.Fails(t, want)(open(t.Context(), "demo", "select 1", ""))
}

// TestCloses checks that the file is closed after reading.
func TestCloses(t *testing.T) {
	path := made(t, nodes, edges, two)
	mattest.Must(open(t.Context(), path, "", ""))
	links := mattest.Must(filepath.Glob("/proc/self/fd/*")) // none outside Linux
	for _, link := range links {
		if file, _ := os.Readlink(link); file == path {
			t.Error("the file is still open")
		}
	}
}

// TestCancelled checks that a query that never ends is cancelled with the context.
func TestCancelled(t *testing.T) {
	path := made(t, nodes, edges, two)
	_, err := open(mattest.Cancelled(t), path, "", "")
	mattest.WantIs(t, err, context.Canceled)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	endless := "with recursive n(i) as (select 1 union all select i + 1 from n) " +
		"select sum(i) as id, 1 as label, 2 as x from n"
	ended := make(chan error)
	go func() {
		_, err := open(ctx, path, endless, "")
		ended <- err
	}()
	stop()
	mattest.WantIs(t, <-ended, context.Canceled)
}

func ExampleFormat() {
	g, err := (dataset.Options{}).Open(context.Background(), filepath.Join("testdata", "people.sqlite"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.Name, g.IDs, g.ClassNames, g.Edges())
	// Output: people [ann bob dan eve zoë] [blue red] 3
}

// FuzzRead checks that no input causes a panic or unbounded memory use, in the file of a database. Any graph that is
// read must be valid.
func FuzzRead(f *testing.F) {
	f.Add(mattest.Must(os.ReadFile(filepath.Join("testdata", "people.sqlite"))))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "people.sqlite")
		mattest.OK(t, os.WriteFile(path, text, 0o600))
		fixture.Valid(t, path)
	})
}
