// Command cgc condenses a labelled graph, trains graph neural networks on the result and tests them on the original.
//
// Each command parses its flags, calls the library and prints. Progress and notes go to standard error, results to standard output.
// The exit code is 0, 2 if the command line is at fault, 130 if the run was interrupted, else 1.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// patience is how long an interrupted command may take to end.
const patience = 600 * time.Millisecond

func main() {
	c := &command{stdout: os.Stdout, stderr: os.Stderr}
	os.Exit(c.interruptible(os.Args[1:]))
}

// interruptible runs a command until it ends, or until a signal has asked it to and patience is over: reading and making large graphs are not
// interrupted inside, and leave nothing behind. A file that is being written is waited for, since its writer takes it away. A second signal
// has its usual effect, which is to end the process at once.
func (c *command) interruptible(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := make(chan int, 1)
	go func() { code <- c.run(ctx, args) }()
	select {
	case n := <-code:
		return n
	case <-ctx.Done():
		stop()
	}
	select {
	case n := <-code:
		return n
	case <-time.After(patience):
		c.writing.Lock()
		fmt.Fprintln(c.stderr, "cgc: interrupted")
		return exitInterrupted
	}
}
