package bench

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// Document returns r as a document: first the machine, then each condensation, then the growth if it was fitted.
func (r *Result) Document() *report.Document {
	d := new(report.Document)
	machine := fmt.Sprintf("%s, %s kernels", report.Plural(r.Threads, "thread"), r.Kernel)
	if r.Runs > 1 {
		machine += fmt.Sprintf("; seconds are medians of %d runs", r.Runs)
	}
	d.Add(report.Notes{machine})
	for _, c := range r.Cases {
		d.Add(c.table())
	}
	for from := 0; from < len(r.Growth); {
		to := from
		for to < len(r.Growth) && r.Growth[to].Size == r.Growth[from].Size &&
			r.Growth[to].Partition == r.Growth[from].Partition && r.Growth[to].Precision == r.Growth[from].Precision {
			to++
		}
		d.Add(r.growth(r.Growth[from:to]))
		from = to
	}
	return d
}

// title returns a title with the graph, the partition and the precision.
func title(size string, scale float64, partition string, precision blocked.Precision) string {
	return scaled(size, scale) + ", " + named(partition, precision)
}

// named returns the name of a partition and, unless it is the default, the precision: "kmeans, half precision".
func named(partition string, precision blocked.Precision) string {
	if precision == blocked.Float32 {
		return partition
	}
	return fmt.Sprintf("%s, %v precision", partition, precision)
}

// scaled returns the name of a size at a scale: "arxiv", "arxiv ×2".
func scaled(size string, scale float64) string {
	if scale == 1 {
		return size
	}
	return fmt.Sprintf("%s ×%g", size, scale)
}

// table returns a table with a row for each step, with its work and its share of the ceiling.
func (c Case) table() *report.Table {
	t := &report.Table{
		Title: fmt.Sprintf("%s: %s nodes, %s edges, %s features, %s classes, %s training nodes, condensed to %s",
			title(c.Size, c.Scale, c.Partition, c.Precision), report.Count(c.Nodes), report.Count(c.Edges),
			report.Count(c.Features), report.Count(c.Classes), report.Count(c.Train), report.Count(c.Condensed)),
		Columns: []report.Column{
			{Name: "step"}, {Name: "seconds"}, {Name: "work"}, {Key: "unit"}, {Name: "ceiling"}, {Key: "ceiling unit"},
			{Key: "ceiling of"}, {Name: "at ceiling", Unit: "s"}, {Name: "share", Unit: "%"},
		},
	}
	for _, s := range c.Steps {
		seconds := report.Decimal(s.Seconds, 4)
		if s.Work == nil || s.Amount <= 0 {
			t.Row(s.Name, seconds)
			continue
		}
		ceiling := c.Ceilings.of(s.Ceiling)
		row := []any{
			report.Significant(s.Amount, 3), s.Ceiling.Unit(), report.Significant(ceiling, 3), s.Ceiling.Unit() + "/s",
			string(s.Ceiling), report.Decimal(s.Amount/ceiling, 4),
		}
		if s.Seconds == 0 { // new memory
			t.Row(append([]any{s.Name, report.Cell{}}, row...)...)
			continue
		}
		t.Row(append([]any{s.Name, seconds}, append(row, report.Decimal(100*s.Share, 0))...)...)
	}
	if c.Ratio > 0 {
		t.Foot = fmt.Sprintf("condensing takes %.2f times", c.Ratio)
		if len(c.Ratios) > 1 {
			t.Foot += fmt.Sprintf(" (%.2f to %.2f)", slices.Min(c.Ratios), slices.Max(c.Ratios))
		}
		t.Foot += fmt.Sprintf(" as long as its work at the ceilings, %.4f s\n", c.Least)
	}
	if c.Peak > 0 {
		t.Foot += "peak memory: " + report.Bytes(c.Peak)
	}
	t.Foot = strings.TrimSuffix(t.Foot, "\n")
	return t
}

// growth returns a table for one size, partition and precision, with a row for each step: the seconds at each scale,
// and the exponent.
func (r *Result) growth(fits []Growth) *report.Table {
	of := fits[0]
	var cases []Case
	for _, c := range r.Cases {
		if c.Size == of.Size && c.Partition == of.Partition && c.Precision == of.Precision {
			cases = append(cases, c)
		}
	}
	slices.SortStableFunc(cases, func(a, b Case) int { return cmp.Compare(a.Scale, b.Scale) })
	t := &report.Table{
		Title:   "growth of " + title(of.Size, 1, of.Partition, of.Precision),
		Columns: []report.Column{{Name: "seconds at", Key: "step"}},
	}
	for _, c := range cases {
		scale := fmt.Sprintf("×%g", c.Scale)
		t.Columns = append(t.Columns, report.Column{Name: scale, Key: "seconds at " + scale})
	}
	t.Columns = append(t.Columns, report.Column{Name: "exponent"})
	for _, fit := range fits {
		var row []report.Cell
		for _, c := range cases {
			var cell report.Cell
			if at := slices.IndexFunc(c.Steps, func(s Step) bool { return s.Name == fit.Step }); at >= 0 {
				cell = report.Decimal(c.Steps[at].Seconds, 4)
			}
			row = append(row, cell)
		}
		t.Row(fit.Step, row, report.Decimal(fit.Exponent, 2))
	}
	return t
}
