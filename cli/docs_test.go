package cli

import (
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/propagate"
)

const commandPage = "../docs/command.md"

// TestFlagsInDocs compares the flags of the command with those that its page explains.
func TestFlagsInDocs(t *testing.T) {
	page := read(t, commandPage)
	root := (&command{stdout: io.Discard, stderr: io.Discard}).root()
	known := map[string]bool{}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		note := func(flag *pflag.Flag) { known[flag.Name] = true }
		cmd.LocalFlags().VisitAll(note)
		cmd.PersistentFlags().VisitAll(note)
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(root)
	said := map[string]bool{"output": strings.Contains(page, "-o "), "help": true}
	for _, name := range regexp.MustCompile(`--([a-z][a-z-]*)`).FindAllStringSubmatch(page, -1) {
		said[name[1]] = true
		if !known[name[1]] && name[1] != "help" {
			t.Errorf("%s explains --%s, which no command has", commandPage, name[1])
		}
	}
	for _, name := range []string{"run", "condense", "evaluate", "report", "experiment", "tune"} {
		cmd, _, err := root.Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			if !flag.Hidden && !said[flag.Name] {
				t.Errorf("%s says nothing of --%s of cgc %s", commandPage, flag.Name, name)
			}
		})
	}
}

// TestListsInDocs compares lists in the pages with what is registered.
func TestListsInDocs(t *testing.T) {
	rules := strings.Split(joinWords(propagate.Rules(), ","), ",")
	for row, names := range map[string][]string{
		"| `--method` |": condense.Names(), "| `--partition` |": partition.Names(), "| `--propagation` |": rules,
		"| `--models` |": gnn.Names(),
	} {
		_, cells, found := strings.Cut(read(t, commandPage), row)
		cells, _, _ = strings.Cut(cells, "\n")
		compare(t, commandPage+": "+row, found, code(cells), names)
	}
	const formats = "../docs/formats.md"
	_, table, found := strings.Cut(read(t, formats), "| name | read | written | format |\n")
	var first []string
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		cell, _, _ := strings.Cut(line[1:], "|")
		first = append(first, code(cell)...)
	}
	compare(t, formats, found, first, format.Names())
}

// compare wants the words of a table to be the registered names, other than those that tests register.
func compare(t *testing.T, where string, found bool, words, names []string) {
	t.Helper()
	names = slices.DeleteFunc(names, func(name string) bool { return name == "first" || name == "linear" })
	slices.Sort(words)
	slices.Sort(names)
	if !found || !slices.Equal(slices.Compact(words), names) {
		t.Errorf("%s lists %v (found: %v), want %v", where, words, found, names)
	}
}

// code returns the words of a text that are set as code.
func code(text string) (words []string) {
	for _, match := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(text, -1) {
		words = append(words, match[1])
	}
	return words
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
