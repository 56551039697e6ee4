// Package dataset opens, fetches, describes and writes graphs.
//
// Open accepts a name, a folder or a file. It reads the formats that are registered in package format, such as
// Planetoid's raw files, GraphSAINT's folders, .npz files, folders of .csv files and this project's own safetensors
// files. docs/reference/formats.md describes all of them. The graph is undirected, without self-loops or repeated
// edges, with finite features and labels in range, and has training nodes unless Options.Unlabelled is set.
//
// Nothing in a file is ever executed. Two functions download files: Fetch, and Open if Options.Cache is set and the
// name is not found on disk.
package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/content"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/registry"
)

// Options controls where graphs are looked up and how changes are reported. The zero value reads folders, files and
// "demo", and downloads nothing. Only Environment reads CGC_DATA; it returns the usual options.
type Options struct {
	// Search lists the folders that are searched for a name, in this order.
	Search []string
	// Cache is the folder for fetched files. It is searched after Search. If it is empty, nothing is fetched.
	Cache string
	// Origin replaces the address of the official files, for a mirror. If it is empty, the official address is used.
	Origin string
	// Seed is the random seed of the split that is drawn for a graph without one.
	Seed uint64
	// Queries select the rows of a database that form the graph. With queries, a graph outside a database is an error.
	Queries format.Queries
	// Split chooses the split of a graph whose files hold several, counted from 0. A number that the files do not have is
	// an error.
	Split int
	// Without lists ids of nodes that Open leaves out, with their edges, as if the files had never contained them. If a
	// split is drawn, it is drawn from the remaining nodes. Nodes without names are listed by number, and these numbers
	// become the names of the remaining nodes. An unknown id is an error. Nil leaves out none and reports nothing.
	Without []string
	// Unlabelled allows graphs without labels or training nodes, to predict them.
	Unlabelled bool
	// Note, if not nil, is called with a sentence for each change made while reading: self-loops dropped, repeated edges
	// merged, a split drawn.
	Note func(sentence string)
	// Omitted, if not nil, is called with what Without left out.
	Omitted func(Omission)
}

// Environment returns the options of the cgc command: Search lists the folders of $CGC_DATA (separated as in $PATH),
// and Cache is the folder cgc in the user's cache folder.
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

// Open returns the graph called name, with the options of Environment. It may download the graph.
func Open(ctx context.Context, name string) (*graph.Graph, error) {
	return Environment().Open(ctx, name)
}

// Open returns the graph called name: a known name, the name of a graph in a folder that is searched, the path of a
// folder or a file, or the address of a database. Names take precedence over paths: write ./cora for a folder called
// cora. The result is valid (graph.Graph.Validate) and has training nodes unless o.Unlabelled is set. The tensors of a
// safetensors file stay in the file, which is mapped for the life of the process.
//
// The error may be a *NotFoundError, a *format.ReadError, or a *format.UnrecognisedError or *format.SeveralError if no
// format can be chosen. Downloads report their bytes to package progress.
func (o Options) Open(ctx context.Context, name string) (*graph.Graph, error) {
	if name == synth.DemoShape().Name {
		if o.Queries != (format.Queries{}) {
			return nil, noQueries(name, name)
		}
		if o.Split != 0 {
			return nil, oneSplit(name, name, o.Split)
		}
		demo := format.Place{Path: name, Name: name, FormatName: name}
		g, err := o.leaveOut(ctx, demo, synth.Demo())
		if err != nil {
			return nil, err
		}
		return g, o.complete(ctx, demo, g)
	}
	found, err := o.Find(name)
	if isNotFound(err) && fetchable(name) && o.Cache != "" {
		if _, err = o.Fetch(ctx, name); err == nil {
			found, err = o.Find(name)
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
	if g, err = o.leaveOut(ctx, found, g); err != nil {
		return nil, err
	}
	if err := o.complete(ctx, found, g); err != nil {
		return nil, err
	}
	// A synthetic graph keeps its name, so that it is not mistaken for the data set that its file is named after.
	if known(name) && !strings.HasPrefix(g.Name, synth.Prefix) {
		g.Name = name
	}
	return g, nil
}

// format returns the format of a graph, for graphs without labels if these are allowed.
func (o Options) format(found format.Place) format.Format {
	if f, is := found.Format.(format.Unlabeller); is && o.Unlabelled {
		return f.Unlabelled()
	}
	return found.Format
}

// read reads a graph, with the queries if there are any.
func (o Options) read(ctx context.Context, found format.Place) (g *graph.Graph, notes []string, err error) {
	found.Format = o.format(found)
	q, takes := found.Format.(format.Querier)
	if !takes && o.Queries != (format.Queries{}) {
		return nil, nil, noQueries(found.Path, found.FormatName)
	}
	splitter, splits := found.Format.(format.Splitter)
	if o.Split < 0 || !splits && o.Split > 0 {
		return nil, nil, oneSplit(found.Path, "the format "+found.FormatName, o.Split)
	}
	reading := func() (err error) {
		defer memory.Recover(&err)
		switch {
		case o.Split > 0:
			g, notes, err = splitter.ReadSplit(ctx, found.Path, o.Split)
		case o.Queries == (format.Queries{}):
			g, notes, err = found.Format.Read(ctx, found.Path)
		default:
			g, notes, err = q.ReadQueries(ctx, found.Path, o.Queries)
		}
		return err
	}
	if err := reading(); err != nil {
		return nil, nil, located(ctx, found, err)
	}
	return g, notes, nil
}

// oneSplit returns the error for a split number that does not exist. kind says in words what has one split.
func oneSplit(path, kind string, split int) error {
	bound := "must be at least 0"
	if split > 0 {
		bound = fmt.Sprintf("must be 0: %s has one split", kind)
	}
	return &format.ReadError{File: format.Shown(path), Err: fmt.Errorf("split %d, %s", split, bound)}
}

// Stream is like Open, for a graph that may exceed memory. It delivers the same graph in parts, and keeps at most bound
// bytes of labels, split and names in memory. It returns nil for "demo", for a format that is not a format.Streamer,
// and for options that have queries, choose a split or leave out nodes. Close the stream after use.
func (o Options) Stream(ctx context.Context, name string, bound int64) (_ *format.Stream, err error) {
	defer memory.Recover(&err)
	if name == synth.DemoShape().Name || o.Queries != (format.Queries{}) || o.Split != 0 || o.Without != nil {
		return nil, nil
	}
	found, err := o.Find(name)
	if err != nil {
		return nil, err
	}
	f, streams := o.format(found).(format.Streamer)
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
	s.Name = cmp.Or(s.Name, found.Name)
	if known(name) && !strings.HasPrefix(s.Name, synth.Prefix) {
		s.Name = name
	}
	o.split(s.Name, &s.Split, s.Y, s.Classes)
	if err := o.trainable(s.Split, s.Y); err != nil {
		err = &format.ReadError{File: format.Shown(found.Path), Err: err}
		if s.Close != nil {
			err = errors.Join(err, s.Close())
		}
		return nil, err
	}
	return s, nil
}

// trainable returns an error if there is no training node, unless o allows that.
func (o Options) trainable(s graph.Split, y []int32) error {
	switch {
	case o.Unlabelled || len(s.Train) > 0:
		return nil
	case labelled(y):
		return errors.New("the training split is empty, must have at least 1 node")
	}
	return errors.New("no node has a label, and training nodes need one")
}

// labelled reports whether a node has a label.
func labelled(y []int32) bool {
	return slices.ContainsFunc(y, func(c int32) bool { return c != graph.Unlabelled })
}

// located adds the path to a reading error. Once ctx is done, it returns ctx.Err().
func located(ctx context.Context, found format.Place, err error) error {
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	if _, placed := errors.AsType[*format.ReadError](err); placed {
		return err
	}
	system, is := errors.AsType[*fs.PathError](err)
	switch {
	case !is:
		return fmt.Errorf("reading %s: %w", format.Shown(found.Path), err)
	case errors.Is(err, fs.ErrNotExist):
		return &format.ReadError{File: system.Path, Err: missingFile{found.Format.Describe().Title, misnamed(system.Path)}}
	}
	return &format.ReadError{File: system.Path, Err: system.Err}
}

// missingFile is the error for a missing file that the format needs. hint is a clause about files with similar names.
type missingFile struct{ title, hint string }

// Error names the format.
func (e missingFile) Error() string {
	return fmt.Sprintf("there is no such file, and the format of this graph (%s) needs it%s", e.title, e.hint)
}

// misnamed returns a clause about the files next to the missing file whose names differ from its name in one letter,
// or "".
func misnamed(missing string) (hint string) {
	folder, name := filepath.Split(missing)
	entries, _ := os.ReadDir(filepath.Clean(folder)) // an unreadable folder counts as empty
	for _, e := range entries {
		if registry.Distance(strings.ToLower(e.Name()), name) <= 1 {
			hint += fmt.Sprintf("; %.50q must be %s", e.Name(), name)
		}
	}
	return hint
}

// Is reports whether target is fs.ErrNotExist.
func (missingFile) Is(target error) bool { return target == fs.ErrNotExist }

// split draws a split if there is none.
func (o Options) split(name string, s *graph.Split, y []int32, classes int) {
	if len(s.Train)+len(s.Val)+len(s.Test) > 0 || !labelled(y) {
		return
	}
	*s = drawSplit(y, classes, rand.NewPCG(o.Seed, 0))
	o.note("%s comes without a split: one was drawn with seed %d (%d train, %d val, %d test nodes)",
		name, o.Seed, len(s.Train), len(s.Val), len(s.Test))
}

// complete draws a split if there is none, and seals the graph.
func (o Options) complete(ctx context.Context, found format.Place, g *graph.Graph) error {
	fail := func(text string, args ...any) error {
		return &format.ReadError{File: format.Shown(found.Path), Err: fmt.Errorf(text, args...)}
	}
	if g == nil {
		return fail("the format %s returned no graph", found.FormatName)
	}
	g.Name = cmp.Or(g.Name, found.Name)
	o.doubtClasses(g)
	o.split(g.Name, &g.Split, g.Y, g.Classes)
	if err := g.Seal(ctx); ctx.Err() != nil { // costs nothing if the format has already sealed the graph
		return ctx.Err()
	} else if err != nil {
		return fail("%w", errors.New(strings.ReplaceAll(err.Error(), "\n", "; ")))
	}
	if err := o.trainable(g.Split, g.Y); err != nil {
		return fail("%w", err)
	}
	if g.Edges() == 0 && g.Nodes() > 1 {
		o.note("%s has no edges, so propagation changes nothing: if it should have edges, check their file", g.Name)
	}
	return nil
}

// doubtClasses notes labels that are probably not classes: numbers without 0, more than 50 classes with fewer than two
// nodes each on average, a class whose name means that a label is missing, or names that differ only in case or spaces.
func (o Options) doubtClasses(g *graph.Graph) {
	const few = 50
	count := 0 // of labelled nodes
	for _, y := range g.Y {
		if count == 2*g.Classes { // enough to decide
			break
		}
		if y != graph.Unlabelled {
			count++
		}
	}
	if g.Classes > few && 2*g.Classes > count {
		which, used := "every label", map[int32]bool{}
		for _, y := range g.Y {
			used[y] = true
		}
		numbers := g.ClassNames == nil || g.ClassNames[g.Classes-1] == strconv.Itoa(g.Classes) // from 0, or from 1
		if delete(used, graph.Unlabelled); len(used) < g.Classes && numbers {
			which = fmt.Sprintf("every number up to the largest of the %d different labels", len(used))
		}
		o.note("%s has %d classes for %d nodes with a label: %s is a class; regression is not supported", g.Name,
			g.Classes, count, which)
	}
	if g.ClassNames == nil && labelled(g.Y) && !o.Unlabelled && !slices.Contains(g.Y, 0) {
		o.note("%s has no node of class 0: labels are the numbers of classes, counted from 0", g.Name)
	}
	for _, class := range g.ClassNames {
		if content.Missing(class) {
			o.note("%s has the class %q: if it means that there is no label, leave the label empty", g.Name, class)
		}
	}
	spelt := map[string]string{} // the first class with a name, by the name in lower case
	for _, class := range g.ClassNames {
		plain := strings.ToLower(strings.TrimSpace(class))
		if other, twice := spelt[plain]; twice {
			o.note("%s has the classes %q and %q: if they are one class, give them one name", g.Name, other, class)
			break // one pair is enough to look for others
		}
		spelt[plain] = class
	}
}

func (o Options) note(text string, args ...any) {
	if o.Note != nil {
		o.Note(fmt.Sprintf(text, args...))
	}
}

// noQueries returns the error for queries to a graph that is not in a database. It names the formats that support
// queries.
func noQueries(path, name string) error {
	queriers := slices.DeleteFunc(format.Names(), func(name string) bool {
		f, _ := format.Find(name)
		_, is := f.(format.Querier)
		return !is
	})
	want := "no format here does"
	if len(queriers) > 0 {
		want = "only those of " + strings.Join(queriers, " and ") + " do"
	}
	return fmt.Errorf("graphs of the format %s take no queries, %s (%s)", name, want, format.Shown(path))
}
