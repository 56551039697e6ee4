package paper

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc/report"
)

// Text writes r for a terminal: tables of what was measured beside the paper's numbers, what else the paper has, and notes.
func (r *Result) Text(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: %s\n", r.Study, r.Title)
	for _, t := range r.tables() {
		if t.title != "" {
			fmt.Fprintf(&b, "\n%s\n", t.title)
		}
		b.WriteByte('\n')
		report.Table(&b, t.align, t.rows)
	}
	b.WriteByte('\n')
	for _, note := range r.notes() {
		fmt.Fprintln(&b, note)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Markdown writes the same as Markdown, with the pictures of the given file names.
func (r *Result) Markdown(w io.Writer, pictures []string) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s: %s\n", r.Study, r.Title)
	for _, t := range r.tables() {
		if t.title != "" {
			fmt.Fprintf(&b, "\n%s\n", t.title)
		}
		b.WriteByte('\n')
		for i, row := range t.rows {
			fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
			if i == 0 {
				b.WriteString("|" + strings.NewReplacer("l", "---|", "r", "--:|").Replace(t.align) + strings.Repeat("--:|", len(row)-len(t.align)) + "\n")
			}
		}
	}
	for _, file := range pictures {
		fmt.Fprintf(&b, "\n![%s](%s)\n", strings.TrimSuffix(file, ".svg"), file)
	}
	b.WriteByte('\n')
	for _, note := range r.notes() {
		fmt.Fprintf(&b, "* %s\n", note)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// table is rows, the first of which is the head. Byte j of align is l for a column of words, r for one of numbers; columns beyond it hold numbers.
type table struct {
	title string
	rows  [][]string
	align string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (r *Result) tables() (all []table) {
	for _, t := range []table{r.accuracies(), r.seconds()} {
		if len(t.rows) > 1 {
			all = append(all, t)
		}
	}
	return append(all, r.others()...)
}

// missing stands for a number that the paper, or we, do not have.
const missing = "–"

// accuracies is the main table. What cannot be compared has a column of its own, and no difference.
func (r *Result) accuracies() table {
	models, strange, ours, printed := map[string]bool{}, false, false, false
	for _, c := range r.Cells {
		models[c.Model] = true
		printed = printed || c.Paper != nil
		strange = strange || !c.Comparable
		ours = ours || c.Comparable
	}
	t := table{align: "lrrl"}
	head := []string{"graph", "r", "N′", "method"}
	if len(models) > 1 {
		head, t.align = append(head, "model"), t.align+"l"
	}
	if ours {
		head = append(head, "here, %")
	}
	if printed {
		head = append(head, "paper, %")
	}
	if ours && printed {
		head = append(head, "difference")
	}
	if strange {
		head = append(head, "not comparable, %")
	}
	t.add(head...)
	for _, c := range r.Cells {
		row := []string{r.called(c.Graph), or(c.Ratio), report.Count(c.Nodes), c.Arm}
		if len(models) > 1 {
			row = append(row, c.Model)
		}
		mean := estimate(c)
		here, paper, difference, apart := mean, missing, missing, missing
		if c.Paper != nil {
			paper = c.Paper.String()
			if !c.Paper.OutOfMemory {
				difference = signed(c.Test.Mean - c.Paper.Mean)
			}
		}
		if !c.Comparable {
			here, difference, apart = missing, missing, mean
		}
		if ours {
			row = append(row, here)
		}
		if printed {
			row = append(row, paper)
		}
		if ours && printed {
			row = append(row, difference)
		}
		if strange {
			row = append(row, apart)
		}
		t.add(row...)
	}
	return t
}

// called is the graph's name, with a mark if it was made.
func (r *Result) called(name string) string {
	if r.graph(name).Made {
		return name + " (made)"
	}
	return name
}

func or(text string) string {
	if text == "" {
		return missing
	}
	return text
}

func estimate(c Cell) string {
	if c.Seeds < 2 {
		return strconv.FormatFloat(c.Test.Mean, 'f', 1, 64)
	}
	return fmt.Sprintf("%.1f ± %.1f", c.Test.Mean, c.Test.Std)
}

// signed writes a difference of percentages, 0 without a sign.
func signed(v float64) string {
	if v = math.Round(10*v) / 10; v == 0 {
		return "0.0"
	}
	return strings.Replace(fmt.Sprintf("%+.1f", v), "-", "−", 1)
}

// seconds is the table of times.
func (r *Result) seconds() table {
	t := table{title: "seconds of condensation", align: "lrl"}
	t.add("graph", "N′", "method", "propagate", "assess", "augment", "partition", "generate", "all", "paper")
	for _, c := range r.Times {
		paper := missing
		if c.Paper != nil {
			paper = thousands(c.Paper.String())
		}
		s := c.Seconds
		row := []string{r.called(c.Graph), report.Count(c.Nodes), c.Arm}
		for _, v := range []float64{s.Propagate, s.Assess, s.Augment, s.Partition, s.Generate, s.Condense} {
			row = append(row, strconv.FormatFloat(v, 'f', 3, 64))
		}
		t.add(append(row, paper)...)
	}
	return t
}

// thousands puts commas into the printed seconds.
func thousands(text string) string {
	whole, rest, point := strings.Cut(text, ".")
	n, err := strconv.Atoi(whole)
	if err != nil {
		return text
	}
	if point {
		rest = "." + rest
	}
	return report.Count(n) + rest
}

// others are the paper's numbers for methods that were not run, on the same graphs: for each of the study's tables, with methods as rows.
func (r *Result) others() (all []table) {
	run := map[string]bool{wholeName: true}
	for _, c := range r.Cells {
		run[c.Arm] = true
	}
	for _, t := range r.Times {
		run[t.Arm] = true
	}
	names := slices.Clone(r.study.tables)
	if r.Study == "table2" {
		names = []string{"table2", "table2-seconds"}
	}
	for _, name := range names {
		p := Published().Table(name)
		if slices.ContainsFunc(p.Rows, func(row Row) bool { return row.Method != "" }) {
			all = append(all, r.byModel(p, run)...)
			continue
		}
		if t := r.byMethod(p, run); len(t.rows) > 1 {
			all = append(all, t)
		}
	}
	return all
}

// byMethod turns a table whose columns are methods: a row for each, a column for each graph and ratio.
func (r *Result) byMethod(p *Table, run map[string]bool) table {
	t := table{title: fmt.Sprintf("other methods, as the paper prints them (%s, %s)", strings.TrimSuffix(p.Name, "-seconds"), p.Unit), align: "l"}
	head := []string{"method"}
	var rows []Row
	for _, row := range p.Rows {
		if r.graph(row.Graph).Paper {
			rows = append(rows, row)
			head = append(head, row.Graph+" "+row.Ratio)
		}
	}
	if len(rows) == 0 {
		return t
	}
	t.add(head...)
	for c, method := range p.Columns {
		if run[method] {
			continue
		}
		line := []string{method}
		for _, row := range rows {
			line = append(line, thousands(row.Cells[c].String()))
		}
		t.add(line...)
	}
	return t
}

// byModel takes a table whose columns are models as it is, for each graph.
func (r *Result) byModel(p *Table, run map[string]bool) (all []table) {
	for _, g := range r.Graphs {
		t := table{title: fmt.Sprintf("other methods on %s, as the paper prints them (%s, %s)", g.Name, p.Name, p.Unit), align: "l"}
		t.add(append([]string{"method"}, p.Columns...)...)
		for _, row := range p.Rows {
			if row.Graph != g.Name || run[row.Method] || run[row.Method+" "+p.Columns[0]] {
				continue
			}
			line := []string{row.Method}
			for _, v := range row.Cells {
				line = append(line, v.String())
			}
			t.add(line...)
		}
		if len(t.rows) > 1 {
			all = append(all, t)
		}
	}
	return all
}

// notes say what the numbers are, in a sentence each.
func (r *Result) notes() (notes []string) {
	add := func(format string, values ...any) { notes = append(notes, fmt.Sprintf(format, values...)) }
	if len(r.Cells) > 0 {
		if r.Seeds > 1 {
			add("±: here, standard deviation over %d condensation seeds, each with a training of its own; in the paper, over trainings on one condensed graph.", r.Seeds)
		} else {
			add("One condensation seed: no ± can be given. The paper's ± is over trainings on one condensed graph.")
		}
	}
	if len(r.Times) > 0 {
		add("Seconds here are medians of %d condensations, from the graph in memory; the paper's were taken on other machines, so they tell orders of magnitude and no more.", r.Seeds)
	}
	taken := Published().Settings.Taken
	if r.Settings == "ours" {
		add("Parameters: the defaults of cgc, the same for all graphs.")
	} else {
		add("Parameters: the paper's where it states them (SGC, K = 2, spectral partition); the others it searched for each data set and does not print. Taken here, from its ranges: p %g, τ %s, T %g, α %g.",
			taken.Augment, taken.Temperature, taken.Threshold, taken.Alpha)
	}
	if len(r.Cells) > 0 && r.Training.Weighted {
		add("A condensed node counts in the loss as often as the nodes that it stands for; in the paper all count alike.")
	}
	for _, g := range r.Graphs {
		switch {
		case g.Made:
			add("%s: %s, since the data set is not here. Its accuracies say nothing of the data set's; times are those of the size.", g.Name, g.Why)
		case !g.Paper:
			add("%s: %s, so there is no number to put beside.", g.Name, g.Why)
		case !g.Comparable:
			also := ""
			if len(r.Times) > 0 {
				also = ", and seconds are of another size"
			}
			add("%s: %s. Accuracies are not comparable with the paper's%s.", g.Name, g.Why, also)
		}
	}
	var none, some []string // graphs for which the paper has no number, and not all
	for _, g := range r.Graphs {
		has, all := false, true
		for _, c := range r.Cells {
			if c.Graph == g.Name {
				has, all = has || c.Paper != nil, all && c.Paper != nil
			}
		}
		switch {
		case !g.Paper || all:
		case has:
			some = append(some, g.Name)
		default:
			none = append(none, g.Name)
		}
	}
	if len(r.study.tables) == 0 {
		add("The paper shows this as a figure and prints no numbers.")
	} else if len(none) > 0 {
		add("The paper has no numbers for %s in this table.", strings.Join(none, ", "))
	}
	if len(some) > 0 {
		add("%s marks numbers that the paper does not have (%s).", missing, strings.Join(some, ", "))
	}
	for _, left := range r.LeftOut {
		add("Left out: %s.", left)
	}
	add("Paper: %s, doi %s.", r.Source, r.DOI)
	return notes
}
