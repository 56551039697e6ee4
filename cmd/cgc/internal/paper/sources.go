package paper

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/known"
)

// Source identifies a graph to measure a study on.
type Source struct {
	// Name is the name of the data set, or the path of a graph.
	Name string
	// Made reports whether a synthetic graph of the same size replaces the data set.
	Made bool
}

// largestUnasked is the number of nodes of ogbn-arxiv. Larger graphs are generated only on request.
const largestUnasked = 169_343

// Choose returns the graphs to measure a study on. It fetches nothing.
//
// Without names, they are the study's data sets. A data set that is not in the folders of options is replaced by a
// synthetic graph of its size or, if it is larger than arxiv and all is not set, omitted. With names, the paper's data
// sets among them are chosen in the same way, but never omitted. Other names are opened by dataset.Options.Open.
//
// left contains a sentence with the reason for each omitted data set.
func Choose(s *Study, options dataset.Options, names []string, all bool) (sources []Source, left []string) {
	here := map[string]bool{}
	for _, known := range options.List() {
		here[known.Name] = known.Path != ""
	}
	unasked := len(names) == 0
	if unasked {
		names = s.Graphs
	}
	for _, name := range names {
		of, inPaper := Published().Of(name)
		switch {
		case !inPaper || here[name]:
			sources = append(sources, Source{Name: name})
		case unasked && !all && of.Nodes > largestUnasked:
			left = append(left, fmt.Sprintf(
				"%s is not available, and a synthetic graph of its size takes a long time "+
					"(--graphs %s or --all uses one)", name, name))
		default:
			sources = append(sources, Source{Name: name, Made: true})
		}
	}
	return sources, left
}

// Open returns the graph, read by options or generated. The synthetic graph is always the same.
func (s Source) Open(ctx context.Context, options dataset.Options) (*graph.Graph, error) {
	if !s.Made {
		return options.Open(ctx, s.Name)
	}
	shape, err := synth.Like(s.Name)
	if err != nil {
		return nil, err
	}
	return synth.Make(ctx, shape, rand.NewPCG(2025, 0))
}

// Graph is a graph that a study was measured on.
type Graph struct {
	Name string `json:"graph"`
	// Made reports whether it is a synthetic graph with the sizes of the data set.
	Made bool `json:"made"`
	// Paper reports whether the paper has a data set of that name.
	Paper bool `json:"paper"`
	// Comparable reports whether the fingerprint and the sizes identify this as the public data set, so that accuracies
	// can be compared with the paper's. If not, Why gives the reason.
	Comparable bool   `json:"comparable"`
	Why        string `json:"why,omitempty"`
	Nodes      int    `json:"nodes"`
	Edges      int    `json:"edges"`
	Features   int    `json:"features"`
	Classes    int    `json:"classes"`
	Train      int    `json:"train"`
	Val        int    `json:"val"`
	Test       int    `json:"test"`
	Inductive  bool   `json:"inductive"`

	unverified bool // the sizes are right, but no fingerprint is known
}

// otherSize reports whether g differs from the paper's data set in the sizes that determine the time of condensation.
func (g Graph) otherSize() bool {
	of, _ := Published().Of(g.Name)
	return g.Nodes != of.Nodes || g.Features != of.Features || g.Classes != of.Classes || g.Train != of.Train
}

// describe returns the description of g, including whether its accuracies can be compared with the paper's.
func describe(s Source, g *graph.Graph) (Graph, error) {
	d := Graph{
		Name: s.Name, Made: s.Made || strings.HasPrefix(g.Name, synth.Prefix),
		Nodes: g.Nodes(), Edges: g.Edges(), Features: g.Features(), Classes: g.Classes, Train: len(g.Split.Train),
		Val: len(g.Split.Val), Test: len(g.Split.Test),
	}
	of, is := Published().Of(s.Name)
	d.Paper, d.Inductive = is, of.Task == "inductive"
	if !is {
		d.Why = "the paper has no such data set"
		return d, nil
	}
	if d.Made {
		d.Why = "a synthetic graph of the same size"
		return d, nil
	}
	if d.Why = difference(g, of); d.Why != "" {
		return d, nil
	}
	id, err := graph.Identify(g)
	if err != nil {
		return d, err
	}
	verdict, why := known.Verify(s.Name, id.Fingerprint)
	d.Comparable, d.unverified, d.Why = verdict == known.Genuine, verdict == known.Unverified, why
	return d, nil
}

// difference lists the sizes in which g differs from the paper's data set. It ignores the number of edges, because
// sources count repeated edges differently.
func difference(g *graph.Graph, of Statistics) string {
	var differ []string
	for _, c := range []struct {
		what        string
		here, paper int
	}{
		{"nodes", g.Nodes(), of.Nodes}, {"features", g.Features(), of.Features}, {"classes", g.Classes, of.Classes},
		{"training nodes", len(g.Split.Train), of.Train}, {"validation nodes", len(g.Split.Val), of.Val},
		{"test nodes", len(g.Split.Test), of.Test},
	} {
		if c.here != c.paper {
			differ = append(differ, fmt.Sprintf("%d %s here, %d in the paper", c.here, c.what, c.paper))
		}
	}
	return strings.Join(differ, "; ")
}
