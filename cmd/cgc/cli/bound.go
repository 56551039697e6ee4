package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/budget"
	"github.com/graph-condensation/cgc/internal/confine"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// planned is the plan of a propagation within a memory limit, together with its actual usage.
type planned struct {
	// Bound is the memory limit in bytes. Columns is the number of columns per block, and Passes is the number of blocks.
	Bound   int64 `json:"memory_bytes"`
	Columns int   `json:"columns"`
	Passes  int   `json:"passes"`
	// Expected is the planned usage, and Measured is the actual usage.
	Expected taken `json:"expected"`
	Measured taken `json:"measured"`
}

// taken is the resource usage of a propagation, expected or measured.
type taken struct {
	// Memory is the memory of the process, without pages of mapped files if the system tells them apart.
	Memory int64 `json:"memory_bytes"`
	// Read counts the bytes read from the graph's file. Scratch counts the bytes written to temporary files and read
	// again. The measured values count all bytes that the process read from disks and wrote to them.
	Read    int64   `json:"read_bytes"`
	Scratch int64   `json:"scratch_bytes"`
	Seconds float64 `json:"seconds"`
}

// began records when some work began, and how many bytes the process had read and written until then.
type began struct {
	at            time.Time
	read, written int64
}

func begin() began {
	read, written := confine.Transferred(os.Getpid())
	return began{time.Now(), read, written}
}

// taken returns the resources used since b.
func (b began) taken() taken {
	read, written := confine.Transferred(os.Getpid())
	return taken{
		Memory: cmp.Or(mostHeld.Load(), peakRSS()), Read: read - b.read, Scratch: written - b.written,
		Seconds: time.Since(b.at).Seconds(),
	}
}

// watch makes c print the plan of the first propagation within a memory limit. rate is the speed at which the graph's
// file is read, in bytes per second, or 0 if unknown. complete adds the elapsed seconds and the other measurements to
// the plan; it returns nil if there was no plan.
func (c *command) watch(
	ctx context.Context, bound int64, rate float64,
) (watched context.Context, complete func(seconds float64) *planned) {
	if bound <= 0 {
		return ctx, func(float64) *planned { return nil }
	}
	var plan *planned
	var once sync.Once
	var before began
	ctx = blocked.Watch(ctx, func(f blocked.Footprint) {
		once.Do(func() {
			plan = &planned{Bound: bound, Columns: f.Columns, Passes: f.Passes}
			plan.Expected = taken{Memory: f.Held, Read: f.Read, Scratch: f.Scratch, Seconds: f.Work}
			if f.Held == 0 {
				plan.Expected.Memory = budget.Process + f.Input + f.Sum()
			} else if rate > 0 {
				plan.Expected.Seconds += float64(f.Read+f.Scratch) / rate
			}
			before = begin()
			c.progress.note("%s", plan.sentence(f))
		})
	})
	return ctx, func(seconds float64) *planned {
		if plan == nil {
			return nil
		}
		plan.Measured = before.taken()
		plan.Measured.Seconds = seconds
		return plan
	}
}

func (p *planned) sentence(f blocked.Footprint) string {
	e := p.Expected
	said := fmt.Sprintf("plan within %s: blocks of %s, %d in all, %s of memory",
		report.Bytes(p.Bound), report.Plural(p.Columns, "column"), p.Passes, report.Bytes(e.Memory))
	if f.Held > 0 {
		said += fmt.Sprintf(", %s to read from the file", report.Bytes(e.Read))
	}
	if e.Scratch > 0 {
		said += fmt.Sprintf(", %s through temporary files", report.Bytes(e.Scratch))
	}
	said += fmt.Sprintf(", about %s s", report.Significant(e.Seconds, 2).Text)
	if e.Memory > p.Bound {
		said += fmt.Sprintf("; that is more than --memory, which must be at least %s", report.Bytes(e.Memory))
	}
	return said
}

// openedRate returns the speed at which the file of a mapped graph was read when it was opened, in GB/s; 0 if the graph
// is not mapped.
func openedRate(g *graph.Graph, seconds float64) float64 {
	if !g.Mapped || seconds <= 0 {
		return 0
	}
	bytes := budget.Sparse(g.Adj)
	if x, dense := g.X.(*mat.Dense); dense {
		bytes += budget.Features(x)
	}
	return float64(bytes) / seconds / 1e9
}

// paragraph shows the expected and the measured values.
func (p *planned) paragraph() report.Paragraph {
	return report.Paragraph("propagation within " + report.Bytes(p.Bound) + ": " + p.Expected.shown("expected") + "; " +
		p.Measured.shown("measured"))
}

// shown formats the values after the given name.
func (t taken) shown(name string) string {
	return fmt.Sprintf("%s %.3g s, %s of memory, %s read, %s in temporary files", name, t.Seconds, report.Bytes(t.Memory),
		report.Bytes(t.Read), report.Bytes(t.Scratch))
}

// tests describes how models are tested on a graph that exceeds the memory limit: the plan and the result.
type tests struct {
	// Bound is the memory limit in bytes.
	Bound int64 `json:"memory_bytes"`
	// Models has the plan for each model.
	Models []testedModel `json:"models"`
	// Measured is the usage of training and testing together. It is absent in a dry run.
	Measured *taken `json:"measured,omitempty"`

	say                func(format string, args ...any)
	validations, seeds int
	begun              began
}

// testedModel is the plan for testing one model.
type testedModel struct {
	Model string `json:"model"`
	// Columns is the number of feature columns per block, and Passes is the number of blocks; both are 0 if the model
	// propagates no features. Classes is the number of classes per block. Each has one value for the validation nodes and
	// one for the test nodes.
	Columns [2]int `json:"columns"`
	Passes  [2]int `json:"passes"`
	Classes [2]int `json:"classes"`
	// Validations is the number of validations per training run. ValidationBytes is the number of bytes that each of them
	// reads from files that the system has not cached.
	Validations     int   `json:"validations"`
	ValidationBytes int64 `json:"validation_bytes"`
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
	if len(t.Models) == 0 {
		t.begun = begin()
	}
	trainings := int64(t.seeds)
	validations := trainings * int64(t.validations)
	m := testedModel{
		Model: p.Model, Columns: p.Columns, Passes: p.Passes, Classes: p.Classes, Validations: t.validations,
		ValidationBytes: p.Validation,
		Expected: taken{
			Memory: p.Memory, Read: p.Read, Scratch: p.Scratch,
			Seconds: p.Seconds + float64(validations)*p.ValidationSeconds + float64(trainings)*p.TestSeconds,
		},
	}
	m.Expected.Seconds += float64(p.Read) / budget.Disk
	if p.Validation+p.Test > p.Bound-p.Memory { // otherwise the system caches the file between validations
		m.Expected.Seconds += float64(validations*p.Validation+trainings*p.Test) / budget.Disk
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
	return said + fmt.Sprintf(", %d validations of %s each, about %s s without training", m.Validations,
		report.Bytes(m.ValidationBytes), report.Significant(e.Seconds, 2).Text)
}

// measured adds the measurements after training and testing. It returns nil if nothing was planned.
func (t *tests) measured() *tests {
	if len(t.Models) == 0 {
		return nil
	}
	t.Measured = new(t.begun.taken())
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
		d.Add(report.Paragraph("the graph is not larger than --memory, or there is no limit: models are tested in memory"))
		return d
	}
	for _, m := range t.Models {
		d.Add(report.Paragraph(m.sentence(t)))
	}
	return d
}
