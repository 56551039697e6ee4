package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// TestConvertSurvivesItsEnd checks that a killed or interrupted conversion writes nothing to its target, and that the
// next conversion removes the temporary files it left.
func TestConvertSurvivesItsEnd(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGINT to send")
	}
	dir := t.TempDir()
	g := wide(60_000, 8, 20)
	from, to := filepath.Join(dir, "wide"), filepath.Join(dir, "to.safetensors")
	want := filepath.Join(dir, "want.safetensors")
	check(t, os.Mkdir(from, 0o755))
	writeText(t, g, from)
	convert := func(to string) *exec.Cmd { return exec.Command("cgc", "convert", from, to, "--memory", "80MiB") }
	if out, err := convert(want).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	partial := filepath.Join(dir, ".to.safetensors.partial")
	for _, signal := range []os.Signal{os.Interrupt, os.Kill} {
		cmd := convert(to)
		check(t, cmd.Start())
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for waiting := true; waiting; {
			select {
			case err := <-ended:
				t.Fatalf("it ended (%v) before its temporary files were seen: make the graph larger", err)
			case <-time.After(time.Millisecond):
				buckets, _ := filepath.Glob(filepath.Join(partial, "bucket*"))
				waiting = len(buckets) == 0
			}
		}
		check(t, cmd.Process.Signal(signal))
		if err := <-ended; err == nil {
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
