package rival

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"time"

	"github.com/graph-condensation/cgc/internal/atomicfile"
	"github.com/graph-condensation/cgc/internal/safetensors"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
)

// Checkpoint saves the state of a long computation to a file, so that it can continue after an interruption. A nil
// Checkpoint does nothing. It is not safe for concurrent use.
//
// The caller puts a path into the context. The computation gets the Checkpoint from its context, and saves everything
// that its steps change:
//
//	ctx = rival.WithCheckpoint(ctx, "small.safetensors.checkpoint", time.Minute)
//
//	checkpoint := rival.CheckpointOf(ctx)
//	step, err := checkpoint.Resume(identity, state) // 0 if there is no file
//	for step < steps {
//		…
//		step++
//		err = checkpoint.Save(ctx, identity, step, state)
//	}
//
// If the number of a step seeds its random source, an interrupted run that continues gives the same bytes as an
// uninterrupted run. The file is replaced atomically.
type Checkpoint struct {
	path  string
	every time.Duration
	saved time.Time
}

type checkpointKey struct{}

// WithCheckpoint returns a context whose computation saves its state to path, at most once per interval. The
// computation does not delete the file when it ends: call RemoveCheckpoint once the result is written. One context
// serves one computation.
func WithCheckpoint(ctx context.Context, path string, every time.Duration) context.Context {
	return context.WithValue(ctx, checkpointKey{}, &Checkpoint{path: path, every: every, saved: time.Now()})
}

// CheckpointOf returns the Checkpoint of ctx, or nil.
func CheckpointOf(ctx context.Context) *Checkpoint {
	k, _ := ctx.Value(checkpointKey{}).(*Checkpoint)
	return k
}

// Keys of the file's metadata.
const (
	identityKey = "checkpoint"
	stepKey     = "step"
)

// Resume reads the file into state, and returns the number of completed steps; 0 if there is no file. identity
// describes everything that determines the result. A file with another identity or other shapes is an error, and is not
// changed.
func (k *Checkpoint) Resume(identity string, state []*mat.Dense) (step int, err error) {
	if k == nil {
		return 0, nil
	}
	file, err := safetensors.Open(k.path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer file.Close()
	if file.Metadata[identityKey] != identity {
		return 0, fmt.Errorf("%s belongs to another computation; remove the file to start again", k.path)
	}
	step, err = strconv.Atoi(file.Metadata[stepKey])
	if err != nil || step < 1 {
		return 0, fmt.Errorf("%s has %s %q, must have a number of at least 1", k.path, stepKey,
			file.Metadata[stepKey])
	}
	for i, m := range state {
		values, err := safetensors.Slice[float32](file, matrixName(i))
		if err != nil {
			return 0, err
		}
		if len(values) != len(m.Data) {
			return 0, fmt.Errorf("%s has %d numbers in %s, expected %d", k.path, len(values), matrixName(i), len(m.Data))
		}
		copy(m.Data, values)
	}
	return step, nil
}

// Save writes the state after a step if the interval since the last write is over, or if ctx is done. So a run that is
// interrupted between two steps loses nothing, and one that is interrupted within a step at most the interval.
func (k *Checkpoint) Save(ctx context.Context, identity string, step int, state []*mat.Dense) error {
	if k == nil || ctx.Err() == nil && time.Since(k.saved) < k.every {
		return nil
	}
	tensors := make([]safetensors.Tensor, len(state))
	for i, m := range state {
		tensors[i] = safetensors.Tensor{Name: matrixName(i), Shape: []int{m.Rows, m.Cols}, Data: m.Data}
	}
	meta := map[string]string{identityKey: identity, stepKey: strconv.Itoa(step)}
	quiet := progress.With(context.WithoutCancel(ctx), nil)
	if err := safetensors.Write(quiet, k.path, meta, tensors); err != nil {
		return err
	}
	k.saved = time.Now()
	return nil
}

// RemoveCheckpoint deletes the file of ctx's Checkpoint, if there is one, and temporary files of killed processes. The
// caller of WithCheckpoint calls it once the result is written.
func RemoveCheckpoint(ctx context.Context) error {
	k := CheckpointOf(ctx)
	if k == nil {
		return nil
	}
	atomicfile.Clean(k.path)
	if err := os.Remove(k.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// matrixName returns the name of matrix i in the file.
func matrixName(i int) string { return fmt.Sprintf("state.%04d", i) }
