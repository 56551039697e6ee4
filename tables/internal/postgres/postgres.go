// Package postgres reads graphs from PostgreSQL databases.
package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/lib/pq"

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
	return table.Read(ctx, f, address, q, f.unlabelled)
}

// Tables implements table.Tabular.
func (Format) Tables(
	ctx context.Context, address string, q format.Queries, use func(context.Context, table.Pair) error,
) error {
	d := query.Database{File: format.Shown(address), Begin: begin, Column: column}
	config, err := pq.NewConfig(address)
	binding := config.Runtime["channel_binding"]
	if err != nil || binding == "require" {
		return &format.ReadError{File: d.File, Err: invalid(binding)}
	}
	delete(config.Runtime, "channel_binding") // prefer, or disable
	if config.SSLMode == "" && config.SSLNegotiation != pq.SSLNegotiationDirect {
		config.SSLMode = pq.SSLModePrefer
	}
	if config.ConnectTimeout <= 0 {
		config.ConnectTimeout = patience
	}
	config.Host, config.Port = split(config.Host, config.Port)
	for i, m := range config.Multi {
		config.Multi[i].Host, config.Multi[i].Port = split(m.Host, m.Port)
	}
	d.DB = sql.OpenDB(connector(config))
	d.Plain = func(err error) error { return plain(err, config.Password) }
	for _, statement := range []*string{&q.Nodes, &q.Edges} {
		if *statement != "" {
			*statement = ";" + *statement // lib/pq would send one that begins with copy without preparing it
		}
	}
	return d.Tables(ctx, cmp.Or(config.Database, Name), q, use)
}

// invalid returns the error of an address that lib/pq refuses. Its own text may contain the password.
func invalid(binding string) error {
	if binding != "" {
		return errors.New("channel_binding=require is not supported: leave it out " +
			"(sslmode=verify-full also checks who the server is)")
	}
	if _, err := pq.NewConfig(""); err != nil { // the address is not the reason, but perhaps the environment
		return plain(err, "")
	}
	return errors.New(
		"the address is invalid, must be postgres://USER@HOST:PORT/DATABASE, with other characters escaped as in %25")
}

// split returns a host and its port. lib/pq leaves the ports of several hosts and the brackets of [::1] in the host.
func split(host string, port uint16) (string, uint16) {
	if name, own, err := net.SplitHostPort(host); err == nil {
		if number, err := strconv.ParseUint(own, 10, 16); err == nil {
			return name, uint16(number)
		}
	}
	return strings.Trim(host, "[]"), port
}

// begin begins a transaction, in which the server sends all digits of numbers.
func begin(ctx context.Context, c *sql.Conn) error {
	_, err := c.ExecContext(ctx, "begin isolation level repeatable read read only; set local extra_float_digits = 2")
	return err
}

// plain returns the message of the server or the network in one line, without the password.
func plain(err error, password string) error {
	var server *pq.Error
	var network *net.OpError
	text := strings.TrimPrefix(strings.Join(strings.Fields(err.Error()), " "), "pq: ")
	switch {
	case errors.As(err, &server):
		text = "PostgreSQL says: " + server.Message
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		text = "no connection: the server closed it"
	case errors.As(err, &network) && network.Timeout():
		text = "the server did not answer in time"
	case errors.As(err, &network):
		text = "no connection: " + network.Err.Error()
	case strings.Contains(text, "CopyOutResponse"):
		text = "it gives no rows, expected a select"
	}
	if password != "" {
		text = strings.ReplaceAll(text, password, "…")
	}
	return errors.New(text)
}

// connector connects to a server. If the context ends, lib/pq only asks the server to stop: the connector also closes
// the connection soon after, because the server may not answer.
type connector pq.Config

// soon is how long a server may take to stop a query.
const soon = time.Second / 2

// Driver returns the driver of PostgreSQL.
func (connector) Driver() driver.Driver { return pq.Driver{} }

// Connect connects to the server.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := pq.NewConnectorConfig(pq.Config(c))
	if err != nil {
		return nil, err
	}
	inner.Dialer(dialer{ctx: ctx})
	made, err := inner.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return connection{made, made.(driver.ConnPrepareContext), made.(driver.ExecerContext)}, nil
}

// connection hides the other methods of a connection of lib/pq, so that database/sql prepares every query. A prepared
// query is a single statement.
type connection struct {
	driver.Conn
	driver.ConnPrepareContext
	driver.ExecerContext
}

// dialer opens the network connections of a connector: one to read, and another to ask the server to stop.
type dialer struct {
	pq.Dialer // is not used, because there is DialContext
	ctx       context.Context
}

// DialContext opens a connection.
func (d dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	var n net.Dialer
	if d.ctx.Err() != nil {
		n.Timeout = soon
	}
	c, err := n.DialContext(ctx, network, address)
	if err == nil {
		context.AfterFunc(d.ctx, func() { time.AfterFunc(soon, func() { c.Close() }) })
	}
	return c, err
}
