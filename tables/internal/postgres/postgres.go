// Package postgres reads graphs from PostgreSQL databases.
package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/table"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/tables/internal/query"
)

// Name is the name of the format.
const Name = "postgres"

// patience is the time limit for connecting, unless the address sets another.
const patience = 15 * time.Second

// Format reads the tables nodes (id, label, split and features) and edges (source, target and weight) of a database, or
// the results of two queries, as table.Pair does. Features are columns of numbers, or arrays of equal length. Nodes are
// numbered in the order of their ids, because a server may return rows in any order.
//
// The path is an address in the form of libpq: postgres://USER:PASSWORD@HOST:PORT/DATABASE. The password may come from
// $PGPASSWORD or ~/.pgpass. It never appears in errors or results. Everything is read in one read-only transaction.
type Format struct {
	unlabelled bool // the column of labels may be missing
}

// Unlabelled implements format.Unlabeller.
func (Format) Unlabelled() format.Format { return Format{unlabelled: true} }

// Describe implements format.Format. Addresses have the scheme postgres or postgresql.
func (Format) Describe() format.Description {
	return format.Description{Title: "PostgreSQL", Schemes: []string{"postgres", "postgresql"}}
}

// Recognise recognises no files.
func (Format) Recognise(string) format.Certainty { return format.No }

// Read reads the tables nodes and edges.
func (f Format) Read(ctx context.Context, address string) (*graph.Graph, []string, error) {
	return f.ReadQueries(ctx, address, format.Queries{})
}

// ReadQueries reads the graph that the queries return.
func (f Format) ReadQueries(ctx context.Context, address string, q format.Queries) (*graph.Graph, []string, error) {
	d, err := connect(ctx, address)
	if err != nil {
		return nil, nil, cmp.Or(ctx.Err(), err)
	}
	defer d.close()
	nodes, err := d.table(ctx, "nodes", q.Nodes)
	if err != nil {
		return nil, nil, err
	}
	p := table.Pair{Name: d.name, Nodes: nodes, Sort: true, Unlabelled: f.unlabelled}
	p.Edges = func(ctx context.Context) (table.Table, error) { return d.table(ctx, "edges", q.Edges) }
	return p.Graph(ctx)
}

// database is a connection with one transaction for all reading, so that nodes and edges are consistent.
type database struct {
	shown, name string // the address without secrets, and the name of the database
	password    string
	connection  *pgconn.PgConn
}

// connect connects to a database and begins a transaction.
func connect(ctx context.Context, address string) (*database, error) {
	d := &database{shown: format.Shown(address)}
	config, err := pgconn.ParseConfig(address)
	if err != nil { // the text of the error may contain the password
		return nil, &format.ReadError{File: d.shown, Err: errors.New(
			"the address is invalid, must be postgres://USER@HOST:PORT/DATABASE, with other characters escaped as in %25")}
	}
	if d.password = config.Password; config.ConnectTimeout == 0 {
		config.ConnectTimeout = patience
	}
	d.name = cmp.Or(config.Database, Name)
	if d.connection, err = pgconn.ConnectConfig(ctx, config); err != nil {
		return nil, d.fail(err)
	}
	begin := d.connection.Exec(ctx, "begin isolation level repeatable read read only")
	if err = begin.Close(); err != nil {
		err = d.fail(err)
		d.close()
		return nil, err
	}
	return d, nil
}

// close closes the connection, which ends the transaction.
func (d *database) close() {
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	_ = d.connection.Close(ctx) // nothing was written
}

// fail returns an error about the database.
func (d *database) fail(err error) error { return &format.ReadError{File: d.shown, Err: d.plain(err)} }

// plain returns the message of the server or the network in one line, without the password.
func (d *database) plain(err error) error {
	var server *pgconn.PgError
	var network *net.OpError
	text := strings.Join(strings.Fields(err.Error()), " ")
	switch {
	case errors.As(err, &server):
		text = "PostgreSQL says: " + server.Message
	case errors.Is(err, context.DeadlineExceeded):
		text = "the server did not answer in time"
	case errors.As(err, &network):
		text = "no connection: " + network.Err.Error()
	}
	if d.password != "" {
		text = strings.ReplaceAll(text, d.password, "…")
	}
	return errors.New(text)
}

// table starts the query for a table, or the given query.
func (d *database) table(ctx context.Context, name, statement string) (*query.Table, error) {
	t, statement := query.New(d.shown, name, statement)
	fail := func(row int, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return t.Fail(row, d.plain(err))
	}
	prepared, err := d.connection.Prepare(ctx, "", statement, nil)
	if err != nil {
		return nil, fail(-1, err)
	}
	count := len(prepared.Fields)
	setters, formats, unsupported := make([]setter, count), make([]int16, count), make([]error, count)
	for i, f := range prepared.Fields {
		t.Columns = append(t.Columns, f.Name)
		if setters[i], formats[i], err = newSetter(f.DataTypeOID); err != nil {
			unsupported[i] = t.Fail(-1, fmt.Errorf("column %s %w", f.Name, err))
		}
	}
	if err := t.Check(); count > 0 && err != nil {
		return nil, err
	}
	rows := d.connection.ExecStatement(ctx, prepared, nil, nil, formats)
	if count == 0 { // a statement that returns no rows, or may not run
		if _, err := rows.Close(); err != nil {
			return nil, fail(-1, err)
		}
		return nil, t.Fail(-1, errors.New("it gives no rows, expected a select"))
	}
	read := 0
	t.Next = func(cells []table.Cell) error {
		for i, err := range unsupported {
			if err != nil && t.Reads(i) {
				return err
			}
		}
		if !rows.NextRow() {
			if _, err := rows.Close(); err != nil {
				return fail(read, err)
			}
			return io.EOF
		}
		read++
		for i, raw := range rows.Values() {
			if cells[i].Kind = table.Null; raw == nil || !t.Reads(i) {
				continue
			}
			if err := setters[i](raw, &cells[i]); err != nil {
				return t.Fail(read-1, fmt.Errorf("column %s: %w", t.Columns[i], err))
			}
		}
		return nil
	}
	return t, nil
}
