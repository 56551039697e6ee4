// Package roles reads a graph from named arrays. It finds each array by its role: the names that other programs use for
// edges, features, labels and splits are listed in one table.
package roles

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/classes"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/content"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// role is a part of a graph, and the usual names of the array that holds it. The first that exists is read.
type role struct {
	title string
	names []string
}

// The roles that every graph needs. An array whose name begins with adj, and A, is an adjacency matrix. All other
// arrays of edges are lists of pairs.
var (
	edges    = role{"edges", []string{"edge_index", "edges", "adj_t", "adj_matrix", "adj", "A"}}
	features = role{"features", []string{
		"x", "node_features", "node_feat", "node_attr", "attr_matrix", "attr", "features", "feat",
	}}
	labels = role{"labels", []string{"y", "node_labels", "node_label", "labels", "label", "target"}}
)

// Names of optional arrays.
const (
	edgeWeight = "edge_weight"
	nodeNames  = "ids"
)

// EdgeNames returns the usual names of the array of edges.
func EdgeNames() []string { return edges.names }

// Source is a file of named arrays, some of which are sparse matrices. Has reports these too.
type Source interface {
	numpy.Opener
	// Holds describes each array in a few words, as Shown does.
	Holds() []string
	// Matrix returns the array of that name if it is a sparse matrix, else nil. More than n rows are an error.
	Matrix(ctx context.Context, name string, n int) (*mat.CSR, error)
}

// ReadArrays implements format.ArrayStore.ReadArrays for the arrays of these names. Of two names that format.PlainName
// makes equal, the first is read.
func ReadArrays(z numpy.Opener, names []string, meta map[string]string) (*format.Arrays, error) {
	all, seen := &format.Arrays{Metadata: meta}, map[string]bool{}
	for _, name := range names {
		plain := format.PlainName(name)
		if seen[plain] {
			continue
		}
		seen[plain] = true
		err := z.Open(name, func(a *numpy.Array) error {
			data, err := numpy.Values(a)
			all.List = append(all.List, format.Array{Name: name, Shape: append([]int{}, a.Shape...), Data: data})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Read returns the graph in z, and notes. z has edges, features and labels, and may have edge_weight, masks or lists of
// a split, and ids. If z has several splits, split chooses one, counted from 0. meta is the metadata of a graph written
// by format.GraphArrays, or nil. name is the name of the graph unless the metadata has one. Labels that start at 1 are
// shifted to start at 0 and become the names of the classes, unless the metadata says how many classes there are. If
// unlabelled is set, labels may be missing; the graph then has no split. Errors name the array. For a condensed graph
// the error is format.ErrCondensed.
func Read(
	ctx context.Context, z Source, meta map[string]string, name string, split int, unlabelled bool,
) (*graph.Graph, []string, error) {
	if meta["format"] == format.CondensedKind {
		return nil, nil, &format.ReadError{File: z.Where(), Err: format.ErrCondensed}
	}
	needed := []role{edges, features}
	if unlabelled = unlabelled && !slices.ContainsFunc(labels.names, z.Has); !unlabelled {
		needed = append(needed, labels)
	}
	names, err := find(z, needed...)
	if err != nil {
		return nil, nil, err
	}
	b := graph.Builder{Name: name}
	own := meta["format"] == format.GraphKind
	// Labels come first, because the number of nodes bounds the memory for the rest.
	b.Nodes = anyRows
	if !unlabelled {
		if b.Y, b.ClassNames, err = readLabels(z, names["labels"], own); err != nil {
			return nil, nil, err
		}
		b.Nodes = len(b.Y)
	}
	if b.X, err = readFeatures(ctx, z, names["features"], b.Nodes); err != nil {
		return nil, nil, err
	}
	if unlabelled {
		b.Nodes, _ = b.X.Dims()
		b.Y = memory.Filled[int32](b.Nodes, graph.Unlabelled)
	}
	if own {
		if err := describe(&b, z, meta); err != nil {
			return nil, nil, err
		}
	}
	if b.Edges, err = readEdges(ctx, z, names["edges"], b.Nodes); err != nil {
		return nil, nil, err
	}
	var notes []string
	if !unlabelled {
		if b.Split, notes, err = Split(z, b.Nodes, split); err != nil {
			return nil, nil, err
		}
	}
	if array := unreadWeights(z, &b.Edges); array != "" {
		notes = append(notes, fmt.Sprintf("%s: the array %s is not read: if it holds the weights of the edges, call it %s",
			z.Where(), array, edgeWeight))
	}
	if err := labelled(z, b.Split, b.Y); err != nil {
		return nil, nil, err
	}
	g, changes, err := b.Graph(ctx)
	if err != nil {
		names["split"] = parts(&b.Split)[0].of(z)
		if part := new(graph.PartError); errors.As(err, &part) {
			err = &format.ReadError{File: z.Where(), Err: fmt.Errorf("array %s: %w", names[part.Part], part.Err)}
		}
		return nil, nil, err
	}
	return g, append(notes, content.EdgeNotes(g.Name, changes)...), nil
}

// find returns the name of the array for each role. The error lists the roles without an array, with their usual names,
// and what the file holds instead.
func find(z Source, roles ...role) (names map[string]string, err error) {
	names = map[string]string{}
	var missing []string
	for _, r := range roles {
		for _, name := range r.names {
			if names[r.title] == "" && z.Has(name) {
				names[r.title] = name
			}
		}
		if names[r.title] == "" {
			missing = append(missing, fmt.Sprintf("no array of %s (%s)", r.title, strings.Join(r.names, ", ")))
		}
	}
	if missing != nil {
		return nil, wrong(z, "there is %s; %s", strings.Join(missing, " and "), listed(z))
	}
	return names, nil
}

// listed lists the first arrays of a file.
func listed(z Source) string {
	const most = 20
	holds := z.Holds()
	if len(holds) == 0 {
		return "the file holds no arrays"
	}
	more := ""
	if len(holds) > most {
		holds, more = holds[:most], fmt.Sprintf(" and %d more", len(holds)-most)
	}
	for i, text := range holds {
		holds[i] = fmt.Sprintf("%.100s", text)
	}
	return "the file holds " + strings.Join(holds, ", ") + more
}

// Shown describes an array in a few words: "x" (3×2 float32).
func Shown(name string, shape []int, kind string) string {
	sides := strings.ReplaceAll(strings.Trim(fmt.Sprint(shape), "[]"), " ", "×")
	return fmt.Sprintf("%q (%s)", name, strings.TrimSpace(sides+" "+kind))
}

// wrong returns an error about a file.
func wrong(z numpy.Opener, text string, args ...any) error {
	return format.Wrong(z.Where(), text, args...)
}

// describe sets the name and the classes of a graph that cgc wrote, and the names of its nodes and features.
func describe(b *graph.Builder, z Source, meta map[string]string) (err error) {
	b.Name = cmp.Or(meta["name"], b.Name)
	if b.Classes, b.ClassNames, err = classes.Described(meta); err != nil {
		return wrong(z, "%w", err)
	}
	_, features := b.X.Dims()
	if b.FeatureNames, err = format.NamesOf(meta, format.FeatureNames, features); err != nil {
		return wrong(z, "%w", err)
	}
	if z.Has(nodeNames) {
		err = z.Open(nodeNames, func(a *numpy.Array) (err error) {
			b.IDs, err = numpy.Texts(a)
			return err
		})
	}
	return err
}
