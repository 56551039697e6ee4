package paper

import (
	"math"
	"regexp"
	"strings"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
)

// Figures returns the named figures of the study, or none if the study is only a table.
func (r *Result) Figures() []*report.Plot {
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
		return name + " (synthetic)"
	case g.unverified:
		return name + " (not verified)"
	case g.Paper && !g.Comparable:
		return name + " (differs)"
	}
	return name
}

// drawInto adds the accuracy of c to here and, if comparable, the paper's accuracy to paper.
func (c Cell) drawInto(here, paper *report.Series, x float64) {
	here.Add(x, c.Test.Mean, c.Test.Std)
	if c.Comparable && c.Paper != nil {
		paper.Add(x, c.Paper.Mean, c.Paper.Std)
	}
}

// overNodes plots accuracy against the number of condensed nodes for each graph: the measured methods, the paper's
// numbers, and the full graph.
func overNodes(r *Result) (all []*report.Plot) {
	for _, g := range r.Graphs {
		lines := &report.Lines{X: "condensed nodes N′", Y: accuracyAxis}
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, c := range r.Cells {
			if c.Graph == g.Name && c.Arm != wholeName {
				lo, hi = min(lo, float64(c.Nodes)), max(hi, float64(c.Nodes))
			}
		}
		for style, arm := range []string{cgcx.name, full.name, wholeName} {
			name := called(arm)
			here := report.Series{Name: name, Style: style, Joined: true}
			paper := report.Series{Name: name + ", paper", Style: style, Joined: true, Hollow: true}
			for _, c := range r.Cells {
				switch {
				case c.Graph != g.Name || c.Arm != arm:
				case arm == wholeName:
					c.drawInto(&here, &paper, lo)
					c.drawInto(&here, &paper, hi)
				default:
					c.drawInto(&here, &paper, float64(c.Nodes))
				}
			}
			lines.Series = append(lines.Series, here, paper)
		}
		all = append(all, &report.Plot{
			Name: r.Study + "-" + file(g.Name), Title: "GCN on " + r.legend(g.Name), Data: lines,
		})
	}
	return all
}

// overMethods plots the seconds of each method on a logarithmic axis: the paper's and ours.
func overMethods(r *Result) []*report.Plot {
	lines := &report.Lines{Y: "seconds", LogY: true}
	table := Published().Table("table4")
	for style, g := range r.Graphs {
		paper := report.Series{Name: g.Name + ", paper", Style: style, Hollow: true}
		for _, method := range table.Columns {
			for _, row := range table.Rows {
				if v, _ := table.Value(g.Name, row.Ratio, "", method); row.Graph == g.Name && !v.OutOfMemory {
					paper.Add(lines.Place(method), v.Mean, 0)
				}
			}
		}
		here := report.Series{Name: r.called(g.Name) + ", here", Style: style}
		for _, t := range r.Times {
			if t.Graph == g.Name {
				here.Add(lines.Place(t.Arm+", here"), t.Seconds.Total, 0)
			}
		}
		lines.Series = append(lines.Series, paper, here)
	}
	return []*report.Plot{{Name: r.Study, Title: "Seconds of condensation, machines differ", Data: lines}}
}

// overSeconds plots accuracy against seconds of condensation for each graph. One figure has a point for each measured
// method, with the 95% interval of its mean. Another has the paper's points, with the paper's deviations.
func overSeconds(r *Result) (all []*report.Plot) {
	for _, g := range r.Graphs {
		here := report.Series{Name: "here", Labels: []string{}}
		paper := report.Series{Name: "paper", Labels: []string{}, Style: 1, Hollow: true}
		for _, c := range r.Cells {
			if c.Graph != g.Name || c.Arm == wholeName {
				continue
			}
			here.Add(c.Condense, c.Test.Mean, c.Test.CI95)
			here.Labels = append(here.Labels, c.Arm)
			seconds, has := Published().Table("table4").Value(g.Name, c.Ratio, "", c.Arm)
			if !has || seconds.OutOfMemory || c.Paper == nil || c.Paper.OutOfMemory || !c.Comparable {
				continue
			}
			paper.Add(seconds.Mean, c.Paper.Mean, c.Paper.Std)
			paper.Labels = append(paper.Labels, c.Arm)
		}
		for _, s := range []report.Series{here, paper} {
			if len(s.X) == 0 {
				continue
			}
			p := &report.Plot{
				Name: r.Study + "-" + file(g.Name), Title: "GCN on " + r.legend(g.Name) + ", " + s.Name,
				Data: &report.Lines{
					X: "seconds of condensation", Y: accuracyAxis, LogX: true, Series: []report.Series{s},
				},
			}
			if s.Hollow {
				p.Name += "-paper"
			}
			all = append(all, p)
		}
	}
	return all
}

// overWords plots the accuracy of each model (or of each arm if there is only one model) on each graph, measured and in
// the paper.
func overWords(r *Result) []*report.Plot {
	lines := &report.Lines{Y: accuracyAxis}
	for style, g := range r.Graphs {
		here := report.Series{Name: r.legend(g.Name), Style: style}
		paper := report.Series{Name: g.Name + ", paper", Style: style, Hollow: true}
		for _, c := range r.Cells {
			if c.Graph != g.Name {
				continue
			}
			word := c.Arm
			if r.several() {
				word = printedModel(c.Model)
			}
			c.drawInto(&here, &paper, lines.Place(word))
		}
		lines.Series = append(lines.Series, here, paper)
	}
	title := strings.ToUpper(r.Title[:1]) + r.Title[1:]
	return []*report.Plot{{Name: r.Study, Title: title, Data: lines}}
}

// overParameters returns a figure for each swept parameter, with a line for each graph.
func overParameters(r *Result) (all []*report.Plot) {
	for _, sw := range r.about().sweeps {
		lines := &report.Lines{X: sw.axis, Y: accuracyAxis, LogX: sw.log}
		for style, g := range r.Graphs {
			line := report.Series{Name: r.legend(g.Name), Style: style, Joined: true}
			for _, c := range r.Cells {
				if c.Graph == g.Name && c.Part == sw.name {
					line.Add(c.X, c.Test.Mean, c.Test.Std)
				}
			}
			lines.Series = append(lines.Series, line)
		}
		name := strings.TrimSuffix(r.Study+"-"+sw.name, "-")
		all = append(all, &report.Plot{Name: name, Title: sw.title, Data: lines})
	}
	return all
}

// file replaces characters that are unsuitable in a file name.
func file(name string) string {
	return regexp.MustCompile("[^a-zA-Z0-9_-]").ReplaceAllString(name, "-")
}
