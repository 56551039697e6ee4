package cli

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/paneled"
	"github.com/graph-condensation/cgc/mat"
)

// convertCommand returns cgc convert or cgc data convert. parent is the part of the command line before convert.
func (c *command) convertCommand(parent string) *cobra.Command {
	job := &convertJob{command: c}
	cmd := &cobra.Command{
		Use: "convert FROM TO",
		Example: examples(
			parent+" convert my-graph/ my-graph.safetensors",
			parent+" convert my-graph.safetensors half.safetensors --store f16 --panels 16",
			parent+" convert small.safetensors small.pt",
		),
		Short: "Convert a graph or a condensed graph to another format",
		Long: `Convert FROM, a graph or the file of a condensed graph, to the format given by the file extension of TO.
If --store, --panels or --memory is set, TO must end in .safetensors.

Native files (cgc's safetensors), text, OGB folders, folders of named nodes and Parquet are read in parts, so the graph
may be larger than memory. Edges are sorted in temporary files next to TO: at most 16 bytes per edge, or 24 if edges
have weights.`,
		Args:              arguments(2, "FROM", "TO"),
		ValidArgsFunction: completeGraph,
		RunE:              runs(job.run),
	}
	cmd.Flags().StringVar(&job.name, "format", "",
		"write the format `NAME`: "+strings.Join(format.Writers(), ", ")+" (default by the file extension)")
	job.store.addTo(cmd)
	cmd.Flags().BoolVar(&job.force, "force", false, "replace the file if it exists")
	return cmd
}

// convertJob is one run of cgc convert. name is the format of TO, or "" if its file extension determines the format.
type convertJob struct {
	*command
	from, to, name string
	force          bool
	store          storing
}

func (j *convertJob) run(ctx context.Context, args []string) error {
	j.from, j.to, j.unlabelled = args[0], args[1], true
	flags := j.cmd.Flags()
	typed := flags.Changed("store") || flags.Changed("panels") || flags.Changed("memory")
	asked := j.store != (storing{}) // settings can also set these flags, and are ignored where they do not apply
	if err := j.store.check(); err != nil {
		return err
	}
	to, err := target(j.to, j.name)
	_, streams := to.(format.StreamWriter)
	asked = asked && streams
	switch {
	case typed && !streams:
		return usagef("TO %s: --store, --panels and --memory need a name that ends in %s", j.to, extension)
	case asked:
		err = writable("TO", j.to, extension, j.force, never)
	case err == nil:
		err = freeFor("TO", j.to, to, j.force, never)
	}
	if err != nil {
		return err
	}
	if streams {
		if handled, err := j.stream(ctx); handled || err != nil {
			return err
		}
	}
	j.progress.step("opening " + format.Shown(j.from))
	if asked {
		if err := j.fits(); err != nil {
			return err
		}
		defer memory.Bounded(j.store.memory)()
	}
	g, err := j.options().Open(ctx, j.from)
	switch {
	case errors.Is(err, format.ErrCondensed) && typed:
		return usagef("FROM %s is a condensed graph, must be a graph with --store, --panels and --memory", j.from)
	case errors.Is(err, format.ErrCondensed):
		return j.condensed(ctx)
	case err != nil:
		return err
	case asked:
		return j.stored(ctx, g)
	}
	if _, ok, err := format.WriterFor(j.to, j.name); err != nil || !ok {
		return usagef("TO %s: no graph can be written in its format, only a condensed one", j.to)
	}
	return j.write(ctx, g, j.to, j.name)
}

// stored writes g with its features stored as the flags require.
func (j *convertJob) stored(ctx context.Context, g *graph.Graph) error {
	if sparse, is := g.X.(*mat.CSR); is {
		flags := j.cmd.Flags()
		if flags.Changed("store") || flags.Changed("panels") && j.store.panels != 0 {
			return usagef("%s has sparse features (%d of %d×%d are not 0), must have dense ones for --store and --panels",
				g.Name, sparse.NNZ(), sparse.Rows, sparse.Cols)
		}
		return j.write(ctx, g, j.to, j.name)
	}
	if p, is := g.X.(*paneled.Matrix); is && j.store.storage == "" {
		j.store.storage = p.Storage()
	}
	return j.writeStream(ctx, format.StreamOf(g), j.to, j.store.options(0))
}

// stream converts a graph if its format can be read in parts. Otherwise handled is false.
func (j *convertJob) stream(ctx context.Context) (handled bool, err error) {
	defer memory.Bounded(j.store.memory)()
	j.progress.step("opening " + format.Shown(j.from))
	s, err := j.options().Stream(ctx, j.from, max(j.store.memory, leastSorting)) // enough rejects less
	if missing := new(dataset.NotFoundError); errors.As(err, &missing) || errors.Is(err, format.ErrCondensed) {
		return false, nil // names to fetch and condensed graphs are handled elsewhere
	}
	if err != nil || s == nil {
		return err != nil, err
	}
	if s.Close != nil {
		defer s.Close()
	}
	if err := j.store.enough(s.Name, s.Held); err != nil {
		return true, err
	}
	o := j.store.options(s.Held)
	const worth = 256 << 20 // the plan is printed for graphs of at least this many bytes
	if p := s.Plan(o); p.Read+p.Scratch >= worth {
		j.progress.note("plan within %s: %s to read, at most %s in temporary files, at most %s to write, %s of memory for "+
			"labels and names and the rest for sorting", report.Bytes(j.store.memory), report.Bytes(p.Read),
			report.Bytes(p.Scratch), report.Bytes(p.File), report.Bytes(s.Held))
	}
	return true, j.writeStream(ctx, s, j.to, o)
}

// fits returns an error if a file that must be read completely is larger than the memory limit. Native files are
// mapped.
func (j *convertJob) fits() error {
	found, err := j.options().Find(j.from)
	if err != nil {
		return nil // Open reports the error
	}
	if _, mapped := found.Format.(format.StreamWriter); mapped {
		return nil
	}
	total := int64(0)
	for info := range filesUnder(found.Path) {
		total += info.Size()
	}
	if total > j.store.memory {
		return usagef("FROM %s holds %s and is read whole in the format %s, and --memory allows %s: "+
			"raise it, or convert a %s file", j.from, inUnitsOf(j.store.memory, total), found.FormatName,
			inUnitsOf(j.store.memory, j.store.memory), extension)
	}
	return nil
}

// target returns the format that writes a graph or a condensed graph to path: the named format or, if name is empty,
// the format of the file extension.
func target(path, name string) (format.Format, error) {
	w, ok, err := format.WriterFor(path, name)
	if ok {
		return w, nil
	}
	store, notStored := format.StoreFor(path, name)
	switch {
	case notStored == nil:
		return store, nil
	case err != nil:
		return nil, usagef("--format %s: %s", name, sentence(err))
	}
	return nil, usagef("TO %s, must be a name that ends in %s, or --format", path,
		words(format.Extensions(append(format.Writers(), format.Stores()...))))
}

// condensed converts a condensed graph.
func (j *convertJob) condensed(ctx context.Context) error {
	if err := j.unread("the condensed graph " + j.from); err != nil {
		return err
	}
	small, err := cgc.Load(j.from)
	if err != nil {
		return err
	}
	if _, err := format.StoreFor(j.to, j.name); err != nil {
		return usagef("TO %s: %s", j.to, sentence(err))
	}
	if err := j.save(j.to, func() error { return small.SaveAs(ctx, j.to, j.name) }); err != nil {
		return err
	}
	return j.wrote(written{Condensed: &small.Graph, File: j.to}, report.Plural(small.Nodes(), "condensed node"),
		small.Edges(), small.X.Cols, small.Classes)
}

// write writes g to a file and reports it. The format is the named one, or else follows from the file extension.
func (c *command) write(ctx context.Context, g *graph.Graph, file, name string) error {
	if err := c.save(file, func() error { return dataset.WriteAs(ctx, file, name, g) }); err != nil {
		return err
	}
	return c.wrote(written{Graph: &g.Name, File: file}, report.Plural(g.Nodes(), "node"), g.Edges(), g.Features(),
		g.Classes)
}

// written is what --json prints about a graph or a condensed graph that was written to a file.
type written struct {
	Graph     *string `json:"graph,omitempty"` // the name of a graph
	Condensed *string `json:"condensed,omitempty"`
	File      string  `json:"file"`
}

// wrote prints what was written, with its sizes.
func (c *command) wrote(w written, nodes string, edges, features, classes int) error {
	name := *cmp.Or(w.Graph, w.Condensed)
	return c.print(w, sentenceDocument("%s: %s, %s, %s, %s in %s", name, nodes,
		report.Plural(edges, "edge"), report.Plural(features, "feature"), report.Plural(classes, "class"), w.File))
}

// storing holds the flags for writing a graph in parts.
type storing struct {
	storage mat.Storage
	panels  int
	memory  int64
}

// addTo adds the flags to cmd. An empty storage means that the flag was not given.
func (s *storing) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	addChoice(cmd, &s.storage, "store", mat.Storages(), "number type of dense features")
	flags.IntVar(&s.panels, "panels", 0, "store dense features in blocks of `W` columns; 0 stores one matrix")
	flags.Var(size(&s.memory), "memory", "memory to use, such as 2GiB or 500MB (default a quarter of the machine's)")
}

// check checks the flags, and sets the default memory if none was given.
func (s *storing) check() error {
	if s.panels < 0 {
		return usagef("--panels %d, must be 0 or the number of columns of a panel", s.panels)
	}
	if s.memory == 0 {
		if s.memory = memory.Machine() / 4 >> 20 << 20; s.memory == 0 { // whole MiB, for messages
			s.memory = 1 << 30
		}
	}
	return nil
}

// options returns the options for a format. All memory but the needed bytes is for sorting.
func (s *storing) options(needed int64) format.Storing {
	return format.Storing{Storage: s.storage, Width: s.panels, Memory: max(0, s.memory-needed)}
}

// leastSorting is the smallest useful amount of memory for sorting, in bytes.
const leastSorting = 64 << 20

// enough returns an error if the memory is less than needed plus leastSorting. what names the work in the error.
func (s *storing) enough(what string, needed int64) error {
	if needed += leastSorting; needed > s.memory {
		return usagef("%s needs at least %s of memory, and --memory allows %s", what, inUnitsOf(s.memory, needed),
			inUnitsOf(s.memory, s.memory))
	}
	return nil
}
