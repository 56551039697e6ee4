package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/propagate"
)

// arm is one of the configurations that a study compares.
type arm struct {
	name   string // the name in the paper
	of     method
	change func(*cgc.Config) // changes the method's base configuration; nil for none
	config cgc.Config        // the changed configuration
	rival  condense.Method   // replaces config, for a baseline
	row    string            // Row.Method of the row with the paper's number
	column string            // the column of the paper's number; empty means the column of the model
	x      float64           // the value of the swept parameter, in a figure

	size     size
	part     string // Cell.Part
	training gnn.Config
	found    *Found // the result of a search, or nil
}

// method returns the condensation method.
func (a arm) method() condense.Method {
	if a.rival != nil {
		return a.rival
	}
	return a.config
}

// beside returns arms for additional methods that the study itself does not define. The paper's numbers for each are in
// a column or, if byRow is set, in a row.
func beside(methods []condense.Method, setting condense.Setting, byRow bool) (arms []arm) {
	for _, m := range methods {
		a := arm{name: printedMethod(m.Name()), rival: under(setting, m)}
		if byRow {
			a.row = a.name
		} else {
			a.column = a.name
		}
		arms = append(arms, a)
	}
	return arms
}

func under(s condense.Setting, m condense.Method) condense.Method {
	if s == (condense.Setting{}) {
		return m
	}
	return condense.Under(s, m)
}

// printedMethod returns the paper's name of a method: "GCond-X" for "gcond-x".
func printedMethod(name string) string { return printedName("table4", name) }

// printedModel returns the paper's name of a model: "GCN" for "gcn".
func printedModel(name string) string { return printedName("table5", name) } // it has a column for every model

// printedName returns the name of a column in the paper's capitals. If the table has no such column, it returns name.
func printedName(table, name string) string {
	column, is := found(Published().Table(table).Columns, func(c string) bool { return strings.EqualFold(c, name) })
	if !is {
		return name
	}
	return column
}

// method is a method of the paper, with the paper's name.
type method struct {
	name string
	is   cgc.Variant
}

// The paper's own methods.
var (
	full  = method{"CGC", cgc.CGC}
	cgcx  = method{"CGC-X", cgc.CGCX}
	simdm = method{"SimDM", cgc.SimDM}
)

// sweep is a figure that varies one parameter.
type sweep struct {
	name  string // part of the file name, and Cell.Part
	title string
	axis  string
	log   bool
	arms  []arm
}

// plain returns one arm per method, with the base configuration.
func plain(methods ...method) (arms []arm) {
	for _, m := range methods {
		arms = append(arms, arm{name: m.name, of: m, column: m.name})
	}
	return arms
}

// byModel returns one arm for a method whose numbers are in a row of the paper's table, with a column for each model.
func byModel(m method) []arm { return []arm{{name: m.name, of: m, row: m.name}} }

// ablation returns arms that each omit or replace one part of the method, and the unchanged method last.
func ablation(m method) []arm {
	arms := []arm{
		{name: " w/o AUG", change: func(c *cgc.Config) { c.Augment = 0 }},
		{name: " w/o CAL", change: func(c *cgc.Config) { c.Temperature = cgc.Infinite }},
		{name: " w K-means", change: func(c *cgc.Config) { c.Partition = "kmeans" }},
		{name: " w RAN", change: func(c *cgc.Config) { c.Partition = "random" }},
		{},
	}
	for i := range arms {
		name := m.name + arms[i].name
		arms[i].name, arms[i].of, arms[i].column = name, m, name
	}
	return arms
}

// propagations returns arms for the propagation rules that have a column in the paper.
func propagations() (arms []arm) {
	for _, m := range []method{cgcx, full} {
		for _, p := range propagate.Rules() {
			column := strings.ToUpper(string(p))
			if slices.Contains(Published().Table("table12").Columns, column) {
				arms = append(arms, arm{
					name: m.name + " " + column, of: m, row: m.name, column: column,
					change: func(c *cgc.Config) { c.Propagation = p },
				})
			}
		}
	}
	return arms
}

// over returns arms that set one parameter of a method to each of the values.
func over(m method, symbol string, set func(*cgc.Config, float64), values ...float64) (arms []arm) {
	for _, v := range values {
		arms = append(arms, arm{
			name: fmt.Sprintf("%s %s=%g", m.name, symbol, v), of: m, x: v, change: func(c *cgc.Config) { set(c, v) },
		})
	}
	return arms
}

// parameters returns the sweeps of the sensitivity analysis, over the values that the paper searched (appendix E.3) and
// a few more.
//
// With a threshold of 0.8 or above, the A′ of cora has at most two edges, and T and α have no effect. Therefore T
// starts at 0.3, and α is swept with the smallest T that keeps the maximum mean degree.
func parameters() []sweep {
	return []sweep{
		{"augment", "Augmentation", "augmentation p, a multiple of the training nodes", false,
			over(full, "p", func(c *cgc.Config, v float64) { c.Augment = v }, 0, 0.5, 1, 2, 3, 5)},
		{"temperature", "Temperature", "temperature τ", true,
			over(full, "τ", func(c *cgc.Config, v float64) { c.Temperature = cgc.Temperature(v) },
				0.01, 0.1, 0.3, 0.5, 0.8, 1, 10)},
		{"threshold", "Threshold, without a bound on the degree", "threshold T", false,
			over(full, "T", func(c *cgc.Config, v float64) { c.Threshold, c.Degree = v, 0 },
				0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99)},
		{"alpha", fmt.Sprintf("Weight of smoothness, at a mean degree of %g", meanDegree), "weight α", false,
			over(full, "α", func(c *cgc.Config, v float64) { c.Threshold, c.Degree, c.Alpha = 0, meanDegree, v },
				0.3, 0.5, 1, 2, 3)},
	}
}

// meanDegree is the maximum mean degree of A′ in the sweep of α.
const meanDegree = 1.0

func depth() sweep {
	return sweep{"", "CGC-X by depth of propagation", "hops K", false,
		over(cgcx, "K", func(c *cgc.Config, v float64) { c.Hops = int(v) }, 0, 1, 2, 3, 4, 5)}
}
