//go:build unix

package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"flag"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/slow"
)

// To test hundreds of kills, run SLOW_TESTS=1 go test ./cmd/cgc -run TestKills -v -kills 25 -timeout 1h.
var (
	killsOfEach = flag.Int("kills", 1, "TestKills kills each command `N` times")
	killSeed    = flag.Uint64("kills.seed", 1, "decides when TestKills kills")
)

// TestKills checks that a command killed at any moment leaves each of its outputs either unchanged or completely
// replaced. The next run gives the same results as if the command had not been killed, and leaves no temporary file.
func TestKills(t *testing.T) {
	slow.Test(t, "runs each command several times")
	t.Logf("-kills.seed %d", *killSeed)
	for _, v := range victims() {
		t.Run(v.name, func(t *testing.T) {
			if v.skip != nil {
				v.skip(t)
			}
			v.run(t, rand.New(rand.NewPCG(*killSeed, 0)))
		})
	}
}

type victim struct {
	name string
	// before is the command line that makes the old outputs, and after is the command line to kill. Both run in the same
	// folder.
	before, after []string
	// outputs lists the files and folders that after replaces atomically. grown lists the files that only grow. partly
	// lists the folders with files from which a run resumes.
	outputs, grown, partly []string
	skip                   func(t *testing.T)
	// prepare writes the inputs into dir, and returns the environment of the command.
	prepare func(t *testing.T, dir string) []string
}

// command returns a command line of v, ready to run in dir.
func (v *victim) command(dir string, environment, line []string) *exec.Cmd {
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "TMPDIR="+filepath.Join(dir, "temporary")), environment...)
	return cmd
}

// run kills v repeatedly and checks what is left.
func (v *victim) run(t *testing.T, random *rand.Rand) {
	dir := t.TempDir()
	mattest.OK(t, os.Mkdir(filepath.Join(dir, "temporary"), 0o755))
	var environment []string
	if v.prepare != nil {
		environment = v.prepare(t, dir)
	}
	must := func(line []string) time.Duration {
		begun := time.Now()
		mattest.Run(t, v.command(dir, environment, line))
		return time.Since(begun)
	}
	if v.before != nil {
		must(v.before)
	}
	before, kept := contents(t, dir), t.TempDir()
	mattest.OK(t, os.CopyFS(kept, os.DirFS(dir)))
	restore := func() { mattest.OK(t, errors.Join(os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(kept)))) }
	took := must(v.after)
	after := contents(t, dir)
	restore()

	killed, late, replaced, strays := 0, 0, 0, 0
	for killed < *killsOfEach {
		if !v.kill(t, dir, environment, took, random) {
			late++
			took = took * 3 / 4 // the machine has become faster, so kill earlier
			restore()
			continue
		}
		killed++
		left := contents(t, dir)
		replaced += v.check(t, before, after, left)
		strays += len(temporary(left))
		must(v.after)
		again := contents(t, dir)
		names := temporary(again)
		mattest.True(t, len(names) == 0, "kill %d: the next run leaves %q", killed, names)
		v.compare(t, after, again)
		restore()
		if t.Failed() {
			t.Fatalf("after %d kills", killed)
		}
	}
	t.Logf("%d kills: %d outputs were new already, %d temporary files were left for the next run; %d ended before",
		killed, replaced, strays, late)
}

// kill starts v.after and kills it: half of the time at a random point of its run, and otherwise soon after a temporary
// file appears. It returns false if the command finished first.
func (v *victim) kill(t *testing.T, dir string, environment []string, took time.Duration, random *rand.Rand) bool {
	t.Helper()
	cmd := v.command(dir, environment, v.after)
	ended := make(chan error, 1)
	mattest.OK(t, cmd.Start())
	go func() { ended <- cmd.Wait() }()
	var wait <-chan time.Time
	if random.IntN(2) == 0 {
		wait = time.After(time.Duration(random.Float64() * float64(took)))
	} else {
		soon := make(chan time.Time, 1)
		pause := time.Duration(random.Float64() * float64(2*time.Millisecond))
		go func() {
			for end := time.Now().Add(10 * took); time.Now().Before(end) && !beside(dir); {
				time.Sleep(20 * time.Microsecond)
			}
			time.Sleep(pause)
			soon <- time.Now()
		}()
		wait = soon
	}
	select {
	case <-wait:
	case err := <-ended:
		ended <- err
	}
	_ = cmd.Process.Kill()
	err := <-ended
	var failed *exec.ExitError
	if err == nil {
		return false
	}
	if !errors.As(err, &failed) || failed.ExitCode() != -1 {
		t.Fatalf("%v: %v", v.after, err)
	}
	return true
}

// beside reports whether dir, or a folder of results in it, contains a temporary file.
func beside(dir string) bool {
	for _, pattern := range []string{
		".*.cgc-*", ".*.partial", "*/.*.cgc-*", "*/*/*.part", "*.checkpoint", ".cgc-python-*", "*/cgc-*",
	} {
		if found, _ := filepath.Glob(filepath.Join(dir, pattern)); len(found) > 0 {
			return true
		}
	}
	return false
}

// contents returns the contents of all files under dir by relative path. Folders have an entry that ends in a slash.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, under := map[string]string{}, os.DirFS(dir)
	mattest.OK(t, fs.WalkDir(under, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			files[name+"/"] = ""
			return err
		}
		text, err := fs.ReadFile(under, name)
		files[name] = string(text)
		return err
	}))
	return files
}

func temporary(files map[string]string) (names []string) {
	for name := range files {
		for part := range strings.SplitSeq(strings.TrimSuffix(name, "/"), "/") {
			hidden := strings.HasPrefix(part, ".") && part != "."
			if hidden || strings.HasPrefix(part, "cgc-") || strings.HasSuffix(part, ".part") {
				names = append(names, name)
				break
			}
		}
	}
	return names
}

// below returns the files of an output: the file itself, or the files in its folder.
func below(files map[string]string, output string) map[string]string {
	found := map[string]string{}
	for name, text := range files {
		if name == output || strings.HasPrefix(name, output+"/") {
			found[name] = text
		}
	}
	return found
}

// check fails the test unless each output is either unchanged or completely replaced. It returns the number of replaced
// outputs.
func (v *victim) check(t *testing.T, before, after, left map[string]string) (replaced int) {
	t.Helper()
	for _, output := range v.outputs {
		got := below(left, output)
		switch {
		case same(got, below(before, output)):
		case same(got, below(after, output)):
			replaced++
		default:
			t.Errorf("%s is neither what it was (%d bytes) nor new and whole (%d bytes): %d bytes, %d files", output,
				len(before[output]), len(after[output]), len(left[output]), len(got))
		}
	}
	for _, file := range v.grown {
		mattest.True(t, strings.HasPrefix(left[file], before[file]), "%s lost what was in it", file)
	}
	for _, folder := range v.partly {
		for name, text := range below(left, folder) {
			if len(temporary(map[string]string{name: ""})) == 0 && text != after[name] {
				t.Errorf("%s is %d bytes, want %d", name, len(text), len(after[name]))
			}
		}
	}
	for name := range before {
		if _, is := left[name]; !is {
			t.Errorf("%s is gone", name)
		}
	}
	return replaced
}

// compare fails the test unless two runs gave the same results.
func (v *victim) compare(t *testing.T, want, got map[string]string) {
	t.Helper()
	made, wanted := slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))
	mattest.Equal(t, made, wanted, "the next run made")
	for _, output := range slices.Concat(v.outputs, v.partly) {
		mattest.True(t, same(below(want, output), below(got, output)),
			"%s: the next run made another one than a run that was not killed", output)
	}
	for _, file := range v.grown {
		a, b := strings.Count(want[file], "\n"), strings.Count(got[file], "\n")
		mattest.True(t, a == b, "%s has %d lines, want %d", file, b, a)
	}
}

// same reports whether a and b have the same file names and, apart from seconds and bytes of memory, the same contents.
func same(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for name, text := range a {
		other, is := b[name]
		if !is || text != other && timeless(name, text) != timeless(name, other) {
			return false
		}
	}
	return true
}

// secondsOrBytes matches the JSON members that differ between runs.
var secondsOrBytes = regexp.MustCompile(`"[a-z_]*(seconds|_s|_rss|bytes)": [^\n]*`)

// timeless returns the contents of a file without times and memory sizes. An incomplete file remains incomplete.
func timeless(name, text string) string {
	switch filepath.Ext(name) {
	case ".json":
		return secondsOrBytes.ReplaceAllString(text, "")
	case ".csv":
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil || len(rows) == 0 {
			return text
		}
		var kept bytes.Buffer
		for _, row := range rows {
			for i, value := range row {
				if head := rows[0][i]; !strings.HasSuffix(head, "seconds") && !strings.HasSuffix(head, "_s") &&
					!strings.HasSuffix(head, "bytes") {
					kept.WriteString(value + ",")
				}
			}
			kept.WriteByte('\n')
		}
		return kept.String()
	}
	return text
}
