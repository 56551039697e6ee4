package report

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc/experiment"
)

// Experiment is the outcome of an experiment on one or more graphs. Its JSON keys are a contract.
type Experiment struct {
	// Summaries and Comparisons are those of package experiment.
	Summaries   []experiment.Summary    `json:"summaries"`
	Comparisons []experiment.Comparison `json:"comparisons"`
	// Trained is the number of trainings that were done, Kept the number that the log held already.
	Trained int `json:"trained"`
	Kept    int `json:"kept"`
	// Records is the path of the log, RecordsCSV and SummaryCSV those of the tables.
	Records    string `json:"records"`
	RecordsCSV string `json:"records_csv"`
	SummaryCSV string `json:"summary_csv"`
}

// Text writes e as tables, in one call of w.Write: for each graph the accuracies, and the methods compared on the same seeds.
func (e *Experiment) Text(w io.Writer) error {
	var b bytes.Buffer
	for from := 0; from < len(e.Summaries); {
		to := from
		for to < len(e.Summaries) && e.Summaries[to].Graph.Fingerprint == e.Summaries[from].Graph.Fingerprint {
			to++
		}
		if from > 0 {
			fmt.Fprintln(&b)
		}
		accuracies(&b, e.Summaries[from:to])
		comparisons(&b, e.Comparisons, e.Summaries[from].Graph)
		from = to
	}
	e.footnotes(&b)
	fmt.Fprintf(&b, "\n%s done, %s kept from before; records: %s\n", trainings(e.Trained), Count(e.Kept), e.Records)
	_, err := w.Write(b.Bytes())
	return err
}

// accuracies writes a line for each summary, with its share of what the same model reaches when trained on the whole graph.
func accuracies(b *bytes.Buffer, summaries []experiment.Summary) {
	g := summaries[0].Graph
	fmt.Fprintf(b, "%s: %s nodes, %s edges, %s features, %s classes, %s training nodes\n\n", g.Name, Count(g.Nodes), Count(g.Edges), Count(g.Features), Count(g.Classes), Count(g.Train))
	whole := map[string]float64{}
	within := false
	for _, s := range summaries {
		if s.IsWhole() {
			whole[place(s)] = s.Test.Mean
		}
		within = within || s.Within > 0
	}
	head := []string{"test accuracy, %", "nodes", "model", "mean ± std", "95% interval", "seeds"}
	align := "lrlrrr"
	if within {
		head = append(head, "within")
	}
	head = append(head, "condense s", "train s")
	if len(whole) > 0 {
		head = append(head, "of whole")
	}
	rows := [][]string{head}
	for _, s := range summaries {
		row := []string{s.Arm, Count(s.Nodes), s.Model, plusMinus(s.Test, len(s.Seeds), 1), accuracyBetween(s), strconv.Itoa(len(s.Seeds))}
		if within {
			row = append(row, withinOf(s))
		}
		condense := ""
		if !s.IsWhole() {
			condense = strconv.FormatFloat(s.Condense, 'f', 3, 64)
		}
		row = append(row, condense, strconv.FormatFloat(s.Train, 'f', 1, 64))
		if w := whole[place(s)]; w > 0 && !s.IsWhole() {
			row = append(row, strconv.FormatFloat(100*s.Test.Mean/w, 'f', 1, 64)+"%")
		}
		rows = append(rows, row)
	}
	Table(b, align, rows)
}

// place names what trainings on the whole graph share with those on condensed ones.
func place(s experiment.Summary) string {
	training := s.Training
	training.Weighted, training.Progress = false, nil
	return fmt.Sprint(s.Model, s.Standardize, s.Inductive, training)
}

// withinOf returns the standard deviation of trainings on one condensed graph.
func withinOf(s experiment.Summary) string {
	if len(s.Seeds) == 0 || s.Seeds[0].Trainings < 2 {
		return ""
	}
	return strconv.FormatFloat(s.Within, 'f', 1, 64)
}

// comparisons writes those of one graph.
func comparisons(b *bytes.Buffer, all []experiment.Comparison, g experiment.Identity) {
	rows := [][]string{{"points of difference", "nodes", "model", "mean ± std", "95% interval", "seeds"}}
	for _, c := range all {
		if c.Fingerprint != g.Fingerprint || c.Seeds == 0 {
			continue
		}
		rows = append(rows, []string{
			c.Arm + " − " + c.Base, Count(c.Nodes), c.Model, plusMinus(c.Difference, c.Seeds, 2), between(c.Difference, c.Seeds, 2), strconv.Itoa(c.Seeds), c.Verdict,
		})
	}
	if len(rows) > 1 {
		fmt.Fprintln(b)
		Table(b, "lrlrrrl", rows)
	}
}

// footnotes says what the columns are.
func (e *Experiment) footnotes(b *bytes.Buffer) {
	several, whole, within := false, false, false
	for _, s := range e.Summaries {
		several = several || len(s.Seeds) > 1
		whole = whole || s.IsWhole()
		within = within || s.Within > 0
	}
	fmt.Fprintln(b)
	if several {
		fmt.Fprint(b, "±: standard deviation over condensation seeds")
		if whole {
			fmt.Fprintf(b, "; of the %s graph, over training seeds", experiment.Whole)
		}
		fmt.Fprintln(b, "\n95% interval: of the mean, by Student's t")
	} else {
		fmt.Fprintln(b, "one seed each: no ± and no interval")
	}
	if within {
		fmt.Fprintln(b, "within: standard deviation over trainings on one condensed graph; each seed counts with their mean")
	}
	if len(e.Comparisons) > 0 && several {
		fmt.Fprintf(b, "differences: between condensations of the same seeds; %s or %s where the interval leaves out 0\n", experiment.Better, experiment.Worse)
	}
}

func trainings(n int) string {
	if n == 1 {
		return "1 training"
	}
	return Count(n) + " trainings"
}

// plusMinus returns mean ± standard deviation, or the mean alone of one seed.
func plusMinus(e experiment.Estimate, seeds, digits int) string {
	if seeds < 2 {
		return points(e.Mean, digits)
	}
	return points(e.Mean, digits) + " ± " + points(e.Std, digits)
}

// between returns the ends of the 95% interval, or nothing for one seed.
func between(e experiment.Estimate, seeds, digits int) string {
	if seeds < 2 {
		return ""
	}
	return points(e.Mean-e.CI95, digits) + " to " + points(e.Mean+e.CI95, digits)
}

// accuracyBetween is between for an accuracy, which is 0 to 100 whatever Student's t says of a few seeds.
func accuracyBetween(s experiment.Summary) string {
	if len(s.Seeds) < 2 {
		return ""
	}
	return points(max(0, s.Test.Mean-s.Test.CI95), 1) + " to " + points(min(100, s.Test.Mean+s.Test.CI95), 1)
}

// points writes percents, and no sign before a zero.
func points(v float64, digits int) string {
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return text
}
