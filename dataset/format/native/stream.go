package native

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/atomicfile"
	"github.com/graph-condensation/cgc/internal/external"
	"github.com/graph-condensation/cgc/internal/safetensors"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
)

var _ format.StreamWriter = Format{}

// WriteStream writes s into one file. Edges are sorted in files beside it; features go to their places as they come. It
// takes o.Memory for the edges and some megabytes for the features.
func (Format) WriteStream(
	ctx context.Context, path string, s *format.Stream, o format.Storing,
) (changes graph.Changes, err error) {
	if o.Storage == "" {
		o.Storage = mat.F32
	}
	w := &streamed{Stream: s, Storing: o, path: path}
	if w.Classes, err = graph.CheckLabels(s.Nodes, &w.Y, s.Classes, &w.Split); err != nil {
		return changes, fmt.Errorf("dataset: %w", err)
	}
	err = atomicfile.Scratch(path, func(folder string, file *os.File) error {
		w.file = file
		if changes, err = w.edges(ctx, folder); err != nil {
			return err
		}
		return w.features(ctx)
	})
	if err != nil {
		return changes, fmt.Errorf("dataset: %w", err)
	}
	return changes, nil
}

// streamed is a graph that is being written.
type streamed struct {
	*format.Stream
	format.Storing
	path  string
	file  *os.File
	blank *safetensors.Blank
}

// edges writes all but the features.
func (w *streamed) edges(ctx context.Context, folder string) (changes graph.Changes, err error) {
	if w.Adj != nil {
		if err := w.begin(w.Adj.Indptr[w.Nodes], w.Adj.Data != nil); err != nil {
			return changes, err
		}
		return changes, w.copyAdjacency(ctx)
	}
	sorter := external.New(folder, w.Nodes, w.Entries, w.Memory, w.Weighted)
	defer sorter.Close()
	var added atomic.Int64
	add := func(e graph.Edges) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := e.Check(w.Nodes, int(added.Load())); err != nil {
			return err
		}
		done := added.Add(int64(e.Len()))
		progress.Report(ctx, progress.Event{Stage: "adding edges", Done: min(done, w.Entries), Total: w.Entries})
		return sorter.Add(e)
	}
	if err := w.Edges(ctx, add); err != nil {
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

// begin writes the header and what is small.
func (w *streamed) begin(entries int64, weighted bool) (err error) {
	shape := func(name string, d safetensors.DType, sides ...int) safetensors.Tensor {
		return safetensors.Tensor{Name: name, DType: d, Shape: sides}
	}
	meta, err := metadata(w.Name, w.Classes, w.Features, w.ClassNames)
	if err != nil {
		return err
	}
	tensors := []safetensors.Tensor{
		shape("adj.indptr", safetensors.I64, w.Nodes+1), shape("adj.indices", safetensors.I32, int(entries)),
	}
	if weighted {
		tensors = append(tensors, shape("adj.data", safetensors.F32, int(entries)))
	}
	width := mat.PanelsOf(w.Features, w.Width)
	if width == w.Features {
		tensors = append(tensors, shape("x", dtypes[w.Storage], w.Nodes, w.Features))
	} else {
		meta["format_version"] = "2"
		for k := 0; k*width < w.Features; k++ {
			tensors = append(tensors,
				shape(panelName(k), dtypes[w.Storage], w.Nodes, min(width, w.Features-k*width)))
		}
	}
	small := []struct {
		name  string
		nodes []int32
	}{{"y", w.Y}, {"train", w.Split.Train}, {"val", w.Split.Val}, {"test", w.Split.Test}}
	for _, part := range small {
		tensors = append(tensors, shape(part.name, safetensors.I32, len(part.nodes)))
	}
	var names []safetensors.Tensor
	if w.IDs != nil {
		names = safetensors.Strings("ids", w.IDs)
	}
	for _, t := range names {
		switch data := t.Data.(type) {
		case []uint8:
			tensors = append(tensors, shape(t.Name, safetensors.U8, len(data)))
		case []int64:
			tensors = append(tensors, shape(t.Name, safetensors.I64, len(data)))
		}
	}
	if w.blank, err = safetensors.NewBlank(w.file, meta, tensors); err != nil {
		return err
	}
	for _, part := range small {
		if err := safetensors.Fill(w.blank, part.name, 0, part.nodes); err != nil {
			return err
		}
	}
	for _, t := range names {
		switch data := t.Data.(type) {
		case []uint8:
			err = safetensors.Fill(w.blank, t.Name, 0, data)
		case []int64:
			err = safetensors.Fill(w.blank, t.Name, 0, data)
		}
		if err != nil {
			return err
		}
	}
	return nil
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

// copyAdjacency writes an adjacency that is at hand.
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
		p, _ := memory.Get().(*mat.Panels)
		if p == nil || rowsOf(p) != block.Rows {
			var err error
			if p, err = mat.NewPanels(block.Rows, w.Features, w.Width, w.Storage); err != nil {
				return err
			}
		}
		defer memory.Put(p)
		if err := p.SetRows(0, block); err != nil {
			var wrong *mat.CannotKeep
			if errors.As(err, &wrong) {
				wrong.Row += first
			}
			return err
		}
		if err := w.fill(p, first); err != nil {
			return err
		}
		done := rows.Add(int64(block.Rows))
		progress.Report(ctx, progress.Event{Stage: "writing features", Done: done, Total: int64(w.Nodes)})
		return nil
	})
	if err == nil && rows.Load() != int64(w.Nodes) {
		err = fmt.Errorf("features of %d nodes, want %d", rows.Load(), w.Nodes)
	}
	return err
}

func rowsOf(x mat.Matrix) int {
	rows, _ := x.Dims()
	return rows
}

// fill writes some rows, which are in panels, from row first on.
func (w *streamed) fill(p *mat.Panels, first int) error {
	for k := range p.Count() {
		name := panelName(k)
		if p.Count() == 1 {
			name = "x"
		}
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
