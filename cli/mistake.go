package cli

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The exit codes.
const (
	exitFailure     = 1
	exitUsage       = 2
	exitInterrupted = 130 // what a shell reports of a process that SIGINT ended
)

// usage is an error that another command line would not have met.
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

// source matches the name of the package that an error comes from, which tells a user nothing.
var source = regexp.MustCompile(`(^|: |; )(cgc|condense|dataset|synth|graph|propagate|assess|augment|partition|generate|gnn|experiment|paper|safetensors): `)

// sentence returns err as one line.
func sentence(err error) string {
	if errors.Is(err, context.Canceled) {
		return "interrupted"
	}
	text := strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")
	return source.ReplaceAllString(text, "$1")
}

// flagMistake turns the parser's error into one that says what was expected.
func flagMistake(cmd *cobra.Command, err error) error {
	var (
		unknown *pflag.NotExistError
		missing *pflag.ValueRequiredError
		value   *pflag.InvalidValueError
	)
	help := fmt.Sprintf("(%s --help lists the flags)", cmd.CommandPath())
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return usagef("unknown flag -%s %s", unknown.GetSpecifiedName(), help)
	case errors.As(err, &unknown):
		return usagef("unknown flag --%s %s", unknown.GetSpecifiedName(), help)
	case errors.As(err, &missing):
		return usagef("--%s has no value, want %s", missing.GetFlag().Name, expected(missing.GetFlag().Value, nil))
	case errors.As(err, &value):
		return usagef("--%s %s, want %s", value.GetFlag().Name, value.GetValue(), expected(value.GetFlag().Value, value.Unwrap()))
	}
	return usagef("%v %s", err, help)
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

// configMistake turns an error about a field of cgc.Config into one about the flag that sets it, or about the file that the
// field came from. Other errors stay as they are.
func configMistake(err error, flags *pflag.FlagSet, file string) error {
	if err == nil {
		return nil
	}
	var lines []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		line = strings.TrimPrefix(line, "condense: ")
		name := fieldOf(line, flags)
		switch {
		case name == "":
			return err
		case file != "" && !flags.Changed(name):
			line = fmt.Sprintf("--config %s: %s", file, line)
		default:
			line = "--" + name + line[len(name):]
		}
		lines = append(lines, line)
	}
	return usage{strings.Join(lines, "; ")}
}

// fieldOf returns the flag whose words the line begins with, or "".
func fieldOf(line string, flags *pflag.FlagSet) (name string) {
	flags.VisitAll(func(f *pflag.Flag) {
		if strings.HasPrefix(line, strings.ReplaceAll(f.Name, "-", " ")+" ") {
			name = f.Name
		}
	})
	return name
}
