package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/bench"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/internal/memory"
)

// run runs one command line and returns the exit code.
func (c *command) run(ctx context.Context, args []string) (code int) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // in case a mapped file shrinks
	defer func() {
		if raised := recover(); raised != nil {
			c.fault(raised)
			code = exitFailure
		}
	}()
	threads := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(threads) // --threads applies to this command line only
	root := c.root()
	c.args = args
	root.SetArgs(args)
	root.SetOut(c.stdout)
	root.SetErr(c.stderr)
	err := root.ExecuteContext(ctx)
	c.progress.close()
	if ctx.Err() != nil && err != nil {
		err = ctx.Err()
	}
	if err != nil {
		text := sentence(err) + nearPath(err, args)
		if exitCode(err) == exitUsage {
			text = c.settings.name(text)
		}
		fmt.Fprintf(c.stderr, "cgc: %s\n", discreet(text, args...))
	}
	return exitCode(err)
}

// discreet returns text without the passwords of addresses among the arguments of a command line.
func discreet(text string, args ...string) string {
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") {
			_, arg, _ = strings.Cut(arg, "=")
		}
		text = strings.ReplaceAll(text, arg, format.Shown(arg))
	}
	return text
}

// fault prints an error message for a panic.
func (c *command) fault(raised any) {
	text := fmt.Sprintf("this is a bug in cgc, please report it with the command line: %v", raised)
	switch fault := raised.(type) {
	case interface{ Addr() uintptr }: // the system could not read a page of a mapped file
		text = fmt.Sprintf("a file that is mapped into memory cannot be read any more: it was truncated or changed, or "+
			"its disk failed (%v)", fault)
	case *memory.Exceeded:
		text = sentence(fault)
	}
	fmt.Fprintf(c.stderr, "cgc: %s\n", text)
}

// command is the state that all commands of one command line share.
type command struct {
	stdout, stderr io.Writer
	args           []string
	cmd            *cobra.Command // the command that runs
	quiet, json    bool
	threads        int
	settings       *settings
	progress       *meter
	queries        format.Queries    // queries for a graph in a database
	split          int               // which split to use if the graph has several
	without        string            // the file of --without, or ""
	left           []string          // ids of nodes that are left out
	omitted        *dataset.Omission // what was left out of the graph that was read, or nil
	unlabelled     bool              // the graph may have no labels and no training nodes
	writing        sync.Mutex        // locked while a file is written
	warned         []string          // warnings printed so far
	measured       *bench.Ceilings   // nil until the machine is measured
}

func (c *command) root() *cobra.Command {
	asksVersion := false
	root := &cobra.Command{
		Use:   "cgc",
		Short: "Condense a labelled graph, in seconds, to a small one that trains graph neural networks about as well",
		Long: `cgc condenses a labelled graph into a small one. A graph neural network trained on the small graph reaches
about the same accuracy on the original graph as one trained on the original graph. GRAPH is a name (cgc data list), a
folder, a file or a database URL.

` + settingsHelp(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		Example: examples(
			"cgc run", "cgc run cora --nodes 70", "cgc condense my-graph/ --ratio 1% -o small.safetensors",
		),
		RunE: func(cmd *cobra.Command, args []string) error {
			if asksVersion {
				v := version()
				return c.print(v, sentenceDocument("%s", v.line()))
			}
			return onlyCommands(cmd, args)
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return c.begin(cmd) },
	}
	root.SetFlagErrorFunc(flagMistake)
	flags := root.PersistentFlags()
	flags.IntVar(&c.threads, "threads", 0, "number of threads (default all cores); results do not depend on it")
	flags.BoolVar(&c.quiet, "quiet", false, "suppress progress and notes on standard error")
	flags.BoolVar(&c.json, "json", false, "print results as one JSON object")
	flags.SortFlags = false
	inOrder(root).BoolVarP(&asksVersion, "version", "v", false, "print the version")
	root.SetUsageFunc(usageText)
	root.SetHelpCommand(helpCommand())
	root.AddCommand(
		c.runCommand(), c.condenseCommand(), c.cutCommand(), c.evaluateCommand(), c.trainCommand(), c.predictCommand(),
		c.summarizeCommand(), c.reportCommand(), c.tuneCommand(), c.searchCommand(), c.experimentCommand(),
		c.paperCommand(), c.benchCommand(), c.convertCommand("cgc"), c.dataCommand(), c.webCommand(),
		c.versionCommand(), c.manualCommand(), c.propagateCommand(), c.workerCommand())
	c.addGraphFlags(root)
	group(root)
	complete(root)
	root.SetGlobalNormalizationFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "model" { // so that --model works too
			name = "models"
		}
		return pflag.NormalizedName(name)
	})
	return root
}

// tree returns cmd and the commands below it.
func tree(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, c := range cmd.Commands() {
		all = append(all, tree(c)...)
	}
	return all
}

// group assigns the commands to groups for the help. The groups are ordered by their first commands.
func group(root *cobra.Command) {
	for _, g := range []struct{ title, names string }{
		{"Condense and train:", "run condense cut propagate evaluate train predict summarize report web"},
		{"Search and compare:", "tune search experiment paper bench"},
		{"Graphs:", "data convert"},
	} {
		root.AddGroup(&cobra.Group{ID: g.names, Title: g.title})
		for _, cmd := range root.Commands() {
			if slices.Contains(strings.Fields(g.names), cmd.Name()) {
				cmd.GroupID = g.names
			}
		}
	}
}

// runs adapts run to the signature that cobra calls.
func runs(run func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), args) }
}

// inOrder returns the flags of cmd, which the help will list in the order in which they are added.
func inOrder(cmd *cobra.Command) *pflag.FlagSet {
	cmd.Flags().SortFlags = false
	return cmd.Flags()
}

// examples joins example command lines in the layout of the help.
func examples(lines ...string) string { return "  " + strings.Join(lines, "\n  ") }

// begin applies the settings and starts the progress display.
func (c *command) begin(cmd *cobra.Command) (err error) {
	c.cmd = cmd
	cmd.Flags().Visit(func(flag *pflag.Flag) { // an unset variable of a script, such as --without "$FILE"
		if flag.Value.Type() == "string" && flag.Value.String() == "" {
			err = usagef("--%s has an empty value, must have one or be left out", flag.Name)
		}
	})
	if err != nil {
		return err
	}
	if c.settings, err = readSettings(cmd.Root()); err != nil {
		return err
	}
	if err := c.settings.apply(cmd); err != nil {
		return err
	}
	if c.said("threads") {
		if c.threads < 1 {
			return usagef("--threads %d, must be at least 1", c.threads)
		}
		runtime.GOMAXPROCS(c.threads)
	}
	if c.without != "" {
		if c.left, err = readIDs(c.without); err != nil {
			return fmt.Errorf("--without: %w", err)
		}
	}
	c.progress = newMeter(c.stderr, c.quiet)
	for _, sentence := range c.settings.strange(cmd.Root()) {
		c.progress.note("%s", sentence)
	}
	for _, folder := range dataset.Environment().Search {
		if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
			c.progress.note("CGC_DATA names %s, and there is no such folder", folder)
		}
	}
	cmd.SetContext(c.progress.listen(cmd.Context()))
	return nil
}

// arguments returns a check of the number of arguments. names are the names of the arguments in errors.
func arguments(atLeast int, names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= atLeast && len(args) <= len(names) {
			return nil
		}
		line := strings.TrimSuffix(cmd.UseLine(), " [flags]")
		if len(args) < atLeast {
			return usagef("%s has no %s, expected %s", nameOfCommand(cmd), names[len(args)], line)
		}
		return usagef("%s, expected %s", report.Plural(len(args), "argument"), line)
	}
}

// options returns the options for finding data sets. They print notes while reading.
func (c *command) options() dataset.Options {
	o := dataset.Environment()
	o.Queries, o.Split, o.Without, o.Unlabelled = c.queries, c.split, c.left, c.unlabelled
	o.Note = func(sentence string) { c.progress.note("%s", sentence) }
	o.Omitted = func(left dataset.Omission) { c.omitted = &left }
	return o
}

// generalGroup is the group of the flags that every command has or that cobra adds.
const generalGroup = "General"

// flagGroups lists the groups of flags in the order of the help. COMMAND.FLAG puts the flag into the group for this
// command only.
var flagGroups = []struct{ name, flags string }{
	{"Size", "nodes ratio ratios label-ratio label-ratios lossless groups"},
	{"Method", `method methods seed config partition propagation hops augment ours authors search trials limit
		paper.param bench.precision tune.seconds propagate.teleport`},
	{"Graph", `normalize-features standardize inductive causal nodes-sql edges-sql split without like on other-graph graphs
		all part only new columns merge add relabel condensed sizes scale make.seed summarize.seed`},
	{"Training", `models seeds epochs hidden dropout input-dropout lr weight-decay weighted validate-every trainings
		whole space seconds finalists compare runs train bench.seed evaluate.seed report.seed train.seed search.trials`},
	{"Output", `output format timings force dry-run panels store report figures ceilings addr open
		convert.memory make.memory`},
	{"Advanced", `param params teleport temperature threshold degree alpha memory precision embeddings`},
	{generalGroup, "version threads quiet json"},
}

// groupOf returns the group of a flag of cmd, or "" for a flag that cobra adds.
func groupOf(cmd *cobra.Command, flag string) string {
	for _, name := range []string{cmd.Name() + "." + flag, flag} {
		for _, g := range flagGroups {
			if slices.Contains(strings.Fields(g.flags), name) {
				return g.name
			}
		}
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
	for _, g := range append(cmd.Groups(), &cobra.Group{Title: "Other commands:"}) {
		title := "\n" + g.Title + "\n"
		for _, c := range available(cmd) {
			if c.GroupID == g.ID {
				say("%s  %-*s %s\n", title, c.NamePadding(), c.Name(), c.Short)
				title = ""
			}
		}
	}
	text.WriteString(flagUsages(cmd))
	if cmd.HasAvailableSubCommands() {
		say("\n%s COMMAND --help describes a command.\n", cmd.CommandPath())
	}
	_, err := io.WriteString(cmd.OutOrStderr(), text.String())
	return err
}

// flagUsages describes the flags of cmd by group. Flags that cobra adds have no group and are listed as general.
func flagUsages(cmd *cobra.Command) string {
	width := cmp.Or(columns(cmd.OutOrStdout()), helpWidth)
	cmd.LocalFlags() // adds the parents' flags to Flags
	var text strings.Builder
	for _, group := range flagGroups {
		set := pflag.NewFlagSet("", pflag.ContinueOnError)
		set.SortFlags = false
		cmd.Flags().VisitAll(func(flag *pflag.Flag) {
			if cmp.Or(groupOf(cmd, flag.Name), generalGroup) == group.name {
				set.AddFlag(flag)
			}
		})
		if set.HasAvailableFlags() {
			fmt.Fprintf(&text, "\n%s:\n%s", group.name, set.FlagUsagesWrapped(width))
		}
	}
	return text.String()
}
