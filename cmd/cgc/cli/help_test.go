package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// TestExamples checks that the help of every command has examples, and that the parser accepts each: the command, its
// flags with their values, and the number of arguments.
func TestExamples(t *testing.T) {
	for _, cmd := range tree(commandTree()) {
		if cmd.IsAvailableCommand() && cmd.Example == "" && !strings.HasPrefix(cmd.CommandPath(), "cgc completion") {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
		for line := range strings.Lines(cmd.Example) {
			if err := parse(strings.Fields(line), cmd); err != nil {
				t.Errorf("%s: example %q: %v", cmd.CommandPath(), strings.TrimSpace(line), err)
			}
		}
	}
	mattest.WantError(t, parse(strings.Fields("cgc run cora --node 70"), commandTree()), "--node")
}

// TestPages checks that every command line in a code block of README or docs parses, and that the flags of command
// lines within a sentence parse. Notes are not checked.
func TestPages(t *testing.T) {
	pages := []string{"../../../README.md"}
	for _, pattern := range []string{"*.md", "*/*.md"} {
		found := mattest.Must(filepath.Glob("../../../docs/" + pattern))
		pages = append(pages, found...)
	}
	// Notes are dated, and their commands may be obsolete.
	pages = slices.DeleteFunc(pages, func(page string) bool { return strings.Contains(page, "/notes/") })
	count := 0
	for _, page := range pages {
		text := mattest.Must(os.ReadFile(page))
		for _, found := range inline.FindAllStringSubmatch(string(text), -1) {
			command := placeholder.ReplaceAllString(strings.Trim(quoted.ReplaceAllString(found[1], "x"), "[]"), "1")
			cmd, rest, err := commandTree().Find(strings.Fields(command))
			if err == nil {
				err = cmd.ParseFlags(rest)
			}
			if err != nil && !errors.Is(err, pflag.ErrHelp) {
				t.Errorf("%s: `cgc %s`: %v", page, command, err)
			}
		}
		block := false
		for line := range strings.SplitSeq(strings.ReplaceAll(string(text), "\\\n", " "), "\n") {
			if strings.HasPrefix(line, "```") {
				block = !block
			}
			command, is := strings.CutPrefix(line, "$ cgc ")
			if !is && block {
				command, is = strings.CutPrefix(line, "cgc ")
			}
			if !is && !block {
				command, is = strings.CutPrefix(line, "    cgc ")
			}
			if !is {
				continue
			}
			command, _, _ = strings.Cut("cgc "+command, " #")
			command = expanded.ReplaceAllString(quoted.ReplaceAllString(command, "x"), "1")
			if err := parse(strings.Fields(command), commandTree()); err != nil {
				t.Errorf("%s: %q: %v", page, command, err)
			}
			count++
		}
	}
	t.Logf("%d command lines parse", count)
	mattest.True(t, count >= 20, "%d command lines were found, want more", count)
}

// quoted matches a quoted word, expanded matches a word that the shell expands, inline matches a command line within a
// sentence, and placeholder matches a word in capitals that stands for a value.
var (
	quoted      = regexp.MustCompile(`'[^']*'|"[^"]*"`)
	expanded    = regexp.MustCompile(`\$\(\(.*?\)\)|\$\w+`)
	inline      = regexp.MustCompile("`cgc ([^`…]*)`")
	placeholder = regexp.MustCompile(`\b[A-Z]+\b`)
)

// commandTree returns all commands.
func commandTree() *cobra.Command {
	root := (&command{stdout: io.Discard, stderr: io.Discard}).root()
	root.InitDefaultHelpCmd()
	return root
}

// parse checks that words is a valid command line of the given command or of a subcommand.
func parse(words []string, about *cobra.Command) error {
	root := commandTree() // a new tree, because flags keep their values
	cmd, rest, err := root.Find(words[1:])
	if err != nil {
		return err
	}
	if about.HasParent() && !strings.HasPrefix(cmd.CommandPath(), about.CommandPath()) {
		return usagef("is of %s", cmd.CommandPath())
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	if !cmd.HasSubCommands() {
		return cmd.ValidateArgs(cmd.Flags().Args())
	}
	return nil
}

// TestPersonalFlags checks that the page about settings lists the flags that only the command line can set, and that
// each of them is a flag of some command.
func TestPersonalFlags(t *testing.T) {
	page := string(mattest.Must(os.ReadFile("../../../docs/how-to/settings.md")))
	flags := map[string]bool{}
	for _, cmd := range tree(commandTree()) {
		cmd.InitDefaultHelpFlag()
		cmd.InitDefaultVersionFlag()
		cmd.Flags().VisitAll(func(flag *pflag.Flag) { flags[flag.Name] = true })
	}
	for _, name := range personal {
		mattest.True(t, flags[name], "no command has a flag --%s", name)
		shown := "`--" + name + "`"
		if name == "output" {
			shown = "`-o`"
		}
		if !slices.Contains([]string{"help", "version"}, name) && !strings.Contains(page, shown) {
			t.Errorf("settings.md does not mention %s", shown)
		}
	}
}

// TestFlagGroups checks that each flag is in a group, and that the help lists it exactly once, under the title of its
// group.
func TestFlagGroups(t *testing.T) {
	titled, listed := regexp.MustCompile(`^([A-Z]\w+):$`), regexp.MustCompile(`^ {2,6}(?:-\w, )?--([a-z-]+)`)
	for _, cmd := range tree(commandTree()) {
		if strings.HasPrefix(cmd.CommandPath(), "cgc completion") {
			continue // cobra defines it
		}
		shown, title := map[string]string{}, ""
		for line := range strings.Lines(cmd.UsageString()) {
			line = strings.TrimRight(line, "\n")
			if found := titled.FindStringSubmatch(line); found != nil {
				title = found[1]
			}
			if found := listed.FindStringSubmatch(line); found != nil {
				mattest.True(t, shown[found[1]] == "", "the help of %s shows --%s twice", cmd.CommandPath(), found[1])
				shown[found[1]] = title
				if len(line) > helpWidth+20 { // a list without spaces
					t.Errorf("the help of %s has a line of %d columns: %s", cmd.CommandPath(), len(line), line)
				}
			}
		}
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			group := groupOf(cmd, flag.Name)
			if flag.Name == "help" {
				group = generalGroup
			} else if group == "" {
				t.Errorf("--%s of %s is in no group", flag.Name, cmd.CommandPath())
			}
			if !flag.Hidden && shown[flag.Name] != group {
				t.Errorf("--%s of %s is shown below %q, want %q", flag.Name, cmd.CommandPath(), shown[flag.Name], group)
			}
		})
	}
}

// TestReferenceIsComplete checks that each command in the help has a row, and that each of its flags is either in this
// row or has a row of its own that names the command.
func TestReferenceIsComplete(t *testing.T) {
	commands, tables, _ := strings.Cut(Reference(), "\n## Flags\n")
	rows := map[string]string{} // the cell that lists the commands, by flag
	for _, line := range strings.Split(tables, "\n") {
		cells := strings.Split(line, " | ")
		if !strings.HasPrefix(line, "| `") || len(cells) < 4 {
			continue
		}
		_, flag, _ := strings.Cut(strings.Trim(cells[0], "|` "), "--")
		flag, _, _ = strings.Cut(flag, " ")
		mattest.True(t, rows[flag] == "", "--%s has two rows", flag)
		rows[flag] = strings.Trim(cells[3], "| ")
	}
	all := visible((&command{stdout: io.Discard, stderr: io.Discard}).root())[1:]
	for _, cmd := range all {
		if synonym(cmd, all) != nil {
			continue
		}
		_, row, is := strings.Cut(commands, "| `"+cmd.CommandPath())
		mattest.True(t, is, "no row for %s", cmd.CommandPath())
		if cmd.HasAvailableSubCommands() {
			continue
		}
		row, _, _ = strings.Cut(row, "\n")
		flagsOf(cmd, func(flag *pflag.Flag) {
			own := regexp.MustCompile("<br>`(-., )?--" + flag.Name + "[ `]").MatchString(row)
			mattest.True(t, own != slices.Contains(strings.Split(rows[flag.Name], ", "), nameOfCommand(cmd)),
				"--%s of %s: %q and %q", flag.Name, cmd.CommandPath(), row, rows[flag.Name])
		})
	}
	for _, flag := range []string{"threads", "json", "quiet"} {
		mattest.Equal(t, rows[flag], "all", "--%s is of", flag)
	}
}

// FuzzConfig looks for panics when --config is read. A configuration of cgc's methods must be readable after it is
// written.
func FuzzConfig(f *testing.F) {
	f.Add(mattest.Must(json.Marshal(configFile{Config: cgc.Defaults()})), "cgc")
	f.Add([]byte(`{"method":"gcond","epochs":3,"seed":18446744073709551615,"training":{"weighted":true}}`), "cgc")
	f.Add([]byte(`{"hops":[1,2],"temperature":"inf","nodes":-1}`), "simdm")
	f.Add([]byte(strings.Repeat(`{"training":`, 50)), "")
	f.Fuzz(func(t *testing.T, text []byte, method string) {
		read, err := decodeConfig(text, cgc.Defaults(), method)
		if err != nil || read.parameters != nil || read.Validate() != nil {
			return
		}
		again := mattest.Must(json.Marshal(read))
		if _, err := decodeConfig(again, cgc.Defaults(), method); err != nil {
			t.Fatalf("%s is read, and %s is not: %v", text, again, err)
		}
	})
}

// FuzzFlags looks for panics when command lines, split at spaces, are parsed. No command runs.
func FuzzFlags(f *testing.F) {
	for _, line := range []string{
		"condense demo --nodes 70 --temperature inf --memory 2GiB -o x.pt",
		"experiment demo --ratio 2.6%,1% --methods cgc,gcond --param gcond.epochs=3 --seeds 5",
		"run --nodes -1 --label-ratio 200% --partition nobody --memory 1e400GiB",
		"tune demo --seconds NaN --nodes 9223372036854775808",
		"data make --like arxiv --scale 0.1 --seed 0x10", "data convert a b --format=", "evaluate -h --on",
		"web --address :0", "worker --columns 3:1", "paper table3 --seeds ,", "bench --threads", "--json --quiet version",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		c := &command{stdout: io.Discard, stderr: io.Discard}
		root := c.root()
		root.SetContext(context.Background())
		cmd, words, err := root.Find(strings.Fields(line))
		if err != nil {
			return
		}
		if err := cmd.ParseFlags(words); err == nil {
			_ = cmd.ValidateArgs(cmd.Flags().Args())
		}
	})
}
