package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/internal/registry"
)

// NotFoundError is the error for a name or a path without a graph.
type NotFoundError struct {
	// Name is the requested name.
	Name string
	// Near lists the names of graphs with a similar spelling.
	Near []string

	text string
}

// Error says which graph was looked for, and where.
func (e *NotFoundError) Error() string { return e.text }

// Is reports whether target is fs.ErrNotExist.
func (e *NotFoundError) Is(target error) bool { return target == fs.ErrNotExist }

func isNotFound(err error) bool {
	_, is := errors.AsType[*NotFoundError](err)
	return is
}

func (o Options) folders() []string {
	if o.Cache == "" {
		return o.Search
	}
	return slices.Concat(o.Search, []string{o.Cache})
}

// Find returns the location of the graph that Open would read, and its format. It downloads nothing. It looks up name
// as a name first, then as a path.
func (o Options) Find(name string) (format.Place, error) {
	found, err := o.findName(name)
	if !isNotFound(err) || known(name) {
		return found, err
	}
	if found, err := format.Recognise(name); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return found, err
	}
	if !strings.ContainsAny(name, `/\`) && !strings.HasPrefix(name, ".") && filepath.Ext(name) == "" { // it is not a path
		return format.Place{}, o.unknown(name)
	}
	path, err := filepath.Abs(name)
	if err != nil {
		path = name
	}
	return format.Place{}, &NotFoundError{Name: name, text: "there is no file or folder " + path}
}

// findName looks up a name in the search folders. In a folder DIR, the graph NAME may be a file in DIR, a file in a
// folder named after a format (DIR/planetoid), or the folder DIR/NAME. Graphs of the Open Graph Benchmark may also be
// in DIR/ogbn_NAME.
func (o Options) findName(name string) (format.Place, error) {
	if name == "" || strings.ContainsAny(name, `/\`) || strings.HasPrefix(name, ".") {
		return format.Place{}, o.missing(name)
	}
	for _, dir := range o.folders() {
		for _, folder := range shelves(dir) {
			for _, found := range format.List(folder) {
				if found.Name == name {
					return found, nil
				}
			}
		}
		sub := filepath.Join(dir, name)
		for _, found := range format.List(sub) {
			if _, many := found.Format.(format.Lister); many && found.Name == name {
				return found, nil
			}
		}
		if found, err := format.Recognise(sub); err == nil {
			return found, nil
		}
		if !ofOGB(name) {
			continue
		}
		if found, err := format.Recognise(filepath.Join(dir, "ogbn_"+name)); err == nil { // the folder name that ogb uses
			return found, nil
		}
	}
	return format.Place{}, o.missing(name)
}

// shelves returns the folders whose file names are names of graphs: dir, and its subfolders named after a format.
func shelves(dir string) []string {
	folders := []string{dir}
	for _, name := range append(format.Names(), "pyg", "scipy") { // the last two are earlier names of the format npz
		folders = append(folders, filepath.Join(dir, name))
	}
	return folders
}

// others returns the sorted names of the graphs in the search folders, known names excluded.
func (o Options) others() (names []string) {
	add := func(name string) {
		if !known(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, dir := range o.folders() {
		for _, folder := range shelves(dir) {
			for _, found := range format.List(folder) {
				add(found.Name)
			}
		}
		entries, _ := os.ReadDir(dir) // an unreadable folder counts as empty
		for _, e := range entries {
			if _, err := format.Recognise(filepath.Join(dir, e.Name())); e.IsDir() && err == nil {
				add(e.Name())
			}
		}
	}
	slices.Sort(names)
	return names
}

// unknown returns the error for a name that no graph has.
func (o Options) unknown(name string) error {
	var names, near []string
	for _, s := range o.List() {
		names = append(names, s.Name)
		if registry.Distance(strings.ToLower(name), s.Name) <= 1+len(s.Name)/4 {
			near = append(near, s.Name)
		}
	}
	hint := ""
	if len(near) > 0 {
		hint = "; did you mean " + strings.Join(near, " or ") + "?"
	}
	text := fmt.Sprintf("%q is not a graph, folder or file%s (graphs: %s)", name, hint, strings.Join(names, ", "))
	return &NotFoundError{Name: name, Near: near, text: text}
}

// missing returns the error for a graph that is not on disk.
func (o Options) missing(name string) error {
	ogb := ""
	if ofOGB(name) {
		ogb = fmt.Sprintf("or ogb's folder as DIR/ogbn_%s, ", name)
	}
	text := fmt.Sprintf("%[1]s is not on this disk and cannot be fetched: put adj_full.npz, feats.npy, class_map.json "+
		"and role.json (GraphSAINT's layout) into a folder DIR/%[1]s, or the graph into DIR/%[1]s.safetensors, "+
		"%[3]sand set CGC_DATA=DIR (looked in %[2]s)", name, o.where(), ogb)
	switch {
	case !known(name):
		text = fmt.Sprintf("there is no graph %q (looked in %s)", name, o.where())
	case name == synth.DemoShape().Name:
		text = "demo is generated, not read"
	case fetchable(name):
		text = fmt.Sprintf("%[1]s is not on this disk (looked in %[2]s): cgc data fetch %[1]s downloads it, or put %[3]s "+
			"from %[4]s into a folder DIR and set CGC_DATA=DIR", name, o.where(), "ind."+name+".*", officialOrigin)
	}
	return &NotFoundError{Name: name, text: text}
}

func (o Options) where() string {
	if dirs := o.folders(); len(dirs) > 0 {
		return strings.Join(dirs, ", ")
	}
	return "no folder: CGC_DATA and HOME are not set, nor dataset.Options.Search in a Go program"
}
