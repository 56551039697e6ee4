package format

import (
	"context"
	"fmt"
	"strings"

	"github.com/graph-condensation/cgc/graph"
)

// Queries select the rows of a database that are the nodes and the edges of a graph, in the query language of the
// database. An empty query means the table called nodes, or edges.
type Queries struct {
	Nodes, Edges string
}

// Querier is a Format that reads databases. Its Read uses no Queries.
type Querier interface {
	Format
	// ReadQueries is like Read, for the rows that the queries return. It changes nothing in the database.
	ReadQueries(ctx context.Context, path string, q Queries) (g *graph.Graph, notes []string, err error)
}

// Splitter is a Format whose files may hold several splits. Its Read uses split 0.
type Splitter interface {
	Format
	// ReadSplit is like Read, for a split counted from 0. If path lacks the split, the error is a *ReadError.
	ReadSplit(ctx context.Context, path string, split int) (g *graph.Graph, notes []string, err error)
}

// mark separates the scheme of an address from the rest.
const mark = "://"

// isAddress reports whether path is an address such as postgres://host/name, not a file.
func isAddress(path string) bool {
	at := strings.Index(path, mark)
	return at > 0 && strings.Trim(strings.ToLower(path[:at]), "abcdefghijklmnopqrstuvwxyz+-.") == ""
}

// Shown returns path in a form that errors, notes and results may show: an address loses its user, password and
// parameters.
func Shown(path string) string {
	if !isAddress(path) {
		return path
	}
	scheme, rest, _ := strings.Cut(path, mark)
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = rest[at+1:]
	}
	rest, _, _ = strings.Cut(rest, "?")
	return scheme + mark + rest
}

// recogniseAddress returns the format that reads the scheme of an address. If there is none, the error lists the known
// schemes.
func recogniseAddress(address string) (found Place, err error) {
	scheme, _, _ := strings.Cut(address, mark)
	var schemes []string
	for name, f := range each() {
		for _, s := range f.Describe().Schemes {
			schemes = append(schemes, s+mark)
			if strings.EqualFold(s, scheme) {
				found = Place{Name: name, Path: address, Format: f, FormatName: name}
			}
		}
	}
	switch {
	case found.Format != nil:
		return found, nil
	case len(schemes) == 0:
		return found, fmt.Errorf("no format of this program reads addresses such as %s: "+
			"a Go program has to import package tables of cgc", Shown(address))
	}
	return found, fmt.Errorf("no format reads %s, must be an address that begins with %s",
		Shown(address), strings.Join(schemes, " or "))
}
