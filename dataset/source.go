package dataset

import (
	"strings"

	"github.com/graph-condensation/cgc/dataset/synth"
)

// Source describes a named graph.
type Source struct {
	// Name is the name that Open accepts.
	Name string
	// Origin says where the graph comes from, in a few words.
	Origin string
	// Nodes, Edges (undirected), Features and Classes are the sizes of the graph; 0 if not known.
	Nodes, Edges, Features, Classes int
	// Path is the location of the graph, or empty if it was not found.
	Path string
	// Fetchable says that Fetch can download the graph.
	Fetchable bool
}

// sources lists the named graphs: public data sets, and the synthetic demo.
func sources() []Source {
	demo := synth.DemoShape()
	return []Source{
		{Name: demo.Name, Origin: "made, nothing to fetch",
			Nodes: demo.Nodes, Edges: demo.Edges, Features: demo.Features, Classes: demo.Classes},
		{Name: "cora", Origin: "Planetoid, citations",
			Nodes: 2708, Edges: 5278, Features: 1433, Classes: 7, Fetchable: true},
		{Name: "citeseer", Origin: "Planetoid, citations",
			Nodes: 3327, Edges: 4552, Features: 3703, Classes: 6, Fetchable: true},
		{Name: "pubmed", Origin: "Planetoid, citations",
			Nodes: 19717, Edges: 44324, Features: 500, Classes: 3, Fetchable: true},
		{Name: "arxiv", Origin: "Open Graph Benchmark, citations",
			Nodes: 169343, Edges: 1157799, Features: 128, Classes: 40},
		{Name: "flickr", Origin: "GraphSAINT, images",
			Nodes: 89250, Edges: 449878, Features: 500, Classes: 7},
		{Name: "reddit", Origin: "GraphSAINT, posts",
			Nodes: 232965, Edges: 11606919, Features: 602, Classes: 41},
		{Name: "products", Origin: "Open Graph Benchmark, co-purchases",
			Nodes: 2449029, Edges: 61859140, Features: 100, Classes: 47},
	}
}

// source returns the named graph, or a Source without a name.
func source(name string) (found Source) {
	for _, s := range sources() {
		if s.Name == name {
			found = s
		}
	}
	return found
}

func known(name string) bool { return source(name).Name != "" }

func fetchable(name string) bool { return source(name).Fetchable }

// List returns the named graphs with their locations, followed by the other graphs in the search folders.
func (o Options) List() []Source {
	list := sources()
	for i := range list {
		if found, err := o.findName(list[i].Name); err == nil {
			list[i].Path = found.Path
		}
	}
	for _, name := range o.others() {
		if found, err := o.findName(name); err == nil {
			list = append(list, Source{Name: name, Origin: "found", Path: found.Path})
		}
	}
	return list
}

// ofOGB reports whether a named graph is from the Open Graph Benchmark.
func ofOGB(name string) bool { return strings.HasPrefix(source(name).Origin, "Open Graph Benchmark") }
