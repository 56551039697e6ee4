package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// groupKey is the key of the flag annotation that names the flag's group in the help.
const groupKey = "group"

// The groups of flags. Each flag is assigned to a group where it is defined.
const (
	sizeGroup     = "Size"
	methodGroup   = "Method"
	graphGroup    = "Graph"
	trainingGroup = "Training"
	outputGroup   = "Output"
	advancedGroup = "Advanced"
	generalGroup  = "General" // flags that every command has
)

// flagGroups lists the groups in the order of the help.
var flagGroups = []string{
	sizeGroup, methodGroup, graphGroup, trainingGroup, outputGroup, advancedGroup, generalGroup,
}

// into puts the named flags into a group or, without names, all flags that have no group yet.
func into(group string, flags *pflag.FlagSet, names ...string) {
	flags.VisitAll(func(flag *pflag.Flag) {
		if len(names) == 0 && groupOf(flag) == "" || slices.Contains(names, flag.Name) {
			if flag.Annotations == nil {
				flag.Annotations = map[string][]string{}
			}
			flag.Annotations[groupKey] = []string{group}
		}
	})
}

// groupOf returns the group of a flag, or "".
func groupOf(flag *pflag.Flag) string {
	if names := flag.Annotations[groupKey]; len(names) > 0 {
		return names[0]
	}
	return ""
}

// helpWidth is the width of the help, in columns, if the output is not a terminal.
const helpWidth = 100

// usageText writes the usage of a command: its call, examples, subcommands, and flags by group.
func usageText(cmd *cobra.Command) error {
	var text strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&text, format, args...) }
	say("Usage:\n  %s\n", cmd.UseLine())
	if cmd.Example != "" {
		say("\nExamples:\n%s\n", cmd.Example)
	}
	commands := func(title, group string) {
		for _, c := range cmd.Commands() {
			if c.GroupID == group && c.IsAvailableCommand() {
				if title != "" {
					say("\n%s\n", title)
					title = ""
				}
				say("  %-*s %s\n", c.NamePadding(), c.Name(), c.Short)
			}
		}
	}
	for _, g := range cmd.Groups() {
		commands(g.Title, g.ID)
	}
	commands("Other commands:", "")
	text.WriteString(flagUsages(cmd))
	if cmd.HasAvailableSubCommands() {
		say("\n%s COMMAND --help describes a command.\n", cmd.CommandPath())
	}
	_, err := io.WriteString(cmd.OutOrStderr(), text.String())
	return err
}

// flagUsages describes the flags of cmd by group. Flags that cobra adds have no group and are listed as general.
func flagUsages(cmd *cobra.Command) string {
	width := columns(cmd.OutOrStdout())
	if width == 0 {
		width = helpWidth
	}
	sets := map[string]*pflag.FlagSet{}
	cmd.LocalFlags() // adds the parents' flags to Flags
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		group := groupOf(flag)
		if group == "" {
			group = generalGroup
		}
		if sets[group] == nil {
			sets[group] = pflag.NewFlagSet("", pflag.ContinueOnError)
			sets[group].SortFlags = false
		}
		sets[group].AddFlag(flag)
	})
	var text strings.Builder
	for _, group := range flagGroups {
		if set := sets[group]; set != nil && set.HasAvailableFlags() {
			fmt.Fprintf(&text, "\n%s:\n%s", group, set.FlagUsagesWrapped(width))
		}
	}
	return text.String()
}
