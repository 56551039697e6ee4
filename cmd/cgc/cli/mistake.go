package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/internal/registry"
)

// The exit codes of the command.
const (
	exitFailure     = 1
	exitUsage       = 2
	exitInterrupted = 130 // the exit code that shells report after SIGINT
)

// usage is an error in the command line.
type usage struct{ text string }

// Error returns the message.
func (u usage) Error() string { return u.text }

func usagef(format string, args ...any) error { return usage{fmt.Sprintf(format, args...)} }

// atLeast returns an error if the value of a flag is below least or NaN.
func atLeast[T int | float64](flag string, value, least T) error {
	if value >= least {
		return nil
	}
	return usagef("--%s %v, must be at least %v", flag, value, least)
}

// exitCode returns the exit code for the error of a command, or 0 for nil.
func exitCode(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, new(usage)):
		return exitUsage
	}
	return exitFailure
}

// sentence returns err as one line for users.
func sentence(err error) string { return report.Sentence(err) }

// joined returns the errors that were joined into err, even if err wraps the joined error. Otherwise it returns err
// itself.
func joined(err error) []error {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		several, is := inner.(interface{ Unwrap() []error })
		if !is {
			continue
		}
		var all []error
		for _, e := range several.Unwrap() {
			all = append(all, joined(e)...)
		}
		return all
	}
	return []error{err}
}

// outOfRange turns errors about parameters into one mistake in the command line that lists all of them. name returns
// what the user calls a parameter, such as its flag. Other errors are returned unchanged.
func outOfRange(err error, name func(field string) string) error {
	var lines []string
	found := false
	for _, e := range joined(err) {
		var p *condense.FieldError
		if !errors.As(e, &p) {
			lines = append(lines, sentence(e))
			continue
		}
		found = true
		lines = append(lines, name(p.Field)+" "+p.Rest())
	}
	if !found {
		return err
	}
	return usage{strings.Join(lines, "; ")}
}

// flagMistake turns the parser's error into one that states what was expected.
func flagMistake(cmd *cobra.Command, err error) error {
	var (
		unknown *pflag.NotExistError
		missing *pflag.ValueRequiredError
		value   *pflag.InvalidValueError
	)
	switch {
	case errors.As(err, &unknown) && cmd.HasSubCommands() && cmd.Flags().NArg() > 0:
		return unknownCommand(cmd, cmd.Flags().Arg(0)) // the flag may belong to the intended command
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return unknownFlag(cmd, "-"+unknown.GetSpecifiedShortnames())
	case errors.As(err, &unknown):
		return unknownFlag(cmd, "--"+unknown.GetSpecifiedName())
	case errors.As(err, &missing):
		return usagef("--%s needs a value: %s", missing.GetFlag().Name, expected(missing.GetFlag().Value, "", nil))
	case errors.As(err, &value):
		flag := value.GetFlag()
		text := value.GetValue()
		return invalid("--"+flag.Name, text, flag.Value, value.Unwrap())
	}
	return usagef("%v (%s --help lists the flags)", err, cmd.CommandPath())
}

// invalid returns the error for a flag value with the given text and its cause. place says where it was set.
func invalid(place, text string, value pflag.Value, cause error) error {
	if errors.As(cause, new(ownSentence)) {
		return usagef("%s: %s", place, sentence(cause))
	}
	return usagef("%s %s, must be %s", place, text, expected(value, text, cause))
}

// expected describes the values that a flag accepts, and suggests words similar to mistyped ones in text.
func expected(value pflag.Value, text string, cause error) string {
	if v, ok := value.(interface{ must() string }); ok {
		must := v.must()
		if v, ok := value.(interface{ words() []string }); ok {
			for word := range strings.SplitSeq(text, ",") {
				must += registry.Hint("", strings.TrimSpace(word), v.words())
			}
		}
		return must
	}
	large := errors.Is(cause, strconv.ErrRange) && !strings.HasPrefix(text, "-")
	switch value.Type() {
	case "int":
		if large {
			return fmt.Sprintf("at most %d", math.MaxInt)
		}
		return "an integer"
	case "uint64":
		if large {
			return fmt.Sprintf("at most %d", uint64(math.MaxUint64))
		}
		return "an integer of at least 0"
	case "float64":
		return "a number"
	case "bool":
		return "true or false"
	case "duration":
		return "a time with a unit, as 90s, 20m or 1h30m"
	}
	if cause != nil {
		return cause.Error()
	}
	return "a " + value.Type()
}

// onlyCommands implements a command that has only subcommands. It prints the help, or reports an unknown subcommand.
func onlyCommands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	return unknownCommand(cmd, args[0])
}

// unknownCommand returns the error for an unknown subcommand of cmd. If cmd is the root, word may be a graph if the
// user forgot the command.
func unknownCommand(cmd *cobra.Command, word string) error {
	names := mapped(available(cmd), (*cobra.Command).Name)
	hint := fmt.Sprintf("(%s --help lists the commands)", cmd.CommandPath())
	_, missing := os.Stat(word)
	if near := registry.Near(word, names); len(near) > 0 {
		hint = "(did you mean " + strings.Join(near, " or ") + "?)"
	} else if !cmd.HasParent() && (missing == nil || slices.Contains(graphNames(), word)) {
		hint = fmt.Sprintf("(%s is a graph: cgc run %s)", word, word)
	}
	return usagef("unknown command %q %s", strings.TrimPrefix(cmd.CommandPath()+" "+word, "cgc "), hint)
}

// available returns the subcommands of cmd that its help lists.
func available(cmd *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(slices.Clone(cmd.Commands()), func(c *cobra.Command) bool { return !c.IsAvailableCommand() })
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
			described := func(c *cobra.Command) string { return c.Name() + "\t" + c.Short }
			return mapped(available(about), described), cobra.ShellCompDirectiveNoFileComp
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
	if near := registry.Near(name, names); len(near) > 0 && len(name) > 1 {
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

// nearPath returns a hint for a file or folder in args that does not exist: similar names in the same folder. It
// returns "" for a file that the user did not name, such as a missing part of a graph.
func nearPath(err error, args []string) string {
	var (
		missing *dataset.NotFoundError
		file    *fs.PathError
		path    string
	)
	switch {
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
	return registry.Hint(folder, name, mapped(entries, fs.DirEntry.Name))
}
