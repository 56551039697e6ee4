package cli

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestExamples checks that the help of every command has examples, and that the parser accepts each: the command, its
// flags with their values, and the number of arguments.
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

// TestPages checks that every command line in a code block of README or docs parses, except in the notes.
func TestPages(t *testing.T) {
	pages := []string{"../../../README.md"}
	err := filepath.WalkDir("../../../docs", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "notes":
			return filepath.SkipDir // notes are dated and not updated
		case strings.HasSuffix(file, ".md"):
			pages = append(pages, file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, page := range pages {
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

// quoted matches a quoted word, expanded a word that the shell expands.
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

// parse returns an error unless words is a valid command line of about or one of its subcommands.
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
