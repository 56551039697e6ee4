package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestInterruptedTune shows that a search that is interrupted writes the best configuration so far, says so, and has
// the exit code of an interruption.
func TestInterruptedTune(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGINT to send")
	}
	dir := t.TempDir()
	cmd := exec.Command("cgc", "tune", "demo", "--trials", "2", "--epochs", "100000000", "--hidden", "4",
		"-o", "best.json")
	cmd.Dir = dir
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(3 * time.Second) // far more than it takes to rank the default, and no time at all for its training
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() }) // the test fails then: exit code −1
	defer late.Stop()
	cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != exitInterrupted {
		t.Errorf("exit code %d, want %d", got, exitInterrupted)
	}
	for _, part := range []string{"nothing was confirmed by training", "configuration: best.json"} {
		if strings.Contains(stdout.String(), part) {
			continue
		}
		t.Errorf("standard output %q", stdout.String())
	}
	if !strings.HasSuffix(stderr.String(), "cgc: interrupted\n") {
		t.Errorf("standard error %q", stderr.String())
	}
	if !isConfig(filepath.Join(dir, "best.json")) {
		t.Error("best.json is not a configuration")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("in the folder: %v, %v, want best.json alone", entries, err)
	}
}
