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

// onlyCommands implements a command that has only subcommands. It prints the help, or reports an unknown subcommand.
func onlyCommands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	return unknownCommand(cmd, args[0])
}

// unknownCommand returns the error for an unknown subcommand of cmd. If cmd is the root, word may be a graph before
// which the user forgot the command.
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

// helpCommand returns the command "cgc help COMMAND".
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Example: examples("cgc help condense", "cgc help data make"),
		Short:   "Show the help of a command",
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

// unknownFlag returns the error for a flag that cmd does not have. word is the flag as typed, with its hyphens.
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

// withFlag returns the paths of the commands that have the named flag.
func withFlag(root *cobra.Command, name string) (commands []string) {
	for _, cmd := range tree(root) {
		if flag := cmd.LocalFlags().Lookup(name); flag != nil && !flag.Hidden && cmd.IsAvailableCommand() {
			commands = append(commands, cmd.CommandPath())
		}
	}
	return commands
}

// nearPath returns a hint for a file or folder in args that does not exist: similar names in the same folder. For a
// file that is part of a graph, the hint is its folder. It returns "" for a file that the user did not name, such as a
// missing part of a graph.
func nearPath(err error, args []string) string {
	var (
		missing *dataset.NotFoundError
		part    *format.UnrecognisedError
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
	}
	if !slices.ContainsFunc(args, func(word string) bool { return path != "" && strings.HasSuffix(word, path) }) {
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
