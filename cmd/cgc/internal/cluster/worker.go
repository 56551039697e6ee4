package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/stored"
	"github.com/graph-condensation/cgc/internal/memory"
)

// Task says what a worker does with its input.
type Task struct {
	// Do is "columns", "rows" or "scaling".
	//
	// "columns": the worker gets the nodes within K hops of the training nodes with columns Lo to Hi−1 of their features,
	// and the entries of A in the rows of the nodes within K−1 hops. It writes a stored.File of these columns.
	//
	// "rows": the nodes are divided into Blocks blocks, with node v in block v mod Blocks. In step l = 0 … K−1, the worker
	// of a block gets its nodes within K−l hops, with features (l = 0) or with partial sums of H⁽ˡ⁾, and the entries of A
	// in its columns and in the rows of nodes within K−l−1 hops. It sends frames for step l+1. In step K, it writes a
	// stored.File of its training nodes, if it has any. Sums of float32 are split by block, so the result differs from the
	// result of one machine by rounding. It depends on Blocks, but not on the order in which entries arrive.
	//
	// "scaling": the worker gets the training nodes, and sends the ScalingFrame of its columns.
	Do string `json:"do"`
	stored.Origin
	// Lo and Hi are the columns that the worker gets.
	Lo int `json:"lo"`
	Hi int `json:"hi"`
	// Memory limits the memory of the worker, in bytes; 0 means no limit (blocked.Engine.Memory). The garbage collector
	// respects this limit while the worker runs.
	Memory int64 `json:"memory"`
	// Step, Block and Blocks belong to the task "rows".
	Step   int `json:"step"`
	Block  int `json:"block"`
	Blocks int `json:"blocks"`
	// Mean and Std are the scaling of columns Lo to Hi−1 for step 0 of "rows". They are empty without scaling.
	Mean []float32 `json:"mean"`
	Std  []float32 `json:"std"`
}

// validate returns an error if a number of t is out of its range.
func (t Task) validate() error {
	if err := t.Propagation().Validate(); err != nil {
		return err
	}
	if t.Lo < 0 || t.Lo >= t.Hi || t.Hi > t.Features || t.Memory < 0 || t.Nodes < 1 || t.Nodes > 1<<31-1 {
		return fmt.Errorf("task of columns %d:%d of %d, %d nodes and %d bytes, must be ranges that exist",
			t.Lo, t.Hi, t.Features, t.Nodes, t.Memory)
	}
	if t.Do == "rows" && t.Blocks > maxBlocks {
		return fmt.Errorf("%d blocks, must be at most %d", t.Blocks, maxBlocks)
	}
	if t.Do == "rows" && (t.Step < 0 || t.Step > t.Hops || t.Block < 0 || t.Block >= t.Blocks || t.Blocks > t.Nodes) {
		return fmt.Errorf("step %d of %d hops, block %d of %d, %d nodes, must be ranges that exist",
			t.Step, t.Hops, t.Block, t.Blocks, t.Nodes)
	}
	if len(t.Mean) != len(t.Std) || t.Mean != nil && len(t.Mean) != t.Hi-t.Lo {
		return fmt.Errorf("%d means and %d deviations of %d columns", len(t.Mean), len(t.Std), t.Hi-t.Lo)
	}
	return nil
}

// maxBlocks limits the number of blocks, because a worker keeps a list for each.
const maxBlocks = 1 << 16

// fits returns an error if something needs more bytes than Memory or, if that is 0, than the system allows.
func (t Task) fits(what string, bytes float64) error {
	limit := t.Memory
	if limit == 0 {
		limit, _ = memory.Limit()
	}
	if limit > 0 && bytes > float64(limit) {
		return fmt.Errorf("%s of %.0f bytes, must be at most %d", what, bytes, limit)
	}
	return nil
}

// tasks are the tasks of a worker. A task writes its file to the path out, or sends its result to frames.
var tasks = map[string]func(ctx context.Context, t Task, in io.Reader, frames io.Writer, out string) error{
	"columns": columns,
	"rows":    rows,
	"scaling": fit,
}

// Run reads a task and its input from in. Depending on the task, it writes the result atomically to the file out or
// sends it as frames. If in ends before the task does, the feeder has stopped, and Run stops too.
func Run(ctx context.Context, in io.Reader, frames io.Writer, out string) error {
	buffered := bufio.NewReaderSize(in, 1<<20)
	kind, text, err := readFrame(buffered)
	if err != nil {
		return err
	}
	var t Task
	if kind != TaskFrame {
		return fmt.Errorf("the first frame has the kind %q, expected %q", byte(kind), byte(TaskFrame))
	}
	if err := json.Unmarshal(text, &t); err != nil {
		return fmt.Errorf("task: %w", err)
	}
	do, is := tasks[t.Do]
	if !is {
		return fmt.Errorf("task %q, expected columns, rows or scaling", t.Do)
	}
	if err := t.validate(); err != nil {
		return err
	}
	defer memory.Bounded(t.Memory)()
	buffer := bufio.NewWriterSize(frames, 1<<20)
	if err := do(ctx, t, buffered, buffer, out); err != nil {
		return err
	}
	return buffer.Flush()
}

// watched returns a context that is cancelled when in ends. All frames must have been read. The feeder keeps in open as
// long as it runs.
func watched(ctx context.Context, in io.Reader) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, in)
		cancel(errCut)
	}()
	return ctx, func() { cancel(nil) }
}
