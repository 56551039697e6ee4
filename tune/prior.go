package tune

import (
	"slices"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/graph"
)

// Prior is a configuration that did well on other graphs. A Search ranks the priors that apply right after the base.
// After that they are candidates like all others: they must rank high to be confirmed, and must be ahead by more than
// the same noise to be taken.
type Prior struct {
	// Name is what results call it.
	Name string `json:"name"`
	// Settings lists what it changes, by the names of dimensions. Everything else stays as in the base.
	Settings []Setting `json:"settings"`
	// FoundOn lists the graphs on which it was found to do well. On these graphs a gain by it is no independent evidence.
	FoundOn []string `json:"found_on"`

	// fewLabels limits it to graphs with a training node in ten nodes or fewer.
	fewLabels bool
}

// Setting is one parameter of a Prior.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Priors returns all priors. There is one so far.
//
// few-labels gained 0.5 to 5 points of validation accuracy on Cora, Citeseer and the demo graph, and lost 2 on Amazon
// Photo (docs/design/options.md).
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

// Applies says whether g is of the kind that the prior is for.
func (p Prior) Applies(g *graph.Graph) bool {
	return !p.fewLabels || len(g.Split.Train) <= g.Nodes()/10
}

// of returns the point of a prior. It has none if the space lacks one of its settings, or if it is the base.
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
