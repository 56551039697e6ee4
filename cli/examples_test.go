package cli

import (
	"io"
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
