package cli

import (
	"context"
	"path/filepath"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/commandline"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/internal/checkpoint"
	"github.com/graph-condensation/cgc/internal/memory"
)

// sizesOutcome is the result of a condensation to several sizes.
type sizesOutcome struct {
	// Sizes has what a condensation to each size prints, in the order of --nodes.
	Sizes []*outcome `json:"sizes"`
}

// severalSizes condenses to each size of --nodes, and writes a file for each into the folder of -o.
func (j *condenseJob) severalSizes(ctx context.Context, args []string) (err error) {
	with := ""
	switch {
	case j.dry:
		with = "--dry-run"
	case j.embeddings != "":
		with = "--embeddings"
	case j.config.lossless > 0:
		with = "--lossless"
	case j.format != "":
		with = "--format"
	case filepath.Ext(j.out) == extension:
		return usagef("-o %s with %d sizes, must be a folder", j.out, len(j.nodes))
	}
	if with != "" {
		return usagef("--nodes with %d sizes and %s, must be one size", len(j.nodes), with)
	}
	if err := makeFolder("-o", j.out); err != nil {
		return err
	}
	defer memory.Bounded(collected(j.config.config.Memory))()
	g, opening, err := j.open(ctx, args[0], j.config)
	if err != nil {
		return err
	}
	bound, err := j.fit(g, j.config)
	if err != nil {
		return err
	}
	methods, err := j.config.methods()
	if err != nil {
		return err
	}
	files := make([]string, len(j.nodes))
	for i, n := range j.nodes {
		files[i] = filepath.Join(j.out, commandline.FileName(g.Name, n)+extension)
		if err := storable("-o", files[i], "", j.force); err != nil {
			return err
		}
		if c, is := methods[0].(condense.Checker); is {
			if err := c.Check(g, n); err != nil {
				return j.config.mistake(err)
			}
		}
	}
	ctx, explain := guard(ctx, "condensing "+g.Name, inParts(g), bound)
	defer func() { err = explain(err) }()
	j.progress.step("condensing")
	condenseTo := func(ctx context.Context, nodes int) (*condense.Condensed, error) {
		return methods[0].Condense(ctx, g, nodes, j.config.config.Seed)
	}
	if preparer, is := methods[0].(condense.Preparer); is {
		prepared, err := preparer.Prepare(ctx, g)
		if err != nil {
			return j.config.mistake(err)
		}
		condenseTo = func(ctx context.Context, nodes int) (*condense.Condensed, error) {
			return prepared.Condense(ctx, methods[0], nodes, j.config.config.Seed)
		}
	}
	var all sizesOutcome
	for i, n := range j.nodes {
		kept := checkpoint.With(ctx, files[i]+".checkpoint", checkpointEvery)
		small, err := condenseTo(kept, n)
		if err != nil {
			return j.config.mistake(err)
		}
		r, err := j.write(ctx, files[i], g, small, opening)
		if err != nil {
			return err
		}
		if err := checkpoint.Remove(kept); err != nil {
			return err
		}
		j.warn(r.Warnings)
		all.Sizes = append(all.Sizes, r)
	}
	return j.print(all, all.document())
}

// document shows the outcome as a table with a row for each size.
func (s sizesOutcome) document() *report.Document {
	d := &report.Document{Title: "condense " + s.Sizes[0].Graph}
	t := &report.Table{Columns: report.Columns("nodes", "edges", "ratio", "method", "file")}
	for _, r := range s.Sizes {
		how := method(r.Config)
		if r.Choice != nil {
			how = r.Choice.Chosen
		}
		t.Row(report.Integer(r.Condensed.Nodes), report.Integer(r.Condensed.Edges), ratio(r.Condensed.Nodes, r.Nodes),
			report.Word(how), report.Word(r.File))
	}
	d.Add(t)
	return d
}
