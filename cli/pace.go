package cli

import (
	"fmt"
	"strings"
	"time"
)

// pace follows one count of pieces of work, from which the time that is left follows.
type pace struct {
	all         int64
	first, done int64 // pieces done when the count began, and now
	begun, last time.Time
}

// count takes the news of a count. Another total, or fewer pieces than before, is the begin of another count.
func (p *pace) count(done, all int64, now time.Time) {
	if all != p.all || done < p.done {
		*p = pace{all: all, first: done, begun: now}
	}
	if done > p.done || p.last.IsZero() {
		p.last = now
	}
	p.done = done
}

// left returns how long the rest takes at the mean pace so far. It is known after a second and the first finished
// piece. Between the ends of two pieces it falls with time.
func (p *pace) left(now time.Time) (left time.Duration, known bool) {
	did, spent := p.done-p.first, p.last.Sub(p.begun)
	if p.all == 0 || did <= 0 || spent <= 0 || now.Sub(p.begun) < time.Second {
		return 0, false
	}
	rest := time.Duration(float64(spent) / float64(did) * float64(max(p.all-p.done, 0)))
	return max(rest-now.Sub(p.last), 0), true
}

// lap is the begin of a step of the command.
type lap struct {
	name  string
	begun time.Time
}

// laps says how long each step took, in the order in which they were begun. Steps of less than a tenth of a second are
// left out.
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
