package cli

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestReferenceIsComplete checks that each command in the help has a list item, and that each of its flags has exactly
// one row, which names the command.
func TestReferenceIsComplete(t *testing.T) {
	points, tables, _ := strings.Cut(Reference(), "\n## Flags\n")
	rows := map[string]string{} // the cell that lists the commands, by flag
	for _, line := range strings.Split(tables, "\n") {
		cells := strings.Split(line, " | ")
		if !strings.HasPrefix(line, "| `") || len(cells) < 4 {
			continue
		}
		_, flag, _ := strings.Cut(strings.Trim(cells[0], "|` "), "--")
		flag, _, _ = strings.Cut(flag, " ")
		if rows[flag] != "" {
			t.Errorf("--%s has two rows", flag)
		}
		rows[flag] = strings.Trim(cells[3], "| ")
	}
	all := visible((&command{stdout: io.Discard, stderr: io.Discard}).root())[1:]
	for _, cmd := range all {
		if !strings.Contains(points, "* `"+cmd.CommandPath()) {
			t.Errorf("no point for %s", cmd.CommandPath())
		}
		if cmd.HasAvailableSubCommands() || synonym(cmd, all) != nil {
			continue
		}
		flagsOf(cmd, func(flag *pflag.Flag) {
			name := strings.TrimPrefix(cmd.CommandPath(), "cgc ")
			if !slices.Contains(strings.Split(rows[flag.Name], ", "), name) {
				t.Errorf("the row of --%s names %q, and not %s", flag.Name, rows[flag.Name], name)
			}
		})
	}
	for _, flag := range []string{"threads", "json", "quiet"} {
		if rows[flag] != "all" {
			t.Errorf("--%s is of %q", flag, rows[flag])
		}
	}
}
