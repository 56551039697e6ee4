package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/internal/spelling"
)

// onlyCommands is the body of a command that has only subcommands. It prints the help, or says which one is unknown.
func onlyCommands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	return unknownCommand(cmd, args[0])
}

// unknownCommand is the mistake of a word that is none of the commands below cmd. Below the root, the word may be a
// graph whose command was left out.
func unknownCommand(cmd *cobra.Command, word string) error {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	hint := fmt.Sprintf("(%s --help lists the commands)", cmd.CommandPath())
	_, missing := os.Stat(word)
	if near := spelling.Near(word, names); len(near) > 0 {
		hint = "(did you mean " + strings.Join(near, " or ") + "?)"
	} else if !cmd.HasParent() && (missing == nil || slices.Contains(graphNames(), word)) {
		hint = fmt.Sprintf("(%s is a graph: cgc run %s)", word, word)
	}
	return usagef("unknown command %q %s", strings.TrimPrefix(cmd.CommandPath()+" "+word, "cgc "), hint)
}

// graphNames returns the names of the graphs that can be opened.
func graphNames() (names []string) {
	for _, s := range dataset.Environment().List() {
		if s.Path != "" || s.Fetchable || s.Name == "demo" {
			names = append(names, s.Name)
		}
	}
	return names
}

// helpCommand is "cgc help COMMAND".
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Example: examples("cgc help condense", "cgc help data make"),
		Short:   "Help about any command",
		Args:    cobra.ArbitraryArgs,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, c := range about.Commands() {
				if c.IsAvailableCommand() {
					names = append(names, c.Name()+"\t"+c.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return unknownCommand(about, rest[0])
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// unknownFlag is the mistake of a flag that cmd does not have. word is what was typed, with its hyphens.
func unknownFlag(cmd *cobra.Command, word string) error {
	var names []string
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden {
			names = append(names, flag.Name)
		}
	})
	name := strings.TrimLeft(word, "-")
	if !strings.HasPrefix(word, "--") && len(name) > 1 && slices.Contains(names, name) {
		return usagef("unknown flag %s (did you mean --%s, with two hyphens?)", word, name)
	}
	if near := spelling.Near(name, names); len(near) > 0 && len(name) > 1 {
		return usagef("unknown flag %s (did you mean --%s?)", word, strings.Join(near, " or --"))
	}
	hint := cmd.CommandPath() + " --help lists the flags"
	if strings.HasPrefix(word, "--") {
		if others := withFlag(cmd.Root(), name); len(others) > 0 {
			hint = "it is one of " + strings.Join(others[:min(3, len(others))], ", ") + "; " + hint
		}
	}
	return usagef("unknown flag %s (%s)", word, hint)
}

// withFlag returns the commands that have a flag.
func withFlag(cmd *cobra.Command, name string) (commands []string) {
	for _, c := range cmd.Commands() {
		if flag := c.LocalFlags().Lookup(name); flag != nil && !flag.Hidden && c.IsAvailableCommand() {
			commands = append(commands, c.CommandPath())
		}
		commands = append(commands, withFlag(c, name)...)
	}
	return commands
}

// nearPath returns a hint for a file or a folder that is not there: what stands beside it under a similar name. For a
// file that is a part of a graph, the hint is the folder.
func nearPath(err error) string {
	var (
		missing *dataset.NotFound
		part    *format.Unrecognised
		file    *fs.PathError
		path    string
	)
	switch {
	case errors.As(err, &part) && !part.Folder:
		folder := filepath.Dir(part.Path)
		if _, err := format.Recognise(folder); err == nil {
			return "; did you mean the folder " + folder + "?"
		}
		return ""
	case errors.As(err, &missing) && len(missing.Near) == 0:
		path = missing.Name
	case errors.As(err, &file) && errors.Is(err, fs.ErrNotExist):
		path = file.Path
	default:
		return ""
	}
	folder, name := filepath.Split(filepath.Clean(path))
	entries, err := os.ReadDir(filepath.Clean(folder + "."))
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return spelling.Hint(folder, name, names)
}
