package cli

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// endless starts a command that trains forever, with a pipe as standard input. It returns when the command reports that
// the stage is complete or, if begun is set, that the stage has started.
func endless(t *testing.T, cmd *exec.Cmd, stage string, begun bool) (stdin io.Closer, stderr *bufio.Reader) {
	t.Helper()
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), parentVariable+"=stdin", progressVariable+"=json")
	in, err := cmd.StdinPipe()
	check(t, err)
	out, err := cmd.StderrPipe()
	check(t, err)
	check(t, cmd.Start())
	if deadline, is := t.Deadline(); is { // no command may outlive the deadline of go test
		late := time.AfterFunc(time.Until(deadline)-10*time.Second, func() { cmd.Process.Kill(); out.Close() })
		t.Cleanup(func() { late.Stop() })
	}
	t.Cleanup(func() { in.Close(); cmd.Process.Kill(); cmd.Wait() })
	stderr = bufio.NewReader(out)
	for {
		line, err := stderr.ReadString('\n')
		if err != nil {
			t.Fatalf("the stage %q was not reached: %v", stage, err)
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
		if event.Stage == stage && (begun || event.Total > 0 && event.Done == event.Total) {
			return in, stderr
		}
	}
}

// ends checks that the last line reports an interruption.
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

// TestClosedInput checks that a command ends when its standard input is closed, as when the parent ends.
func TestClosedInput(t *testing.T) {
	cmd := exec.Command("cgc", "run", "--seeds", "1", "--epochs", "100000000", "--hidden", "8")
	stdin, stderr := endless(t, cmd, "training gcn", true)
	stdin.Close()
	ends(t, stderr)
	cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != exitInterrupted {
		t.Errorf("exit code %d, want %d", got, exitInterrupted)
	}
}

// TestOrphan checks that a command ends with its parent while another process holds standard input open.
func TestOrphan(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an orphan keeps the number of its parent")
	}
	line := "cgc run --seeds 1 --epochs 100000000 --hidden 8 <&3 & wait"
	cmd := exec.Command("sh", "-c", "exec 3<&0; "+line) // sh gives /dev/null to background processes
	_, stderr := endless(t, cmd, "training gcn", true)
	check(t, cmd.Process.Kill())
	ends(t, stderr)
}

// TestInterruptedTune checks that an interrupted search writes the best configuration so far, says so, and exits with
// code 130.
func TestInterruptedTune(t *testing.T) {
	cmd := exec.Command("cgc", "tune", "demo", "--trials", "2", "--epochs", "100000000", "--hidden", "4",
		"-o", "best.json")
	var stdout strings.Builder
	cmd.Stdout = &stdout
	interrupted(t, cmd, "ranked", false)
	for _, part := range []string{"no configuration was confirmed by training", "configuration: best.json"} {
		if strings.Contains(stdout.String(), part) {
			continue
		}
		t.Errorf("standard output %q", stdout.String())
	}
	if !isConfig(filepath.Join(cmd.Dir, "best.json")) {
		t.Error("best.json is not a configuration")
	}
	if entries, err := os.ReadDir(cmd.Dir); err != nil || len(entries) != 1 {
		t.Errorf("in the folder: %v, %v, want best.json alone", entries, err)
	}
}

// TestTuneWithoutTime checks that too little time to rank any configuration causes an error that names the flag.
func TestTuneWithoutTime(t *testing.T) {
	var stdout, stderr strings.Builder
	code := Run(t.Context(), []string{"tune", "demo", "--seconds", "1e-9", "--epochs", "1", "--quiet", "-o",
		filepath.Join(t.TempDir(), "best.json")}, &stdout, &stderr)
	if code == 0 { // ranked within the minimum time of a search
		return
	}
	if code != exitFailure || !strings.Contains(stderr.String(), "--seconds 1e-09: no configuration could be ranked") {
		t.Errorf("exit code %d, %s", code, stderr.String())
	}
}
