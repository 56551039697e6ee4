package format

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// ErrCondensed is what Format.Read returns, in a *ReadError, for a file that holds a condensed graph.
var ErrCondensed = errors.New("it is a condensed graph, want a graph to condense")

// ReadError says where a file stops making sense.
type ReadError struct {
	// File is the path of the file or folder.
	File string
	// Line is the line, from 1; 0 if the format has no lines.
	Line int
	// Err says what is wrong, without the place.
	Err error
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

// Locate turns an error of graph.Builder, or a *mat.CannotKeep, into a *ReadError. parts gives the file for each part
// of a graph that has a file of its own (graph.PartError); all else is in file. A nil err gives nil.
func Locate(err error, file string, parts map[string]string) error {
	var part *graph.PartError
	if number := new(mat.CannotKeep); errors.As(err, &number) {
		part = &graph.PartError{Part: "features", Err: number}
	} else if !errors.As(err, &part) {
		return err
	}
	if own := parts[part.Part]; own != "" {
		file = own
	}
	return &ReadError{File: file, Err: part.Err}
}

// LocateArrays is Locate for a file of several arrays. arrays gives the name of the array for each part of a graph.
func LocateArrays(err error, file string, arrays map[string]string) error {
	var part *graph.PartError
	if !errors.As(err, &part) {
		return err
	}
	return &ReadError{File: file, Err: fmt.Errorf("array %s: %w", arrays[part.Part], part.Err)}
}

// Unrecognised is the error for a path that no format recognises.
type Unrecognised struct {
	Path string
	// Folder says that Path is a folder.
	Folder bool
}

// Error says what the path may hold, by the descriptions of the formats.
func (e *Unrecognised) Error() string {
	var folders, files []string
	each(func(_ string, f Format) {
		d := f.Describe()
		if d.Folder != "" {
			folders = append(folders, fmt.Sprintf("%s (%s)", d.Folder, d.Title))
		}
		if d.File != "" {
			files = append(files, fmt.Sprintf("%s (%s)", d.File, d.Title))
		}
	})
	if e.Folder {
		return fmt.Sprintf("dataset: folder %s holds no graph: want %s, or the file of one graph: %s",
			e.Path, strings.Join(folders, ", "), strings.Join(files, ", "))
	}
	return fmt.Sprintf("dataset: the format of %s is not recognised: want %s, or a folder",
		e.Path, strings.Join(files, ", "))
}

// Ambiguous is the error for a path that several formats recognise with the same certainty.
type Ambiguous struct {
	Path string
	// Formats are the names of the formats.
	Formats []string
}

// Error names the formats.
func (e *Ambiguous) Error() string {
	return fmt.Sprintf("dataset: %s may be of the formats %s, want files of one of them",
		e.Path, strings.Join(e.Formats, " and "))
}

// Several is the error for a folder that holds the files of several graphs.
type Several struct {
	Folder string
	Graphs []Place
}

// Error names the graphs, and the path of one.
func (e *Several) Error() string {
	names := make([]string, len(e.Graphs))
	for i, g := range e.Graphs {
		names[i] = g.Name
	}
	return fmt.Sprintf("dataset: folder %s holds the graphs %s: name the file of the one you want, as %s",
		e.Folder, strings.Join(names, ", "), filepath.Join(e.Folder, filepath.Base(e.Graphs[0].Path)))
}

// ReadOnly is the error for writing a format that can only be read.
type ReadOnly struct {
	Name string
	// Writers are the names of the formats that can be written.
	Writers []string
}

// Error names the formats that can be written.
func (e *ReadOnly) Error() string {
	return fmt.Sprintf("dataset: the format %s can only be read, want one of %s", e.Name, strings.Join(e.Writers, ", "))
}
