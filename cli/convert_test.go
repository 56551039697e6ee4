package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// A conversion that is killed or interrupted leaves nothing at its target, and the next one removes what it left.
func TestConvertSurvivesItsEnd(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGINT to send")
	}
	dir := t.TempDir()
	g := wide(60_000, 16, 40)
	from, to := filepath.Join(dir, "wide"), filepath.Join(dir, "to.safetensors")
	want := filepath.Join(dir, "want.safetensors")
	if err := os.Mkdir(from, 0o755); err != nil {
		t.Fatal(err)
	}
	writeText(t, g, from)
	convert := func(to string) *exec.Cmd { return exec.Command("cgc", "convert", from, to, "--memory", "80MiB") }
	if out, err := convert(want).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	partial := filepath.Join(dir, ".to.safetensors.partial")
	for _, signal := range []os.Signal{os.Interrupt, os.Kill} {
		cmd := convert(to)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for begun := time.Now(); time.Since(begun) < time.Minute; time.Sleep(time.Millisecond) {
			if buckets, _ := filepath.Glob(filepath.Join(partial, "bucket*")); len(buckets) > 0 {
				break
			}
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("it ended before its time: make the graph larger")
		}
		if _, err := os.Stat(to); err == nil {
			t.Errorf("%v leaves %s", signal, to)
		}
		if _, err := os.Stat(partial); (err == nil) != (signal == os.Kill) {
			t.Errorf("after %v: temporary files: %v", signal, err)
		}
	}
	if out, err := convert(to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !sameContents(t, to, want) {
		t.Error("another file than that of an undisturbed run")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
