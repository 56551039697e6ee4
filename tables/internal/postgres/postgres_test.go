//go:build unix

package postgres_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"

	_ "github.com/graph-condensation/cgc/tables"
)

func open(ctx context.Context, address, nodes, edges string) (*graph.Graph, error) {
	return (dataset.Options{Queries: format.Queries{Nodes: nodes, Edges: edges}}).Open(ctx, address)
}

// TestServer reads graphs from a real server, which it starts.
func TestServer(t *testing.T) {
	s := start(t)
	s.run(t, `create database "people"`,
		"create type part as enum ('train', 'val', 'test')",
		"create table nodes (f0 float8, id text primary key, label varchar(9), split part, f1 real)",
		"create table edges (source text, target text, weight numeric(6, 2))",
		`insert into nodes values (5, 'zoë', 'red', 'val', 6), (1, 'ann', 'red', 'train', 2),
			(3, 'bob', 'blue', 'train', 4), (7, 'dan', null, null, 8), (9.5, 'eve', 'blue', 'test', -0.25)`,
		"insert into edges values ('ann', 'bob', 1), ('zoë', 'bob', 2.5), ('dan', 'eve', 1)",
		"create table arrays (node_id bigint, y smallint, x float8[], z real[], k int[], n numeric[])",
		`insert into arrays values (10, 1, '{1,2}', '{3}', '{4}', '{5.5}'), (9, 2, '{6,7}', '{8}', '{9}', '[0:0]={-1}')`,
		"create table links (src int, dst numeric)", "insert into links values (10, 9)",
		"create table uuids (id uuid, label bool, x int8)",
		`insert into uuids values ('00000000-0000-0000-0000-00000000000a', true, 1),
			('00000000-0000-0000-0000-00000000000b', false, 2)`,
		"create table empty (id int, label int, x int)",
		`create table odd (id text, label text, x float8, t timestamp, b bytea, j jsonb, a text[], m float8[], p point,
			n numeric[])`,
		`insert into odd values ('a', 'l', 'NaN', now(), 'b', '{}', '{a}', '{{1},{2}}', '(1,2)', '{{1},{2}}')`,
	)
	t.Run("tables", func(t *testing.T) { testTables(t, s) })
	t.Run("command", func(t *testing.T) { testCommand(t, s) })
	t.Run("arrays", func(t *testing.T) { testArrays(t, s) })
	t.Run("refuses", func(t *testing.T) { testRefuses(t, s) })
	t.Run("cancelled", func(t *testing.T) { testCancelled(t, s) })
}

func testTables(t *testing.T, s *server) {
	for range 3 {
		g := mattest.Must(open(t.Context(), s.address("postgres"), "", ""))
		mattest.Equal(t, g.Name, "postgres", "the name is")
		fixture.Is(t, g, "ids ann|bob|dan|eve|zoë; classes blue|red; y 1 0 - 0 1; split 0 1 / 4 / 3")
		fixture.Is(t, g, "edges 0-1*1 1-4*2.5 2-3*1; dense 1 2, 3 4, 7 8, 9.5 -0.25, 5 6")
		s.run(t, "update nodes set f0 = f0 where id < 'd'") // changes the order of rows
	}
}

// testCommand condenses with the cgc command, and checks that its output and its files do not contain the password.
func testCommand(t *testing.T, s *server) {
	file := filepath.Join(t.TempDir(), "small.safetensors")
	var out, notes bytes.Buffer
	args := []string{"condense", s.address("postgres"), "--nodes", "2", "-o", file, "--json",
		"--nodes-sql", "select id, label, split, f0 from nodes", "--edges-sql", "select source, target from edges"}
	command := exec.CommandContext(t.Context(), "go", append([]string{"run", "."}, args...)...)
	command.Dir = "../../../cmd/cgc" // a separate module, which imports this one
	command.Stdout, command.Stderr = &out, &notes
	if err := command.Run(); err != nil {
		t.Fatalf("%v: %s", err, notes.String())
	}
	written := mattest.Must(os.ReadFile(file))
	said := strings.Join([]string{out.String(), notes.String(), string(written)}, "\n")
	for _, word := range []string{"hush", "word@", "tester"} {
		if strings.Contains(said, word) {
			t.Errorf("the command tells %q: %s", word, said)
		}
	}
	if !strings.Contains(said, `"postgres"`) || !strings.Contains(said, "ann") {
		t.Errorf("the name of the graph or of a member is missing: %s", said)
	}
}

func testArrays(t *testing.T, s *server) {
	g := mattest.Must(open(t.Context(), s.address("postgres"), "select * from arrays", "table links"))
	fixture.Is(t, g, "ids 9|10; y 1 0; edges 0-1; dense 6 7 8 9 -1, 1 2 3 4 5.5")
	g = mattest.Must(open(t.Context(), s.address("postgres"), "table uuids",
		"select a.id as source, b.id as target, now() as ts from uuids a, uuids b where a.label and not b.label"))
	fixture.Is(t, g, "edges 0-1; ids 00000000-0000-0000-0000-00000000000a|00000000-0000-0000-0000-00000000000b")
}

func testRefuses(t *testing.T, s *server) {
	shown := fmt.Sprintf("postgres://127.0.0.1:%d/postgres", s.port)
	node := "select 'a' as id, 'l' as label, 1 as x "
	for _, c := range []struct{ nodes, edges, want string }{
		{"table missing", "", `, the query for nodes: PostgreSQL says: relation "missing" does not exist`},
		{"table empty", "", ", the query for nodes: the table has no rows, must have at least 1 node"},
		{"delete from nodes", "", ", the query for nodes: PostgreSQL says: cannot execute DELETE in a read-only transaction"},
		{"commit", "", ", the query for nodes: it gives no rows, expected a select"},
		{"copy nodes to stdout", "", ", the query for nodes: it gives no rows, expected a select"},
		{"copy nodes to stdout; commit; drop table nodes", "", "PostgreSQL says: cannot insert multiple commands"},
		{"select 1; select 2", "", "PostgreSQL says: cannot insert multiple commands into a prepared statement"},
		{"", "drop table edges", ", the query for edges: PostgreSQL says: cannot execute DROP TABLE in a read-only"},
		{node + "union all select null, 'l', 1", "", ", the query for nodes: row 2: the id is null"},
		{node + "union all select 'a', 'l', 1", "", `row 2: the id "a" appears twice, first in row 1`},
		{node + "union all select 'b', 'l', null", "", "row 2: column x: missing value, must be a finite number"},
		{"select id, label, x from odd", "", "row 1: column x: missing value, must be a finite number"},
		{"select id, label, t from odd", "", "column t holds times, must hold numbers, text or lists of numbers"},
		{"select id, label, b from odd", "", "column b holds bytes, must hold numbers"},
		{"select id, label, j from odd", "", "column j holds JSON, must hold numbers"},
		{"select id, label, a from odd", "", "column a holds lists of strings, must hold numbers"},
		{"select id, label, p from odd", "", "column p holds points, must hold numbers"},
		{"select id, label, m from odd", "", "row 1: column m: an array of 2 dimensions, must be 1"},
		{"select id, label, n from odd", "", "row 1: column n: an array of 2 dimensions, must be 1"},
		{node + "union all select 'b', 'l', 1 / 0", "", ", the query for nodes"},
		{"", "select 'ann' as source, 'x' as target", `, the query for edges: row 1: target "x" is not an id in table nodes`},
		{"", "select 'ann' as source", `the query for edges: there is no column target, the columns are "source"`},
	} {
		_, err := open(t.Context(), s.address("postgres"), c.nodes, c.edges)
		if err == nil || !strings.HasPrefix(err.Error(), shown) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, %q: %v, want %s", c.nodes, c.edges, err, c.want)
		}
		secretIn(t, err)
	}
	mattest.Equal(t, s.ask(t, "select count(*) from nodes"), "5", "the number of nodes after all this is")
	for address, want := range map[string]string{
		s.address("nobody"): `PostgreSQL says: database "nobody" does not exist`,
		strings.Replace(s.address("postgres"), "hush", "hash", 1): "PostgreSQL says: password authentication failed",
		s.address("people") + "&connect_timeout=5":                `/people, table nodes: PostgreSQL says: relation`,
	} {
		_, err := open(t.Context(), address, "", "")
		mattest.WantError(t, err, want)
		secretIn(t, err)
	}
}

// secretIn reports an error that contains the password.
func secretIn(t *testing.T, err error) {
	t.Helper()
	if err != nil && (strings.Contains(err.Error(), "word@") || strings.Contains(err.Error(), "hush") ||
		strings.Contains(err.Error(), "hash")) {
		t.Errorf("the error tells the password: %v", err)
	}
}

func testCancelled(t *testing.T, s *server) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() {
		_, err := open(ctx, s.address("postgres"),
			"select i as id, 1 as label, pg_sleep(600) as x from generate_series(1, 9) i", "")
		ended <- err
	}()
	for running := ""; running != "1"; { // until the server runs the query
		running = s.ask(t, "select count(*) from pg_stat_activity where state = 'active' and "+
			"query like '%pg_sleep(600)%' and pid <> pg_backend_pid()")
	}
	stop()
	mattest.WantIs(t, <-ended, context.Canceled)
}

// TestNoServer checks that the error without a server has one line and no secret.
func TestNoServer(t *testing.T) {
	l := mattest.Must(net.Listen("tcp", "127.0.0.1:0"))
	closed := l.Addr().String()
	l.Close()
	const two = "127.0.0.1:1,127.0.0.1:1/people"
	for address, want := range map[string]string{
		"postgres://ann:hushword@" + closed + "/people": "postgres://" + closed + "/people: no connection: ",
		"postgres://ann:hushword@" + two:                "postgres://" + two + ": no connection: connect: ",
		"postgresql://ann:hushword@host:port/people":    "postgresql://host:port/people: the address is invalid",
		"postgres://ann:hush%word@host/people":          "postgres://host/people: the address is invalid",
		"postgres://h/?channel_binding=require":         "postgres://h/: channel_binding=require is not supported: ",
		"mysql://ann:hushword@host/people": "no format reads mysql://host/people, must be an address that begins " +
			"with postgres:// or postgresql://",
	} {
		_, err := open(t.Context(), address, "", "")
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		secretIn(t, err)
	}
}

// TestSilentServer checks that cancelling works while a server does not answer.
func TestSilentServer(t *testing.T) {
	l := mattest.Must(net.Listen("tcp", "127.0.0.1:0"))
	defer l.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		if c, err := l.Accept(); err == nil {
			defer c.Close()
			_, _ = c.Read(make([]byte, 1)) // the client has connected
			stop()
			_, _ = io.Copy(io.Discard, c) // until the client closes the connection
		}
	}()
	_, err := open(ctx, "postgres://ann@"+l.Addr().String()+"/people?connect_timeout=3600", "", "")
	mattest.WantIs(t, err, context.Canceled)
}
