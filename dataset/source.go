package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
)

const demoName = synth.DemoName

// Source is what List says of a graph that has a name.
type Source struct {
	// Name is what Open takes.
	Name string
	// Origin says where the graph comes from, in a few words.
	Origin string
	// Nodes, Edges (undirected), Features and Classes are its sizes as published; 0 if not known.
	Nodes, Edges, Features, Classes int
	// Path is where the graph was found; empty if it was not.
	Path string
	// Fetchable says that Fetch can bring it.
	Fetchable bool
}

// sources lists the graphs with a name: those of the paper, and the one that is made.
func sources() []Source {
	demo := synth.DemoShape()
	return []Source{
		{Name: demoName, Origin: "made, nothing to fetch", Nodes: demo.Nodes, Edges: demo.Edges, Features: demo.Features, Classes: demo.Classes},
		{Name: "cora", Origin: "Planetoid, citations", Nodes: 2708, Edges: 5278, Features: 1433, Classes: 7, Fetchable: true},
		{Name: "citeseer", Origin: "Planetoid, citations", Nodes: 3327, Edges: 4552, Features: 3703, Classes: 6, Fetchable: true},
		{Name: "arxiv", Origin: "Open Graph Benchmark, citations", Nodes: 169343, Edges: 1157799, Features: 128, Classes: 40},
		{Name: "flickr", Origin: "GraphSAINT, images", Nodes: 89250, Edges: 449878, Features: 500, Classes: 7},
		{Name: "reddit", Origin: "GraphSAINT, posts", Nodes: 232965, Edges: 11606919, Features: 602, Classes: 41},
		{Name: "products", Origin: "Open Graph Benchmark, co-purchases", Nodes: 2449029, Edges: 61859140, Features: 100, Classes: 47},
	}
}

func known(name string) bool {
	return slices.ContainsFunc(sources(), func(s Source) bool { return s.Name == name })
}

func fetchable(name string) bool {
	return slices.ContainsFunc(sources(), func(s Source) bool { return s.Name == name && s.Fetchable })
}

// List returns the graphs that have a name, each with where it was found, then what else the folders searched hold.
func (o Options) List() []Source {
	list := sources()
	for i := range list {
		if found, err := o.findName(list[i].Name); err == nil {
			list[i].Path = found.path
		}
	}
	for _, name := range o.others() {
		if found, err := o.findName(name); err == nil {
			list = append(list, Source{Name: name, Origin: "found", Path: found.path})
		}
	}
	return list
}

// others returns the names, not among the known, of what stands in the folders searched, sorted.
func (o Options) others() (names []string) {
	for _, dir := range o.folders() {
		for _, e := range slices.Concat(listDir(dir), listDir(filepath.Join(dir, "planetoid"))) {
			name := strings.TrimSuffix(strings.TrimSuffix(e.Name(), ".safetensors"), ".npz")
			if part, ok := strings.CutPrefix(name, "ind."); ok {
				name, _, _ = strings.Cut(part, ".")
			}
			if !known(name) && !slices.Contains(names, name) {
				if _, err := o.findName(name); err == nil {
					names = append(names, name)
				}
			}
		}
	}
	slices.Sort(names)
	return names
}

func listDir(dir string) []fs.DirEntry {
	entries, _ := os.ReadDir(dir) // a folder that cannot be read holds nothing to offer
	return entries
}

func (o Options) folders() []string {
	if o.Cache == "" {
		return o.Search
	}
	return slices.Concat(o.Search, []string{o.Cache})
}

// place is a graph on disk: where, and how to read it.
type place struct {
	path string
	read func(*reader) (*graph.Graph, error)
}

var errNotFound = errors.New("dataset: not found")

// notFound is errNotFound with an explanation.
type notFound struct{ text string }

// Error is the sentence.
func (e notFound) Error() string { return "dataset: " + e.text }

// Is says that it is errNotFound.
func (e notFound) Is(target error) bool { return target == errNotFound }

// find returns where the graph is that name calls: a name first, then a path.
func (o Options) find(name string) (place, error) {
	found, err := o.findName(name)
	if !errors.Is(err, errNotFound) || known(name) {
		return found, err
	}
	info, statErr := os.Stat(name)
	switch {
	case statErr == nil && info.IsDir():
		return recogniseFolder(name)
	case statErr == nil:
		return recogniseFile(name)
	case looksLikePath(name):
		path, absErr := filepath.Abs(name)
		if absErr != nil {
			path = name
		}
		return place{}, notFound{fmt.Sprintf("there is no file or folder %s", path)}
	}
	return place{}, o.unknown(name)
}

func looksLikePath(name string) bool {
	return strings.ContainsAny(name, `/\`) || strings.HasPrefix(name, ".") || filepath.Ext(name) != ""
}

// unknown returns the error for a name that nothing has.
func (o Options) unknown(name string) error {
	var names, near []string
	for _, s := range o.List() {
		names = append(names, s.Name)
		if distance(strings.ToLower(name), s.Name) <= 1+len(s.Name)/4 {
			near = append(near, s.Name)
		}
	}
	hint := ""
	if len(near) > 0 {
		hint = "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return notFound{fmt.Sprintf("%q is not a graph, folder or file%s (graphs: %s)", name, hint, strings.Join(names, ", "))}
}

// distance is the number of letters to insert, delete or replace that turns a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// findName looks for a name in the folders searched.
func (o Options) findName(name string) (place, error) {
	if name == "" || strings.ContainsAny(name, `/\`) || strings.HasPrefix(name, ".") {
		return place{}, errNotFound
	}
	for _, dir := range o.folders() {
		for _, file := range []string{name + ".safetensors", name + ".npz"} {
			if exists(filepath.Join(dir, file)) {
				return recogniseFile(filepath.Join(dir, file))
			}
		}
		for _, sub := range []string{".", "planetoid", name} {
			if exists(filepath.Join(dir, sub, "ind."+name+".x")) {
				return planetoidAt(filepath.Join(dir, sub), name), nil
			}
		}
		if sub := filepath.Join(dir, name); exists(sub) {
			if found, err := recogniseFolder(sub); err == nil {
				return found, nil
			}
		}
	}
	return place{}, o.missing(name)
}

// missing returns the error for a known graph that is not on this disk.
func (o Options) missing(name string) error {
	switch {
	case !known(name):
		return errNotFound
	case name == demoName:
		return notFound{"demo is made, not read"}
	case fetchable(name):
		return notFound{fmt.Sprintf("no files of %s in %s", name, o.where())}
	}
	return notFound{fmt.Sprintf("%[1]s is not on this disk and cannot be fetched: put adj_full.npz, feats.npy, class_map.json and role.json (GraphSAINT's layout) into a folder DIR/%[1]s, or the graph into DIR/%[1]s.safetensors, and set CGC_DATA=DIR (looked in %s)", name, o.where())}
}

func (o Options) where() string {
	if dirs := o.folders(); len(dirs) > 0 {
		return strings.Join(dirs, ", ")
	}
	return "no folder: CGC_DATA is empty"
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func planetoidAt(dir, name string) place {
	return place{filepath.Join(dir, "ind."+name+".*"), func(r *reader) (*graph.Graph, error) { return r.readPlanetoid(dir, name) }}
}

// recogniseFolder returns how to read a folder, by the files in it.
func recogniseFolder(dir string) (place, error) {
	has := func(file string) bool { return exists(filepath.Join(dir, file)) }
	if has("adj_full.npz") {
		return place{dir, func(r *reader) (*graph.Graph, error) { return r.readSAINT(dir) }}, nil
	}
	if exists(csvFile(dir, "edges")) || exists(csvFile(dir, "labels")) {
		return place{dir, func(r *reader) (*graph.Graph, error) { return r.readText(dir) }}, nil
	}
	var planetoid, files []string
	for _, e := range listDir(dir) {
		if name, ok := strings.CutPrefix(e.Name(), "ind."); ok && strings.HasSuffix(name, ".allx") {
			planetoid = append(planetoid, strings.TrimSuffix(name, ".allx"))
		}
		if ext := filepath.Ext(e.Name()); ext == ".npz" || ext == ".safetensors" {
			files = append(files, e.Name())
		}
	}
	switch {
	case len(planetoid) == 1:
		return planetoidAt(dir, planetoid[0]), nil
	case len(planetoid) > 1:
		return place{}, fmt.Errorf("dataset: folder %s holds the graphs %s: name a file of the one you want, as %s",
			dir, strings.Join(planetoid, ", "), filepath.Join(dir, "ind."+planetoid[0]+".x"))
	case len(files) == 1:
		return recogniseFile(filepath.Join(dir, files[0]))
	}
	return place{}, fmt.Errorf("dataset: folder %s holds no graph: want adj_full.npz (GraphSAINT), ind.NAME.x (Planetoid), edges.csv and labels.csv, one .npz or one .safetensors file", dir)
}

// recogniseFile returns how to read a file, by its name.
func recogniseFile(file string) (place, error) {
	base := filepath.Base(file)
	if rest, ok := strings.CutPrefix(base, "ind."); ok {
		name, _, _ := strings.Cut(rest, ".")
		return planetoidAt(filepath.Dir(file), name), nil
	}
	if filepath.Ext(base) == ".safetensors" {
		return place{file, func(r *reader) (*graph.Graph, error) { return r.readNative(file) }}, nil
	}
	if filepath.Ext(base) == ".npz" {
		return place{file, func(r *reader) (*graph.Graph, error) { return r.readArrays(file) }}, nil
	}
	return place{}, fmt.Errorf("dataset: the format of %s is not recognised: want ind.NAME.x, .npz or .safetensors, or a folder", file)
}
