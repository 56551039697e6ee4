// Command cgc condenses a labelled graph, trains graph neural networks on the result and tests them on the original.
//
// Each command parses its flags, calls the library and prints. Progress and notes go to standard error, results to standard output.
// The exit code is 0, 2 if the command line is at fault, 130 if the run was interrupted, else 1.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// patience is how long an interrupted command may take to clean up after itself.
const patience = 900 * time.Millisecond

func main() { os.Exit(interruptible(run)) }

// interruptible runs a command until it ends or until a signal has asked it to and its patience is over. A second signal
// has its usual effect, which is to end the process at once.
func interruptible(run func(ctx context.Context, args []string, stdout, stderr *os.File) int) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := make(chan int, 1)
	go func() { code <- run(ctx, os.Args[1:], os.Stdout, os.Stderr) }()
	select {
	case c := <-code:
		return c
	case <-ctx.Done():
		stop()
	}
	select {
	case c := <-code:
		return c
	case <-time.After(patience):
		return exitInterrupted
	}
}
