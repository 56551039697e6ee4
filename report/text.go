package report

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/graph-condensation/cgc"
)

// width is the number of characters after which a list goes on in the next line.
const width = 100

// Text writes r as tables, in one call of w.Write.
func (r *Report) Text(w io.Writer) error {
	var b bytes.Buffer
	r.sizes(&b)
	r.seconds(&b)
	r.accuracies(&b)
	if r.File != "" {
		of := ""
		if r.condensations() > 1 {
			of = fmt.Sprintf(" of seed %d", r.Config.Seed)
		}
		fmt.Fprintf(&b, "\ncondensed graph%s: %s\n", of, r.File)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// condensations returns the number of condensations that the report is about.
func (r *Report) condensations() int {
	if len(r.Results) == 0 || r.Over != OverCondensations {
		return 1
	}
	return r.Results[0].Seeds
}

func (r *Report) sizes(b *bytes.Buffer) {
	edges := Count(r.Condensed.Edges)
	if r.Config.Method != cgc.CGC {
		edges = "none"
	}
	features, classes := Count(r.Features), Count(r.Classes)
	Table(b, "", [][]string{
		{"graph", "nodes", "edges", "features", "classes", "training nodes"},
		{r.Graph, Count(r.Nodes), Count(r.Edges), features, classes, Count(r.Train)},
		{"condensed", Count(r.Condensed.Nodes), edges, features, classes, Count(r.Condensed.Nodes)},
		{"ratio", percent(r.Condensed.Nodes, r.Nodes), "", "", "", percent(r.Condensed.Nodes, r.Train)},
	})
	fmt.Fprintf(b, "\nmethod: %s\n", method(r.Config))
	line := "condensed nodes of each class:"
	for _, n := range r.Condensed.Budget {
		word := " " + strconv.Itoa(n)
		if at := strings.LastIndexByte(line, '\n'); utf8.RuneCountInString(line[at+1:])+len(word) > width {
			line += "\n "
		}
		line += word
	}
	fmt.Fprintln(b, line)
}

// method says in a line what makes one condensation differ from another.
func method(c cgc.Config) string {
	said := []string{string(c.Method)}
	add := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	hops := "hops"
	if c.Hops == 1 {
		hops = "hop"
	}
	if len(c.HopWeights) > 0 {
		hops += " weighted " + c.HopWeights.String()
	}
	add("%s with %d %s", c.Propagation, c.Hops, hops)
	if c.Method != cgc.SimDM {
		if c.Partitions > 1 {
			add("best of %d %s partitions", c.Partitions, c.Partition)
		} else {
			add("%s partition", c.Partition)
		}
		add("augmentation %g", c.Augment)
		if c.PseudoLabels > 0 {
			add("pseudo-labels %g", c.PseudoLabels)
		}
		if c.SoftLabels {
			add("soft labels")
		}
		add("temperature %s", c.Temperature)
	}
	if c.Method == cgc.CGC {
		if c.Edges == cgc.RealEdges {
			add("real edges")
		} else {
			add("threshold %g", c.Threshold)
		}
		if c.Degree > 0 {
			add("degree %g", c.Degree)
		}
		add("alpha %g", c.Alpha)
	}
	if c.Standardize {
		add("standardized")
	}
	if c.Inductive {
		add("inductive")
	}
	return strings.Join(said, ", ")
}

func (r *Report) seconds(b *bytes.Buffer) {
	s := r.Seconds
	if s.Condense == 0 {
		return
	}
	fmt.Fprintln(b)
	head, figures := []string{"seconds"}, []string{""}
	if seeds := r.condensations(); seeds > 1 {
		figures[0] = fmt.Sprintf("mean of %d", seeds)
	}
	for _, part := range []struct {
		name    string
		seconds float64
		only    bool
	}{
		{"load", s.Load, true}, {"propagate", s.Propagate, true}, {"assess", s.Assess, true}, {"augment", s.Augment, true},
		{"partition", s.Partition, true}, {"generate", s.Generate, r.Config.Method == cgc.CGC}, {"condense (all but load)", s.Condense, true},
	} {
		if part.only {
			head, figures = append(head, part.name), append(figures, strconv.FormatFloat(part.seconds, 'f', 3, 64))
		}
	}
	Table(b, "", [][]string{head, figures})
	if r.PeakRSS > 0 {
		fmt.Fprintf(b, "\npeak memory: %s\n", Bytes(r.PeakRSS))
	}
}

func (r *Report) accuracies(b *bytes.Buffer) {
	if len(r.Results) == 0 {
		return
	}
	whole := map[string]Accuracy{}
	for _, a := range r.Whole {
		whole[a.Model] = a
	}
	several := r.Results[0].Seeds > 1
	rows := [][]string{{"test accuracy, %", "trained on condensed"}}
	if several {
		rows[0] = append(rows[0], "95% interval")
	}
	rows[0] = append(rows[0], "seconds")
	if len(r.Whole) > 0 {
		rows[0] = append(rows[0], "on the whole graph", "seconds", "ratio")
	}
	for _, a := range r.Results {
		row := []string{a.Model, a.test()}
		if several {
			row = append(row, fmt.Sprintf("%.1f to %.1f", max(0, a.TestMean-a.TestCI95), min(100, a.TestMean+a.TestCI95)))
		}
		row = append(row, a.seconds())
		if w, is := whole[a.Model]; is && w.TestMean > 0 {
			row = append(row, w.test(), w.seconds(), strconv.FormatFloat(100*a.TestMean/w.TestMean, 'f', 1, 64)+"%")
		}
		rows = append(rows, row)
	}
	fmt.Fprintln(b)
	Table(b, "", rows)
	if seeds := r.Results[0].Seeds; seeds > 1 {
		fmt.Fprintf(b, "\n±: standard deviation over %d %s", seeds, r.Over)
		if r.Over == OverCondensations {
			fmt.Fprint(b, ", each with a training of its own")
		} else {
			fmt.Fprint(b, " on this one condensed graph")
		}
		if len(r.Whole) > 0 {
			fmt.Fprintf(b, "; of the whole graph, over %d %s", r.Whole[0].Seeds, OverTrainings)
		}
		fmt.Fprintln(b, "\n95% interval: of the mean, by Student's t")
	}
}

// test returns mean ± standard deviation, or the mean alone of one seed.
func (a Accuracy) test() string {
	if a.Seeds < 2 {
		return strconv.FormatFloat(a.TestMean, 'f', 1, 64)
	}
	return fmt.Sprintf("%.1f ± %.1f", a.TestMean, a.TestStd)
}

// seconds returns the time of one training.
func (a Accuracy) seconds() string { return strconv.FormatFloat(a.Seconds, 'f', 1, 64) }

// Table writes rows with their columns aligned. Byte j of align says how column j is: l to the left, r to the right; those that it
// does not reach are r, but for the first, which is l. Rows may be short.
func Table(b *bytes.Buffer, align string, rows [][]string) {
	var wide []int
	for _, row := range rows {
		for j, cell := range row {
			if j == len(wide) {
				wide = append(wide, 0)
			}
			wide[j] = max(wide[j], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for j, cell := range row {
			if j > 0 {
				line.WriteString("  ")
			}
			space := strings.Repeat(" ", wide[j]-utf8.RuneCountInString(cell))
			if j == 0 && align == "" || j < len(align) && align[j] == 'l' {
				line.WriteString(cell + space)
			} else {
				line.WriteString(space + cell)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

// Count writes n with commas between thousands.
func Count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Bytes writes a size in decimal megabytes, or gigabytes from a thousand of them.
func Bytes(n int64) string {
	if n >= 1e9 {
		return fmt.Sprintf("%.2f GB", float64(n)/1e9)
	}
	return fmt.Sprintf("%.0f MB", float64(n)/1e6)
}

// percent writes a part of a whole with three significant digits.
func percent(part, whole int) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(100*float64(part)/float64(whole), 'g', 3, 64), 64)
	if err != nil || whole == 0 {
		return ""
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64) + "%" // without an exponent
}
