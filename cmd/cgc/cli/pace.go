package cli

import (
	"fmt"
	"strings"
	"time"
)

// pace estimates the remaining time from counts of pieces of work. Pieces of one stage take about the same time.
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
	announced bool
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
		s = &counted{done: done, all: all, announced: done == 0}
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

// left returns the remaining time at the mean pace so far. It is known after one second, if each unfinished stage has
// at least one finished piece. It falls between two pieces, and is unknown again below half a second.
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
