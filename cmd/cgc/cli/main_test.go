package cli

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/slow"
)

// TestScripts runs testdata/script. In addition to the commands of testscript, scripts can use:
//
//	[slow]             holds if slow tests run
//	code N cgc …       runs cgc and expects the exit code N
//	sentence PART …    expects standard error to be notes, then one line that begins with "cgc: " and has each PART
//	no-notes           expects nothing on standard error, except how much time remains on a slow machine
//	same-arrays A B …  expects .npz files with the same bytes in each array, metadata aside
//	variant FROM TO FILE OLD NEW …  copies the folder FROM to TO, with replacements in its FILE
//	result FILE MODELS expects FILE to be one JSON object with the keys of a report, and results of these models
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: mattest.Must(filepath.Abs("testdata/script")), // absolute, because the working directory changes
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, ".home"))
			env.Setenv(slow.Variable, os.Getenv(slow.Variable))
			env.Setenv("HTTPS_PROXY", "http://127.0.0.1:1") // no test uses the network
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name != "slow" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return slow.On(), nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": exitCodeOf, "sentence": oneSentence, "result": result, "no-notes": noNotes, "same-arrays": sameArrays,
			"variant": variant,
		},
	})
}

// inProcess is locked while a script runs cgc in this process, which then has the working directory and the environment
// of the script.
var inProcess sync.Mutex

// exitCodeOf runs a quick command line and checks its exit code. cgc runs in this process; other programs run in
// separate ones.
func exitCodeOf(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command …")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	inProcess.Lock()
	defer inProcess.Unlock()
	for _, name := range []string{
		"HOME", "CGC_DATA", "HTTPS_PROXY", "CGC_CONFIG", "CGC_THREADS", "CGC_HOPS", "CGC_RATIO", "CGC_THREADZ",
	} {
		before, was := os.LookupEnv(name)
		ts.Check(os.Setenv(name, ts.Getenv(name)))
		defer func() {
			if os.Setenv(name, before); !was {
				os.Unsetenv(name)
			}
		}()
	}
	var stdout, stderr bytes.Buffer
	var got int
	if args[1] == "cgc" {
		folder, err := os.Getwd()
		ts.Check(err)
		ts.Check(os.Chdir(ts.Getenv("WORK")))
		got = Run(context.Background(), args[2:], &stdout, &stderr)
		ts.Check(os.Chdir(folder))
	} else {
		cmd := exec.Command(args[1], args[2:]...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = ts.Getenv("WORK"), &stdout, &stderr
		_ = cmd.Run() // its exit code is compared below
		got = cmd.ProcessState.ExitCode()
	}
	ts.Logf("%s%s", &stdout, &stderr)
	if got != want {
		ts.Fatalf("exit code %d, expected %d", got, want)
	}
	if want != 0 && stdout.Len() > 0 {
		ts.Fatalf("standard output of a command that failed: %s", &stdout)
	}
	ts.Check(os.WriteFile(ts.MkAbs("stderr.txt"), stderr.Bytes(), 0o666))
}

// sameArrays compares the arrays of .npz files. The metadata may differ, because it contains the configuration.
func sameArrays(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: same-arrays FILE FILE …")
	}
	arrays := func(path string) map[string]uint32 { // their checksums
		archive, err := zip.OpenReader(ts.MkAbs(path))
		ts.Check(err)
		defer archive.Close()
		all := map[string]uint32{}
		for _, entry := range archive.File {
			if entry.Name != "cgc.npy" {
				all[entry.Name] = entry.CRC32
			}
		}
		return all
	}
	want := arrays(args[0])
	if len(want) < 5 {
		ts.Fatalf("%s has %d arrays", args[0], len(want))
	}
	for _, path := range args[1:] {
		if got := arrays(path); !maps.Equal(got, want) {
			ts.Fatalf("%s has the arrays %v, and %s %v", path, got, args[0], want)
		}
	}
}

func variant(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 5 || len(args)%2 == 0 {
		ts.Fatalf("usage: variant FROM TO FILE OLD NEW …")
	}
	ts.Check(os.CopyFS(ts.MkAbs(args[1]), os.DirFS(ts.MkAbs(args[0]))))
	file := filepath.Join(args[1], args[2])
	text := ts.ReadFile(file)
	changed := strings.NewReplacer(args[3:]...).Replace(text)
	if changed == text {
		ts.Fatalf("%s has none of %q", file, args[3:])
	}
	ts.Check(os.WriteFile(ts.MkAbs(file), []byte(changed), 0o666))
}

// timeNote matches a note that appears only on slow machines.
var timeNote = regexp.MustCompile(`(?m)^note: .*: .* so far, about .* left\n`)

func noNotes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: no-notes")
	}
	if text := timeNote.ReplaceAllString(ts.ReadFile("stderr"), ""); text != "" {
		ts.Fatalf("standard error has %q", text)
	}
}

func oneSentence(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: sentence part …")
	}
	text := ts.ReadFile("stderr.txt")
	line := text
	for strings.HasPrefix(line, "note: ") {
		_, line, _ = strings.Cut(line, "\n")
	}
	line, found := strings.CutSuffix(line, "\n")
	if !found || !strings.HasPrefix(line, "cgc: ") || strings.Contains(line, "\n") {
		ts.Fatalf("not notes and one line that begins with cgc: %q", text)
	}
	for _, part := range args {
		if !strings.Contains(line, part) {
			ts.Fatalf("%q does not say %q", line, part)
		}
	}
}

func result(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: result FILE MODELS")
	}
	var s outcome // its keys: testdata/run.json
	ts.Check(strictly([]byte(ts.ReadFile(args[0])), &s))
	sum := 0
	for _, n := range s.Condensed.Budget {
		sum += n
	}
	smallest := min(s.Nodes, s.Edges, s.Features, s.Classes, s.Train, s.Condensed.Nodes)
	if smallest <= 0 || sum != s.Condensed.Nodes || s.Graph == "" || s.File == "" || method(s.Config) == "unknown" {
		ts.Fatalf("incomplete: %+v", s)
	}
	var steps []string
	for _, step := range s.Seconds.Steps {
		if steps = append(steps, step.Name); step.Seconds < 0 || step.Seconds > 600 {
			ts.Fatalf("seconds of %s: %v", step.Name, step.Seconds)
		}
	}
	if strings.Join(steps, " ") != "load propagate assess augment partition generate" || s.Seconds.Total == 0 ||
		runtime.GOOS == "linux" && s.PeakRSS < 1<<20 || s.Kept > s.PeakRSS {
		ts.Fatalf("seconds %v, peak %d, kept %d", s.Seconds, s.PeakRSS, s.Kept)
	}
	var models []string
	for _, a := range append(s.Results, s.Whole...) {
		models = append(models, a.Model)
		low, high := min(a.TestMean, a.ValMean), max(a.TestMean, a.ValMean)
		spread := a.TestStd + a.ValStd + a.TestCI95
		if a.Seeds < 1 || low < 1 || high > 100 || a.Seconds <= 0 ||
			a.Seeds == 1 && spread != 0 || a.TestStd > 0 && a.TestCI95 <= 0 {
			ts.Fatalf("implausible: %+v", a)
		}
	}
	if got := strings.Join(models, ","); got != args[1] {
		ts.Fatalf("models %s, expected %s", got, args[1])
	}
}

// TestInterrupt checks that a run that is interrupted during training leaves no files.
func TestInterrupt(t *testing.T) {
	cmd := exec.Command("cgc", "run", "--epochs", "100000000", "--hidden", "8")
	stopped(t, cmd, "training gcn", true, interrupt(t, cmd))
	mattest.Equal(t, len(mattest.Must(os.ReadDir(cmd.Dir))), 0, "files left behind:")
}

// TestInterruptedRecords checks that interrupted commands that keep their training runs say how to resume.
func TestInterruptedRecords(t *testing.T) {
	for _, c := range []struct{ stage, args string }{
		{"training gcn", "experiment demo --methods random --nodes 14 --epochs 100000000 --hidden 8 -o out"},
		{"searching on demo", "search demo --nodes 14 --epochs 100000000 --trials 3 -o out"},
	} {
		cmd := exec.Command("cgc", strings.Fields(c.args)...)
		_, stderr := endless(t, cmd, c.stage, true)
		mattest.OK(t, interrupt(t, cmd)(nil))
		said, _ := io.ReadAll(stderr)
		want := "\nnote: run the same command again to resume\ncgc: interrupted\n"
		mattest.True(t, strings.HasSuffix("\n"+string(said), want),
			"%s: standard error ends with %q, want %q", c.args, said, want)
	}
}

// interrupt returns a function that interrupts cmd.
func interrupt(t *testing.T, cmd *exec.Cmd) func(io.Closer) error {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no SIGINT to send")
	}
	return func(io.Closer) error { return cmd.Process.Signal(os.Interrupt) }
}

// stopped calls endless to start cmd, stops it, and checks its exit code. stop may close its standard input.
func stopped(t *testing.T, cmd *exec.Cmd, stage string, begun bool, stop func(stdin io.Closer) error) {
	t.Helper()
	stdin, stderr := endless(t, cmd, stage, begun)
	mattest.OK(t, stop(stdin))
	ends(t, stderr)
	cmd.Wait()
	mattest.Equal(t, cmd.ProcessState.ExitCode(), exitInterrupted, "exit code")
}

// endless starts a command that trains forever, with a pipe as standard input. It returns when the command reports that
// the stage is complete or, if begun is set, that the stage has started.
func endless(t *testing.T, cmd *exec.Cmd, stage string, begun bool) (stdin io.Closer, stderr *bufio.Reader) {
	t.Helper()
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), parentVariable+"=stdin", progressVariable+"=json")
	in := mattest.Must(cmd.StdinPipe())
	out := mattest.Must(cmd.StderrPipe())
	mattest.OK(t, cmd.Start())
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
	if said, _ := io.ReadAll(stderr); !strings.HasSuffix("\n"+string(said), "\ncgc: interrupted\n") {
		t.Errorf("standard error ends with %q, want the message", said)
	}
}

// TestClosedInput checks that a command ends when its standard input is closed, as happens when the parent ends.
func TestClosedInput(t *testing.T) {
	cmd := exec.Command("cgc", "run", "--seeds", "1", "--epochs", "100000000", "--hidden", "8")
	stopped(t, cmd, "training gcn", true, io.Closer.Close)
}

// TestOrphan checks that a command ends with its parent while another process holds standard input open.
func TestOrphan(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an orphan keeps the number of its parent")
	}
	line := "cgc run --seeds 1 --epochs 100000000 --hidden 8 <&3 & wait"
	cmd := exec.Command("sh", "-c", "exec 3<&0; "+line) // sh gives /dev/null to background processes
	_, stderr := endless(t, cmd, "training gcn", true)
	mattest.OK(t, cmd.Process.Kill())
	ends(t, stderr)
}

// TestInterruptedTune checks that an interrupted search writes the best configuration so far, says so, and exits with
// code 130.
func TestInterruptedTune(t *testing.T) {
	cmd := exec.Command("cgc", "tune", "demo", "--trials", "2", "--epochs", "100000000", "--hidden", "4",
		"-o", "best.json")
	var stdout strings.Builder
	cmd.Stdout = &stdout
	stopped(t, cmd, "ranked", false, interrupt(t, cmd))
	mattest.Says(t, stdout.String(), "no configuration was confirmed by training", "configuration: best.json")
	mattest.True(t, isConfig(filepath.Join(cmd.Dir, "best.json")), "best.json is not a configuration")
	mattest.Equal(t, len(mattest.Must(os.ReadDir(cmd.Dir))), 1, "files with best.json:")
}

// TestTuneWithoutTime checks that too little time to rank any configuration causes an error that names the flag.
func TestTuneWithoutTime(t *testing.T) {
	code, _, said := RunLine(t, "tune", "demo", "--seconds", "1e-9", "--epochs", "1", "--quiet", "-o",
		filepath.Join(t.TempDir(), "best.json"))
	if code == 0 { // a configuration was ranked in time
		return
	}
	mattest.Equal(t, code, exitFailure, "exit code")
	mattest.Says(t, said, "--seconds 1e-09: no configuration could be ranked")
}

// TestPasswords checks that neither errors nor reports contain the password of a database address.
func TestPasswords(t *testing.T) {
	const address = "postgres://ann:secret@host/db"
	for _, args := range [][]string{
		{address}, {"evaluate", address, "--on", "demo"}, {"convert", "demo", address}, {"data", "fetch", address},
	} {
		code, _, said := RunLine(t, args...)
		mattest.True(t, code != 0 && !strings.Contains(said, "secret") && strings.Contains(said, "//host/db"),
			"%v: exit code %d, %q", args, code, said)
	}
	c := &command{
		args: []string{"report", "a.safetensors", "--on=" + address}, stderr: io.Discard,
		progress: newMeter(io.Discard, true),
	}
	path := filepath.Join(t.TempDir(), "page.html")
	mattest.OK(t, c.writeReport(path, "", &report.Document{}, nil))
	page := string(mattest.Must(os.ReadFile(path)))
	mattest.True(t, !strings.Contains(page, "secret") && strings.Contains(page, "--on=postgres://host/db"),
		"the report has the password, or no address")
}
