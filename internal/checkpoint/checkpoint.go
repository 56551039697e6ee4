// Package checkpoint saves the state of a long computation to a file, so that it can continue after an interruption.
//
// The caller puts a path into the context. The computation gets the Keeper from its context, and saves everything that
// its steps change:
//
//	ctx = checkpoint.With(ctx, "small.safetensors.checkpoint", time.Minute)
//
//	keeper := checkpoint.From(ctx)
//	step, err := keeper.Resume(identity, state) // 0 if there is no file
//	for step < steps {
//		…
//		step++
//		err = keeper.Save(ctx, identity, step, state)
//	}
//
// If the number of a step seeds its random source, an interrupted run that continues gives the same bytes as an
// uninterrupted run. The file is replaced atomically.
package checkpoint

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

// Keeper saves and restores the state of one computation. A nil Keeper does nothing. It is not safe for concurrent use.
type Keeper struct {
	path  string
	every time.Duration
	saved time.Time
}

type key struct{}

// With returns a context whose computation saves its state to path, at most once per interval. The computation does not
// delete the file when it ends: call Remove once the result is written. One context serves one computation.
func With(ctx context.Context, path string, every time.Duration) context.Context {
	return context.WithValue(ctx, key{}, &Keeper{path: path, every: every, saved: time.Now()})
}

// From returns the Keeper of ctx, or nil.
func From(ctx context.Context) *Keeper {
	k, _ := ctx.Value(key{}).(*Keeper)
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
func (k *Keeper) Resume(identity string, state []*mat.Dense) (step int, err error) {
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
		values, err := safetensors.Slice[float32](file, name(i))
		if err != nil {
			return 0, err
		}
		if len(values) != len(m.Data) {
			return 0, fmt.Errorf("%s has %d numbers in %s, expected %d", k.path, len(values), name(i), len(m.Data))
		}
		copy(m.Data, values)
	}
	return step, nil
}

// Save writes the state after a step if the interval since the last write is over, or if ctx is done. So a run that is
// interrupted between two steps loses nothing, and one that is interrupted within a step at most the interval.
func (k *Keeper) Save(ctx context.Context, identity string, step int, state []*mat.Dense) error {
	if k == nil || ctx.Err() == nil && time.Since(k.saved) < k.every {
		return nil
	}
	tensors := make([]safetensors.Tensor, len(state))
	for i, m := range state {
		tensors[i] = safetensors.Tensor{Name: name(i), Shape: []int{m.Rows, m.Cols}, Data: m.Data}
	}
	meta := map[string]string{identityKey: identity, stepKey: strconv.Itoa(step)}
	quiet := progress.With(context.WithoutCancel(ctx), nil)
	if err := safetensors.Write(quiet, k.path, meta, tensors); err != nil {
		return err
	}
	k.saved = time.Now()
	return nil
}

// Remove deletes the file of ctx's Keeper, if there is one, and temporary files of killed processes. The caller of With
// calls it once the result is written.
func Remove(ctx context.Context) error {
	k := From(ctx)
	if k == nil {
		return nil
	}
	atomicfile.Clean(k.path)
	if err := os.Remove(k.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// name returns the name of matrix i in the file.
func name(i int) string { return fmt.Sprintf("state.%04d", i) }
