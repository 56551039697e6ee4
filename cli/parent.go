package cli

import (
	"context"
	"io"
	"os"
	"runtime"
	"time"
)

// parentVariable is set to "stdin" by a program that starts the command for itself, as the Python package does. The
// command then ends with that program, however it ends.
const parentVariable = "CGC_PARENT"

// parentInterval is how often the command looks whether its parent is the one that started it.
const parentInterval = 200 * time.Millisecond

// withParent returns a context that ends when the parent is gone, if the parent asks for that. The parent holds the
// other end of standard input, which the system closes when it ends. A process that the parent forked may hold that end
// too. So on Unix, where an orphan gets another parent, the command looks for that as well.
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
