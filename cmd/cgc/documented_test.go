package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/graph-condensation/cgc/cmd/cgc/cli"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/slow"
)

// The pages show a command and its output like this, where a line … stands for any number of lines:
//
//	```
//	$ cgc condense demo -o small.safetensors
//	…
//	```
//
// Other blocks contain only commands. TestDocumented runs all blocks of a page in order, in one folder. It compares the
// output if the page shows it; otherwise the command only has to succeed.

// substitute replaces a documented command that takes minutes or needs something the test lacks.
type substitute struct {
	page, command string
	instead       string // the command to run; empty for none
	why           string
}

// substitutes lists the commands that are replaced or run without the flags of quick.
var substitutes = []substitute{
	{"README.md", "pip install ./python", "", "python/check.sh does it, and tests what is installed"},
	{"README.md", "go install ./cmd/cgc", "", "the command of this test is the same build"},
	{"docs/how-to/browser.md", "cgc web --open", "", "serves until Ctrl-C; cli has tests of it, and browser of the page"},
	{"docs/how-to/larger-than-memory.md",
		"cgc data make --like papers100m --scale 1/16 -o big.safetensors --store f16 --panels 16",
		"cgc data make --like papers100m --scale 1/10000 -o big.safetensors --store f16 --panels 16", "minutes, and 3 GB"},
	{"docs/reference/formats.md",
		"cgc condense 'postgres://reader@db.example.org/shop' --nodes 200 -o small.safetensors", "",
		"needs a server; the tests of tables/internal/postgres start one"},
	{"docs/how-to/settings.md", "source <(cgc completion bash)", "source <(cgc completion bash); complete -p cgc",
		"shows that the shell knows it"},
}

// quick maps commands that train to flags that shorten them. The flags are added if the page does not show the output.
var quick = map[string]string{
	"run": " --seeds 1 --epochs 10 --whole 0", "experiment": " --seeds 1 --epochs 10 --whole 0",
	"evaluate": " --seeds 1 --epochs 10", "train": " --seeds 1 --epochs 10",
	"search": " --trials 4 --epochs 2 --finalists 1",
	"report": " --seeds 1 --epochs 10 --whole 0 --ceilings=false",
	"tune":   " --trials 8 --seeds 1 --epochs 10", "paper": " --seeds 1 --epochs 2 --whole 0",
}

// elsewhere maps pages to the other tests that run their commands.
var elsewhere = map[string]string{"docs/how-to/several-machines.md": "TestClusterPage, and the tests of cgc.spark"}

func TestMain(m *testing.M) { testscript.Main(local{m}, map[string]func(){"cgc": cli.Main}) }

// local keeps the tests in this process off the network. The processes that they start get a nonexistent proxy.
type local struct{ *testing.M }

func (l local) Run() int { return fixture.Offline(l.M) }

// shown is a command line of a page. output is its output on the page, or nil if the page shows none.
type shown struct {
	page    string
	line    int
	command string
	output  []string
}

func TestDocumented(t *testing.T) {
	slow.Test(t, "trains as often as the pages do")
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	data := graphsOfPages(t)
	met, ran := map[substitute]bool{}, map[string]bool{} // pages may be missing, because -run can skip them
	for _, page := range pagesOfDocs(t) {
		commands := commandsOf(t, page)
		if why, is := elsewhere[page]; is || len(commands) == 0 {
			t.Logf("%s: %d commands; run by: %s", page, len(commands), why)
			continue
		}
		t.Run(page, func(t *testing.T) {
			ran[page] = true
			dir := exampleFolder(t)
			for _, s := range commands {
				line := s.command
				if words := strings.Fields(line); s.output == nil && len(words) > 1 && words[0] == "cgc" {
					line += quick[words[1]]
				}
				if i := slices.IndexFunc(substitutes, func(u substitute) bool {
					return u.page == s.page && u.command == s.command
				}); i >= 0 {
					met[substitutes[i]] = true
					if line = substitutes[i].instead; line == "" {
						t.Logf("%s:%d: not run: %s: %s", s.page, s.line, s.command, substitutes[i].why)
						continue
					}
				}
				got, err := runLine(t, dir, data, line)
				if wrong := differ(s.output, got); s.output != nil && wrong != "" {
					t.Errorf("%s:%d: %s: %s\nprinted:\n%s", s.page, s.line, line, wrong, strings.Join(got, "\n"))
				} else if s.output == nil && err != nil {
					t.Errorf("%s:%d: %s: %v\nprinted:\n%s", s.page, s.line, line, err, strings.Join(got, "\n"))
				}
			}
		})
	}
	for _, u := range substitutes {
		if ran[u.page] && !met[u] {
			t.Errorf("%s does not show %s, for which there is a substitute", u.page, u.command)
		}
	}
}

// TestExamplesHaveNamesOfTheirOwn checks that the methods and models on the page about extensions are not built in:
// registering a name twice panics.
func TestExamplesHaveNamesOfTheirOwn(t *testing.T) {
	page := string(mattest.Must(os.ReadFile("../../docs/how-to/extend.md")))
	names := regexp.MustCompile(`Name\(\) string +\{ return "([^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(names) == 0 {
		t.Fatal("the page names no method or model")
	}
	taken := append(condense.Names(), gnn.Names()...)
	for _, name := range names {
		mattest.True(t, !slices.Contains(taken, name[1]), "extend.md registers %q, which is built in", name[1])
	}
}

// pagesOfDocs returns README and the pages of docs except its notes, as paths from the root of the repository.
func pagesOfDocs(t *testing.T) []string {
	t.Helper()
	pages := []string{"README.md"}
	err := filepath.WalkDir("../../docs", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "notes":
			return filepath.SkipDir // notes are dated, and their commands may be obsolete
		case strings.HasSuffix(file, ".md"):
			pages = append(pages, filepath.ToSlash(strings.TrimPrefix(file, filepath.FromSlash("../../"))))
		}
		return nil
	})
	if err != nil || len(pages) < 2 {
		t.Fatal(pages, err)
	}
	return pages
}

// program matches the beginning of a command line in a block.
var program = regexp.MustCompile(`^(cgc|go|bash|make|pip|python|source|spark-submit|npm|sh) `)

// commandsOf returns the command lines in the blocks of a page. In a block with "$ cgc", the lines after the command
// are its output.
func commandsOf(t *testing.T, page string) (all []shown) {
	t.Helper()
	text := mattest.Must(os.ReadFile(filepath.Join("../..", page)))
	kind, fenced, output, more := "", false, false, false
	for i, line := range strings.Split(string(text), "\n") {
		if after, fence := strings.CutPrefix(line, "```"); fence {
			fenced, kind, output, more = !fenced, after, false, false
			continue
		}
		command, indented := strings.CutPrefix(line, "    ")
		prompted, prompt := strings.CutPrefix(line, "$ cgc ")
		switch {
		case more: // the previous line ended with a backslash
			last := &all[len(all)-1]
			last.command += " " + strings.TrimSpace(line)
		case fenced && prompt:
			all, output = append(all, shown{page, i + 1, "cgc " + prompted, []string{}}), true
		case fenced && output:
			last := &all[len(all)-1]
			last.output = append(last.output, line)
			continue
		case fenced && (kind == "sh" || kind == "bash" || kind == "") && program.MatchString(line):
			all = append(all, shown{page, i + 1, line, nil})
		case !fenced && indented && program.MatchString(command):
			all = append(all, shown{page, i + 1, command, nil})
		default:
			continue
		}
		last := &all[len(all)-1]
		last.command, _, _ = strings.Cut(last.command, " #")
		last.command, more = strings.CutSuffix(strings.TrimSpace(last.command), "\\")
		last.command = strings.TrimSpace(last.command)
	}
	return all
}

// graphsOfPages returns a folder for CGC_DATA: the tests' own if it contains Cora and Citeseer, or else a folder with a
// synthetic graph of the same name and size for each one that is missing.
func graphsOfPages(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"cora", "citeseer"} {
		_, err := runLine(t, dir, os.Getenv("CGC_DATA"), "cgc data describe "+name+" --quiet")
		if err == nil {
			continue
		}
		t.Logf("%s is not here: a graph that is made at its size takes its place", name)
		mattest.Must(runLine(t, dir, dir, "cgc data make --like "+name+" -o "+name+".safetensors --quiet"))
	}
	if made, _ := filepath.Glob(filepath.Join(dir, "*.safetensors")); len(made) == 0 {
		return os.Getenv("CGC_DATA")
	}
	return dir
}

// exampleFolder returns a folder with the files that the pages assume: docs/example with the graph shop, a copy of shop
// named my-graph, and the same graph in a database whose tables and columns have other names.
func exampleFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, to := range []string{"", "my-graph"} {
		from := filepath.Join("../../docs/example", strings.Replace(to, "my-graph", "shop", 1))
		mattest.OK(t, os.CopyFS(filepath.Join(dir, to), os.DirFS(from)))
	}
	db := mattest.Must(sql.Open("sqlite", filepath.Join(dir, "shop.db")))
	defer db.Close()
	for table, file := range map[string]string{
		"items (sku, department, split, price, weight)": "nodes.csv", "bought_together (a, b)": "edges.csv",
	} {
		mattest.Must(db.ExecContext(t.Context(), "create table "+table))
		text := mattest.Must(os.ReadFile(filepath.Join(dir, "shop", file)))
		columns := strings.Count(table, ",") + 1
		marks := "?" + strings.Repeat(", ?", columns-1)
		tx := mattest.Must(db.BeginTx(t.Context(), nil))
		for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
			var values []any
			for _, word := range strings.Split(line, ",")[:columns] {
				values = append(values, word)
			}
			mattest.Must(tx.ExecContext(t.Context(), "insert into "+table+" values ("+marks+")", values...))
		}
		mattest.OK(t, tx.Commit())
	}
	return dir
}

// runLine runs a command line without a network, and returns the lines on standard error, then those on standard
// output.
func runLine(t *testing.T, dir, data, line string) ([]string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-c", line)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HTTPS_PROXY=http://127.0.0.1:1", "CGC_DATA="+data)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if _, failed := err.(*exec.ExitError); err != nil && !failed {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimRight(stderr.String()+stdout.String(), "\n"), "\n"), err
}

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

// differ describes how the output differs from the page, or returns "".
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
		wrong := differ(page, printed)
		mattest.True(t, (wrong == "") == c.want, "line %d as %q: %q", c.line, c.text, wrong)
	}
	mattest.True(t, differ(page, page[:3]) != "" && differ(page[:3], page) != "",
		"pages that end earlier or later are the same")
}
