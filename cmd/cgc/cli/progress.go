package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/cwriter"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/progress"
)

// delay is how long a job runs before its progress is shown.
const delay = time.Second

// meter shows the progress of the command on one line of a terminal: the current stage and, if known, the finished
// share and the remaining time. A final line lists how long each step took. If standard error is not a terminal, meter
// writes only notes, including the expected time of long stages. Its methods may be called from any goroutine.
type meter struct {
	stderr io.Writer // for notes; nil means quiet
	timer  *time.Timer

	mutex     sync.Mutex
	name      string
	done, all int64 // counts of the last stage; all is 0 if unknown
	begun     time.Time
	pace      pace
	notes     bool  // notes give the remaining time of long stages; false with a bar
	steps     []lap // steps begun so far
	closed    bool
	container *mpb.Progress // nil until the delay is over
	bar       *mpb.Bar
	events    *events // nil unless a program asks for events
}

func newMeter(stderr io.Writer, quiet bool) *meter {
	p := &meter{begun: time.Now()}
	if quiet {
		return p
	}
	p.stderr = stderr
	if os.Getenv(progressVariable) == "json" {
		p.events = &events{to: json.NewEncoder(stderr)}
		return p
	}
	if file, is := stderr.(*os.File); is && cwriter.IsTerminal(int(file.Fd())) {
		p.timer = time.AfterFunc(delay, func() { p.show(stderr) })
	} else {
		p.notes = true
	}
	return p
}

// listen returns a context that reports progress to p. An event without a total belongs to the stage counted last.
func (p *meter) listen(ctx context.Context) context.Context {
	return progress.With(ctx, func(e progress.Event) {
		if e.Total == 0 {
			p.rename(e.Stage)
			return
		}
		p.count(e.Stage, e.Done, e.Total)
	})
}

// step begins a step of the command.
func (p *meter) step(name string) {
	p.count(name, 0, 0)
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.steps = append(p.steps, lap{name, time.Now()})
}

// rename changes the name shown. If the counted stages are complete, it also resets the count.
func (p *meter) rename(name string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.name = name
	if done, all := p.pace.progress(); done >= all {
		p.done, p.all = 0, 0
		p.pace.count("", 0, 0, time.Now())
	}
	p.events.tell(name, p.done, p.all)
}

// count reports the current stage and its finished and total pieces; all is 0 if the total is unknown.
func (p *meter) count(name string, done, all int64) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.name, p.done, p.all = name, done, all
	p.events.tell(name, done, all)
	now := time.Now()
	p.pace.count(name, done, all, now)
	left, known := p.pace.left(now)
	if !p.notes || !known || left < longJob {
		return
	}
	if took := now.Sub(p.pace.stages[name].begun); took >= longJob && p.pace.tell() {
		p.say(fmt.Sprintf("%s: %s so far, about %s left", name, roughly(took), roughly(left)))
	}
}

// longJob is the minimum for both the elapsed and the remaining time of a stage before a note reports them.
const longJob = 15 * time.Second

// roughly formats a duration in seconds if it is below two minutes, and otherwise in minutes.
func roughly(d time.Duration) string {
	if d < 2*time.Minute {
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	return fmt.Sprintf("%.0f min", d.Minutes())
}

// note prints a note for the user.
func (p *meter) note(format string, args ...any) {
	if p.stderr == nil {
		return
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.say(fmt.Sprintf(format, args...))
}

// say prints a note. The caller must hold the lock.
func (p *meter) say(sentence string) {
	w := p.stderr
	if p.container != nil && !p.closed {
		w = p.container // prints above the bar
	}
	fmt.Fprintln(w, report.Wrap("note: "+report.Printable(sentence), columns(p.stderr), "      "))
}

// columns returns the width of a terminal, or 0 if w is not a terminal.
func columns(w io.Writer) int {
	if file, is := w.(*os.File); is && cwriter.IsTerminal(int(file.Fd())) {
		if width, _, err := cwriter.GetSize(int(file.Fd())); err == nil {
			return width
		}
	}
	return 0
}

func (p *meter) state() (name string, done, all int64) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	done, all = p.pace.progress()
	return report.Printable(p.name), done, all
}

// show adds the bar. The bar reads p.state when it is drawn, so drawing never blocks the work.
func (p *meter) show(terminal io.Writer) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.closed {
		return
	}
	p.container = mpb.New(mpb.WithOutput(terminal), mpb.WithWidth(30))
	bar, spinner := mpb.BarStyle().Rbound("] ").Build(), mpb.SpinnerStyle().Build()
	filler := func(w io.Writer, s decor.Statistics) error {
		if _, done, all := p.state(); all > 0 {
			s.Current, s.Total = min(done, all), all
			return bar.Fill(w, s)
		}
		s.RequestedWidth = 1
		return spinner.Fill(w, s)
	}
	p.bar = p.container.MustAdd(0, mpb.BarFillerFunc(filler), mpb.BarFillerTrim(),
		mpb.PrependDecorators(decor.Any(func(s decor.Statistics) string { return p.label(s.AvailableWidth) + " " })),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return p.figures() })))
}

func (p *meter) figures() string {
	now := time.Now()
	p.mutex.Lock()
	done, all := p.pace.progress()
	left, known := p.pace.left(now)
	p.mutex.Unlock()
	seconds := now.Sub(p.begun).Round(time.Second)
	if all == 0 {
		return " " + seconds.String()
	}
	text := fmt.Sprintf("%d%% %s", 100*min(done, all)/all, seconds)
	if known {
		text += ", " + left.Round(time.Second).String() + " left"
	}
	return text
}

// figuresWidth is the number of columns reserved for numbers and a short bar.
const figuresWidth = 40

// label returns the name of the current stage, shortened in the middle to fit the terminal.
func (p *meter) label(width int) string {
	name, _, _ := p.state()
	room := max(width-figuresWidth, 12)
	letters := []rune(name)
	if len(letters) <= room {
		return name
	}
	head := (room - 1) / 2
	return string(letters[:head]) + "…" + string(letters[len(letters)-(room-1-head):])
}

// finish removes the bar and, if there was one, prints how long each step took.
func (p *meter) finish() {
	if p.close() {
		fmt.Fprintln(p.stderr, laps(p.steps, p.begun, time.Now()))
	}
}

// close removes the bar, and reports whether there was one. It does nothing for a nil meter or a closed one.
func (p *meter) close() (shown bool) {
	if p == nil {
		return false
	}
	p.mutex.Lock()
	if p.timer != nil {
		p.timer.Stop()
	}
	closed := p.closed
	p.closed = true
	p.mutex.Unlock()
	if p.container != nil && !closed {
		p.bar.Abort(true)
		p.container.Wait()
		return true
	}
	return false
}

// progressVariable names the environment variable that is set to "json" by programs that show the progress themselves.
const progressVariable = "CGC_PROGRESS"

// eventInterval is the minimum time between two progress lines of one stage.
const eventInterval = 100 * time.Millisecond

// events writes progress as lines of JSON. Calls must not overlap.
type events struct {
	to    *json.Encoder
	stage string
	last  time.Time
}

// tell writes {"stage": …, "done": …, "total": …}; total is 0 if unknown. A nil e writes nothing.
func (e *events) tell(stage string, done, total int64) {
	if e == nil || stage == e.stage && done < total && time.Since(e.last) < eventInterval {
		return
	}
	e.stage, e.last = stage, time.Now()
	// If the reader has exited, the work continues without it.
	_ = e.to.Encode(struct {
		Stage string `json:"stage"`
		Done  int64  `json:"done"`
		Total int64  `json:"total"`
	}{stage, done, total})
}

// pace estimates the remaining time from counts of pieces of work. It assumes that all pieces of a stage take about the
// same time.
type pace struct {
	stages      map[string]*counted
	stage       string // the stage that was counted last
	begun, last time.Time
}

// counted is the progress of one stage.
type counted struct {
	done, all int64
	timed     int64         // pieces finished while the pace was observed
	spent     time.Duration // their duration
	begun     time.Time
	announced bool
	told      bool // the user was told how long it takes
}

// count updates a stage. If all is 0, nothing is counted, and p is reset.
func (p *pace) count(stage string, done, all int64, now time.Time) {
	if all == 0 {
		*p = pace{}
		return
	}
	if p.stages == nil {
		*p = pace{stages: map[string]*counted{}, begun: now, last: now}
	}
	s := p.stages[stage]
	if s == nil || all != s.all || done < s.done { // a new stage with the same name
		s = &counted{done: done, all: all, begun: now, announced: done == 0, told: s != nil && s.told}
		p.stages[stage] = s
		if !s.announced { // the earlier pieces were not timed
			p.last = now
		}
	}
	if done > s.done {
		s.timed, s.spent = s.timed+done-s.done, s.spent+now.Sub(p.last)
		p.last = now
	}
	s.done, p.stage = done, stage
}

// progress returns the number of finished pieces and the number of all pieces, summed over the announced stages and the
// stage counted last.
func (p *pace) progress() (done, all int64) {
	for name, s := range p.stages {
		if s.announced || name == p.stage {
			done, all = done+s.done, all+s.all
		}
	}
	return done, all
}

// tell reports whether the user has not been told yet how long the current stage takes. It then marks all known stages
// as announced, because one note covers them.
func (p *pace) tell() bool {
	if p.stages[p.stage].told {
		return false
	}
	for _, s := range p.stages {
		s.told = true
	}
	return true
}

// left returns the remaining time at the mean pace so far. It is unknown in the first second, before each unfinished
// stage has a finished piece, and if it is less than half a second.
func (p *pace) left(now time.Time) (left time.Duration, known bool) {
	if len(p.stages) == 0 || now.Sub(p.begun) < time.Second {
		return 0, false
	}
	for name, s := range p.stages {
		switch {
		case s.done >= s.all || !s.announced && name != p.stage:
			continue
		case s.timed == 0 || s.spent <= 0:
			return 0, false
		}
		left += time.Duration(float64(s.spent) / float64(s.timed) * float64(s.all-s.done))
	}
	left -= now.Sub(p.last)
	return left, left >= time.Second/2
}

// lap records when a step of the command began.
type lap struct {
	name  string
	begun time.Time
}

// laps lists how long each step took, in the order in which they began, without steps below a tenth of a second.
func laps(steps []lap, begun, end time.Time) string {
	text := fmt.Sprintf("%.1f s", end.Sub(begun).Seconds())
	var parts []string
	for i, s := range steps {
		until := end
		if i+1 < len(steps) {
			until = steps[i+1].begun
		}
		if took := until.Sub(s.begun); took >= time.Second/10 {
			parts = append(parts, fmt.Sprintf("%s %.1f s", s.name, took.Seconds()))
		}
	}
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return text
}
