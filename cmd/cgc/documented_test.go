package main

import (
	"bytes"
	"database/sql"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/graph-condensation/cgc/cli"
	"github.com/graph-condensation/cgc/internal/offline"
)

// The pages show a command and what it prints like this; a line with … alone stands for any lines:
//
//	```
//	$ cgc condense demo -o small.safetensors
//	…
//	```
//
// Other blocks hold commands alone. TestDocumented runs both, page by page in one folder and in their order. It
// compares what the first print, and wants the second to succeed.

// substitute is a command that a test runs in place of one that takes minutes, or needs what a test has not.
type substitute struct {
	page, command string
	// instead is run in place of command; if it begins with " --", it is added to it. Empty if nothing is run.
	instead string
	why     string
}

// substitutes lists all commands that are not run as they stand.
var substitutes = []substitute{
	{"README.md", "pip install ./python", "", "python/check.sh does it, and tests what is installed"},
	{"README.md", "go install ./cmd/cgc", "", "the command of this test is the same build"},
	{"README.md", "cgc evaluate small.safetensors --on cora --models gcn,gat", " --seeds 1 --epochs 20", "minutes"},
	{"README.md", "cgc tune cora --nodes 70 --seconds 60 -o best.json",
		"cgc tune cora --nodes 70 --seconds 2 --seeds 1 --epochs 20 -o best.json", "a minute and more"},
	{"README.md", "cgc report small.safetensors --on cora -o report.html", " --seeds 1 --epochs 20", "a minute"},
	{"README.md", "cgc run my-graph/ --ratio 1% --models gcn,sage", " --seeds 1 --epochs 20", "a minute"},
	{"README.md", "cgc condense my-graph/ --nodes 200 -o small.safetensors",
		"cgc condense my-graph/ --nodes 20 -o small.safetensors", "the example has 80 training nodes"},
	{"README.md", "go test work", "", "would run this test"},
	{"README.md", "bash .ci/run", "", "would run this test"},
	{"README.md", "make dist", "", ".ci/reproducible does it, twice"},
	{"docs/guide.md", "cgc report shop-20.safetensors --on shop -o shop.html", " --seeds 1 --epochs 20", "half a minute"},
	{"docs/command.md", "source <(cgc completion bash)", "source <(cgc completion bash); complete -p cgc",
		"shows that the shell knows it"},
	{"docs/formats.md", "cgc run shop.db --nodes-sql 'select sku as id, department as label, price, weight from items' " +
		"--edges-sql 'select a as source, b as target from bought_together'", " --nodes 20 --seeds 1 --epochs 20", "time"},
	{"docs/better.md", "cgc experiment cora --methods cgc,cgc-x,cgc-d --nodes 70 --models gcn --whole 0 " +
		"--validate-every 10 -o results", " --seeds 1 --epochs 10", "minutes"},
	{"docs/formats.md", "cgc condense 'postgres://reader@db.example.org/shop' --nodes 200 -o small.safetensors", "",
		"needs a server; the tests of tables/postgres start one"},
	{"docs/formats.md", "cgc condense 'postgres://reader@db.example.org/shop' --nodes 200 -o small.safetensors " +
		"--nodes-sql 'select id, label, split, embedding from items' --edges-sql 'select source, target from links'", "",
		"needs a server; the tests of tables/postgres start one"},
	{"docs/report.md", "cgc report cora-70.safetensors --on cora", " --seeds 1 --epochs 20", "a minute"},
	{"docs/results.md",
		"cgc paper table3 ablation depth --graphs cora,citeseer --seeds 5 --validate-every 5 -o results",
		"cgc paper table3 ablation depth --graphs cora,citeseer --seeds 1 --epochs 2 --whole 0 --validate-every 5 -o results",
		"an hour"},
	{"docs/rivals.md", "cgc experiment cora --methods cgc,random,herding,k-center --nodes 35,70,140 -o results",
		" --seeds 1 --epochs 10 --whole 0", "minutes"},
	{"docs/rivals.md", "cgc experiment cora --methods all --nodes 70 -o results",
		"cgc experiment shop --methods cgc,cgc-x,simdm,random,herding,k-center,vn,a-cm,sntk,sntk-x --nodes 8 " +
			"-o results-of-all --seeds 1 --epochs 5 --whole 0",
		"hours; the methods that learn step by step are left to the tests of their packages, and the graph is small"},
	{"docs/rivals.md",
		"cgc condense cora --nodes 70 --method doscond --param lr_feat=0.01 --seed 0 -o doscond.safetensors",
		"cgc condense shop --nodes 8 --method doscond --param lr_feat=0.01 --param epochs=1 -o doscond.safetensors",
		"minutes, as the method learns"},
	{"docs/rivals.md", "cgc paper table3 --graphs cora --methods doscond --param doscond.lr_feat=0.01 " +
		"--validate-every 10 --whole 0 -o r", "cgc paper table3 --graphs cora --methods random --seeds 1 --epochs 2 " +
		"--validate-every 10 --whole 0 -o r", "half an hour, as the method learns"},
	{"docs/rivals.md", "cgc evaluate doscond.safetensors --on cora --models gcn --seeds 1 --seed 0 --validate-every 10",
		"cgc evaluate doscond.safetensors --on shop --models gcn --seeds 1 --seed 0 --validate-every 10 --epochs 20",
		"the graph is that of the line before"},
	{"docs/web.md", "cgc web --open", "", "serves until Ctrl-C; cli has tests of it, and browser of the page"},
	{"docs/web.md", "go generate ./web && go build ./cmd/cgc", "", "browser/web does it, and opens the page"},
}

// elsewhere are pages whose commands another test runs.
var elsewhere = map[string]string{"docs/cluster.md": "TestClusterPage, and the tests of cgc.spark"}

func TestMain(m *testing.M) { testscript.Main(local{m}, map[string]func(){"cgc": cli.Main}) }

// local keeps the tests of this process away from the network. What they start gets a proxy that is not there.
type local struct{ *testing.M }

func (l local) Run() int { return offline.Main(l.M) }

// shown is a command line of a page. output is what it prints there, nil if the page does not say.
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
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	data := graphsOfPages(t)
	met, ran := map[substitute]bool{}, map[string]bool{} // -run may leave pages out
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
				if i := slices.IndexFunc(substitutes, func(u substitute) bool {
					return u.page == s.page && u.command == s.command
				}); i >= 0 {
					met[substitutes[i]] = true
					if line = substitutes[i].line(); line == "" {
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

func (u substitute) line() string {
	if strings.HasPrefix(u.instead, " --") {
		return u.command + u.instead
	}
	return u.instead
}

// pagesOfDocs returns README and the pages of docs, from the root of the module.
func pagesOfDocs(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	for i, page := range pages {
		pages[i] = filepath.ToSlash(strings.TrimPrefix(page, filepath.FromSlash("../../")))
	}
	return append([]string{"README.md"}, pages...)
}

// program begins a line of a block that is a command.
var program = regexp.MustCompile(`^(cgc|go|bash|make|pip|python|source|spark-submit|npm|sh) `)

// commandsOf returns the command lines in the blocks of a page. In a block with "$ cgc", what follows it is its output.
func commandsOf(t *testing.T, page string) (all []shown) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", page))
	if err != nil {
		t.Fatal(err)
	}
	kind, fenced, output, more := "", false, false, false
	for i, line := range strings.Split(string(text), "\n") {
		if after, fence := strings.CutPrefix(line, "```"); fence {
			fenced, kind, output, more = !fenced, after, false, false
			continue
		}
		command, indented := strings.CutPrefix(line, "    ")
		prompted, prompt := strings.CutPrefix(line, "$ cgc ")
		switch {
		case more: // the line before ended with a backslash
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

// graphsOfPages returns a folder for CGC_DATA. It is that of the tests if they have Cora and Citeseer, else a folder
// with graphs that are made at their sizes and called so.
func graphsOfPages(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"cora", "citeseer"} {
		_, err := runLine(t, dir, os.Getenv("CGC_DATA"), "cgc data describe "+name+" --quiet")
		if err == nil {
			continue
		}
		t.Logf("%s is not here: a graph that is made at its size takes its place", name)
		if _, err := runLine(t, dir, dir, "cgc data make --like "+name+" -o "+name+".safetensors --quiet"); err != nil {
			t.Fatal(err)
		}
	}
	if made, _ := filepath.Glob(filepath.Join(dir, "*.safetensors")); len(made) == 0 {
		return os.Getenv("CGC_DATA")
	}
	return dir
}

// exampleFolder returns a folder with what the pages take for given: the example's shop, the same as one's own graph,
// and the same in a database whose tables have names of their own.
func exampleFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, to := range []string{"", "my-graph"} {
		from := filepath.Join("../../docs/example", strings.Replace(to, "my-graph", "shop", 1))
		if err := os.CopyFS(filepath.Join(dir, to), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "shop.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for table, file := range map[string]string{
		"items (sku, department, split, price, weight)": "nodes.csv", "bought_together (a, b)": "edges.csv",
	} {
		if _, err := db.ExecContext(t.Context(), "create table "+table); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "shop", file))
		if err != nil {
			t.Fatal(err)
		}
		columns := strings.Count(table, ",") + 1
		marks := "?" + strings.Repeat(", ?", columns-1)
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
			var values []any
			for _, word := range strings.Split(line, ",")[:columns] {
				values = append(values, word)
			}
			if _, err := tx.ExecContext(t.Context(), "insert into "+table+" values ("+marks+")", values...); err != nil {
				t.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// runLine runs a command line, without a network, and returns the notes and the lines on standard output.
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
