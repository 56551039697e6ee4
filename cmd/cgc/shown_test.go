package main

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// tolerance returns the allowed difference of accuracies from a line of the page, in percentage points: at least 2.5,
// because SIMD code paths round differently, and at least the largest standard deviation on the line.
func tolerance(line string) float64 {
	points := 2.5
	for _, found := range spread.FindAllStringSubmatch(line, -1) {
		if s, err := strconv.ParseFloat(found[1], 64); err == nil {
			points = max(points, s)
		}
	}
	return points
}

// differ returns the line of the page that differs from the output, or "".
func differ(page, printed []string) string {
	page = trimEmpty(page)
	for i, want := range page {
		if want == "…" {
			if i == len(page)-1 {
				return ""
			}
			for skip := range len(printed) + 1 { // skip as few printed lines as possible
				if differ(page[i+1:], printed[skip:]) == "" {
					return ""
				}
			}
			return fmt.Sprintf("after … the page has %q", page[i+1])
		}
		if len(printed) == 0 {
			return fmt.Sprintf("the page goes on with %q", want)
		}
		if !sameLine(want, printed[0], heading(page[:i])) {
			return fmt.Sprintf("the page has %q, printed is %q", want, printed[0])
		}
		printed = printed[1:]
	}
	if len(printed) > 0 {
		return fmt.Sprintf("the page lacks %q", printed[0])
	}
	return ""
}

func trimEmpty(lines []string) []string {
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

var (
	gap     = regexp.MustCompile(` {2,}`)
	number  = regexp.MustCompile(`-?\d[\d,]*(\.\d+)?`)
	spread  = regexp.MustCompile(`± (\d+\.\d+)`)
	seconds = regexp.MustCompile(`seconds|\bs$`)
	elapsed = regexp.MustCompile(`\d[\d,.]* ?(ms|s|seconds|MB|GB|GB/s|GFLOP/s|MiB|GiB)\b`)
)

// heading returns the first line of the table that the last of the given lines belongs to, or "".
func heading(before []string) string {
	first := len(before)
	for first > 0 && before[first-1] != "" && before[first-1] != "…" {
		first--
	}
	if first == len(before) {
		return ""
	}
	return before[first]
}

// sameLine compares a line of a page with a printed line. It ignores times, memory and code paths, and allows small
// differences of accuracies.
func sameLine(want, got, head string) bool {
	if want == got {
		return true
	}
	a, b := cells(elapsed.ReplaceAllString(want, "T")), cells(elapsed.ReplaceAllString(got, "T"))
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !sameCell(a[i].text, b[i].text, timed(head, a[i]), tolerance(want)) {
			return false
		}
	}
	return true
}

// cell is a part of a line, delimited by two or more spaces: the runes from start to end.
type cell struct {
	text       string
	start, end int
}

func cells(line string) (all []cell) {
	place := func(bytes int) int { return utf8.RuneCountInString(line[:bytes]) }
	start := 0
	for _, between := range append(gap.FindAllStringIndex(line, -1), []int{len(line), len(line)}) {
		if between[0] > start {
			all = append(all, cell{line[start:between[0]], place(start), place(between[0])})
		}
		start = between[1]
	}
	return all
}

// timed reports whether a cell is in a column of seconds.
func timed(head string, c cell) bool {
	if strings.HasPrefix(head, "seconds ") {
		return true
	}
	for _, h := range cells(head) {
		if h.start < c.end && c.start < h.end && seconds.MatchString(h.text) {
			return true
		}
	}
	return false
}

func sameCell(want, got string, timed bool, points float64) bool {
	x, y := number.FindAllString(want, -1), number.FindAllString(got, -1)
	if number.ReplaceAllString(want, "#") != number.ReplaceAllString(got, "#") || len(x) != len(y) {
		return false
	}
	accuracy := strings.ContainsAny(want, "±%") || strings.Contains(want, " to ") ||
		strings.Contains(want, "points")
	for i := range x {
		if x[i] == y[i] || timed {
			continue
		}
		v, err1 := strconv.ParseFloat(x[i], 64)
		w, err2 := strconv.ParseFloat(y[i], 64)
		if !accuracy || err1 != nil || err2 != nil || math.Abs(v-w) > points {
			return false
		}
	}
	return true
}

// TestDiffer checks what counts as a difference.
func TestDiffer(t *testing.T) {
	page := []string{"graph  nodes", "demo   4,000", "", "seconds  load", "mean     0.05", "",
		"model        test  seconds", "gcn    85.4 ± 0.6     14.0", "…", "in 0.05 s"}
	for _, c := range []struct {
		line int
		text string
		want bool
	}{
		{1, "demo  4,000", true},
		{1, "demo  4,001", false},
		{4, "mean  7.25", true},
		{7, "gcn    84.9 ± 0.9      3.1", true},
		{7, "gcn    80.0 ± 0.6     14.0", false},
		{7, "sgc    85.4 ± 0.6     14.0", false},
		{8, "any line", true},
		{9, "in 12 s", true},
		{9, "in 12 m", false},
	} {
		printed := append([]string{}, page...)
		printed[c.line] = c.text
		if wrong := differ(page, printed); (wrong == "") != c.want {
			t.Errorf("line %d as %q: %q", c.line, c.text, wrong)
		}
	}
	if differ(page, page[:3]) == "" || differ(page[:3], page) == "" {
		t.Error("pages that end earlier or later are the same")
	}
}
