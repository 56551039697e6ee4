package cli

import (
	"context"
	"errors"
	"fmt"
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
	var (
		force bool
		name  string
		store storing
	)
	cmd := &cobra.Command{
		Use: "convert FROM TO",
		Example: examples(
			parent+" convert my-graph/ my-graph.safetensors",
			parent+" convert my-graph.safetensors half.safetensors --store f16 --panels 16",
			parent+" convert small.safetensors small.pt",
		),
		Short: "Convert a graph or a condensed graph to another format",
		Long: `Convert FROM, a graph or the file of a condensed graph, to the format given by the file extension of TO. With
--store, --panels or --memory, TO must end in .safetensors.

Native files, text, OGB folders, folders of named nodes and Parquet are read in parts, so the graph may be larger than
memory. Edges are sorted in temporary files next to TO: at most 16 bytes per edge, or 24 if edges have weights.`,
		Args:              arguments(2, "FROM", "TO"),
		ValidArgsFunction: completeGraph,
		RunE: func(cmd *cobra.Command, args []string) error {
			if store.asked() {
				return c.convertStored(cmd.Context(), args[0], args[1], name, force, store)
			}
			return c.convert(cmd.Context(), args[0], args[1], name, force)
		},
	}
	cmd.Flags().StringVar(&name, "format", "",
		"write the format `NAME`: "+strings.Join(format.Writers(), ", ")+" (default by the file extension)")
	store.addTo(cmd)
	cmd.Flags().BoolVar(&force, "force", false, "replace the file if it exists")
	into(outputGroup, cmd.Flags())
	return cmd
}

// convertStored converts a graph and stores its features as the flags require.
func (c *command) convertStored(ctx context.Context, from, to, name string, force bool, store storing) error {
	if err := store.check(); err != nil {
		return err
	}
	if w, ok, err := format.WriterFor(to, name); err != nil || !ok {
		return usagef("TO %s: --store, --panels and --memory need a name that ends in %s", to, extension)
	} else if _, streams := w.(format.StreamWriter); !streams {
		return usagef("TO %s: --store, --panels and --memory need a name that ends in %s", to, extension)
	}
	if err := writable("TO", to, extension, force, never); err != nil {
		return err
	}
	if handled, err := c.convertStream(ctx, from, to, store); handled || err != nil {
		return err
	}
	c.progress.step("opening " + format.Shown(from))
	if err := c.fits(from, store.memory); err != nil {
		return err
	}
	defer memory.Bounded(store.memory)()
	g, err := c.options().Open(ctx, from)
	if err != nil {
		return err
	}
	if sparse, is := g.X.(*mat.CSR); is {
		if store.storage != "" || store.panels != 0 {
			return usagef("%s has sparse features (%d of %d×%d are not 0), must have dense ones for --store and --panels",
				g.Name, sparse.NNZ(), sparse.Rows, sparse.Cols)
		}
		return c.write(ctx, g, to, name)
	}
	if p, is := g.X.(*paneled.Matrix); is && store.storage == "" {
		store.storage = p.Storage()
	}
	return c.writeStream(ctx, format.StreamOf(g), to, store.options(0))
}

// convertStream is convertStored for formats that read graphs in parts. handled reports whether the format of FROM
// does.
func (c *command) convertStream(ctx context.Context, from, to string, store storing) (handled bool, err error) {
	defer memory.Bounded(store.memory)()
	c.progress.step("opening " + format.Shown(from))
	s, err := c.options().Stream(ctx, from, store.memory)
	if missing := new(dataset.NotFoundError); errors.As(err, &missing) || errors.Is(err, format.ErrCondensed) {
		return false, nil // it may be a name to fetch; a condensed graph is read elsewhere
	}
	if err != nil || s == nil {
		return err != nil, err
	}
	if s.Close != nil {
		defer s.Close()
	}
	if err := store.enough(s.Name, s.Held); err != nil {
		return true, err
	}
	o := store.options(s.Held)
	const worth = 256 << 20 // the plan is printed for graphs of at least this many bytes
	if p := s.Plan(o); p.Read+p.Scratch >= worth {
		c.progress.note("%s", planText(p, s.Held, store.memory))
	}
	return true, c.writeStream(ctx, s, to, o)
}

// planText describes the resources needed to write a stream.
func planText(p format.Plan, held, memory int64) string {
	return fmt.Sprintf("plan within %s: %s to read, at most %s in temporary files, at most %s to write, %s of memory for "+
		"labels and names and the rest for sorting", report.Bytes(memory), report.Bytes(p.Read), report.Bytes(p.Scratch),
		report.Bytes(p.File), report.Bytes(held))
}

// fits returns an error if a file that must be read completely is larger than the memory limit. Native files are
// mapped.
func (c *command) fits(from string, memory int64) error {
	found, err := c.options().Find(from)
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
	if total > memory {
		return usagef("FROM %s holds %s and is read whole in the format %s, and --memory allows %s: "+
			"raise it, or convert a %s file", from, bytesText(total), found.FormatName, bytesText(memory), extension)
	}
	return nil
}

// convert writes the graph at from to a file. The format is the named one, or else follows from the file extension.
func (c *command) convert(ctx context.Context, from, to, name string, force bool) error {
	target, err := target(to, name)
	if err != nil {
		return err
	}
	if err := freeFor("TO", to, target, force, never); err != nil {
		return err
	}
	if _, streams := target.(format.StreamWriter); streams {
		var store storing
		if err := store.check(); err != nil {
			return err
		}
		if handled, err := c.convertStream(ctx, from, to, store); handled || err != nil {
			return err
		}
	}
	c.progress.step("opening " + format.Shown(from))
	g, err := c.options().Open(ctx, from)
	switch {
	case errors.Is(err, format.ErrCondensed):
		return c.convertCondensed(ctx, from, to, name)
	case err != nil:
		return err
	}
	if _, ok, err := format.WriterFor(to, name); err != nil || !ok {
		return usagef("TO %s: no graph can be written in its format, only a condensed one", to)
	}
	return c.write(ctx, g, to, name)
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

// convertCondensed converts a condensed graph.
func (c *command) convertCondensed(ctx context.Context, from, to, name string) error {
	small, err := cgc.Load(from)
	if err != nil {
		return err
	}
	if _, err := format.StoreFor(to, name); err != nil {
		return usagef("TO %s: %s", to, sentence(err))
	}
	if err := c.save(to, func() error { return small.SaveAs(ctx, to, name) }); err != nil {
		return err
	}
	written := struct {
		Condensed string `json:"condensed"`
		File      string `json:"file"`
	}{small.Graph, to}
	return c.print(written, sentenceDocument("%s: %s, %s, %s, %s in %s", small.Graph,
		report.Plural(small.Nodes(), "condensed node"), report.Plural(small.Edges(), "edge"),
		report.Plural(small.X.Cols, "feature"), report.Count(small.Classes)+" classes", to))
}

// write writes g to a file and reports it. The format is the named one, or else follows from the file extension.
func (c *command) write(ctx context.Context, g *graph.Graph, file, name string) error {
	if err := c.save(file, func() error { return dataset.WriteAs(ctx, file, name, g) }); err != nil {
		return err
	}
	written := struct {
		Graph string `json:"graph"`
		File  string `json:"file"`
	}{g.Name, file}
	return c.print(written, sentenceDocument("%s: %s, %s, %s, %s in %s", g.Name, report.Plural(g.Nodes(), "node"),
		report.Plural(g.Edges(), "edge"), report.Plural(g.Features(), "feature"), report.Count(g.Classes)+" classes", file))
}
