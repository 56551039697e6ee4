// Package format defines file formats of graphs, and registers them.
//
// To add a format, implement Format and register it before the first graph is opened:
//
//	func init() { format.Register("my-format", myFormat{}) }
//
// dataset.Open then reads its files, data describe and data convert accept them, and errors about unknown files mention
// the format. A format that implements Writer can be written too. graph.Builder makes a valid graph from the content of
// a file. ReadError locates an error in a file.
package format

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/registry"
)

// Format reads the graphs of one file format. Its methods are safe for concurrent use.
type Format interface {
	// Describe describes the files and folders of this format.
	Describe() Description
	// Recognise returns how certain it is that path is a graph of this format. path is an existing file or folder. It
	// looks only at names and at most at the start of a file.
	Recognise(path string) Certainty
	// Read returns the graph at path, which Recognise has recognised, and a sentence for each change, such as dropped
	// self-loops. The graph is valid (graph.Graph.Validate), but its split may be empty: dataset.Open then draws one. If
	// the file does not name the graph, Name is the name of the file. An error about the content is a *ReadError. Nothing
	// in a file is ever executed.
	Read(ctx context.Context, path string) (g *graph.Graph, notes []string, err error)
}

// Writer is a Format that can write.
type Writer interface {
	Format
	// Write writes g, which must be valid, to path atomically. Equal graphs give equal bytes. It reports the bytes written
	// to package progress.
	Write(ctx context.Context, path string, g *graph.Graph) error
}

// Unlabeller is a Format that can also read graphs without labels, to predict them.
type Unlabeller interface {
	Format
	// Unlabelled returns the format for graphs whose column or array of labels may be missing.
	Unlabelled() Format
}

// Lister is a Format whose graphs consist of several files, so that one folder may hold several graphs.
type Lister interface {
	Format
	// List returns the graphs in folder: for each name, a path that Read accepts.
	List(folder string) map[string]string
}

// Description describes a format in errors and help.
type Description struct {
	// Title is the name of the format in sentences: "GraphSAINT".
	Title string
	// Folder names the files that mark a folder of this format: "edges.csv and labels.csv". It is empty if the format has
	// no folders.
	Folder string
	// File describes the names of single files: "ind.NAME.x", "a .npz file". It is empty if the format has none.
	File string
	// Extensions are the file extensions, with the dot. In a search folder, the file NAME + extension is the graph NAME. A
	// Writer is chosen by any of its extensions.
	Extensions []string
	// Schemes are the schemes of addresses that the format reads in place of a path, without "://": "postgres".
	Schemes []string
}

// Certainty is how certain a format is that it can read a path. The format with the highest certainty reads the path.
type Certainty int

// The levels of certainty.
const (
	// No: the path is not of this format.
	No Certainty = iota
	// Possible: some of the files that the format needs exist.
	Possible
	// Likely: all names match.
	Likely
	// Certain: the content says so, or the names are unmistakable.
	Certain
)

var formats = registry.New[Format]("file format")

// Register adds a format under a name of lower-case letters, digits and hyphens. It panics if the name is taken.
func Register(name string, f Format) { formats.Register(name, f) }

// Names returns the names of the formats, in the order in which they were registered.
func Names() []string { return formats.Names() }

// former maps the earlier names of formats to the names of the formats that read their files today.
var former = map[string]string{"pyg": "npz", "scipy": "npz"}

// Find returns the format with the given name or earlier name. An error is an *UnknownError.
func Find(name string) (Format, error) {
	f, err := formats.Find(name)
	if today := former[strings.ToLower(name)]; err != nil && today != "" {
		return formats.Find(today)
	}
	return f, err
}

// UnknownError is the error for the name of a format that is not registered. It lists the names.
type UnknownError = registry.Unknown

// each yields the formats and their names, in the order of registration.
func each() iter.Seq2[string, Format] {
	return func(yield func(string, Format) bool) {
		for _, name := range Names() {
			if f, err := Find(name); err == nil && !yield(name, f) {
				return
			}
		}
	}
}

// Place is the path of a graph, and the format that reads it.
type Place struct {
	// Name is the name of the graph, derived from the file name.
	Name string
	// Path is the path for the format's Read.
	Path string
	// Format reads the graph. FormatName is the name that it is registered under.
	Format     Format
	FormatName string
}

// Recognise chooses the format with the highest certainty for path, an existing file or folder. If no format recognises
// a folder, but the folder contains the file of one graph, Recognise returns that file. An error is an
// *UnrecognisedError, a *SeveralError if a folder holds the files of several graphs, or an error that names formats
// that are equally certain. A pipe or a device is an error. If path is an address such as postgres://host/name, the
// format with its scheme reads it; if there is none, the error lists the schemes that are read.
func Recognise(path string) (Place, error) {
	if isAddress(path) {
		return recogniseAddress(path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return Place{}, err
	}
	if !info.IsDir() && !info.Mode().IsRegular() { // reading it may never end
		return Place{}, Wrong(path, "a pipe or a device, must be a file or a folder")
	}
	found, err := recognise(path, info.IsDir(), func(Format) bool { return true })
	if _, unknown := err.(*UnrecognisedError); !unknown || !info.IsDir() {
		return found, err
	}
	switch graphs := List(path); {
	case len(graphs) == 1:
		return graphs[0], nil
	case len(graphs) > 1:
		return Place{}, &SeveralError{Folder: path, Graphs: graphs}
	}
	return Place{}, err
}

// recognise chooses among the formats for which asked returns true and that read folders (or files, if not folder).
func recognise(path string, folder bool, asked func(Format) bool) (Place, error) {
	base := filepath.Base(path)
	best, found, names := No, Place{Name: strings.TrimSuffix(base, filepath.Ext(base)), Path: path}, []string(nil)
	for name, f := range each() {
		d := f.Describe()
		holds := d.File
		if folder {
			holds = d.Folder
		}
		if !asked(f) || holds == "" {
			continue
		}
		switch c, both := f.Recognise(path), fmt.Sprintf("%s (%s)", name, holds); {
		case c > best:
			best, found.Format, found.FormatName, names = c, f, name, []string{both}
		case c == best && c > No:
			names = append(names, both)
		}
	}
	switch len(names) {
	case 0:
		return Place{}, &UnrecognisedError{Path: path, Folder: folder}
	case 1:
		return found, nil
	}
	return Place{}, fmt.Errorf("%s may be of the formats %s, expected files of one of them",
		path, strings.Join(names, " and "))
}

// List returns the graphs whose files are directly in folder. They are ordered by format, in the order of registration,
// and then by name. An unreadable folder counts as empty.
func List(folder string) (graphs []Place) {
	entries, _ := os.ReadDir(folder)
	for formatName, f := range each() {
		found := map[string]string{}
		if l, ok := f.(Lister); ok {
			found = l.List(folder)
		}
		for _, e := range entries {
			path := filepath.Join(folder, e.Name())
			name, ok := cutExtension(e.Name(), f)
			if ok && e.Type()&^fs.ModeSymlink == 0 && f.Recognise(path) != No {
				found[name] = path
			}
		}
		for _, name := range slices.Sorted(maps.Keys(found)) {
			graphs = append(graphs, Place{name, found[name], f, formatName})
		}
	}
	return graphs
}

// cutExtension returns a file's name without the extension of the format, and whether it has one.
func cutExtension(file string, f Format) (name string, ok bool) {
	for _, extension := range f.Describe().Extensions {
		if name, ok := strings.CutSuffix(file, extension); ok && name != "" {
			return name, true
		}
	}
	return "", false
}

// WriterFor returns the format that writes path: the format called name or, if name is empty, the one with the
// extension of path. ok is false if name is empty and no Writer has that extension. An error is an *UnknownError or
// says that the format can only be read.
func WriterFor(path, name string) (w Writer, ok bool, err error) {
	f, err := formatFor(path, name, is[Writer], "can only be read, expected")
	w, ok = f.(Writer)
	return w, ok, err
}

// formatFor returns the format called name or, if name is empty, the first one with the extension of path and with a
// property, or nil. If the format called name lacks the property, lacks describes that in the error.
func formatFor(path, name string, has func(Format) bool, lacks string) (Format, error) {
	if name != "" {
		f, err := Find(name)
		if err == nil && !has(f) {
			return nil, fmt.Errorf("the format %s %s one of %s", name, lacks, strings.Join(namesOf(has), ", "))
		}
		return f, err
	}
	for _, f := range each() {
		if _, named := cutExtension(filepath.Base(path), f); named && has(f) {
			return f, nil
		}
	}
	return nil, nil
}

// Writers returns the names of the formats that can be written.
func Writers() (names []string) { return namesOf(is[Writer]) }

// namesOf returns the names of the formats with a property.
func namesOf(has func(Format) bool) (names []string) {
	for name, f := range each() {
		if has(f) {
			names = append(names, name)
		}
	}
	return names
}

// is reports whether f is also of a type.
func is[T any](f Format) bool {
	_, ok := f.(T)
	return ok
}
