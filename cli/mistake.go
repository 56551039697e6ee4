package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/internal/plain"
)

// The exit codes.
const (
	exitFailure     = 1
	exitUsage       = 2
	exitInterrupted = 130 // what a shell reports of a process that SIGINT ended
)

// usage is a mistake in the command line.
type usage struct{ text string }

// Error is the sentence.
func (u usage) Error() string { return u.text }

func usagef(format string, args ...any) error { return usage{fmt.Sprintf(format, args...)} }

// exitCode returns the exit code for what a command returned.
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

// sentence returns err as one line for people.
func sentence(err error) string { return plain.Sentence(err) }

// joined returns the errors that err joins, also below wrappers. If err joins none, it returns err alone.
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

// outOfRange turns an error about parameters into a mistake in the command line. name returns what the user calls a
// parameter, such as its flag. All parameters are reported at once. An error about no parameter stays as it is.
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

// flagMistake turns the parser's error into one that says what was expected.
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
		return usagef("--%s has no value, want %s", missing.GetFlag().Name, expected(missing.GetFlag().Value, nil))
	case errors.As(err, &value):
		flag := value.GetFlag()
		return usagef("--%s %s, want %s", flag.Name, value.GetValue(), expected(flag.Value, value.Unwrap()))
	}
	return usagef("%v (%s --help lists the flags)", err, cmd.CommandPath())
}

// expected says what values a flag takes.
func expected(value pflag.Value, cause error) string {
	if v, ok := value.(interface{ want() string }); ok {
		return v.want()
	}
	switch value.Type() {
	case "int":
		return "a whole number"
	case "uint64":
		return "a whole number of at least 0"
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
