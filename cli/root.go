package cli

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc/bench"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/internal/memory"
)

// run runs one command line and returns the exit code.
func (c *command) run(ctx context.Context, args []string) (code int) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // a mapped file may shrink
	defer func() {
		if raised := recover(); raised != nil {
			c.fault(raised)
			code = exitFailure
		}
	}()
	threads := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(threads) // --threads holds for this command line alone
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
		text := sentence(err) + nearPath(err)
		if exitCode(err) == exitUsage {
			text = c.settings.name(text)
		}
		fmt.Fprintf(c.stderr, "cgc: %s\n", text)
	}
	return exitCode(err)
}

// fault prints a sentence about a panic.
func (c *command) fault(raised any) {
	switch fault := raised.(type) {
	case interface{ Addr() uintptr }: // the system could not read a page
		fmt.Fprintf(c.stderr, "cgc: a file that is mapped into memory cannot be read any more: it was cut or changed, or "+
			"its disk failed (%v)\n", fault)
	case *memory.Exceeded:
		fmt.Fprintf(c.stderr, "cgc: %s\n", sentence(fault))
	default:
		fmt.Fprintf(c.stderr, "cgc: this is a mistake in cgc, please report it with the command line: %v\n", fault)
	}
}

// command holds what the commands of one command line share.
type command struct {
	stdout, stderr io.Writer
	args           []string
	quiet, json    bool
	threads        int
	settings       *settings
	progress       *meter
	queries        format.Queries  // of the database that a graph is in
	writing        sync.Mutex      // held while a file is written
	warned         []string        // the warnings that were printed
	measured       *bench.Ceilings // of this machine; nil before they are measured
}

func (c *command) root() *cobra.Command {
	asksVersion := false
	root := &cobra.Command{
		Use:   "cgc",
		Short: "Condense a labelled graph to a small one that trains graph neural networks as well, in seconds",
		Long: `cgc condenses a labelled graph: it makes hundreds of nodes from millions. A graph neural network that learns
from the small graph does about as well on the large graph as one that learns from the large graph.

GRAPH is a name (cgc data list shows them), a folder, a file or the address of a database. Try: cgc run

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

		SuggestionsMinimumDistance: 2,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return c.begin(cmd)
		},
	}
	root.SetFlagErrorFunc(flagMistake)
	flags := root.PersistentFlags()
	flags.IntVar(&c.threads, "threads", 0, "number of threads (default all cores); results do not depend on it")
	flags.BoolVar(&c.quiet, "quiet", false, "no progress and no notes on standard error")
	flags.BoolVar(&c.json, "json", false, "print one JSON object")
	flags.SortFlags = false
	root.Flags().BoolVarP(&asksVersion, "version", "v", false, "print the version in one line")
	root.SetHelpCommand(helpCommand())
	root.AddCommand(
		c.runCommand(), c.condenseCommand(), c.evaluateCommand(), c.reportCommand(), c.tuneCommand(), c.experimentCommand(),
		c.paperCommand(), c.benchCommand(), c.convertCommand("cgc"), c.dataCommand(), c.webCommand(), c.versionCommand(),
		c.manualCommand(), c.propagateCommand(), c.workerCommand())
	c.addQueries(root)
	group(root)
	complete(root)
	return root
}

// group puts the commands into groups, in the order in which they are met.
func group(root *cobra.Command) {
	for _, g := range []struct{ title, names string }{
		{"Condense and train:", "run condense propagate evaluate report web"},
		{"Search and compare:", "tune experiment paper bench"},
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

// examples are the example of a command: lines that can be typed.
func examples(lines ...string) string { return "  " + strings.Join(lines, "\n  ") }

// begin applies the settings, and begins to show progress.
func (c *command) begin(cmd *cobra.Command) (err error) {
	if c.settings, err = readSettings(cmd.Root()); err != nil {
		return err
	}
	if err := c.settings.apply(cmd); err != nil {
		return err
	}
	if c.said(cmd, "threads") {
		if c.threads < 1 {
			return usagef("--threads %d, want at least 1", c.threads)
		}
		runtime.GOMAXPROCS(c.threads)
	}
	c.progress = newMeter(c.stderr, c.quiet)
	for _, sentence := range c.settings.strange(cmd.Root()) {
		c.progress.note("%s", sentence)
	}
	cmd.SetContext(c.progress.listen(cmd.Context()))
	return nil
}

// arguments checks the number of arguments against their names.
func arguments(atLeast int, names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= atLeast && len(args) <= len(names) {
			return nil
		}
		line := strings.TrimSuffix(cmd.UseLine(), " [flags]")
		if len(args) < atLeast {
			return usagef("%s has no %s, want %s", nameOfCommand(cmd), names[len(args)], line)
		}
		return usagef("%d arguments, want %s", len(args), line)
	}
}

// options returns where data is looked for. Notes go to the terminal.
func (c *command) options() dataset.Options {
	o := dataset.Environment()
	o.Queries = c.queries
	o.Note = func(sentence string) { c.progress.note("%s", sentence) }
	return o
}
