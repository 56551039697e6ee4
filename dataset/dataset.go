// Package dataset opens, reads, fetches, makes and writes graphs.
//
// Open takes a name, a folder or a file. It knows Planetoid's raw files, GraphSAINT's folders, sparse matrices in one
// .npz file, folders of .csv files and this project's own safetensors files; docs/formats.md describes them. Whatever a
// file holds, the graph that comes out is undirected, without self-loops or repeated edges, with finite features and
// labels in range, and has at least one training node; Options.Note tells what had to be changed for that.
// Nothing in a file is ever executed. Only Fetch, and Open of a name that is not found on disk, use the network.
package dataset

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// ReadError says where a file stops making sense.
type ReadError struct {
	File string
	Line int // 1-based; 0 if the format has no lines
	Err  error
}

// Error returns "dataset: FILE:LINE: what is wrong".
func (e *ReadError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("dataset: %s:%d: %v", e.File, e.Line, e.Err)
	}
	return fmt.Sprintf("dataset: %s: %v", e.File, e.Err)
}

// Unwrap returns what is wrong, without the place.
func (e *ReadError) Unwrap() error { return e.Err }

// Options says where graphs are looked for and what is told on the way. The zero value reads folders, files and "demo"; Environment
// returns the usual one.
type Options struct {
	// Search lists the folders in which a name is looked for, in this order.
	Search []string
	// Cache is the folder for what is fetched; it is searched after Search. Empty: nothing is fetched.
	Cache string
	// Origin replaces the address of the official files, for a mirror. Empty: the official one.
	Origin string
	// Seed draws the split of a graph that comes without one.
	Seed uint64
	// Note, if not nil, is called with a sentence for each thing that reading changed or made up: self-loops dropped,
	// repeated edges merged, a split drawn.
	Note func(sentence string)
	// Progress, if not nil, is called while a file is fetched or written, with the bytes done and the bytes in all (0 if unknown).
	Progress func(file string, done, total int64)
}

// Environment returns the options that the command uses: the folders of $CGC_DATA (separated as in $PATH), and cgc in the user's
// cache folder.
func Environment() Options {
	o := Options{}
	for _, dir := range filepath.SplitList(os.Getenv("CGC_DATA")) {
		if dir != "" {
			o.Search = append(o.Search, dir)
		}
	}
	if cache, err := os.UserCacheDir(); err == nil {
		o.Cache = filepath.Join(cache, "cgc")
	}
	return o
}

// Open returns the graph called name, with the options of Environment.
func Open(ctx context.Context, name string) (*graph.Graph, error) {
	return Environment().Open(ctx, name)
}

// Open returns the graph called name: a known name or that of something in the folders searched, else the path of a folder
// or a file. Known names win over paths: write ./cora for a folder of that name. The result is valid (graph.Validate)
// and has training nodes. Features of a safetensors file stay in the file, which is mapped for the life of the process.
func (o Options) Open(ctx context.Context, name string) (*graph.Graph, error) {
	if name == demoName {
		return synth.Demo(), nil
	}
	found, err := o.find(name)
	if errors.Is(err, errNotFound) && fetchable(name) && o.Cache != "" {
		if _, err = o.Fetch(ctx, name); err == nil {
			found, err = o.find(name)
		}
	}
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r := &reader{Options: o, ctx: ctx}
	g, err := found.read(r)
	if err != nil {
		var place *ReadError
		if !errors.As(err, &place) {
			err = fmt.Errorf("dataset: reading %s: %w", found.path, err)
		}
		return nil, err
	}
	if known(name) {
		g.Name = name
	}
	if len(g.Split.Train) == 0 {
		return nil, &ReadError{File: found.path, Err: errors.New("the training split is empty, want at least 1 node")}
	}
	if err := g.Validate(); err != nil {
		return nil, &ReadError{File: found.path, Err: errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))}
	}
	return g, nil
}

// reader carries the options through the readers of one graph.
type reader struct {
	Options
	ctx context.Context
}

func (r *reader) note(format string, args ...any) {
	if r.Note != nil {
		r.Note(fmt.Sprintf(format, args...))
	}
}

// adjacency is the function of that name, telling what it changed.
func (r *reader) adjacency(name string, n int, a arcs) *mat.CSR {
	adj, changes, err := graph.Adjacency(n, graph.Edges{From: a.from, To: a.to, Weight: a.weight})
	if err != nil {
		panic(err) // the readers have checked nodes and weights
	}
	if changes.Loops > 0 || changes.Entries != adj.NNZ() {
		r.note("%s: %v", name, changes)
	}
	return adj
}
