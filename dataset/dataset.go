// Package dataset opens, fetches, describes and writes graphs.
//
// Open takes a name, a folder or a file. The formats that it reads are those of package format: Planetoid's raw files,
// GraphSAINT's folders, sparse matrices in one .npz file, folders of .csv files, this project's own safetensors files,
// and those that a program registers. docs/formats.md describes them. The graph that comes out is undirected, without
// self-loops or repeated edges, with finite features and labels in range, and has at least one training node.
//
// Nothing in a file is ever executed. Only Fetch uses the network, and Open of a name that is not found on disk, if
// Options.Cache is set.
package dataset

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
)

// ReadError says where a file stops making sense.
type ReadError = format.ReadError

// Options says where graphs are looked for and what is told on the way. The zero value reads folders, files and "demo",
// and never uses the network. Environment returns the usual options.
type Options struct {
	// Search lists the folders in which a name is looked for, in this order.
	Search []string
	// Cache is the folder for what is fetched. It is searched after Search. Empty: nothing is fetched.
	Cache string
	// Origin replaces the address of the official files, for a mirror. Empty: the official one.
	Origin string
	// Seed draws the split of a graph that comes without one.
	Seed uint64
	// Queries say which rows of a database are a graph. A graph that is not in a database is then an error.
	Queries format.Queries
	// Note, if not nil, is called with a sentence for each thing that reading changed or made up: self-loops dropped,
	// repeated edges merged, a split drawn.
	Note func(sentence string)
}

// Environment returns the options of the command: the folders of $CGC_DATA (separated as in $PATH), and the folder cgc
// in the user's cache folder.
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

// Open returns the graph called name, with the options of Environment. It may fetch it.
func Open(ctx context.Context, name string) (*graph.Graph, error) {
	return Environment().Open(ctx, name)
}

// Open returns the graph called name: a known name, the name of a graph in a folder that is searched, the path of a
// folder or a file, or the address of a database. Names win over paths: write ./cora for a folder of that name. The
// result is valid (graph.Graph.Validate) and has training nodes. The tensors of a safetensors file stay in the file,
// which is mapped for the life of the process.
//
// An error that errors.As finds is a *NotFound, a *format.Unrecognised, *format.Ambiguous or *format.Several if no
// format can be chosen, or a *ReadError. Fetching is told to package progress, in bytes.
func (o Options) Open(ctx context.Context, name string) (*graph.Graph, error) {
	if name == synth.DemoName {
		if o.Queries != (format.Queries{}) {
			return nil, &format.NoQueries{Path: name, Name: name}
		}
		return synth.Demo(), nil
	}
	found, err := o.find(name)
	if isNotFound(err) && fetchable(name) && o.Cache != "" {
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
	g, notes, err := o.read(ctx, found)
	if err != nil {
		return nil, err
	}
	for _, sentence := range notes {
		o.note("%s", sentence)
	}
	if err := o.complete(ctx, found, g); err != nil {
		return nil, err
	}
	// What a shape made keeps its name, so that it is not taken for the data set whose name its file has.
	if known(name) && !strings.HasPrefix(g.Name, synth.Prefix) {
		g.Name = name
	}
	return g, nil
}

// read reads a graph, by queries if there are any.
func (o Options) read(ctx context.Context, found format.Place) (g *graph.Graph, notes []string, err error) {
	q, takes := found.Format.(format.Querier)
	if !takes && o.Queries != (format.Queries{}) {
		return nil, nil, &format.NoQueries{Path: found.Path, Name: found.FormatName}
	}
	reading := func() (err error) {
		defer memory.Recover(&err)
		if o.Queries == (format.Queries{}) {
			g, notes, err = found.Format.Read(ctx, found.Path)
		} else {
			g, notes, err = q.ReadQueries(ctx, found.Path, o.Queries)
		}
		return err
	}
	if err := reading(); err != nil {
		return nil, nil, located(ctx, found, err)
	}
	return g, notes, nil
}

// Stream is Open for a graph that need not be held. It delivers the same graph in parts, and holds at most bound bytes
// of labels, split and names. It returns nil if the format reads graphs as a whole: a format.Streamer does not. Close
// the stream after use.
func (o Options) Stream(ctx context.Context, name string, bound int64) (_ *format.Stream, err error) {
	defer memory.Recover(&err)
	if name == synth.DemoName || o.Queries != (format.Queries{}) {
		return nil, nil
	}
	found, err := o.find(name)
	if err != nil {
		return nil, err
	}
	f, streams := found.Format.(format.Streamer)
	if !streams {
		return nil, nil
	}
	s, notes, err := f.Stream(ctx, found.Path, bound)
	if err != nil {
		return nil, located(ctx, found, err)
	}
	for _, sentence := range notes {
		o.note("%s", sentence)
	}
	if s.Name == "" {
		s.Name = found.Name
	}
	if known(name) && !strings.HasPrefix(s.Name, synth.Prefix) {
		s.Name = name
	}
	o.split(s.Name, &s.Split, s.Y, s.Classes)
	if len(s.Split.Train) == 0 {
		err = &ReadError{File: format.Shown(found.Path), Err: errNoTraining}
		if s.Close != nil {
			err = errors.Join(err, s.Close())
		}
		return nil, err
	}
	return s, nil
}

var errNoTraining = errors.New("the training split is empty, want at least 1 node")

// located gives an error of reading its place. Once ctx is done, the error is that of ctx.
func located(ctx context.Context, found format.Place, err error) error {
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	var place *ReadError
	if !errors.As(err, &place) {
		err = fmt.Errorf("dataset: reading %s: %w", format.Shown(found.Path), err)
	}
	return err
}

// split draws a split if there is none.
func (o Options) split(name string, s *graph.Split, y []int32, classes int) {
	if len(s.Train)+len(s.Val)+len(s.Test) > 0 {
		return
	}
	*s = drawSplit(y, classes, rand.NewPCG(o.Seed, 0))
	o.note("%s comes without a split: one was drawn with seed %d (%d train, %d val, %d test nodes)",
		name, o.Seed, len(s.Train), len(s.Val), len(s.Test))
}

// complete draws a split if there is none, and seals the graph.
func (o Options) complete(ctx context.Context, found format.Place, g *graph.Graph) error {
	fail := func(text string, args ...any) error {
		return &ReadError{File: format.Shown(found.Path), Err: fmt.Errorf(text, args...)}
	}
	if g == nil {
		return fail("the format %s returned no graph", found.FormatName)
	}
	if g.Name == "" {
		g.Name = found.Name
	}
	o.split(g.Name, &g.Split, g.Y, g.Classes)
	if !g.Sealed() { // its format may have done so
		if err := g.SealContext(ctx); ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			return fail("%w", errors.New(strings.ReplaceAll(err.Error(), "\n", "; ")))
		}
	}
	if len(g.Split.Train) == 0 {
		return fail("%w", errNoTraining)
	}
	return nil
}

func (o Options) note(text string, args ...any) {
	if o.Note != nil {
		o.Note(fmt.Sprintf(text, args...))
	}
}
