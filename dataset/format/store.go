package format

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ArrayStore is a Format whose files keep any arrays that have names. Condensed graphs are written into them too.
type ArrayStore interface {
	Format
	// WriteArrays writes a. path appears whole or not at all. Equal arrays give equal bytes. It reports the bytes that it
	// wrote to package progress.
	WriteArrays(ctx context.Context, path string, a *Arrays) error
	// ReadArrays returns the arrays and the metadata at path. An error about the content is a *ReadError.
	ReadArrays(ctx context.Context, path string) (*Arrays, error)
}

// TableStore is a Format whose files keep a table of nodes and a table of edges with any columns. Condensed graphs are
// written into them too. A Format is an ArrayStore or a TableStore, not both.
type TableStore interface {
	Format
	// WriteTables writes t. path appears whole or not at all. Equal tables give equal bytes. It reports what it wrote to
	// package progress.
	WriteTables(ctx context.Context, path string, t *Tables) error
	// ReadTables returns the tables and the metadata at path. An error about the content is a *ReadError. A column whose
	// type the file does not keep may come back as text, as Column.Text writes it.
	ReadTables(ctx context.Context, path string) (*Tables, error)
}

// Teller is an ArrayStore or a TableStore that tells the metadata at a path without reading the rest. A condensed graph
// is then told from a large graph at once.
type Teller interface {
	// ReadMetadata returns the metadata of what ReadArrays or ReadTables would return.
	ReadMetadata(ctx context.Context, path string) (map[string]string, error)
}

// isStore says whether f keeps condensed graphs.
func isStore(f Format) bool {
	_, arrays := f.(ArrayStore)
	_, tables := f.(TableStore)
	return arrays || tables
}

// Stores returns the names of the formats that keep condensed graphs: each is an ArrayStore or a TableStore.
func Stores() (names []string) {
	each(func(name string, f Format) {
		if isStore(f) {
			names = append(names, name)
		}
	})
	return names
}

// StoreFor returns the format that writes a condensed graph to path: the one of the given name or, if name is empty,
// the one whose extension path has. An error is an *Unknown, a *NoStore or an *UnknownExtension.
func StoreFor(path, name string) (store Format, err error) {
	if name != "" {
		f, err := Find(name)
		if err != nil {
			return nil, err
		}
		if !isStore(f) {
			return nil, &NoStore{Name: name, Stores: Stores()}
		}
		return f, nil
	}
	each(func(_ string, f Format) {
		if _, has := cutExtension(filepath.Base(path), f); has && store == nil && isStore(f) {
			store = f
		}
	})
	if store == nil {
		return nil, &UnknownExtension{Path: path, Extensions: Extensions(Stores()), Formats: Stores()}
	}
	return store, nil
}

// RecogniseStore returns how to read the condensed graph at path, a file or a folder that exists: by the store that is
// most certain of it. An error is an *UnknownExtension, or an *Ambiguous if two stores are equally certain.
func RecogniseStore(path string) (Place, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Place{}, err
	}
	place, err := recognise(path, info.IsDir(), isStore)
	if _, unknown := err.(*Unrecognised); unknown {
		err = &UnknownExtension{Path: path, Extensions: Extensions(Stores()), Formats: Stores()}
	}
	return place, err
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

// NoStore is the error for writing a condensed graph in a format that keeps none.
type NoStore struct {
	Name string
	// Stores are the names of the formats that keep condensed graphs.
	Stores []string
}

// Error names the formats that keep condensed graphs.
func (e *NoStore) Error() string {
	return fmt.Sprintf("dataset: the format %s keeps no condensed graphs, want one of %s",
		e.Name, strings.Join(e.Stores, ", "))
}

// UnknownExtension is the error for a path whose format its name does not tell.
type UnknownExtension struct {
	Path string
	// Extensions are the ends of names that tell a format, Formats the names of the formats.
	Extensions, Formats []string
}

// Error lists the extensions.
func (e *UnknownExtension) Error() string {
	return fmt.Sprintf("dataset: the name of %s does not tell its format, want one that ends in %s",
		e.Path, strings.Join(e.Extensions, ", "))
}
