package format

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// ArrayStore is a Format whose files store arbitrary named arrays, including condensed graphs.
type ArrayStore interface {
	Format
	// WriteArrays writes a to path atomically. Equal arrays give equal bytes. It reports the bytes written to package
	// progress.
	WriteArrays(ctx context.Context, path string, a *Arrays) error
	// ReadArrays returns the arrays and the metadata at path. An error about the content is a *ReadError.
	ReadArrays(ctx context.Context, path string) (*Arrays, error)
}

// TableStore is a Format whose files store a table of nodes and a table of edges with arbitrary columns, including
// condensed graphs. A Format is an ArrayStore or a TableStore, not both.
type TableStore interface {
	Format
	// WriteTables writes t to path atomically. Equal tables give equal bytes. It reports the bytes written to package
	// progress.
	WriteTables(ctx context.Context, path string, t *Tables) error
	// ReadTables returns the tables and the metadata at path. An error about the content is a *ReadError. If the file does
	// not preserve the type of a column, the column may come back as text in the form of Column.Text.
	ReadTables(ctx context.Context, path string) (*Tables, error)
}

// TableWriter is a Format that can write a single table to a file, atomically.
type TableWriter interface {
	Format
	WriteTable(ctx context.Context, path string, t *Table) error
}

// Teller is an ArrayStore or a TableStore that can read the metadata at a path and nothing else. That is a quick way to
// distinguish a condensed graph from a large graph.
type Teller interface {
	// ReadMetadata returns the metadata that ReadArrays or ReadTables would return.
	ReadMetadata(ctx context.Context, path string) (map[string]string, error)
}

// isStore reports whether f stores condensed graphs.
func isStore(f Format) bool { return is[ArrayStore](f) || is[TableStore](f) }

// Stores returns the names of the formats that store condensed graphs: each is an ArrayStore or a TableStore.
func Stores() (names []string) { return namesOf(isStore) }

// StoreFor returns the format that writes a condensed graph to path: the format called name or, if name is empty, the
// format with the extension of path. An error is an *UnknownError or an *UnknownExtensionError, or says that the format
// stores no condensed graphs.
func StoreFor(path, name string) (store Format, err error) {
	if store, err = formatFor(path, name, isStore, "keeps no condensed graphs, must be"); store == nil && err == nil {
		err = unknownExtension(path)
	}
	return store, err
}

// RecogniseStore returns the store with the highest certainty for the condensed graph at path, an existing file or
// folder. An error is an *UnknownExtensionError, or says that two stores are equally certain or path is a folder.
func RecogniseStore(path string) (Place, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Place{}, err
	}
	place, err := recognise(path, info.IsDir(), isStore)
	if _, unknown := err.(*UnrecognisedError); unknown {
		if err = unknownExtension(path); info.IsDir() {
			err = errors.New("this is a folder, must be the file of a condensed graph")
		}
	}
	return place, err
}

func unknownExtension(path string) error {
	return &UnknownExtensionError{Path: path, Extensions: Extensions(Stores()), Formats: Stores()}
}

// Extensions returns the extensions of the named formats, each once.
func Extensions(names []string) (all []string) {
	for _, name := range names {
		if f, err := Find(name); err == nil {
			for _, e := range f.Describe().Extensions {
				if !slices.Contains(all, e) {
					all = append(all, e)
				}
			}
		}
	}
	return all
}

// UnknownExtensionError is the error for a path whose extension belongs to no store.
type UnknownExtensionError struct {
	Path string
	// Extensions are the known extensions, and Formats are the names of the formats.
	Extensions, Formats []string
}

// Error lists the extensions.
func (e *UnknownExtensionError) Error() string {
	return fmt.Sprintf("the file extension of %s is not that of a format, must be one of %s",
		e.Path, strings.Join(e.Extensions, ", "))
}
