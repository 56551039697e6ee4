package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/cwriter"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/graph-condensation/cgc/progress"
)

// delay is how long a job runs before its progress is shown.
const delay = time.Second

// meter shows the progress of the command in one line on a terminal: what is being done and, where it is known, how far
// it is and how long the rest takes. A line at the end says where the time went. If standard error is not a terminal,
// only notes are written. Its methods may be called from any goroutine.
type meter struct {
	stderr io.Writer // for notes; nil: quiet
	timer  *time.Timer

	mutex     sync.Mutex
	name      string
	done, all int64 // all 0: not known
	begun     time.Time
	pace      pace
	steps     []lap // what was begun so far
	closed    bool
	container *mpb.Progress // nil before the delay is over
	bar       *mpb.Bar
	events    *events // nil unless a program asks for them
}

func newMeter(stderr io.Writer, quiet bool) *meter {
	p := &meter{begun: time.Now()}
	if quiet {
		return p
	}
	p.stderr = stderr
	if p.events = newEvents(stderr); p.events != nil {
		return p
	}
	if file, is := stderr.(*os.File); is && cwriter.IsTerminal(int(file.Fd())) {
		p.timer = time.AfterFunc(delay, func() { p.show(stderr) })
	}
	return p
}

// listen returns a context whose work shows its progress. An event without a total is a part of what was counted last.
func (p *meter) listen(ctx context.Context) context.Context {
	return progress.With(ctx, func(e progress.Event) {
		if e.Total == 0 {
			p.rename(e.Stage)
			return
		}
		p.count(e.Stage, e.Done, e.Total)
	})
}

// step says what is being done.
func (p *meter) step(name string) {
	p.count(name, 0, 0)
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.steps = append(p.steps, lap{name, time.Now()})
}

// rename says what is being done, as part of what was counted last if that has not ended.
func (p *meter) rename(name string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.name = name
	if p.done >= p.all {
		p.done, p.all = 0, 0
		p.pace.count(0, 0, time.Now())
	}
	p.events.tell(name, p.done, p.all)
}

// count says what is being done, and how much of it is done.
func (p *meter) count(name string, done, all int64) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.name, p.done, p.all = name, done, all
	p.events.tell(name, done, all)
	p.pace.count(done, all, time.Now())
}

// note writes a sentence that the user should know.
func (p *meter) note(format string, args ...any) {
	if p.stderr == nil {
		return
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	w := p.stderr
	if p.container != nil && !p.closed {
		w = p.container // above the bar
	}
	fmt.Fprintln(w, fold("note: "+fmt.Sprintf(format, args...), columns(p.stderr)))
}

// columns returns the width of a terminal, 0 if w is none.
func columns(w io.Writer) int {
	if file, is := w.(*os.File); is && cwriter.IsTerminal(int(file.Fd())) {
		if width, _, err := cwriter.GetSize(int(file.Fd())); err == nil {
			return width
		}
	}
	return 0
}

// fold breaks a text between words into lines of at most width columns, the second and later ones indented. A longer
// word has a line of its own. 0 columns mean any number.
func fold(text string, width int) string {
	const indent = "      "
	var folded strings.Builder
	used := 0
	for i, word := range strings.Split(text, " ") {
		letters := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case width > len(indent) && used+1+letters > width:
			folded.WriteString("\n" + indent)
			used = len(indent)
		default:
			folded.WriteByte(' ')
			used++
		}
		folded.WriteString(word)
		used += letters
	}
	return folded.String()
}

func (p *meter) state() (name string, done, all int64) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.name, p.done, p.all
}

// show adds the bar. The bar reads p.state while it is drawn, so no work waits for the drawing.
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
	p.mutex.Lock()
	done, all, pace := p.done, p.all, p.pace
	p.mutex.Unlock()
	now := time.Now()
	seconds := now.Sub(p.begun).Round(time.Second)
	if all == 0 {
		return " " + seconds.String()
	}
	text := fmt.Sprintf("%d%% %s", 100*min(done, all)/all, seconds)
	if left, known := pace.left(now); known {
		text += ", " + left.Round(time.Second).String() + " left"
	}
	return text
}

// figuresWidth is the room for figures and a short bar, in columns.
const figuresWidth = 40

// label returns what is being done, shortened in the middle to the width of the terminal.
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

// finish removes the bar, if there was one, and leaves a line that says where the time went.
func (p *meter) finish() {
	if p.close() {
		fmt.Fprintln(p.stderr, laps(p.steps, p.begun, time.Now()))
	}
}

// close removes the bar, and says whether there was one. It does nothing for a nil meter or a closed one.
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
