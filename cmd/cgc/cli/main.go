// Package cli is the command cgc as a library.
//
// A program in another module can extend the command with its own methods, models, formats and partitions:
//
//	func main() {
//		condense.Register(herding.Method{Hops: 2})
//		cli.Main()
//	}
//
// The flags, the help and the errors then list the new method. --param and --params set its parameters.
//
// Each command parses its flags, calls the library and prints. Results go to standard output, progress and notes to
// standard error.
package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	_ "github.com/graph-condensation/cgc/rival/all" // registers the published baselines
)

// patience is the time that an interrupted command has to stop by itself.
const patience = 600 * time.Millisecond

// Main runs the command line of the process and exits. The exit code is 0 on success, 2 if the command line is wrong,
// 130 if the run was interrupted, and 1 for any other error.
func Main() {
	c := &command{stdout: os.Stdout, stderr: os.Stderr}
	os.Exit(c.interruptible(os.Args[1:]))
}

// Run runs one command line, given without the name of the program, and returns the exit code described at Main.
// Results go to stdout, progress and notes to stderr. Run stops soon after ctx ends.
//
// The flag --threads changes GOMAXPROCS until Run returns, so commands that run at the same time should agree on it.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	c := &command{stdout: stdout, stderr: stderr}
	return c.run(ctx, args)
}

// interruptible runs a command line. After a signal, the command must stop by itself within patience. Reading or
// generating a large graph does not stop early, but leaves no files behind. The process waits for a file that is being
// written, because its writer removes unfinished files. A second signal kills the process.
func (c *command) interruptible(args []string) int {
	ctx, stop := signal.NotifyContext(withParent(context.Background()), os.Interrupt, syscall.SIGTERM)
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
