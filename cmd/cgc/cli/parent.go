package cli

import (
	"context"
	"io"
	"os"
	"runtime"
	"time"
)

// parentVariable names the environment variable that a program sets to "stdin" if it starts the command for its own
// use, as the Python package does. The command then stops when that program ends, for whatever reason.
const parentVariable = "CGC_PARENT"

// parentInterval is the interval at which the command checks that its parent is still the one that started it.
const parentInterval = 200 * time.Millisecond

// withParent returns a context that is cancelled when the parent process ends, if the parent asks for that. When the
// parent ends, the system closes its end of the command's standard input. But another process that the parent forked
// may keep it open. On Unix, an orphan gets a new parent, so the command also checks whether its parent has changed.
func withParent(ctx context.Context) context.Context {
	if os.Getenv(parentVariable) != "stdin" {
		return ctx
	}
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	if runtime.GOOS == "windows" {
		return ctx
	}
	first := os.Getppid()
	go func() {
		for ctx.Err() == nil && os.Getppid() == first {
			time.Sleep(parentInterval)
		}
		cancel()
	}()
	return ctx
}
