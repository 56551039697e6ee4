package experiment_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// logOf returns the path of a new log with the given text.
func logOf(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "records.jsonl")
	mattest.OK(t, os.WriteFile(path, []byte(text), 0o666))
	return path
}

// mustOpen opens a log and adds records. The log is closed at the end of the test.
func mustOpen(t *testing.T, path string, records ...experiment.Record) *experiment.Log {
	t.Helper()
	log := mattest.Must(experiment.OpenLog(path))
	t.Cleanup(func() { log.Close() })
	for _, r := range records {
		mattest.OK(t, log.Add(r))
	}
	return log
}

// written returns the configuration of a record.
func written(m condense.Method, nodes int, seed uint64) json.RawMessage {
	return mattest.Must(condense.Configuration(m, nodes, seed))
}

// example returns a record of each kind, with numbers that have no finite binary representation.
func example() []experiment.Record {
	const seed = 1<<63 + 1
	config := cgc.Defaults()
	config.Temperature = cgc.Infinite
	r := experiment.Record{
		Version: 1, Arm: "cgc", Config: written(config, 10, seed), Model: "gcn",
		Graph: graph.Identity{
			Name: "a graph, \"quoted\"\n", Fingerprint: "f1", Nodes: 100, Edges: 7, Features: 3, Classes: 2,
			Train: 20, Val: 30, Test: 40,
		},
		Training: gnn.Defaults(), Seed: seed, TrainingSeed: seed, Nodes: 10, Edges: 3,
		Val: 100.0 / 3, Test: 200.0 / 7, Epoch: 17,
		Seconds:         condense.Seconds{Steps: []condense.Step{{Name: "propagate", Seconds: 0.1}}, Total: 1e-7},
		TrainingSeconds: 1.0 / 3, Peak: 1 << 40, Build: experiment.ThisBuild(),
	}
	whole := r
	whole.Arm, whole.Config, whole.Seed, whole.Standardize = experiment.Whole, nil, 0, true
	return []experiment.Record{r, whole}
}

func TestLogKeepsRecords(t *testing.T) {
	path := logOf(t, "")
	mustOpen(t, path, append(example(), example()...)...).Close() // a second record with the same key changes nothing
	log := mustOpen(t, path)
	mattest.Equal(t, log.Torn(), 0, "torn bytes")
	mattest.Equal(t, log.Records(), example(), "records")
}

// TestLogRefusesWhatItCannotRead checks that Add writes no line that OpenLog would reject.
func TestLogRefusesWhatItCannotRead(t *testing.T) {
	path := logOf(t, "")
	log := mustOpen(t, path, example()...)
	for want, change := range map[string]func(*experiment.Record){
		"not a record":                            func(r *experiment.Record) { r.Version = 0 },
		"record of version 2, must be at most 1":  func(r *experiment.Record) { r.Version = 2 },
		"configuration without the name of its m": func(r *experiment.Record) { r.Config = json.RawMessage("{}") },
	} {
		r := example()[0]
		change(&r)
		mattest.WantError(t, log.Add(r), "writing a record: ", want)
	}
	log.Close()
	mattest.Equal(t, mustOpen(t, path).Records(), example(), "records")
}

// TestLogDropsATornLine cuts the last line anywhere, and checks that earlier and later records are complete.
func TestLogDropsATornLine(t *testing.T) {
	path := logOf(t, "")
	mustOpen(t, path, example()...).Close()
	text := mattest.Must(os.ReadFile(path))
	first := bytes.IndexByte(text, '\n') + 1
	for cut := first; cut < len(text); cut += 1 + (cut-first)/16 { // in small steps near the beginning of the line
		mattest.OK(t, os.WriteFile(path, text[:cut], 0o666))
		log := mustOpen(t, path)
		if log.Torn() != cut-first || len(log.Records()) != 1 {
			t.Fatalf("cut at %d: %d bytes torn, %d records, want %d and 1", cut, log.Torn(), len(log.Records()), cut-first)
		}
		if cut%3 == 0 {
			mattest.OK(t, log.Add(example()[1]))
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, text) {
				t.Fatalf("cut at %d and mended: %d bytes, %v, want the %d of before", cut, len(got), err, len(text))
			}
		}
		log.Close()
	}
}

func TestLogRefusesOtherFiles(t *testing.T) {
	record := `{"record":1,"graph":{"name":"g"},"arm":"a","model":"gcn"}` + "\n"
	for text, want := range map[string]string{
		"my notes":                                 "line 1: not a record",
		"my notes\n":                               "line 1: not a record",
		"{\"a\":1}\n":                              "line 1: not a record",
		record + "\n":                              "line 2: not a record",
		record + "x":                               "line 2: not a record",
		record + "{\"record\":1,\n":                "line 2: not a record",
		"{\"record\":99}\n":                        "line 1: record of version 99, must be at most 1: a newer version",
		"{\"record\":1,\"seed\":-1}\n":             "line 1: not a record",
		"{\"record\":1,\"val\":\"x\"}\n":           "line 1: not a record",
		"{\"record\":1,\"config\":7}\n":            "line 1: not a record",
		"{\"record\":1,\"config\":{\"hops\":0}}\n": "line 1: not a record of an experiment (configuration without the name",
	} {
		path := logOf(t, text)
		mattest.Fails(t, want, path)(experiment.OpenLog(path))
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%q became %q, %v", text, got, err)
		}
	}
	if _, err := experiment.OpenLog(t.TempDir()); err == nil {
		t.Error("a folder is taken for a log")
	}
}

// TestLogFillsInYoungerParameters checks that a parameter added since a record was written gets its default.
func TestLogFillsInYoungerParameters(t *testing.T) {
	line := `{"record":1,"graph":{"name":"g"},"arm":"a","model":"gcn",` +
		`"config":{"method":"cgc","nodes":5},"training":{"epochs":3}}`
	log := mustOpen(t, logOf(t, line+"\n"))
	config, training := cgc.Defaults(), gnn.Defaults()
	config.Nodes, training.Epochs = 5, 3
	r := log.Records()[0]
	mattest.Equal(t, configOf(t, r), config, "configuration")
	mattest.Equal(t, r.Training, training, "training")
}

// TestLogIsTakenOnce checks that a log can be open only once. Otherwise two processes would append to it.
func TestLogIsTakenOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are not locked here")
	}
	path := logOf(t, "")
	log := mustOpen(t, path)
	want := "opening the log: another process is writing " + path
	if _, err := experiment.OpenLog(path); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	mattest.OK(t, log.Close())
	mustOpen(t, path).Close()
}

// FuzzOpenLog looks for panics in reading records.jsonl. It checks that an invalid file stays as it is, and that a
// valid one loses only its torn last line and has the same records when it is read again.
func FuzzOpenLog(f *testing.F) {
	path := filepath.Join(f.TempDir(), "records.jsonl")
	log := mattest.Must(experiment.OpenLog(path))
	for _, r := range example() {
		mattest.OK(f, log.Add(r))
	}
	mattest.OK(f, log.Close())
	text := mattest.Must(os.ReadFile(path))
	f.Add(text)
	f.Add(text[:len(text)-9])
	f.Add([]byte("{\"record\":1}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "records.jsonl")
		mattest.OK(t, os.WriteFile(path, text, 0o600))
		log, err := experiment.OpenLog(path)
		left, _ := os.ReadFile(path)
		if err != nil {
			if !bytes.Equal(left, text) {
				t.Fatalf("%v, and the file is changed", err)
			}
			return
		}
		mattest.OK(t, log.Close()) // an open log locks its file
		if !bytes.Equal(left, text[:len(text)-log.Torn()]) {
			t.Fatalf("%d bytes of %d are left, and %d were torn", len(left), len(text), log.Torn())
		}
		again := mattest.Must(experiment.OpenLog(path))
		defer again.Close()
		mattest.Equal(t, len(again.Records()), len(log.Records()), "records of the second reading")
	})
}
