package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
)

// TestSearchCommand checks the files of a search with a comparison, that a second run repeats no training on the full
// graph, and that the flags it prints are those of cgc train.
func TestSearchCommand(t *testing.T) {
	folder := t.TempDir()
	small, space := filepath.Join(folder, "small.safetensors"), filepath.Join(folder, "space.json")
	mattest.OK(t, os.WriteFile(space, []byte(`{"hidden": [8], "learning_rate": [0.01], "models": ["sgc", "gcn"]}`), 0o666))
	ok(t, "condense", "demo", "--nodes", "14", "-o", small)
	args := []string{"search", "demo", "--condensed", small, "--space", space, "--trials", "9", "--epochs", "9",
		"--finalists", "1", "--compare", "4", "-o", filepath.Join(folder, "out")}
	text, _ := ok(t, args...)
	whole := filepath.Join(folder, "out", "whole.jsonl")
	first, err := os.ReadFile(whole)
	mattest.OK(t, err)
	if n := strings.Count(string(first), "\n"); n < 1 || n > 4 { // equal candidates share a training
		t.Errorf("%d trainings on the full graph", n)
	}
	ok(t, args...)
	if second, err := os.ReadFile(whole); err != nil || string(second) != string(first) {
		t.Errorf("the second run trained again: %v", err)
	}
	var r struct {
		Trials    []any
		Finalists []any
		Agreement struct{ Compared []any }
	}
	result, err := os.ReadFile(filepath.Join(folder, "out", "result.json"))
	mattest.OK(t, err)
	mattest.OK(t, json.Unmarshal(result, &r))
	if len(r.Trials) != 9 || len(r.Finalists) != 1 || len(r.Agreement.Compared) != 4 {
		t.Errorf("%d trials, %d finalists, %d compared", len(r.Trials), len(r.Finalists), len(r.Agreement.Compared))
	}
	_, flags, found := strings.Cut(text, "best: ")
	if !found {
		t.Fatalf("no best candidate in\n%s", text)
	}
	flags, _, _ = strings.Cut(flags, "\n")
	ok(t, append([]string{"train", small, "--on", "demo", "-o", filepath.Join(folder, "model.safetensors")},
		strings.Fields(flags)...)...)
}

func TestSearchUsage(t *testing.T) {
	folder := t.TempDir()
	space := filepath.Join(folder, "space.json")
	mattest.OK(t, os.WriteFile(space, []byte(`{"layers": [2]}`), 0o666))
	for args, want := range map[string]string{
		"--nodes 14 --trials 0":                                  "--trials 0, must be at least 1",
		"--nodes 14 --compare 2":                                 "--compare 2, must be 0 or at least 3",
		"--nodes 14 --trials 1 --compare 9000":                   "must be at most 5760",
		"--nodes 14 --trials 1 --space " + space:                 `"layers"`,
		"--nodes 14 --trials 1 --space " + folder + "/none.json": "none.json",
		"--trials 1 --condensed " + folder + "/none.safetensors": "none.safetensors",
		"--nodes 14 --trials 1 --finalists -1":                   "--finalists -1, must be at least 0",
		"--nodes 14 --epochs 0 --seconds 1":                      "--epochs 0, must be at least 1",
		"--nodes 14 --seconds -1":                                "--seconds -1, must be at least 0",
		"--nodes 14 --models gcnn --trials 1 --quiet":            "gcn",
		"--nodes 14 --trials 1 -o " + space:                      "is a file",
	} {
		code, _, said := run(t, append([]string{"search", "demo"}, strings.Fields(args)...)...)
		if code == 0 || !strings.Contains(said, want) {
			t.Errorf("%s: code %d, %q, want %q", args, code, said, want)
		}
	}
}
