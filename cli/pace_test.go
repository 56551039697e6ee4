package cli

import (
	"testing"
	"time"
)

// TestPace: the time left follows the mean pace, falls between the ends of pieces, and begins anew with another count.
func TestPace(t *testing.T) {
	zero := time.Unix(0, 0)
	at := func(seconds float64) time.Time { return zero.Add(time.Duration(seconds * float64(time.Second))) }
	var p pace
	check := func(now, want float64, known bool) {
		t.Helper()
		left, is := p.left(at(now))
		if is != known || is && left.Seconds() != want {
			t.Errorf("after %g s: %v (%v), want %g s (%v)", now, left, is, want, known)
		}
	}
	p.count(0, 0, at(0))
	check(5, 0, false) // nothing is counted
	p.count(10, 110, at(10))
	check(12, 0, false) // ten pieces were done before
	p.count(20, 110, at(10.5))
	check(10.9, 0, false) // too early
	p.count(35, 110, at(15))
	check(15, 15, true) // 25 pieces in 5 s, 75 left
	check(18, 12, true)
	check(60, 0, true) // the piece takes longer than it should
	p.count(110, 110, at(61))
	check(61, 0, true)
	p.count(1, 110, at(70)) // fewer than before: another count with the same total
	check(75, 0, false)
	p.count(2, 110, at(75))
	check(75, 540, true)
}

// TestLaps: the line at the end.
func TestLaps(t *testing.T) {
	zero := time.Unix(0, 0)
	at := func(tenths int) time.Time { return zero.Add(time.Duration(tenths) * 100 * time.Millisecond) }
	steps := []lap{{"opening cora", at(1)}, {"condensing", at(15)}, {"writing a", at(15)}, {"writing b", at(33)}}
	want := "4.0 s: opening cora 1.4 s, writing a 1.8 s, writing b 0.7 s"
	if got := laps(steps, at(0), at(40)); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := laps(nil, at(0), at(21)); got != "2.1 s" {
		t.Errorf("%q", got)
	}
}

// TestLabel: a long name is cut in the middle.
func TestLabel(t *testing.T) {
	p := &meter{name: "reading /a/very/long/path/of/a/folder/that/does/not/end/edges.csv"}
	if got, want := p.label(60), "reading /…/edges.csv"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := p.label(300); got != p.name {
		t.Errorf("%q", got)
	}
}
