package cli

import (
	"fmt"
	"os"
	"time"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/confine"
)

// tests describes how models are tested on a graph that exceeds the memory limit: the plan and the result.
type tests struct {
	// Bound is the memory limit in bytes.
	Bound int64 `json:"memory_bytes"`
	// Models has an entry for each model: its blocks of columns and its number of validations.
	Models []testedModel `json:"models"`
	// Measured is what training and testing used together; absent in a dry run.
	Measured *taken `json:"measured,omitempty"`

	say                   func(format string, args ...any)
	validations           int
	seeds                 int
	begun                 time.Time
	readBefore, wroteFrom int64
}

// testedModel is the plan for a model.
type testedModel struct {
	Model string `json:"model"`
	// Columns is the number of feature columns per block, and Passes the number of blocks. Both have a value for the
	// validation nodes and one for the test nodes, which are 0 if the model propagates no features. Classes is the number
	// of classes per block.
	Columns [2]int `json:"columns"`
	Passes  [2]int `json:"passes"`
	Classes [2]int `json:"classes"`
	// Validations is the number of validations per training, and QuestionBytes the number of bytes that each validation
	// reads from files that the system has not cached.
	Validations   int   `json:"validations"`
	QuestionBytes int64 `json:"question_bytes"`
	// Expected does not include the training on the condensed graph.
	Expected taken `json:"expected"`
}

// newTests returns an empty record of testing on g, for the given number of seeds, within a memory limit.
func (c *command) newTests(bound int64, training gnn.Config, g *graph.Graph, seeds int) *tests {
	return &tests{
		Bound: bound, say: c.progress.note, validations: training.Validations(g.Nodes()), seeds: seeds,
		Models: []testedModel{},
	}
}

// plan records and prints the plan for a model.
func (t *tests) plan(p *gnn.Plan) {
	if t.begun.IsZero() {
		t.begun = time.Now()
		t.readBefore, t.wroteFrom = confine.Transferred(os.Getpid())
	}
	trainings := int64(t.seeds)
	questions := trainings * int64(t.validations)
	m := testedModel{
		Model: p.Model, Columns: p.Columns, Passes: p.Passes, Classes: p.Classes, Validations: t.validations,
		QuestionBytes: p.Question,
		Expected: taken{
			Memory: p.Memory, Read: p.Read, Scratch: p.Scratch,
			Seconds: p.Seconds + float64(questions)*p.QuestionSeconds + float64(trainings)*p.TestSeconds,
		},
	}
	const rate = 1e9 // bytes per second of an ordinary disk
	m.Expected.Seconds += float64(p.Read) / rate
	if p.Question+p.Test > p.Bound-p.Memory { // otherwise the system caches the file between validations
		m.Expected.Seconds += float64(questions*p.Question+trainings*p.Test) / rate
	}
	t.Models = append(t.Models, m)
	t.say("%s", m.sentence(t))
}

func (m testedModel) sentence(t *tests) string {
	e := m.Expected
	said := fmt.Sprintf("plan of testing %s within %s: %s of memory, %s to read from the file", m.Model,
		report.Bytes(t.Bound), report.Bytes(e.Memory), report.Bytes(e.Read))
	if m.Columns[0] > 0 {
		said += fmt.Sprintf(" in %d and %d blocks of columns for validation and test", m.Passes[0], m.Passes[1])
	}
	if e.Scratch > 0 {
		said += fmt.Sprintf(", %s into temporary files", report.Bytes(e.Scratch))
	}
	return said + fmt.Sprintf(", %d validations of %s each, about %.2g s without training", m.Validations,
		report.Bytes(m.QuestionBytes), e.Seconds)
}

// measured adds the measurements after training and testing. It returns nil if nothing was planned.
func (t *tests) measured() *tests {
	if len(t.Models) == 0 {
		return nil
	}
	read, written := confine.Transferred(os.Getpid())
	t.Measured = &taken{
		Memory: peakRSS(), Read: read - t.readBefore, Scratch: written - t.wroteFrom,
		Seconds: time.Since(t.begun).Seconds(),
	}
	return t
}

// paragraph shows the expected and the measured values.
func (t *tests) paragraph() report.Paragraph {
	var e taken
	for _, m := range t.Models {
		e.Memory = max(e.Memory, m.Expected.Memory)
		e.Read, e.Scratch, e.Seconds = e.Read+m.Expected.Read, e.Scratch+m.Expected.Scratch, e.Seconds+m.Expected.Seconds
	}
	said := "testing within " + report.Bytes(t.Bound) + ": " + e.shown("expected")
	if t.Measured != nil {
		said += "; " + t.Measured.shown("measured, with training,")
	}
	return report.Paragraph(said)
}

// document returns the plan as the output of a dry run.
func (t *tests) document() *report.Document {
	d := new(report.Document)
	if len(t.Models) == 0 {
		d.Add(report.Paragraph("the graph is not larger than --memory, or there is no bound: models are tested in memory"))
		return d
	}
	for _, m := range t.Models {
		d.Add(report.Paragraph(m.sentence(t)))
	}
	return d
}
