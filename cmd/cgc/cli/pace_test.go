package cli

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/graph-condensation/cgc/internal/mattest"
)

// at returns a time of a clock that starts at 0.
func at(seconds float64) time.Time {
	return time.Unix(0, 0).Add(time.Duration(seconds * float64(time.Second)))
}

// TestPace checks that the remaining time follows the mean pace, falls while a piece is being worked on, and starts
// afresh with a new count.
func TestPace(t *testing.T) {
	var p pace
	check := func(now, want float64, known bool) {
		t.Helper()
		left, is := p.left(at(now))
		if is != known || is && left.Seconds() != want {
			t.Errorf("after %g s: %v (%v), want %g s (%v)", now, left, is, want, known)
		}
	}
	p.count("", 0, 0, at(0))
	check(5, 0, false) // nothing was counted yet
	p.count("a", 10, 110, at(10))
	check(12, 0, false) // the first ten pieces were not timed
	p.count("a", 20, 110, at(10.5))
	check(10.9, 0, false) // too early
	p.count("a", 35, 110, at(15))
	check(15, 15, true) // 25 pieces in 5 s, 75 left
	check(18, 12, true)
	check(60, 0, false) // an overdue piece must not give "0s left"
	p.count("a", 110, 110, at(61))
	check(61, 0, false)
	p.count("a", 1, 110, at(70)) // fewer than before: a new count with the same total
	check(75, 0, false)
	p.count("a", 2, 110, at(75))
	check(75, 540, true)
	p.count("b", 100, 400, at(75)) // "a" was not announced, so it may have ended
	p.count("b", 200, 400, at(85))
	check(85, 20, true)
}

// TestPaceOfStages checks that all announced stages contribute to the remaining time, each at its own pace. The time is
// unknown until each stage has a finished piece. Otherwise quick stages would suggest that slow ones are nearly done.
func TestPaceOfStages(t *testing.T) {
	var p pace
	p.count("condensing", 0, 5, at(0))
	p.count("training", 0, 5, at(0))
	p.count("training on the full graph", 0, 5, at(0))
	for i := range int64(5) {
		p.count("condensing", i+1, 5, at(0.1*float64(i+1)))
	}
	if left, known := p.left(at(2)); known {
		t.Errorf("%v are left before a training is done", left)
	}
	p.count("training", 2, 5, at(2.5))
	if left, known := p.left(at(2.5)); known {
		t.Errorf("%v are left before a training on the full graph is done", left)
	}
	p.count("training", 5, 5, at(5.5))
	p.count("training on the full graph", 0, 5, at(5.5))
	p.count("training on the full graph", 1, 5, at(14.5))
	if left, known := p.left(at(15.5)); !known || left != 35*time.Second {
		t.Errorf("%v (%v) are left, want 35 s", left, known)
	}
	done, all := p.progress()
	mattest.True(t, done == 11 && all == 15, "%d of %d, want 11 of 15", done, all)
}

func TestLaps(t *testing.T) {
	steps := []lap{{"opening cora", at(0.1)}, {"condensing", at(1.5)}, {"writing a", at(1.5)}, {"writing b", at(3.3)}}
	const want = "4.0 s: opening cora 1.4 s, writing a 1.8 s, writing b 0.7 s"
	mattest.Equal(t, laps(steps, at(0), at(4)), want, "laps:")
	mattest.Equal(t, laps(nil, at(0), at(2.1)), "2.1 s", "no laps:")
}

// TestLabel checks that a long name is shortened in the middle.
func TestLabel(t *testing.T) {
	p := &meter{name: "reading /a/very/long/path/of/a/folder/that/does/not/end/edges.csv"}
	mattest.Equal(t, p.label(60), "reading /…/edges.csv", "in 60 columns:")
	mattest.Equal(t, p.label(300), p.name, "in 300 columns:")
}

// TestSteps checks that the closing line attributes the time to the right steps: training is not part of opening the
// graph.
func TestSteps(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("CGC_EPOCHS", "2")
	t.Setenv("CGC_HIDDEN", "8")
	t.Setenv("CGC_SEEDS", "1")
	t.Setenv("CGC_WHOLE", "0")
	for line, want := range map[string]string{
		"run --method cgc -o a.safetensors":           "opening demo, condensing and training, writing a.safetensors",
		"tune demo --method cgc --trials 2 -o a.json": "opening demo, searching, writing a.json",
		"experiment demo --methods cgc -o r":          "opening demo, condensing and training on demo, writing r/",
		"paper table6 --graphs demo":                  "opening demo, measuring table6 on demo",
		"condense demo --method cgc -o b.safetensors": "opening demo, condensing, writing b.safetensors",
	} {
		c := &command{stdout: io.Discard, stderr: io.Discard}
		mattest.Equal(t, c.run(t.Context(), append(strings.Fields(line), "--quiet")), 0, "%s: exit code", line)
		var steps []string
		for _, s := range c.progress.steps {
			steps = append(steps, s.name)
		}
		mattest.Says(t, strings.Join(steps, ", "), filepath.FromSlash(want))
	}
}

// TestLongJob checks that, without a bar, one note reports the time left in all stages known so far. A later stage of
// the same step, and the same stage in another step, each get another note.
func TestLongJob(t *testing.T) {
	var stderr bytes.Buffer
	p := newMeter(&stderr, false)
	work := func(stage string, want string) {
		t.Helper()
		p.count(stage, 0, 30)
		begun := time.Now().Add(-2 * longJob)
		p.pace.begun, p.pace.last, p.pace.stages[stage].begun = begun, begun, begun
		for done := range int64(3) {
			p.count(stage, 6*(done+1), 30)
		}
		p.count(stage, 30, 30)
		mattest.Equal(t, stderr.String(), want, "%s", stage)
		stderr.Reset()
	}
	p.step("searching")
	work("searching", "note: searching: 30 s so far, about 2 min left\n")
	work("searching", "")
	work("training", "note: training: 30 s so far, about 2 min left\n")
	p.step("comparing")
	work("training", "note: training: 30 s so far, about 2 min left\n")
	p.notes = false
	p.step("writing")
	work("training", "")
}
