package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/npy"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/atomicfile"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// hopsInfo is the file propagate.json in a folder of propagated features, and what --json prints.
type hopsInfo struct {
	Graph graph.Identity `json:"graph"`
	// Propagation, Hops and Teleport are the rule, K, and the parameter of ppr.
	Propagation propagate.Rule `json:"propagation"`
	Hops        int            `json:"hops"`
	Teleport    float64        `json:"teleport,omitempty"`
	// NormalizeFeatures and Standardize say how features were changed before, and Inductive whether only edges between
	// training nodes count.
	NormalizeFeatures bool `json:"normalize_features"`
	Standardize       bool `json:"standardize"`
	Inductive         bool `json:"inductive"`
	// Rows is the number of nodes, and Store the number type of the features.
	Rows  int         `json:"rows"`
	Store mat.Storage `json:"store"`
	// Seconds is the time of propagating and writing, and PeakRSS the largest resident set, in bytes.
	Seconds float64 `json:"seconds"`
	PeakRSS int64   `json:"peak_rss"`
	Folder  string  `json:"folder"`
}

// infoName is the name of that file. A folder that has it may be replaced.
const infoName = "propagate.json"

// hops writes the propagated features of some nodes to a folder of .npy files.
func (j *propagateJob) hops(ctx context.Context, name string) error {
	begun := time.Now()
	j.progress.step("opening " + name)
	g, err := j.options().Open(ctx, name)
	if err != nil {
		return err
	}
	rows := nodesOfPart(g, j.part)
	if len(rows) == 0 {
		return fmt.Errorf("--part %s: graph %s has 0 such nodes, must have at least 1", j.part, g.Name)
	}
	id, err := graph.Identify(g)
	if err != nil {
		return err
	}
	setting := j.config.Setting()
	seen, err := setting.View(ctx, g)
	if err != nil {
		return err
	}
	j.progress.step("propagating")
	p := j.propagation()
	in := propagate.Input{Adj: seen.Adj, X: seen.X, Rows: rows, Mapped: seen.Mapped}
	if setting.Inductive { // the view has only training nodes, with other numbers
		in.Rows = seen.Split.Train
	}
	views, err := propagate.Run(ctx, blocked.Engine{Memory: j.config.Memory}, p, in)
	if err != nil {
		return err
	}
	info := hopsInfo{
		Graph: id, Propagation: p.Rule, Hops: p.Hops, NormalizeFeatures: setting.NormalizeFeatures,
		Standardize: setting.Standardize, Inductive: setting.Inductive, Rows: len(rows), Store: j.store, Folder: j.out,
	}
	if p.Rule == propagate.PPR {
		info.Teleport = p.Teleport
	}
	if err := j.save(j.out, func() error {
		return atomicfile.Folder(j.out, func(folder string) error {
			arrays := describeRows(g, rows)
			for k, v := range views {
				arrays = append(arrays, format.Array{Name: fmt.Sprintf("hop%d", k), Data: viewMatrix{v}})
			}
			for _, a := range arrays {
				write := func(w io.Writer) error { return npy.Write(w, a, j.store) }
				if err := create(filepath.Join(folder, a.Name+".npy"), write); err != nil {
					return err
				}
			}
			info.Seconds, info.PeakRSS = time.Since(begun).Seconds(), peakRSS()
			return create(filepath.Join(folder, infoName), func(w io.Writer) error { return writeJSON(w, info) })
		})
	}); err != nil {
		return err
	}
	return j.print(info, sentenceDocument("%s: hops 0 to %d of %s nodes of graph %s, %d features in %s", j.out, p.Hops,
		report.Count(len(rows)), g.Name, g.Features(), j.store))
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

// describeRows returns the arrays that say what the rows are: their nodes, labels and names, and the rows of each part
// of the split.
func describeRows(g *graph.Graph, rows []int32) []format.Array {
	all := []format.Array{{Name: "nodes", Data: rows}, {Name: "y", Data: g.Labels(rows)}}
	for _, part := range []string{"train", "val", "test"} {
		at := []int32{}
		for _, v := range nodesOfPart(g, part) {
			if i, is := slices.BinarySearch(rows, v); is {
				at = append(at, int32(i))
			}
		}
		all = append(all, format.Array{Name: part, Data: at})
	}
	if g.IDs != nil {
		ids := make([]string, len(rows))
		for i, v := range rows {
			ids[i] = g.IDs[v]
		}
		all = append(all, format.Array{Name: "ids", Data: ids})
	}
	return all
}

// viewMatrix is a view that is read in blocks.
type viewMatrix struct{ mat.View }

// ReadBlock implements mat.Matrix.
func (m viewMatrix) ReadBlock(dst *mat.Dense, rows []int32, lo, hi int) error {
	dst.Reshape(len(rows), hi-lo)
	for i, r := range rows {
		copy(dst.Row(i), m.Row(int(r))[lo:hi])
	}
	return nil
}

// isHops reports whether path is a folder that hops wrote.
func isHops(path string) bool {
	_, err := os.Stat(filepath.Join(path, infoName))
	return err == nil
}

// hopsFree returns an error if the output folder must not be replaced.
func (j *propagateJob) hopsFree() error {
	if info, err := os.Stat(j.out); err == nil && !info.IsDir() {
		return usagef("-o %s is a file, must be a .safetensors file or a folder", j.out)
	}
	return free("-o", j.out, true, j.force, isHops)
}
