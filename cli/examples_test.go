package cli

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestExamples: the help of every command has examples, and each is a command line that parses: the command, its flags
// with their values, and the number of arguments.
func TestExamples(t *testing.T) {
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.IsAvailableCommand() && cmd.Example == "" && !strings.HasPrefix(cmd.CommandPath(), "cgc completion") {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
		for line := range strings.Lines(cmd.Example) {
			if err := parse(strings.Fields(line), cmd); err != nil {
				t.Errorf("%s: example %q: %v", cmd.CommandPath(), strings.TrimSpace(line), err)
			}
		}
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(commandTree())
	if err := parse(strings.Fields("cgc run cora --node 70"), commandTree()); err == nil {
		t.Error("a wrong flag parses")
	}
}

// TestPages: every command line in a block of README and of the pages of docs parses.
func TestPages(t *testing.T) {
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, page := range append(pages, "../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		block, whole := false, ""
		for i, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(line, "```") {
				block = !block
			}
			command, is := strings.CutPrefix(line, "$ cgc ")
			if !is && block {
				command, is = strings.CutPrefix(line, "cgc ")
			}
			if !is && !block {
				command, is = strings.CutPrefix(line, "    cgc ")
			}
			if is {
				whole = "cgc " + command
			} else if whole != "" {
				whole += " " + strings.TrimSpace(line)
			}
			if whole == "" || strings.HasSuffix(whole, "\\") {
				whole = strings.TrimSuffix(whole, "\\")
				continue
			}
			command, _, _ = strings.Cut(whole, " #")
			whole = ""
			command = expanded.ReplaceAllString(quoted.ReplaceAllString(command, "x"), "1")
			if err := parse(strings.Fields(command), commandTree()); err != nil {
				t.Errorf("%s:%d: %q: %v", page, i+1, command, err)
			}
			count++
		}
	}
	t.Logf("%d command lines parse", count)
	if count < 20 {
		t.Errorf("%d command lines were found, want more", count)
	}
}

// quoted is a word in quotes, and expanded what a shell puts a value for.
var (
	quoted   = regexp.MustCompile(`'[^']*'|"[^"]*"`)
	expanded = regexp.MustCompile(`\$\(\(.*?\)\)|\$\w+`)
)

// commandTree returns all commands.
func commandTree() *cobra.Command {
	root := (&command{stdout: io.Discard, stderr: io.Discard}).root()
	root.InitDefaultHelpCmd()
	return root
}

// parse parses a command line of about, or of a command below it.
func parse(words []string, about *cobra.Command) error {
	root := commandTree() // flags keep their values
	cmd, rest, err := root.Find(words[1:])
	if err != nil {
		return err
	}
	if about.HasParent() && !strings.HasPrefix(cmd.CommandPath(), about.CommandPath()) {
		return usagef("is of %s", cmd.CommandPath())
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	if !cmd.HasSubCommands() {
		return cmd.ValidateArgs(cmd.Flags().Args())
	}
	return nil
}
