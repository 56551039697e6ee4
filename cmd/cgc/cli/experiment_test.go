package cli

import (
	"bytes"
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestExperimentSurvivesItsEnd kills an experiment, truncates the last line of its log as a power cut would, and runs
// it again. The second run keeps the complete records, and its final numbers equal those of an uninterrupted
// experiment.
func TestExperimentSurvivesItsEnd(t *testing.T) {
	dir := t.TempDir()
	start := func(folder string) (*exec.Cmd, *bytes.Buffer) {
		cmd := exec.Command("cgc", "experiment", "demo", "--methods", "cgc,cgc-x", "--nodes", "14", "--seeds", "6",
			"--whole", "0", "--epochs", "40", "--hidden", "8", "-o", folder)
		cmd.Dir = dir
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		check(t, cmd.Start())
		return cmd, &stderr
	}
	cmd, _ := start("killed")
	log := filepath.Join(dir, "killed", "records.jsonl")
	kept := 0
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	for running := true; running && kept < 2; {
		select {
		case <-ended:
			running = false
		case <-time.After(5 * time.Millisecond):
		}
		text, _ := os.ReadFile(log)
		kept = bytes.Count(text, []byte("\n"))
	}
	cmd.Process.Kill()
	<-ended
	text, err := os.ReadFile(log)
	if err != nil || kept < 2 {
		t.Fatalf("%d records, %v", kept, err)
	}
	kept = bytes.Count(text, []byte("\n"))
	torn := append(text[:bytes.LastIndexByte(text, '\n')+1], `{"record":1,"gra`...)
	check(t, os.WriteFile(log, torn, 0o666))

	cmd, stderr := start("killed")
	const torn16 = "records.jsonl was cut short (16 bytes) and is gone; its training is done again\n"
	if err := cmd.Wait(); err != nil || !strings.Contains(stderr.String(), torn16) {
		t.Fatalf("%v, standard error %q", err, stderr)
	}
	after, err := os.ReadFile(log)
	if err != nil || !bytes.HasPrefix(after, torn[:len(torn)-16]) || bytes.Count(after, []byte("\n")) != 12 {
		t.Errorf("%v, %d lines after %d, want 12", err, bytes.Count(after, []byte("\n")), kept)
	}
	alone, _ := start("alone")
	check(t, alone.Wait())
	got, want := numbers(t, filepath.Join(dir, "killed")), numbers(t, filepath.Join(dir, "alone"))
	if !slices.Equal(got, want) {
		t.Errorf("killed and run again:\n%s\nnot killed:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// numbers returns the cells of a table of records, except times and memory.
func numbers(t *testing.T, folder string) (lines []string) {
	t.Helper()
	file, err := os.Open(filepath.Join(folder, "records.csv"))
	check(t, err)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	check(t, err)
	for _, row := range rows {
		var cells []string
		for i, cell := range row {
			if name := rows[0][i]; !strings.HasSuffix(name, "_seconds") && name != "peak_rss_bytes" {
				cells = append(cells, cell)
			}
		}
		lines = append(lines, strings.Join(cells, " "))
	}
	return lines
}
