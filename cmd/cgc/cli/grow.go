package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/stored"
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

// add adds the nodes of a folder with nodes.csv and edges.csv to the output folder.
func (j *propagateJob) add(ctx context.Context, folder string) (err error) {
	begun := time.Now()
	var wrong error
	j.cmd.Flags().Visit(func(flag *pflag.Flag) {
		if name := flag.Name; name != "add" && name != "output" && groupOf(j.cmd, name) != generalGroup {
			wrong = cmp.Or(wrong, usagef("--add with --%s, must be without: the folder says how features are propagated", name))
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
	j.progress.step("reading " + folder)
	a, notes, err := arrivals.ReadLabelled(ctx, folder, f.IDs, f.Rows, f.Graph.Classes, f.Grows.ClassNames)
	if err != nil {
		return err
	}
	for _, sentence := range notes {
		j.progress.note("%s", sentence)
	}
	b, err := f.Batch(a)
	if err != nil {
		return fmt.Errorf("%s: %w", folder, err)
	}
	j.progress.step("propagating")
	if err := f.Add(ctx, b); err != nil {
		return err
	}
	f.Folder, f.Seconds, f.PeakRSS = j.out, time.Since(begun).Seconds(), peakRSS()
	if err := f.Commit(); err != nil {
		return err
	}
	return j.printHops(f.Info)
}
