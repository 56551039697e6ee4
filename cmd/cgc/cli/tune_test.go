package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

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
