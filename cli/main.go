// Package cli is the command cgc as a library.
//
// A program of another module has the whole command, with its own methods, models, formats and partitions in it:
//
//	func main() {
//		condense.Register(mine.Herding{Hops: 2})
//		cli.Main()
//	}
//
// Each command parses its flags, calls the library and prints. Results go to standard output, progress and notes to standard error.
package cli

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

// Main runs the command line of the process and exits. The exit code is 0, 2 if the command line is at fault, 130 if the run was
// interrupted, else 1.
func Main() {
	c := &command{stdout: os.Stdout, stderr: os.Stderr}
	os.Exit(c.interruptible(os.Args[1:]))
}

// interruptible runs a command line until it ends. After a signal, the command has a little time to end by itself. Reading and making
// large graphs do not stop inside, and leave nothing behind. A file that is being written is waited for, because its writer removes
// what is unfinished. A second signal ends the process at once, as it does by default.
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
