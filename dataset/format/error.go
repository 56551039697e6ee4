package format

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/registry"
	"github.com/graph-condensation/cgc/mat"
)

// ErrCondensed is the error of Format.Read for a condensed graph. A *ReadError wraps it.
var ErrCondensed = errors.New("it is a condensed graph, must be a graph to condense")

// ReadError is an error about a place in a file.
type ReadError struct {
	// File is the path of the file or folder.
	File string
	// Line is the line number, counted from 1, or 0 if the format has no lines.
	Line int
	// Err is the error without its location.
	Err error
}

// Error returns "FILE:LINE: what is wrong".
func (e *ReadError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.File, e.Err)
}

// Wrong returns a *ReadError about a file. text and args are as in fmt.Errorf.
func Wrong(file, text string, args ...any) error {
	return &ReadError{File: file, Err: fmt.Errorf(text, args...)}
}

// Unwrap returns the error without its location.
func (e *ReadError) Unwrap() error { return e.Err }

// Locate turns an error of graph.Builder, or a *mat.CannotKeep, into a *ReadError. parts maps each part of a graph
// (graph.PartError) with a separate file to that file; all other parts are in file. If err is nil, so is the result.
func Locate(err error, file string, parts map[string]string) error {
	var part *graph.PartError
	if number := new(mat.CannotKeep); errors.As(err, &number) {
		part = &graph.PartError{Part: "features", Err: number}
	} else if !errors.As(err, &part) {
		return err
	}
	return &ReadError{File: cmp.Or(parts[part.Part], file), Err: part.Err}
}

// UnrecognisedError is the error for a path that no format recognises.
type UnrecognisedError struct {
	Path string
	// Folder reports whether Path is a folder.
	Folder bool
}

// Error lists what a folder holds, and the files and folders that the formats expect. If a format expects a file that
// the folder holds, perhaps under a similar name, Error lists only such formats. For a file that is part of a graph, it
// names the folder of the graph.
func (e *UnrecognisedError) Error() string {
	if folder := filepath.Dir(e.Path); !e.Folder && folder != "." {
		if _, err := Recognise(folder); err == nil {
			return fmt.Sprintf("the format of %s is not recognised; did you mean the folder %s?", e.Path, folder)
		}
	}
	var folders, files, near, wrong []string
	held := namesIn(e.Path)
	for _, f := range each() {
		d := f.Describe()
		if d.Folder != "" {
			what := fmt.Sprintf("%s (%s)", d.Folder, d.Title)
			folders = append(folders, what)
			found, renamed := match(held, d.Folder)
			if wrong = append(wrong, renamed...); found {
				near = append(near, what)
			}
		}
		if d.File != "" {
			files = append(files, fmt.Sprintf("%s (%s)", d.File, d.Title))
		}
	}
	if e.Folder {
		holds := "it is empty"
		if len(held) > 0 {
			holds = fmt.Sprintf("it holds %.200q", strings.Join(held, ", "))
		}
		slices.Sort(wrong)
		for _, renamed := range slices.Compact(wrong) {
			holds += "; " + renamed
		}
		if len(near) > 0 {
			return fmt.Sprintf("folder %s holds no graph: %s; expected %s", e.Path, holds, strings.Join(near, ", "))
		}
		return fmt.Sprintf("folder %s holds no graph: %s; expected %s, or the file of one graph: %s",
			e.Path, holds, strings.Join(folders, ", "), strings.Join(files, ", "))
	}
	return fmt.Sprintf("the format of %s is not recognised: expected %s, or a folder",
		e.Path, strings.Join(files, ", "))
}

// namesIn returns the names of the files and folders in a folder, sorted, at most 1000. An unreadable folder counts as
// empty.
func namesIn(folder string) (names []string) {
	entries, _ := os.ReadDir(folder)
	for _, e := range entries[:min(len(entries), 1000)] {
		names = append(names, e.Name())
	}
	return names
}

// fileName matches a file name in Description.Folder.
var fileName = regexp.MustCompile(`[\w/]+\.\w+`)

// match reports whether the names in a folder contain a file that a format expects, or one with a similar name, such as
// Nodes.csv, node.csv, nodes.tsv or nodes.csv.zst for nodes.csv. renamed has a sentence for each similar name.
func match(held []string, expected string) (found bool, renamed []string) {
	for _, file := range fileName.FindAllString(expected, -1) {
		if slices.Contains(held, file) || slices.Contains(held, file+".gz") {
			found = true
			continue
		}
		for _, name := range held {
			if lower := strings.ToLower(name); strings.HasPrefix(lower, file) || registry.Distance(lower, file) <= 1 {
				found = true
				renamed = append(renamed, fmt.Sprintf("%.50q must be %s", name, file))
			}
		}
	}
	return found, renamed
}

// SeveralError is the error for a folder that holds the files of several graphs.
type SeveralError struct {
	Folder string
	Graphs []Place
}

// Error names the graphs, and the path of the first.
func (e *SeveralError) Error() string {
	names := make([]string, len(e.Graphs))
	for i, g := range e.Graphs {
		names[i] = g.Name
	}
	return fmt.Sprintf("folder %s holds the graphs %s: name the file of the one you want, as %s",
		e.Folder, strings.Join(names, ", "), filepath.Join(e.Folder, filepath.Base(e.Graphs[0].Path)))
}
