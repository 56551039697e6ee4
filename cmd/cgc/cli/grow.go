package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/stored"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/arrivals"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/atomicfile"
	"github.com/graph-condensation/cgc/internal/budget"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
)

// grow writes the propagated features of causal graph seen, which is g with its edges cut, to a folder that can grow.
func (j *propagateJob) grow(
	ctx context.Context, g, seen *graph.Graph, digest graph.Digest, p propagate.Propagation,
) error {
	begun := time.Now()
	info := stored.Info{
		Graph: g.Sizes(), Propagation: p.Rule, Hops: p.Hops, Teleport: p.Teleport, Causal: true, Store: mat.F32,
		Grows: &stored.Grows{ClassNames: g.ClassNames, FeatureNames: g.FeatureNames}, Folder: j.out,
	}
	room := min(memory.Machine()/4, 2<<30) // larger batches are not faster
	if limit := j.config.Memory; limit > 0 {
		needed := budget.Process + budget.Sparse(seen.Adj)
		if !g.Mapped {
			needed += budget.Graph(g.Adj, g.X)
		}
		if room = limit - needed; room < budget.Process {
			return usagef("--memory %s, must be at least %s to propagate %s with --causal", report.Bytes(limit),
				report.Bytes(needed+budget.Process), g.Name)
		}
	}
	err := j.save(j.out, func() error {
		return atomicfile.Folder(j.out, func(folder string) (err error) {
			f, err := stored.Create(folder, info)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, f.Close()) }()
			j.progress.step("propagating")
			if err := f.AddGraph(ctx, seen, room); err != nil {
				return err
			}
			f.Digest, f.Seconds, f.PeakRSS = digest, time.Since(begun).Seconds(), peakRSS()
			info = f.Info
			return f.Commit()
		})
	})
	if err != nil {
		return err
	}
	return j.printHops(info)
}

// extend adds nodes to the output folder, from two tables, or sets labels of its nodes, from one.
func (j *propagateJob) extend(ctx context.Context, source string) (err error) {
	begun := time.Now()
	flag := "add"
	if j.relabels {
		flag = "relabel"
	}
	allowed := []string{flag, "output", "nodes-sql"}
	if j.adds {
		allowed = append(allowed, "edges-sql")
	}
	var wrong error
	j.cmd.Flags().Visit(func(f *pflag.Flag) {
		if name := f.Name; !slices.Contains(allowed, name) && groupOf(j.cmd, name) != generalGroup {
			wrong = cmp.Or(wrong, usagef("--%s with --%s, must be without: the folder says how features are propagated",
				flag, name))
		}
	})
	if wrong != nil {
		return wrong
	}
	f, err := stored.OpenFolder(j.out, true)
	if err != nil {
		return fmt.Errorf("-o %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	j.progress.step("reading " + format.Shown(source))
	change := j.add
	if j.relabels {
		change = j.relabel
	}
	if err := change(ctx, f, arrivals.Source{Path: source, Queries: j.queries}); err != nil {
		return err
	}
	f.Folder, f.Seconds, f.PeakRSS = j.out, time.Since(begun).Seconds(), peakRSS()
	if err := f.Commit(); err != nil {
		return err
	}
	return j.printHops(f.Info)
}

// add adds new nodes to f.
func (j *propagateJob) add(ctx context.Context, f *stored.Folder, from arrivals.Source) error {
	a, notes, err := from.ReadLabelled(ctx, f.IDs, f.Rows, f.Graph.Classes, f.Grows.ClassNames)
	if err != nil {
		return err
	}
	j.warn(notes)
	b, err := f.Batch(a)
	if err != nil {
		return fmt.Errorf("%s: %w", format.Shown(from.Path), err)
	}
	j.progress.step("propagating")
	return f.Add(ctx, b)
}

// relabel gives nodes of f the labels of a table.
func (j *propagateJob) relabel(ctx context.Context, f *stored.Folder, from arrivals.Source) error {
	l, notes, err := from.ReadLabels(ctx, f.IDs, f.Rows, f.Graph.Classes, f.Grows.ClassNames)
	if err != nil {
		return err
	}
	j.warn(notes)
	if err := f.Label(l); err != nil {
		return fmt.Errorf("%s: %w", format.Shown(from.Path), err)
	}
	return nil
}
