package cli

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

// endless starts a command line that trains for ever, with a pipe as standard input. It returns when the training
// begins.
func endless(t *testing.T, name string, args ...string) (cmd *exec.Cmd, stdin io.Closer, stderr *bufio.Reader) {
	t.Helper()
	cmd = exec.Command(name, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), parentVariable+"=stdin", progressVariable+"=json")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { cmd.Process.Kill(); out.Close() })
	t.Cleanup(func() { late.Stop(); in.Close(); cmd.Process.Kill(); cmd.Wait() })
	stderr = bufio.NewReader(out)
	for {
		line, err := stderr.ReadString('\n')
		if err != nil {
			t.Fatalf("no training: %v", err)
		}
		var event struct {
			Stage       string
			Done, Total int64
		}
		if strings.HasPrefix(line, "note: ") {
			continue
		}
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatalf("line %q of progress: %v", line, err)
		}
		if event.Stage == "condensed" {
			return cmd, in, stderr
		}
	}
}

// ends wants the last line to tell of an interruption, soon.
func ends(t *testing.T, stderr *bufio.Reader) {
	t.Helper()
	last := ""
	for {
		line, err := stderr.ReadString('\n')
		if err != nil {
			break
		}
		last = line
	}
	if last != "cgc: interrupted\n" {
		t.Errorf("last line %q, want the message", last)
	}
}

// TestClosedInput closes standard input, as the end of the parent does.
func TestClosedInput(t *testing.T) {
	cmd, stdin, stderr := endless(t, "cgc", "run", "--seeds", "1", "--epochs", "100000000", "--hidden", "8")
	stdin.Close()
	ends(t, stderr)
	cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != exitInterrupted {
		t.Errorf("exit code %d, want %d", got, exitInterrupted)
	}
}

// TestOrphan kills the parent, while another process holds standard input open.
func TestOrphan(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an orphan keeps the number of its parent")
	}
	line := "cgc run --seeds 1 --epochs 100000000 --hidden 8 <&3 & wait"
	cmd, _, stderr := endless(t, "sh", "-c", "exec 3<&0; "+line) // sh gives /dev/null to what it does not wait for
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	ends(t, stderr)
}
