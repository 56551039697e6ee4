package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/graph-condensation/cgc/cli"
)

// The pages show a command and what it prints like this; a line with … alone stands for any lines:
//
//	```
//	$ cgc condense demo -o small.safetensors
//	…
//	```
//
// TestDocumented runs these commands, page by page in one folder, and compares what they print.

// documented lists the pages whose commands are run, from the root of the module.
var documented = []string{"README.md", "docs/guide.md"}

// tolerance returns how far accuracies may be from those of a line of the page, in points: kernels round differently.
// Accuracies of wide spread may be as far away as their standard deviation.
func tolerance(line string) float64 {
	points := 2.5
	for _, found := range spread.FindAllStringSubmatch(line, -1) {
		if s, err := strconv.ParseFloat(found[1], 64); err == nil {
			points = max(points, s)
		}
	}
	return points
}

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"cgc": cli.Main}) }

// shown is a command line of a page and the lines that it prints there.
type shown struct {
	page    string
	line    int
	command string
	output  []string
}

func TestDocumented(t *testing.T) {
	if testing.Short() {
		t.Skip("trains as often as the pages do")
	}
	for _, page := range documented {
		t.Run(page, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS("../../docs/example")); err != nil {
				t.Fatal(err)
			}
			for _, s := range commandsOf(t, page) {
				if needs, absent := lacks(s.command); absent {
					t.Logf("%s:%d: left out, %s is not here: %s", s.page, s.line, needs, s.command)
					continue
				}
				got := runShown(t, dir, s)
				if wrong := differ(s.output, got); wrong != "" {
					t.Errorf("%s:%d: %s: %s\nprinted:\n%s", s.page, s.line, s.command, wrong, strings.Join(got, "\n"))
				}
			}
		})
	}
}

// commandsOf returns what a page shows in blocks that begin with "$ cgc".
func commandsOf(t *testing.T, page string) (all []shown) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", page))
	if err != nil {
		t.Fatal(err)
	}
	block := false
	for i, line := range strings.Split(string(text), "\n") {
		switch command, is := strings.CutPrefix(line, "$ "); {
		case strings.HasPrefix(line, "```"):
			block = !block
			if block {
				all = append(all, shown{}) // output before a command belongs to none
			}
		case block && is:
			all = append(all, shown{page: page, line: i + 1, command: command})
		case block:
			last := &all[len(all)-1]
			last.output = append(last.output, line)
		}
	}
	commands := all[:0]
	for _, s := range all {
		if strings.HasPrefix(s.command, "cgc ") {
			commands = append(commands, s)
		}
	}
	if len(commands) == 0 {
		t.Fatalf("%s shows no command", page)
	}
	return commands
}

// lacks returns the graph that a command needs and that this machine does not have.
func lacks(command string) (graph string, absent bool) {
	for _, name := range []string{"cora", "citeseer"} {
		if !regexp.MustCompile(`\b` + name + `\b`).MatchString(command) {
			continue
		}
		if exec.Command("cgc", "data", "describe", name, "--quiet").Run() != nil {
			return name, true
		}
	}
	return "", false
}

// runShown runs a command without a shell and returns the lines on standard output and, before them, the notes.
func runShown(t *testing.T, dir string, s shown) []string {
	t.Helper()
	command, _, _ := strings.Cut(s.command, " #")
	words := strings.Fields(command)
	for i, word := range words {
		words[i] = strings.Trim(word, `'"`)
	}
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HTTPS_PROXY=http://127.0.0.1:1")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	text := strings.TrimRight(stderr.String()+stdout.String(), "\n")
	if _, failed := err.(*exec.ExitError); err != nil && !failed {
		t.Fatal(err)
	}
	return strings.Split(text, "\n")
}

// differ says which line of the page is not what was printed; nothing, if all are.
func differ(page, printed []string) string {
	page = trimEmpty(page)
	for i, want := range page {
		if want == "…" {
			if i == len(page)-1 {
				return ""
			}
			for skip := range len(printed) + 1 { // the rest of the page, after the fewest lines
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

// heading returns the first line of the table that goes on after these lines, empty if there is none.
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

// sameLine compares a line of a page with a printed one. Times, memory and kernels may be any, accuracies may be near.
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

// cell is a part of a line between gaps of two spaces or more: the runes from start to end.
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

// timed says whether a cell stands below a heading that speaks of seconds.
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

// TestDiffer shows what is compared and what is not.
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

// TestFlagsOfDocumented parses the command lines that the pages show without what they print. --help keeps them from
// running, after their flags were read.
func TestFlagsOfDocumented(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	indented, inline := regexp.MustCompile(`(?m)^    (cgc [^#\n]*)`), regexp.MustCompile("`(cgc [^`…]*)`")
	fence, fenced := regexp.MustCompile("(?s)```sh\n.*?```"), regexp.MustCompile(`(?m)^(cgc [^#\n]*)`)
	placeholder := regexp.MustCompile(`^[A-Z]+$`)
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		lines := append(indented.FindAllSubmatch(text, -1), inline.FindAllSubmatch(text, -1)...)
		for _, block := range fence.FindAll(text, -1) {
			lines = append(lines, fenced.FindAllSubmatch(block, -1)...)
		}
		for _, found := range lines {
			words := strings.Fields(string(found[1]))
			for i, word := range words {
				if words[i] = strings.Trim(word, `'"[]`); placeholder.MatchString(words[i]) {
					words[i] = "1"
				}
			}
			var stderr bytes.Buffer
			if cli.Run(t.Context(), append(words[1:], "--help"), io.Discard, &stderr) != 0 {
				t.Errorf("%s: %s: %s", page, found[1], &stderr)
			}
		}
	}
}
