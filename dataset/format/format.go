// Package format is the seam between graphs and files: what a file format is, and the list of those that are known.
//
// To add a format, implement Format and register it before the first graph is opened:
//
//	func init() { format.Register("my-format", myFormat{}) }
//
// dataset.Open then reads its files, data describe and data convert take them, and the errors that say what a file or a
// folder may hold name the format. A format that implements Writer can be written too. graph.Builder makes a valid
// graph of what a file holds; ReadError says where a file is wrong.
package format

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/registry"
)

// Format reads the graphs of one file format. Its methods are safe for concurrent use.
type Format interface {
	// Describe says what a file or a folder of this format holds.
	Describe() Description
	// Recognise returns how certain it is that path holds a graph of this format. path is a file or a folder that exists.
	// It looks at names, and at most at the start of a file.
	Recognise(path string) Certainty
	// Read returns the graph at path, which Recognise has recognised, and a sentence for each thing that was changed, such
	// as self-loops that were dropped. The graph is valid (graph.Graph.Validate), but its split may be empty: dataset.Open
	// then draws one. If the file has no name for the graph, Name is that of the file. An error about the content is a
	// *ReadError. Nothing in a file is ever executed.
	Read(ctx context.Context, path string) (g *graph.Graph, notes []string, err error)
}

// Writer is a Format that can write.
type Writer interface {
	Format
	// Write writes g, which is valid. path appears whole or not at all. Equal graphs give equal bytes. It reports the
	// bytes that it wrote to package progress.
	Write(ctx context.Context, path string, g *graph.Graph) error
}

// Lister is a Format whose graphs consist of several files side by side, so that one folder may hold several graphs.
type Lister interface {
	Format
	// List returns the graphs that stand in folder: for each name, a path that Read takes.
	List(folder string) map[string]string
}

// Description is what errors and help say of a format.
type Description struct {
	// Title is the name of the format in sentences: "GraphSAINT".
	Title string
	// Folder says which files mark a folder of this format: "edges.csv and labels.csv". Empty if the format has no
	// folders.
	Folder string
	// File says how the names of its files look: "ind.NAME.x", "a .npz file". Empty if the format has no single files.
	File string
	// Extensions are the ends of the names of its files, with the dot. A file NAME + extension in a folder that is
	// searched is the graph NAME. A Writer is chosen by any of them.
	Extensions []string
	// Schemes are how addresses begin that the format reads in place of a path, without "://": "postgres".
	Schemes []string
}

// Certainty says how certain a format is that a path is its own. The most certain format reads the path.
type Certainty int

// The levels of certainty.
const (
	// No: the path is not of this format.
	No Certainty = iota
	// Possible: a part of what the format needs is there.
	Possible
	// Likely: the names are right.
	Likely
	// Certain: the content says so, or the names leave no doubt.
	Certain
)

var formats = registry.New[Format]("file format")

// Register adds a format under a name of lower-case letters, digits and hyphens. It panics if the name is taken.
func Register(name string, f Format) { formats.Register(name, f) }

// Names returns the names of the formats, in the order in which they were registered.
func Names() []string { return formats.Names() }

// Find returns the format of that name. An error is an *Unknown.
func Find(name string) (Format, error) { return formats.Find(name) }

// Unknown is the error for the name of a format that is not registered. It lists the names.
type Unknown = registry.Unknown

// each calls f for each format, in the order of registration.
func each(f func(name string, format Format)) {
	for _, name := range Names() {
		if found, err := Find(name); err == nil {
			f(name, found)
		}
	}
}

// Place is a graph on disk: its path, and the format that reads it.
type Place struct {
	// Name is the name of the graph, by the name of the file.
	Name string
	// Path is what the format's Read takes.
	Path string
	// Format reads the graph. FormatName is the name that it is registered under.
	Format     Format
	FormatName string
}

// Recognise returns how to read path, a file or a folder that exists: by the format that is most certain of it. For a
// folder that no format recognises, but that holds the file of one graph, it returns that file. An error is an
// *Unrecognised, an *Ambiguous if two formats are equally certain, or a *Several if a folder holds the files of several
// graphs. Where path is an address (IsAddress), the format that has its scheme reads it; if none has, the error is an
// *UnknownAddress.
func Recognise(path string) (Place, error) {
	if IsAddress(path) {
		return recogniseAddress(path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return Place{}, err
	}
	found, err := recognise(path, info.IsDir(), func(Format) bool { return true })
	if _, unknown := err.(*Unrecognised); !unknown || !info.IsDir() {
		return found, err
	}
	switch graphs := List(path); {
	case len(graphs) == 1:
		return graphs[0], nil
	case len(graphs) > 1:
		return Place{}, &Several{Folder: path, Graphs: graphs}
	}
	return Place{}, err
}

// recognise asks each format that has folders, or files, and that is asked for.
func recognise(path string, folder bool, asked func(Format) bool) (Place, error) {
	best, found, names := No, Place{Name: nameOf(path), Path: path}, []string(nil)
	each(func(name string, f Format) {
		if d := f.Describe(); !asked(f) || folder && d.Folder == "" || !folder && d.File == "" {
			return
		}
		switch c := f.Recognise(path); {
		case c > best:
			best, found.Format, found.FormatName, names = c, f, name, []string{name}
		case c == best && c > No:
			names = append(names, name)
		}
	})
	switch len(names) {
	case 0:
		return Place{}, &Unrecognised{Path: path, Folder: folder}
	case 1:
		return found, nil
	}
	return Place{}, &Ambiguous{Path: path, Formats: names}
}

// List returns the graphs whose files stand directly in folder, without looking into the folders in it. They are
// ordered by format, in the order of registration, and then by name. A folder that cannot be read holds none.
func List(folder string) (graphs []Place) {
	entries, _ := os.ReadDir(folder)
	each(func(formatName string, f Format) {
		found := map[string]string{}
		if l, ok := f.(Lister); ok {
			found = l.List(folder)
		}
		for _, e := range entries {
			path := filepath.Join(folder, e.Name())
			name, ok := cutExtension(e.Name(), f)
			if ok && !e.IsDir() && f.Recognise(path) != No {
				found[name] = path
			}
		}
		for name, path := range found {
			graphs = append(graphs, Place{name, path, f, formatName})
		}
	})
	order := Names()
	slices.SortFunc(graphs, func(a, b Place) int {
		if d := slices.Index(order, a.FormatName) - slices.Index(order, b.FormatName); d != 0 {
			return d
		}
		return strings.Compare(a.Name, b.Name)
	})
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

// nameOf returns the name of a file or folder without what follows its last dot.
func nameOf(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// WriterFor returns the format that writes path: the one of the given name or, if name is empty, the one whose
// extension path has. ok is false if name is empty and no format that writes has the extension. An error is an
// *Unknown, or says that the format does not write.
func WriterFor(path, name string) (w Writer, ok bool, err error) {
	if name != "" {
		f, err := Find(name)
		if err != nil {
			return nil, false, err
		}
		if w, ok = f.(Writer); !ok {
			return nil, false, &ReadOnly{Name: name, Writers: Writers()}
		}
		return w, true, nil
	}
	each(func(_ string, f Format) {
		if candidate, writes := f.(Writer); writes && !ok {
			if _, has := cutExtension(filepath.Base(path), f); has {
				w, ok = candidate, true
			}
		}
	})
	return w, ok, nil
}

// Writers returns the names of the formats that can be written.
func Writers() (names []string) {
	each(func(name string, f Format) {
		if _, ok := f.(Writer); ok {
			names = append(names, name)
		}
	})
	return names
}
