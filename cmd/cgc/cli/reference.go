package cli

import (
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn"
)

// Reference returns the reference of all commands and flags in Markdown: a table of the commands, with the flags that
// only one command has, then a table for each group of the other flags. It includes the methods, models and formats
// that the program registers.
func Reference() string {
	root := (&command{stdout: io.Discard, stderr: io.Discard}).root()
	commands := visible(root)[1:] // without cgc itself
	own := map[string]string{}    // the flags that only one command has, by command
	var text, tables strings.Builder
	rows := flagRows(commands)
	for _, group := range flagGroups {
		var flags []*flagRow
		for _, l := range rows {
			switch way := l.ways[0]; {
			case l.group != group.name:
			case len(l.ways) == 1 && len(way.commands) == 1:
				own[way.commands[0]] += "<br>" + way.head + ": " + way.stated()
			default:
				flags = append(flags, l)
			}
		}
		if group.name == generalGroup {
			root.PersistentFlags().VisitAll(func(flag *pflag.Flag) {
				flags = append(flags, &flagRow{flag.Name, group.name, []definition{{describe(flag), []string{"all"}}}})
			})
		}
		tables.WriteString(table(group.name, flags))
	}
	text.WriteString("## Commands\n\n| command | what it does, and the flags that only it has |\n|---|---|\n")
	for _, cmd := range commands {
		if cmd.Runnable() && synonym(cmd, commands) == nil {
			call := asCode(strings.TrimSuffix(cmd.UseLine(), " [flags]"))
			fmt.Fprintf(&text, "| %s | %s%s |\n", call, escape(cmd.Short), own[nameOfCommand(cmd)])
		}
	}
	return text.String() + "\n## Flags\n" + tables.String()
}

// visible returns cmd and the commands below it that help lists, in the same order.
func visible(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, group := range append(cmd.Groups(), &cobra.Group{}) {
		for _, c := range available(cmd) {
			if c.GroupID == group.ID {
				all = append(all, visible(c)...)
			}
		}
	}
	return all
}

// flagsOf calls f for each flag in the help of a command, except the flags that every command has.
func flagsOf(cmd *cobra.Command, f func(*pflag.Flag)) {
	cmd.InheritedFlags() // adds the parents' flags to Flags, so that LocalFlags omits them
	cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden && flag.Name != "help" {
			f(flag)
		}
	})
}

// flagRow is the row of a flag in the table of its group.
type flagRow struct {
	name, group string
	ways        []definition // the definitions of the flag, most frequent first
}

// definition is one definition of a flag, with the names of the commands that share it.
type definition struct {
	described
	commands []string
}

// flagRows returns the rows of all flags, in the order of their first commands. If commands put a flag into different
// groups, the first command decides.
func flagRows(commands []*cobra.Command) (all []*flagRow) {
	for _, cmd := range commands {
		if cmd.HasAvailableSubCommands() || synonym(cmd, commands) != nil {
			continue
		}
		flagsOf(cmd, func(flag *pflag.Flag) {
			at := slices.IndexFunc(all, func(l *flagRow) bool { return l.name == flag.Name })
			if at < 0 {
				at, all = len(all), append(all, &flagRow{name: flag.Name, group: groupOf(cmd, flag.Name)})
			}
			all[at].add(describe(flag), nameOfCommand(cmd))
		})
	}
	for _, l := range all {
		slices.SortStableFunc(l.ways, func(a, b definition) int { return len(b.commands) - len(a.commands) })
	}
	return all
}

func (l *flagRow) add(one described, command string) {
	at := slices.IndexFunc(l.ways, func(d definition) bool { return d.described == one })
	if at < 0 {
		at, l.ways = len(l.ways), append(l.ways, definition{described: one})
	}
	l.ways[at].commands = append(l.ways[at].commands, command)
}

// synonym returns the command that cmd is a synonym of, or nil.
func synonym(cmd *cobra.Command, commands []*cobra.Command) *cobra.Command {
	for _, other := range commands {
		if other.Name() == cmd.Name() && other != cmd && cmd.Parent().HasParent() {
			return other
		}
	}
	return nil
}

func table(group string, flags []*flagRow) string {
	keyed := slices.ContainsFunc(flags, func(l *flagRow) bool { return keyOf(l.name) != "" })
	head := "| flag | default | meaning | commands |\n|---|---|---|---|\n"
	if keyed {
		head = "| flag | default | meaning | commands | JSON key | paper |\n|---|---|---|---|---|---|\n"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "\n### %s flags\n%s", group, head)
	for _, l := range flags {
		text.WriteString(l.row())
		if keyed {
			fmt.Fprintf(&text, " %s | %s |", asCode(keyOf(l.name)), symbols[l.name])
		}
		text.WriteString("\n")
	}
	return text.String()
}

// row returns the row of a flag. If commands define it differently, each definition is a line of the cell. A line
// begins with the names of its commands, unless most commands share the definition.
func (l *flagRow) row() string {
	all := 0
	for _, way := range l.ways {
		all += len(way.commands)
	}
	first := l.ways[0]
	var meanings, commands []string
	for i, way := range l.ways {
		meaning, by := way.meaning, strings.Join(way.commands, ", ")
		if i > 0 && way.value != first.value {
			meaning = way.stated()
		}
		if i > 0 || 2*len(way.commands) <= all {
			meaning = "_" + by + "_: " + meaning
		}
		meanings, commands = append(meanings, meaning), append(commands, by)
	}
	return fmt.Sprintf("| %s | %s | %s | %s |", first.head, first.value, strings.Join(meanings, "<br>"),
		strings.Join(commands, ", "))
}

// described is the content of a flag's table cells.
type described struct{ head, value, meaning string }

// stated returns the meaning with the default.
func (d described) stated() string {
	if d.value == "" {
		return d.meaning
	}
	return d.meaning + " (default " + d.value + ")"
}

// statedDefault matches a default that a help text states.
var statedDefault = regexp.MustCompile(` \(default ([^()]*)\)`)

func describe(flag *pflag.Flag) (d described) {
	kind, usage := pflag.UnquoteUsage(flag)
	name := "--" + flag.Name
	if flag.Shorthand != "" {
		name = "-" + flag.Shorthand + ", " + name
	}
	if kind != "" {
		name += " " + kind
	}
	d.head, d.value, d.meaning = asCode(name), asCode(flag.DefValue), usage
	switch stated := statedDefault.FindStringSubmatch(usage); {
	case stated != nil:
		d.meaning, d.value = strings.Replace(usage, stated[0], "", 1), escape(stated[1])
	case flag.DefValue == "[]", flag.DefValue == "0" && strings.Contains(usage, "0 for"), flag.DefValue == "false":
		d.value = ""
	}
	d.meaning = strings.ReplaceAll(escape(d.meaning), ": "+strings.Join(condense.Names(), ", "), " ([list](methods.md))")
	return d
}

// asCode formats a text as Markdown code, unless it is empty.
func asCode(text string) string {
	if text == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(text, "|", `\|`) + "`"
}

// escape makes a text safe in a table cell, and formats flags and variables as code.
func escape(text string) string {
	text = regexp.MustCompile(`--[a-z][a-z-]*|\$CGC_[A-Z]+`).ReplaceAllStringFunc(text, asCode)
	return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(text)
}

// symbols maps flags to the paper's symbols.
var symbols = map[string]string{
	"nodes": "N′", "ratio": "r", "hops": "K", "teleport": "β (PPR)", "augment": "p", "temperature": "τ",
	"threshold": "T", "alpha": "α", "partition": "π",
}

// keyOf returns the JSON key of a flag in a configuration or a training run, or "" if there is none.
func keyOf(flag string) string {
	key := strings.ReplaceAll(flag, "-", "_")
	if flag == "lr" {
		key = "learning_rate"
	}
	for _, parameters := range []any{cgc.Config{}, gnn.Config{}} {
		if slices.Contains(keysOfType(reflect.TypeOf(parameters)), key) {
			return key
		}
	}
	return ""
}
