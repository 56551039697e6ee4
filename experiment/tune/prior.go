package tune

import (
	"slices"
	"strings"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/graph"
)

// Prior is a configuration that did well on other graphs. A Search ranks the base first, and then the priors that
// apply. After that, priors are treated like all other candidates: they must rank high to be confirmed, and must beat
// the base by more than noise to be chosen.
type Prior struct {
	// Name is the name of the prior.
	Name string `json:"name"`
	// Settings lists the parameters that it changes.
	Settings []Setting `json:"settings"`
	// FoundOn lists the graphs on which it did well. A gain on these graphs is not independent evidence.
	FoundOn []string `json:"found_on"`

	// fewLabels limits the prior to graphs in which at most one node in ten is a training node.
	fewLabels bool
}

// Setting is one parameter of a Prior.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// String lists the settings.
func (p Prior) String() string {
	words := make([]string, len(p.Settings))
	for i, s := range p.Settings {
		words[i] = s.Name + " " + s.Value
	}
	return strings.Join(words, ", ")
}

// Priors returns all priors. There is one so far.
//
// few-labels gained 0.5 to 5 points of validation accuracy on Cora, Citeseer and the demo graph, and lost 2 on Amazon
// Photo (docs/notes/2026-11-options.md).
func Priors() []Prior {
	return []Prior{{
		Name: "few-labels",
		Settings: []Setting{
			{"method", string(cgc.CGCX)}, {"weighted", "true"}, {"pseudo-labels", "2"}, {"soft-labels", "true"},
		},
		FoundOn:   []string{"cora", "citeseer", "demo"},
		fewLabels: true,
	}}
}

// applies reports whether the prior is meant for graphs like g.
func (p Prior) applies(g *graph.Graph) bool {
	return !p.fewLabels || len(g.Split.Train) <= g.Nodes()/10
}

// of returns the point of a prior. There is none if the space lacks one of its settings, or if the prior equals the
// base.
func (s space) of(prior Prior) (p point, is bool) {
	p = slices.Repeat(point{asBase}, len(s.dimensions))
	for _, want := range prior.Settings {
		d := slices.IndexFunc(s.dimensions, func(d Dimension) bool { return d.Name == want.Name })
		if d < 0 {
			return nil, false
		}
		found := false
		for level := range s.dimensions[d].levels {
			c := s.base
			if s.dimensions[d].set(&c, level); s.dimensions[d].show(c) == want.Value {
				p[d], found = level, true
			}
		}
		if !found {
			return nil, false
		}
	}
	p = s.settle(p)
	return p, p.size() > 0
}
