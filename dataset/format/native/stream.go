package native

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/atomicfile"
	"github.com/graph-condensation/cgc/internal/external"
	"github.com/graph-condensation/cgc/internal/paneled"
	"github.com/graph-condensation/cgc/internal/safetensors"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
)

// WriteStream writes s into one file. Edges are sorted in temporary files next to it, and features are written in place
// as they arrive. It needs o.Memory for the edges and a few megabytes for the features.
func (native) WriteStream(
	ctx context.Context, path string, s *format.Stream, o format.Storing,
) (changes graph.Changes, err error) {
	o.Storage = cmp.Or(o.Storage, mat.F32)
	w := &streamed{Stream: s, Storing: o, path: path}
	if w.Classes, err = graph.CheckLabels(s.Nodes, &w.Y, s.Classes, &w.Split); err != nil {
		return changes, err
	}
	err = atomicfile.Scratch(path, func(folder string, file *os.File) error {
		w.file = file
		if err := w.room(folder); err != nil {
			return err
		}
		if changes, err = w.edges(ctx, folder); err != nil {
			return err
		}
		if err := w.names(ctx); err != nil {
			return err
		}
		return w.Locate(w.features(ctx))
	})
	if place := new(format.ReadError); errors.As(err, &place) {
		err = place // it is about an input file, not the output
	}
	return changes, err
}

// streamed is a graph that is being written.
type streamed struct {
	*format.Stream
	format.Storing
	path  string
	file  *os.File
	blank *safetensors.Blank
}

// errWeights is the error for weighted edges if the sorter was created without weights.
var errWeights = errors.New("edges have weights")

// room returns an error if the disk of the folder has too little free space.
func (w *streamed) room(folder string) error {
	free, known := atomicfile.Free(folder)
	plan := w.Plan(w.Storing)
	if !known || free >= plan.Disk {
		return nil
	}
	return fmt.Errorf("the disk of %s has %d MB free, expected %d MB: temporary files take up to %d MB, the file %d MB",
		filepath.Dir(w.path), free/1e6, plan.Disk/1e6+1, plan.Scratch/1e6+1, plan.File/1e6+1)
}

// edges writes everything except the features.
func (w *streamed) edges(ctx context.Context, folder string) (changes graph.Changes, err error) {
	if w.Adj != nil {
		if err := w.begin(w.Adj.Indptr[w.Nodes], w.Adj.Data != nil); err != nil {
			return changes, err
		}
		return changes, w.copyAdjacency(ctx)
	}
	weighted := w.Weighted
	sorter := external.New(folder, w.Nodes, w.Entries, w.Memory, weighted)
	defer func() { sorter.Close() }()
	var added atomic.Int64
	add := func(e graph.Edges) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := e.Check(w.Nodes, int(added.Load())); err != nil {
			return err
		}
		if !weighted && slices.ContainsFunc(e.Weight, func(w float32) bool { return w != 1 }) {
			return errWeights
		}
		done := added.Add(int64(e.Len()))
		if !w.Tells {
			progress.Report(ctx, progress.Event{Stage: "adding edges", Done: min(done, w.Entries), Total: w.Entries})
		}
		return sorter.Add(e)
	}
	err = w.Locate(w.Edges(ctx, add))
	if errors.Is(err, errWeights) {
		sorter.Close()
		weighted = true
		sorter = external.New(folder, w.Nodes, w.Entries, w.Memory, weighted)
		added.Store(0)
		err = w.Locate(w.Edges(ctx, add))
	}
	if err != nil {
		return changes, err
	}
	if err := sorter.Sort(ctx); err != nil {
		return changes, err
	}
	for missing := w.Exact - sorter.Entries()/2; w.Exact > 0 && missing > 0; missing = w.Exact - sorter.Entries()/2 {
		if err := errors.Join(w.More(ctx, missing, add), sorter.Sort(ctx)); err != nil {
			return changes, err
		}
	}
	entries, exact := sorter.Entries(), int64(-1)
	if w.Exact > 0 {
		entries, exact = 2*w.Exact, w.Exact
	}
	if err := w.begin(entries, sorter.Weighted()); err != nil {
		return changes, err
	}
	return sorter.Changes(), sorter.Write(ctx, exact, w)
}

// begin writes the header and the small tensors.
func (w *streamed) begin(entries int64, weighted bool) (err error) {
	shape := func(name string, d safetensors.DType, sides ...int) safetensors.Tensor {
		return safetensors.Tensor{Name: name, DType: d, Shape: sides}
	}
	meta := metadata(w.Name, w.Classes, w.Features, w.ClassNames, w.FeatureNames)
	tensors := []safetensors.Tensor{
		shape("adj.indptr", safetensors.I64, w.Nodes+1), shape("adj.indices", safetensors.I32, int(entries)),
	}
	if weighted {
		tensors = append(tensors, shape("adj.data", safetensors.F32, int(entries)))
	}
	width := paneled.Width(w.Features, w.Width)
	count := max(1, (w.Features+width-1)/max(1, width))
	for k := range count {
		tensors = append(tensors,
			shape(featureName(k, count), dtypes[w.Storage], w.Nodes, min(width, w.Features-k*width)))
	}
	if count > 1 {
		meta["format_version"] = "2"
	}
	small := []struct {
		name  string
		nodes []int32
	}{{"y", w.Y}, {"train", w.Split.Train}, {"val", w.Split.Val}, {"test", w.Split.Test}}
	for _, part := range small {
		tensors = append(tensors, shape(part.name, safetensors.I32, len(part.nodes)))
	}
	switch {
	case w.Stream.Names == nil && w.IDs != nil:
		w.takeIDs()
		fallthrough
	case w.Stream.Names != nil:
		tensors = append(tensors, shape("ids", safetensors.U8, int(w.NameBytes)),
			shape("ids.offsets", safetensors.I64, w.Nodes+1))
	}
	if w.blank, err = safetensors.NewBlank(w.file, meta, tensors); err != nil {
		return err
	}
	for _, part := range small {
		if err := safetensors.Fill(w.blank, part.name, 0, part.nodes); err != nil {
			return err
		}
	}
	return nil
}

// takeIDs sets Names to deliver IDs.
func (w *streamed) takeIDs() {
	for _, id := range w.IDs {
		w.NameBytes += int64(len(id))
	}
	w.Stream.Names = func(_ context.Context, put func(text []byte, ends []int) error) error {
		var text []byte
		var ends []int
		for ids := range slices.Chunk(w.IDs, 1<<16) {
			text, ends = text[:0], ends[:0]
			for _, id := range ids {
				text = append(text, id...)
				ends = append(ends, len(text))
			}
			if err := put(text, ends); err != nil {
				return err
			}
		}
		return nil
	}
}

// names writes the names of the nodes, if they have any.
func (w *streamed) names(ctx context.Context) error {
	if w.Stream.Names == nil {
		return nil
	}
	nodes, bytes := int64(0), int64(0)
	offsets := []int64{0}
	err := w.Stream.Names(ctx, func(text []byte, ends []int) error {
		offsets = offsets[:1]
		for _, end := range ends {
			offsets = append(offsets, bytes+int64(end))
		}
		offsets[0] = bytes
		err := errors.Join(ctx.Err(), safetensors.Fill(w.blank, "ids.offsets", nodes, offsets),
			safetensors.Fill(w.blank, "ids", bytes, text))
		nodes, bytes = nodes+int64(len(ends)), bytes+int64(len(text))
		progress.Report(ctx, progress.Event{Stage: "writing names", Done: nodes, Total: int64(w.Nodes)})
		return err
	})
	if err == nil && (nodes != int64(w.Nodes) || bytes != w.NameBytes) {
		err = fmt.Errorf("%d names of %d bytes, expected %d of %d", nodes, bytes, w.Nodes, w.NameBytes)
	}
	return err
}

// Pointers implements external.Sink.
func (w *streamed) Pointers(first int, indptr []int64) error {
	return safetensors.Fill(w.blank, "adj.indptr", int64(first), indptr)
}

// Indices implements external.Sink.
func (w *streamed) Indices(at int64, indices []int32, data []float32) error {
	if err := safetensors.Fill(w.blank, "adj.indices", at, indices); err != nil || data == nil {
		return err
	}
	return safetensors.Fill(w.blank, "adj.data", at, data)
}

// copyAdjacency writes Adj.
func (w *streamed) copyAdjacency(ctx context.Context) error {
	if err := w.Pointers(0, w.Adj.Indptr); err != nil {
		return err
	}
	const block = 1 << 20
	for lo := 0; lo < len(w.Adj.Indices); lo += block {
		hi := min(lo+block, len(w.Adj.Indices))
		var data []float32
		if w.Adj.Data != nil {
			data = w.Adj.Data[lo:hi]
		}
		if err := errors.Join(ctx.Err(), w.Indices(int64(lo), w.Adj.Indices[lo:hi], data)); err != nil {
			return err
		}
		progress.Report(ctx, progress.Event{Stage: "writing edges", Done: int64(hi), Total: int64(len(w.Adj.Indices))})
	}
	return nil
}

// features writes the features into their panels.
func (w *streamed) features(ctx context.Context) error {
	var rows atomic.Int64
	var memory sync.Pool
	err := w.Rows(ctx, func(first int, block *mat.Dense) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		p, _ := memory.Get().(*paneled.Matrix)
		if p == nil || rowsOf(p) != block.Rows {
			var err error
			if p, err = paneled.New(block.Rows, w.Features, w.Width, w.Storage); err != nil {
				return err
			}
		}
		defer memory.Put(p)
		if err := p.SetRows(0, block); err != nil {
			if wrong, is := errors.AsType[*mat.CannotKeep](err); is {
				wrong.Row += first
			}
			return err
		}
		if err := w.fill(p, first); err != nil {
			return err
		}
		done := rows.Add(int64(block.Rows))
		if w.Tells {
			return nil
		}
		progress.Report(ctx, progress.Event{Stage: "writing features", Done: done, Total: int64(w.Nodes)})
		return nil
	})
	if err == nil && rows.Load() != int64(w.Nodes) {
		err = fmt.Errorf("features of %d nodes, expected %d", rows.Load(), w.Nodes)
	}
	return err
}

func rowsOf(x mat.Matrix) int {
	rows, _ := x.Dims()
	return rows
}

// fill writes p as rows first, first+1, … of the panels.
func (w *streamed) fill(p *paneled.Matrix, first int) error {
	for k := range p.Count() {
		name := featureName(k, p.Count())
		columns := min(p.PanelWidth(), w.Features-k*p.PanelWidth())
		at := int64(first) * int64(columns)
		var err error
		if w.Storage == mat.F32 {
			err = safetensors.Fill(w.blank, name, at, p.Floats(k))
		} else {
			err = safetensors.Fill(w.blank, name, at, p.Halves(k))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
