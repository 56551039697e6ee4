package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/stored"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/npy"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/atomicfile"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// hopsInfo is the content of propagate.json in a folder of propagated features, and what --json prints.
type hopsInfo struct {
	// Graph has no fingerprint, which would take as long as propagating a graph on disk. Digest identifies the graph.
	Graph  graph.Identity `json:"graph"`
	Digest graph.Digest   `json:"digest"`
	// Propagation is the rule, Hops is the number of steps, and Teleport is the parameter of ppr.
	Propagation propagate.Rule `json:"propagation"`
	Hops        int            `json:"hops"`
	Teleport    float64        `json:"teleport,omitempty"`
	// NormalizeFeatures and Standardize report how features were scaled before propagation. Inductive reports whether only
	// edges between training nodes were used.
	NormalizeFeatures bool `json:"normalize_features"`
	Standardize       bool `json:"standardize"`
	Inductive         bool `json:"inductive"`
	// Rows is the number of nodes. Precision is the precision between hops, and Store is the number type of the arrays.
	Rows      int               `json:"rows"`
	Precision blocked.Precision `json:"precision"`
	Store     mat.Storage       `json:"store"`
	// Seconds is the time for propagating and writing. PeakRSS is the largest resident set in bytes.
	Seconds float64 `json:"seconds"`
	PeakRSS int64   `json:"peak_rss"`
	Folder  string  `json:"folder"`
}

// infoName is the name of the file with hopsInfo. A folder that contains it may be replaced.
const infoName = "propagate.json"

// hops writes the propagated features of some nodes to a folder of .npy files.
func (j *propagateJob) hops(ctx context.Context, name string) error {
	begun := time.Now()
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
	engine := blocked.Engine{Memory: j.config.Memory, Precision: j.config.Precision}
	if err := stored.Enough(engine, blocked.Engine.HopsFootprint, p, in); err != nil {
		return j.limited(err, name)
	}
	info := hopsInfo{
		Graph: g.Sizes(), Digest: digest, Propagation: p.Rule, Hops: p.Hops, Teleport: p.Teleport,
		NormalizeFeatures: setting.NormalizeFeatures, Standardize: setting.Standardize, Inductive: setting.Inductive,
		Rows: len(rows), Precision: j.config.Precision, Store: j.store, Folder: j.out,
	}
	// write writes hops of the nodes, and the arrays that describe the nodes, to what create opens.
	write := func(p propagate.Propagation, create func(name string, write func(io.Writer) error) error) error {
		array := func(a format.Array) error {
			return create(a.Name+".npy", func(w io.Writer) error { return npy.Write(w, a, j.store) })
		}
		if err := engine.Hops(ctx, p, in, j.store, func(l int, h mat.Matrix) error {
			return array(format.Array{Name: fmt.Sprintf("hop%d", l), Data: h})
		}); err != nil {
			return err
		}
		for _, a := range describeRows(g, rows) {
			if err := array(a); err != nil {
				return err
			}
		}
		return nil
	}
	_, unnamed := os.Stat(filepath.Join(j.out, "ids.npy"))
	if found := j.earlier(info); found != nil && !j.force && (unnamed == nil) == (g.IDs != nil) {
		// Hop 0 is compared too, because a digest samples the features of a large graph.
		j.progress.step("comparing with " + j.out)
		first := propagate.Propagation{Rule: p.Rule, Teleport: p.Teleport}
		if write(first, func(name string, write func(io.Writer) error) error {
			return compare(filepath.Join(j.out, name), write)
		}) == nil {
			return j.print(found, sentenceDocument("%s is complete: nothing to do (--force computes it again)", j.out))
		}
	}
	if err := j.save(j.out, func() error {
		return atomicfile.Folder(j.out, func(folder string) error {
			j.progress.step("propagating")
			if err := write(p, func(name string, write func(io.Writer) error) error {
				if name == "hop0.npy" {
					j.progress.step("writing " + j.out)
				}
				return create(filepath.Join(folder, name), write)
			}); err != nil {
				return err
			}
			info.Seconds, info.PeakRSS = time.Since(begun).Seconds(), peakRSS()
			return create(filepath.Join(folder, infoName), func(w io.Writer) error { return writeJSON(w, info) })
		})
	}); err != nil {
		return j.limited(err, name)
	}
	return j.print(info, sentenceDocument("%s: hops 0 to %d of %s nodes of graph %s, %d features in %s", j.out, p.Hops,
		report.Count(len(rows)), g.Name, g.Features(), j.store))
}

// earlier returns the info of an earlier result in the output folder that was computed as info says, or nil. All its
// hops have the size of hop 0.
func (j *propagateJob) earlier(info hopsInfo) *hopsInfo {
	text, err := os.ReadFile(filepath.Join(j.out, infoName))
	var found hopsInfo
	if err != nil || json.Unmarshal(text, &found) != nil {
		return nil
	}
	found.Folder = j.out
	info.Graph, info.Seconds, info.PeakRSS = found.Graph, found.Seconds, found.PeakRSS // the graph may have a new name
	if found != info {
		return nil
	}
	var size int64
	for l := range info.Hops + 1 {
		file, err := os.Stat(filepath.Join(j.out, fmt.Sprintf("hop%d.npy", l)))
		if err != nil || l > 0 && file.Size() != size {
			return nil
		}
		size = file.Size()
	}
	return &found
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

// errDiffers says that a file does not have the bytes that would be written.
var errDiffers = errors.New("the file differs")

// compare returns an error unless the file at path has exactly the bytes that write writes.
func compare(path string, write func(io.Writer) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := write(comparison{file}); err != nil {
		return err
	}
	if n, _ := file.Read(make([]byte, 1)); n > 0 {
		return errDiffers
	}
	return nil
}

// comparison is a writer that fails where the bytes written differ from those of a file.
type comparison struct{ file io.Reader }

// Write implements io.Writer.
func (c comparison) Write(written []byte) (int, error) {
	read := make([]byte, len(written))
	if _, err := io.ReadFull(c.file, read); err != nil || !bytes.Equal(read, written) {
		return 0, errDiffers
	}
	return len(written), nil
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

// hopsFree returns an error if the output folder must not be replaced.
func (j *propagateJob) hopsFree() error {
	if info, err := os.Stat(filepath.Clean(j.out)); err == nil && !info.IsDir() { // without a slash at the end
		return usagef("-o %s is a file, must be a .safetensors file or a folder", j.out)
	}
	return free("-o", j.out, true, j.force, func(folder string) bool {
		entries, err := os.ReadDir(folder)
		return err == nil && (len(entries) == 0 || readBy(os.Stat)(filepath.Join(folder, infoName)))
	})
}
