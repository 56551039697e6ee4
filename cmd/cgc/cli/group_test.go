package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestFlagGroups checks that each flag is assigned to a group where it is defined, and that the help lists it exactly
// once, under the title of its group.
func TestFlagGroups(t *testing.T) {
	titled, listed := regexp.MustCompile(`^([A-Z]\w+):$`), regexp.MustCompile(`^ {2,6}(?:-\w, )?--([a-z-]+)`)
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		if strings.HasPrefix(cmd.CommandPath(), "cgc completion") {
			return // cobra defines it
		}
		shown, title := map[string]string{}, ""
		for line := range strings.Lines(cmd.UsageString()) {
			line = strings.TrimRight(line, "\n")
			if found := titled.FindStringSubmatch(line); found != nil {
				title = found[1]
			}
			if found := listed.FindStringSubmatch(line); found != nil {
				if shown[found[1]] != "" {
					t.Errorf("the help of %s shows --%s twice", cmd.CommandPath(), found[1])
				}
				shown[found[1]] = title
				if len(line) > helpWidth+20 { // a list without spaces
					t.Errorf("the help of %s has a line of %d columns: %s", cmd.CommandPath(), len(line), line)
				}
			}
		}
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			group := groupOf(flag)
			if flag.Name == "help" {
				group = generalGroup
			}
			if !slices.Contains(flagGroups, group) {
				t.Errorf("--%s of %s is in no group (%q)", flag.Name, cmd.CommandPath(), group)
			}
			if !flag.Hidden && shown[flag.Name] != group {
				t.Errorf("--%s of %s is shown below %q, want %q", flag.Name, cmd.CommandPath(), shown[flag.Name], group)
			}
		})
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(commandTree())
}
