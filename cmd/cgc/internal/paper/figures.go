package paper

import (
	"math"
	"strings"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
)

// Figures returns the named figures of the study, or none if the study is only a table.
func (r *Result) Figures() []*report.Figure {
	if r.about().draw == nil {
		return nil
	}
	return r.about().draw(r)
}

const accuracyAxis = "test accuracy, %"

// legend returns the name of a graph, marked if the graph is not, or may not be, the paper's.
func (r *Result) legend(name string) string {
	switch g := r.graph(name); {
	case g.Made:
		return name + " (made)"
	case g.unverified:
		return name + " (not verified)"
	case g.Paper && !g.Comparable:
		return name + " (differs)"
	}
	return name
}

// gathered is a series under construction.
type gathered struct {
	report.Series
}

func (s *gathered) add(x, y, std float64) {
	s.X, s.Y, s.Std = append(s.X, x), append(s.Y, y), append(s.Std, std)
}

// overNodes plots accuracy against N′ for each graph: the measured methods, the paper's numbers, and the full graph.
func overNodes(r *Result) (all []*report.Figure) {
	for _, g := range r.Graphs {
		f := &report.Figure{
			Name: r.Study + "-" + file(g.Name), Title: "GCN on " + r.legend(g.Name), X: "condensed nodes N′", Y: accuracyAxis,
		}
		var lo, hi float64 = math.Inf(1), math.Inf(-1)
		for _, c := range r.Cells {
			if c.Graph == g.Name && c.Arm != wholeName {
				lo, hi = min(lo, float64(c.Nodes)), max(hi, float64(c.Nodes))
			}
		}
		for style, arm := range []string{cgcx.name, full.name, wholeName} {
			here := gathered{report.Series{Name: arm, Style: style, Joined: true}}
			paper := gathered{report.Series{Name: arm + ", paper", Style: style, Joined: true, Hollow: true}}
			if arm == wholeName {
				here.Name, paper.Name = "full graph", "full graph, paper"
			}
			for _, c := range r.Cells {
				if c.Graph != g.Name || c.Arm != arm {
					continue
				}
				places := []float64{float64(c.Nodes)}
				if arm == wholeName {
					places = []float64{lo, hi}
				}
				for _, x := range places {
					here.add(x, c.Test.Mean, c.Test.Std)
					if c.Comparable && c.Paper != nil {
						paper.add(x, c.Paper.Mean, c.Paper.Std)
					}
				}
			}
			f.Series = append(f.Series, here.Series, paper.Series)
		}
		all = append(all, f)
	}
	return all
}

// overMethods plots the seconds of each method on a logarithmic axis: the paper's and ours.
func overMethods(r *Result) []*report.Figure {
	f := &report.Figure{Name: r.Study, Title: "Seconds of condensation, machines differ", Y: "seconds", LogY: true}
	at := map[string]float64{}
	place := func(word string) float64 {
		if _, is := at[word]; !is {
			at[word] = float64(len(f.Words))
			f.Words = append(f.Words, word)
		}
		return at[word]
	}
	table := Published().Table("table4")
	for style, g := range r.Graphs {
		paper := gathered{report.Series{Name: g.Name + ", paper", Style: style, Hollow: true}}
		for _, method := range table.Columns {
			for _, row := range table.Rows {
				if v, _ := table.Value(g.Name, row.Ratio, "", method); row.Graph == g.Name && !v.OutOfMemory {
					paper.add(place(method), v.Mean, 0)
				}
			}
		}
		here := gathered{report.Series{Name: r.called(g.Name) + ", here", Style: style}}
		for _, t := range r.Times {
			if t.Graph == g.Name {
				here.add(place(t.Arm+", here"), t.Seconds.Total, 0)
			}
		}
		f.Series = append(f.Series, paper.Series, here.Series)
	}
	return []*report.Figure{f}
}

// overSeconds plots accuracy against seconds of condensation for each graph. One figure has a point for each measured
// method, with the 95% interval of its mean. Another has the paper's points, with the paper's deviations.
func overSeconds(r *Result) (all []*report.Figure) {
	for _, g := range r.Graphs {
		here := gathered{report.Series{Name: "here", Labels: []string{}}}
		paper := gathered{report.Series{Name: "paper", Labels: []string{}, Style: 1, Hollow: true}}
		for _, c := range r.Cells {
			if c.Graph != g.Name || c.Arm == wholeName {
				continue
			}
			here.add(c.Condense, c.Test.Mean, c.Test.CI95)
			here.Labels = append(here.Labels, c.Arm)
			seconds, has := Published().Table("table4").Value(g.Name, c.Ratio, "", c.Arm)
			if !has || seconds.OutOfMemory || c.Paper == nil || c.Paper.OutOfMemory || !c.Comparable {
				continue
			}
			paper.add(seconds.Mean, c.Paper.Mean, c.Paper.Std)
			paper.Labels = append(paper.Labels, c.Arm)
		}
		for _, s := range []gathered{here, paper} {
			if len(s.X) == 0 {
				continue
			}
			f := &report.Figure{
				Name: r.Study + "-" + file(g.Name), Title: "GCN on " + r.legend(g.Name) + ", " + s.Name,
				X: "seconds of condensation", Y: accuracyAxis, LogX: true, Series: []report.Series{s.Series},
			}
			if s.Hollow {
				f.Name += "-paper"
			}
			all = append(all, f)
		}
	}
	return all
}

// overWords plots the accuracy of each model (or of each arm if there is only one model) on each graph, measured and in
// the paper.
func overWords(r *Result) []*report.Figure {
	models := map[string]bool{}
	for _, c := range r.Cells {
		models[c.Model] = true
	}
	f := &report.Figure{Name: r.Study, Title: capital(r.Title), Y: accuracyAxis}
	at := map[string]float64{}
	for style, g := range r.Graphs {
		here := gathered{report.Series{Name: r.legend(g.Name), Style: style}}
		paper := gathered{report.Series{Name: g.Name + ", paper", Style: style, Hollow: true}}
		for _, c := range r.Cells {
			if c.Graph != g.Name {
				continue
			}
			word := c.Arm
			if len(models) > 1 {
				word = printedModel(c.Model)
			}
			x, is := at[word]
			if !is {
				x = float64(len(f.Words))
				at[word] = x
				f.Words = append(f.Words, word)
			}
			here.add(x, c.Test.Mean, c.Test.Std)
			if c.Comparable && c.Paper != nil {
				paper.add(x, c.Paper.Mean, c.Paper.Std)
			}
		}
		f.Series = append(f.Series, here.Series, paper.Series)
	}
	return []*report.Figure{f}
}

// overParameters returns a figure for each swept parameter, with a line for each graph.
func overParameters(r *Result) (all []*report.Figure) {
	for _, sw := range r.about().sweeps {
		f := &report.Figure{Name: r.Study, Title: sw.title, X: sw.axis, Y: accuracyAxis, LogX: sw.log}
		if sw.name != "" {
			f.Name += "-" + sw.name
		}
		for style, g := range r.Graphs {
			line := gathered{report.Series{Name: r.legend(g.Name), Style: style, Joined: true}}
			for _, c := range r.Cells {
				if c.Graph == g.Name && c.Part == sw.name {
					line.add(c.X, c.Test.Mean, c.Test.Std)
				}
			}
			f.Series = append(f.Series, line.Series)
		}
		all = append(all, f)
	}
	return all
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// file replaces characters that are unsuitable in a file name.
func file(name string) string {
	out := []rune(name)
	for i, c := range out {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			out[i] = '-'
		}
	}
	return string(out)
}
