package report

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/graph"
)

// Tuning is the outcome of a search for a configuration. All accuracies are on validation nodes. Its JSON keys are a contract.
type Tuning struct {
	// Graph is the name of the graph, Condensed the number of condensed nodes.
	Graph     string `json:"graph"`
	Condensed int    `json:"condensed_nodes"`
	// Models are those that confirmed.
	Models []string `json:"models"`
	// Ranked is the number of candidates that the closed form ranked, Trainings that of trainings that confirmed some of them.
	Ranked    int `json:"ranked"`
	Trainings int `json:"trainings"`
	// Confirmed lists the candidates that were trained, the default among them: those of the last round first, and of one round the best first.
	Confirmed []TunedCandidate `json:"confirmed"`
	// Config and Weighted are the configuration to use, Changes what it changes of the default: nothing if the default stays.
	Config   cgc.Config          `json:"config"`
	Weighted bool                `json:"weighted"`
	Changes  []experiment.Change `json:"changes"`
	// Gain is the mean difference between the best candidate other than the default and the default, seed by seed, in points, and Noise what it had to exceed: one and a half times its standard error, over seeds and validation nodes.
	Gain  float64 `json:"gain"`
	Noise float64 `json:"noise"`
	// Seconds is the time that all of it took.
	Seconds float64 `json:"seconds"`
	// File is where the configuration was written, Next the command that tries it.
	File string `json:"file"`
	Next string `json:"next"`
}

// TunedCandidate is a candidate that was trained.
type TunedCandidate struct {
	// Changes is what differs from the default; empty for the default itself.
	Changes []experiment.Change `json:"changes"`
	// Judged is the accuracy that the closed form found, Entropy the cross entropy.
	Judged  float64 `json:"judged"`
	Entropy float64 `json:"entropy"`
	// Seeds is the number of condensation seeds, each with a training of its own, that the mean and the sample standard deviation are over.
	Seeds   int     `json:"seeds"`
	ValMean float64 `json:"val_mean"`
	ValStd  float64 `json:"val_std"`
	// Config and Weighted are the candidate.
	Config   cgc.Config `json:"config"`
	Weighted bool       `json:"weighted"`
}

// OfTuning returns a report of what tuning found on g; seconds and file are left to say.
func OfTuning(g *graph.Graph, models []string, tuned *experiment.Tuned) *Tuning {
	t := &Tuning{
		Graph: g.Name, Models: models, Ranked: len(tuned.Ranked), Trainings: tuned.Trainings, Confirmed: []TunedCandidate{},
		Config: tuned.Best.Config, Weighted: tuned.Best.Weighted, Changes: noted(tuned.Best.Changes), Gain: tuned.Gain, Noise: tuned.Noise,
	}
	if nodes, err := tuned.Best.Config.Size(g); err == nil {
		t.Condensed = nodes
	}
	for _, f := range tuned.Confirmed {
		c := TunedCandidate{Changes: noted(f.Changes), Judged: f.Accuracy, Entropy: f.Entropy, Seeds: len(f.Val), Config: f.Config, Weighted: f.Weighted}
		c.ValMean, c.ValStd = f.ValMean()
		t.Confirmed = append(t.Confirmed, c)
	}
	return t
}

// noted returns changes as JSON wants an empty list.
func noted(changes []experiment.Change) []experiment.Change {
	if changes == nil {
		return []experiment.Change{}
	}
	return changes
}

// Text writes t as a table, in one call of w.Write.
func (t *Tuning) Text(w io.Writer) error {
	var b bytes.Buffer
	rows := [][]string{{"configuration", "validation accuracy, %", "seeds", "judged"}}
	for _, c := range t.Confirmed {
		rows = append(rows, []string{
			changed(c.Changes), fmt.Sprintf("%.1f ± %.1f", c.ValMean, c.ValStd), strconv.Itoa(c.Seeds), strconv.FormatFloat(c.Judged, 'f', 1, 64),
		})
	}
	if len(t.Confirmed) > 0 {
		Table(&b, "", rows)
		fmt.Fprintf(&b, "\n±: standard deviation over condensation seeds, each with a training of its own (%s); judged: by the closed form, over other seeds\n", strings.Join(t.Models, ", "))
	}
	fmt.Fprintf(&b, "\n%s ranked, %d confirmed by %s, %s\n",
		count(t.Ranked, "configuration"), len(t.Confirmed), count(t.Trainings, "training"), strconv.FormatFloat(t.Seconds, 'f', 0, 64)+" s")
	switch {
	case len(t.Confirmed) == 0:
		fmt.Fprintf(&b, "nothing was confirmed by training; the first of the ranking: %s\n", changed(t.Changes))
	case len(t.Changes) > 0:
		fmt.Fprintf(&b, "%+.1f points against the default (noise %.1f): %s\n", t.Gain, t.Noise, changed(t.Changes))
	case t.Noise > 0:
		fmt.Fprintf(&b, "the default stays: the best of the others is %+.1f points from it, of which %.1f may be chance\n", t.Gain, t.Noise)
	default:
		fmt.Fprintln(&b, "the default stays")
	}
	fmt.Fprintf(&b, "\nconfiguration: %s\nnext: %s\n", t.File, t.Next)
	_, err := w.Write(b.Bytes())
	return err
}

// changed lists changes in a line.
func changed(changes []experiment.Change) string {
	if len(changes) == 0 {
		return "default"
	}
	words := make([]string, len(changes))
	for i, c := range changes {
		words[i] = c.Name + " " + c.To
	}
	return strings.Join(words, ", ")
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return Count(n) + " " + what
}
