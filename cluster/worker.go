package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/graph-condensation/cgc/propagate/stored"
)

// Task says what a worker does with its input.
type Task struct {
	// Do is "columns". The worker gets the nodes within K hops of the training nodes with columns Lo to Hi−1 of their
	// features, and the entries of A in the rows of the nodes within K−1 hops. It writes a stored.File of these columns.
	Do string `json:"do"`
	stored.Origin
	// Lo and Hi are the columns that the worker gets.
	Lo int `json:"lo"`
	Hi int `json:"hi"`
	// Memory bounds what the worker takes, in bytes; 0 sets no bound (blocked.Engine.Memory).
	Memory int64 `json:"memory"`
}

// tasks are what a worker can do. out is the path of the file that it writes.
var tasks = map[string]func(ctx context.Context, t Task, in io.Reader, out string) error{
	"columns": columns,
}

// Run reads a task and its input from in, and writes the result to the file out, whole or not at all. If in ends before
// the task does, what feeds the worker is gone, and Run stops.
func Run(ctx context.Context, in io.Reader, out string) error {
	buffered := bufio.NewReaderSize(in, 1<<20)
	kind, text, err := readFrame(buffered)
	if err != nil {
		return err
	}
	var t Task
	if kind != TaskFrame {
		return fmt.Errorf("cluster: the first frame has the kind %q, want %q", byte(kind), byte(TaskFrame))
	}
	if err := json.Unmarshal(text, &t); err != nil {
		return fmt.Errorf("cluster: task: %w", err)
	}
	do, is := tasks[t.Do]
	if !is {
		return fmt.Errorf("cluster: task %q, want columns", t.Do)
	}
	if err := t.Propagation().Validate(); err != nil {
		return err
	}
	if t.Lo < 0 || t.Lo >= t.Hi || t.Hi > t.Features || t.Memory < 0 || t.Nodes < 1 || t.Nodes > 1<<31-1 {
		return fmt.Errorf("cluster: task of columns %d:%d of %d, %d nodes and %d bytes, want ranges that exist",
			t.Lo, t.Hi, t.Features, t.Nodes, t.Memory)
	}
	return do(ctx, t, buffered, out)
}

// watched returns a context that ends when in does, once all frames are read: the feeder keeps in open as long as it
// lives.
func watched(ctx context.Context, in io.Reader) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, in)
		cancel(errCut)
	}()
	return ctx, func() { cancel(nil) }
}
