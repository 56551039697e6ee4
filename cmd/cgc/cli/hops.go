package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/stored"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/npy"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/atomicfile"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// hops writes the propagated features of some nodes to a folder of .npy files.
func (j *propagateJob) hops(ctx context.Context, name string) error {
	begun := time.Now()
	identity := j.identity(name) // before the file is opened
	j.progress.step("opening " + name)
	g, err := j.options().Open(ctx, name)
	if err != nil {
		return err
	}
	rows, err := j.chosen.of(g)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return fmt.Errorf("%s: graph %s has 0 such nodes, must have at least 1", &j.chosen, g.Name)
	}
	digest, err := graph.DigestOf(g)
	if err != nil {
		return err
	}
	setting := j.config.Setting()
	seen, err := setting.View(ctx, g)
	if err != nil {
		return err
	}
	p := propagationOf(j.config)
	in := propagate.Input{Adj: seen.Adj, X: seen.X, Rows: rows, Mapped: seen.Mapped}
	if setting.Inductive { // the view has only training nodes, with other numbers
		in.Rows = seen.Split.Train
	}
	all := len(rows) == g.Nodes() && j.store == mat.F32 && j.config.Precision == blocked.Float32
	if setting == (condense.Setting{Causal: true}) && all {
		return j.grow(ctx, g, seen.Graph, digest, p)
	}
	engine := blocked.Engine{Memory: j.config.Memory, Precision: j.config.Precision}
	if err := stored.Enough(engine, blocked.Engine.HopsFootprint, p, in); err != nil {
		return j.limited(err, name)
	}
	info := stored.Info{
		Graph: g.Sizes(), Digest: digest, Propagation: p.Rule, Hops: p.Hops, Teleport: p.Teleport,
		NormalizeFeatures: setting.NormalizeFeatures, Standardize: setting.Standardize, Inductive: setting.Inductive,
		Causal: setting.Causal,
		Rows:   len(rows), Precision: j.config.Precision, Store: j.store, Folder: j.out,
	}
	kept := &blocked.Kept{
		Path: filepath.Clean(j.out) + ".checkpoint", Note: func(sentence string) { j.progress.note("%s", sentence) },
	}
	if engine.Kept = kept; g.Mapped && identity != "" {
		kept.Identity = fmt.Sprint(identity, digest)
	}
	if err := j.save(j.out, func() (err error) {
		defer func() { // a mistake in the graph or the options would stop the next run too
			if kept.Close(errors.Is(err, context.Canceled) || errors.As(err, new(syscall.Errno))) {
				j.progress.note("%s keeps the finished columns: run the same command again to resume", kept.Path)
			}
		}()
		return atomicfile.Folder(j.out, func(folder string) error {
			array := func(a format.Array) error {
				file := filepath.Join(folder, a.Name+".npy")
				return create(file, func(w io.Writer) error { return npy.Write(w, a, j.store) })
			}
			j.progress.step("propagating")
			if err := engine.Hops(ctx, p, in, j.store, func(l int, h mat.Matrix) error {
				if l == 0 {
					j.progress.step("writing " + j.out)
				}
				return array(format.Array{Name: fmt.Sprintf("hop%d", l), Data: h})
			}); err != nil {
				return err
			}
			for _, a := range describeRows(g, rows) {
				if err := array(a); err != nil {
					return err
				}
			}
			info.Seconds, info.PeakRSS = time.Since(begun).Seconds(), peakRSS()
			return create(filepath.Join(folder, stored.InfoName), func(w io.Writer) error { return writeJSON(w, info) })
		})
	}); err != nil {
		return j.limited(err, name)
	}
	return j.printHops(info)
}

// printHops prints what a folder of propagated features holds.
func (j *propagateJob) printHops(info stored.Info) error {
	return j.print(info, sentenceDocument("%s: hops 0 to %d of %s nodes of graph %s, %d features in %s", info.Folder,
		info.Hops, report.Count(info.Rows), info.Graph.Name, info.Graph.Features, info.Store))
}

// identity describes what determines the results and could change before the command is run again: the file of a
// graph, the program, and the flags. It is empty for a graph that is not in one file.
func (j *propagateJob) identity(name string) string {
	found, _ := j.options().Find(name)
	program, _ := os.Executable()
	text := version().line() + " " + kernel.Name()
	for _, path := range []string{found.Path, program} {
		path, _ := filepath.Abs(path)
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return ""
		}
		text += fmt.Sprintf("\n%s %d %d", path, info.Size(), info.ModTime().UnixNano())
	}
	j.cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if groupOf(j.cmd, f.Name) != generalGroup && f.Name != "force" {
			text += fmt.Sprintf("\n%s %s", f.Name, f.Value)
		}
	})
	return text
}

// create writes a new file.
func create(path string, write func(io.Writer) error) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return write(file)
}

// describeRows returns the arrays that describe the rows: their nodes, labels and names, and the rows of each part of
// the split.
func describeRows(g *graph.Graph, rows []int32) []format.Array {
	all := []format.Array{{Name: "nodes", Data: rows}, {Name: "y", Data: g.Labels(rows)}}
	for _, part := range []string{"train", "val", "test"} {
		at := []int32{}
		for _, v := range nodesIn(g, part) {
			if i, is := slices.BinarySearch(rows, v); is {
				at = append(at, int32(i))
			}
		}
		all = append(all, format.Array{Name: part, Data: at})
	}
	if g.IDs != nil {
		all = append(all, format.Array{Name: "ids", Data: mapped(rows, func(v int32) string { return g.IDs[v] })})
	}
	return all
}

// ownFile matches the names of the files in a folder of propagated features.
var ownFile = regexp.MustCompile(`^((hop[0-9]+|degree|nodes|y|train|val|test|ids)\.npy|propagate\.json)$`)

// hopsFree returns an error if the output folder must not be replaced. Replacing removes everything in it, so it must
// not contain inputs, and only with --force may it contain files of other programs.
func (j *propagateJob) hopsFree(inputs ...string) error {
	if info, err := os.Stat(filepath.Clean(j.out)); err == nil && !info.IsDir() { // without a slash at the end
		return usagef("-o %s is a file, must be a .safetensors file or a folder", j.out)
	}
	for _, input := range inputs {
		if input != "" && within(j.out, input) {
			return usagef("-o %s is or contains %s, which is read, must be another folder", j.out, input)
		}
	}
	stranger := atomicfile.Stranger(j.out, func(e os.DirEntry) bool {
		return !e.IsDir() && ownFile.MatchString(e.Name())
	})
	if stranger != "" && !j.force {
		return fmt.Errorf("-o %s: the folder contains %s, which cgc did not write (--force replaces the folder)",
			j.out, stranger)
	}
	return free("-o", j.out, true, j.force, func(folder string) bool {
		entries, err := os.ReadDir(folder)
		return err == nil && (len(entries) == 0 || readBy(os.Stat)(filepath.Join(folder, stored.InfoName)))
	})
}

// within reports whether path is folder, or is inside it. Both must exist.
func within(folder, path string) bool {
	var real [2]string
	for i, name := range []string{folder, path} {
		name, err := filepath.Abs(name)
		if err == nil {
			real[i], err = filepath.EvalSymlinks(name)
		}
		if err != nil {
			return false
		}
	}
	rest, err := filepath.Rel(real[0], real[1])
	return err == nil && filepath.IsLocal(rest)
}
