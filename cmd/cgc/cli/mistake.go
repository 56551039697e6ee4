package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/plain"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/internal/spelling"
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
func sentence(err error) string { return plain.Sentence(err) }

// joined returns the errors that were joined into err, also if err wraps the joined error. Otherwise it returns err
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
// the user's name of a parameter, such as its flag. Other errors are returned unchanged.
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
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return unknownFlag(cmd, "-"+unknown.GetSpecifiedShortnames())
	case errors.As(err, &unknown):
		return unknownFlag(cmd, "--"+unknown.GetSpecifiedName())
	case errors.As(err, &missing):
		return usagef("--%s needs a value: %s", missing.GetFlag().Name, expected(missing.GetFlag().Value, "", nil))
	case errors.As(err, &value):
		flag := value.GetFlag()
		text := value.GetValue()
		return usagef("--%s %s, must be %s", flag.Name, text, expected(flag.Value, text, value.Unwrap()))
	}
	return usagef("%v (%s --help lists the flags)", err, cmd.CommandPath())
}

// expected describes the values that a flag accepts, and suggests words similar to mistyped ones in text.
func expected(value pflag.Value, text string, cause error) string {
	if v, ok := value.(interface{ must() string }); ok {
		must := v.must()
		if v, ok := value.(interface{ words() []string }); ok {
			for word := range strings.SplitSeq(text, ",") {
				must += spelling.Hint("", strings.TrimSpace(word), v.words())
			}
		}
		return must
	}
	switch value.Type() {
	case "int":
		return "an integer"
	case "uint64":
		return "an integer of at least 0"
	case "float64":
		return "a number"
	case "bool":
		return "true or false"
	}
	if cause != nil {
		return cause.Error()
	}
	return "a " + value.Type()
}
