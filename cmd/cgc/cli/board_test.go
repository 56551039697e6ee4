package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
)

// TestBoard checks that a second run of a board trains nothing, that row-normalised features add to the same records,
// and that the table has all methods.
func TestBoard(t *testing.T) {
	folder := t.TempDir()
	args := []string{"paper", "board", "demo", "--methods", "herding", "--models", "sgc", "--seeds", "1", "--whole",
		"1", "-o", folder}
	records := func() []byte {
		text, err := os.ReadFile(filepath.Join(folder, "demo.jsonl"))
		mattest.OK(t, err)
		return text
	}
	table, _ := ok(t, args...)
	first := records()
	again, _ := ok(t, args...)
	if again != table || !bytes.Equal(first, records()) {
		t.Errorf("a second run trained again, or printed another table:\n%s\n%s", table, again)
	}
	for _, want := range []string{"cgc-paper", "herding", "full graph", "break-even"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	ok(t, append(args, "--normalize-features")...)
	lines := func(text []byte) int { return bytes.Count(text, []byte("\n")) }
	if more := records(); !bytes.HasPrefix(more, first) || lines(more) != 2*lines(first) {
		t.Errorf("row-normalised features: %d bytes of records after %d", len(more), len(first))
	}
}

func TestBoardUsage(t *testing.T) {
	for args, want := range map[string]string{
		"demo":                    "-o FOLDER",
		"demo -o x --seeds 0":     "--seeds 0, must be at least 1",
		"demo -o x --whole -1":    "--whole -1, must be at least 0",
		"demo -o x --limit 0s":    "--limit 0s, must be above 0",
		"demo -o x --methods cgd": "cgc-d",
	} {
		code, _, said := run(t, append([]string{"paper", "board"}, strings.Fields(args)...)...)
		if code != 2 || !strings.Contains(said, want) {
			t.Errorf("%s: code %d, %q, want %q", args, code, said, want)
		}
	}
}
