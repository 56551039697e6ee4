package lines_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset/format/internal/lines"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// open writes a file, compressed if its name ends in .gz, and opens it.
func open(t *testing.T, name, text string) *lines.File {
	t.Helper()
	data := []byte(text)
	if strings.HasSuffix(name, ".gz") {
		data = fixture.Packed(text)
	}
	path := filepath.Join(t.TempDir(), name)
	mattest.OK(t, os.WriteFile(path, data, 0o600))
	f := mattest.Must(lines.Open(path))
	t.Cleanup(func() { f.Close() })
	return f
}

func TestNext(t *testing.T) {
	for _, name := range []string{"a.txt", "a.txt.gz"} {
		for text, want := range map[string][]string{
			"": nil, "a": {"a"}, "a\n": {"a"}, "a\r\n\nb\rc": {"a", "", "b\rc"}, "\n": {""},
		} {
			f := open(t, name, text)
			var got []string
			for {
				line, err := f.Next()
				if err == io.EOF {
					break
				}
				mattest.OK(t, err)
				got = append(got, string(line))
			}
			if !slices.Equal(got, want) || f.Line != len(want) {
				t.Errorf("%q has the lines %q, want %q; counted %d", text, got, want, f.Line)
			}
			mattest.OK(t, lines.Read(t.Context(), f.Path, func(number int, line []byte) error {
				if string(line) != want[number-1] {
					return fmt.Errorf("%q, want %q", line, want[number-1])
				}
				return nil
			}))
		}
	}
}

// TestRows checks that Rows parses each line that follows the lines of Next exactly once, with its number, even if the
// line spans blocks.
func TestRows(t *testing.T) {
	const n = 30_000
	var text strings.Builder
	text.WriteString("head\n")
	for i := range n {
		fmt.Fprintf(&text, "%d,%s\n", i, strings.Repeat("x", i%200))
	}
	fmt.Fprintf(&text, "%d,%s", n, strings.Repeat("y", 3<<20)) // longer than a block, without a line end
	for _, name := range []string{"a.csv", "a.csv.gz"} {
		f := open(t, name, text.String())
		if line, err := f.Next(); err != nil || string(line) != "head" {
			t.Fatalf("first line %q: %v", line, err)
		}
		seen := make([]string, n+1)
		err := f.Rows(t.Context(), n+1, 3, "nodes", func(i int, line []byte) error {
			seen[i] += string(line)
			return nil
		})
		mattest.OK(t, err)
		for i, line := range seen {
			number, rest, _ := strings.Cut(line, ",")
			if number != fmt.Sprint(i) || i < n && len(rest) != i%200 || i == n && len(rest) != 3<<20 {
				t.Fatalf("line %d is %.50q of %d bytes", i, line, len(line))
			}
		}
	}
}

// TestFirstErrorWins checks that the error is about the first wrong line, whichever goroutine finds an error first.
func TestFirstErrorWins(t *testing.T) {
	text := strings.Repeat("0123456789\n", 600_000)
	for range 10 {
		f := open(t, "a.csv", "head\n"+text)
		mattest.Must(f.Next())
		err := f.Rows(t.Context(), 600_000, 2, "nodes", func(i int, _ []byte) error {
			if i >= 150_000 {
				return fmt.Errorf("wrong at %d", i)
			}
			return nil
		})
		if err == nil || !strings.HasSuffix(err.Error(), "a.csv:150002: wrong at 150000") {
			t.Fatalf("error %v", err)
		}
	}
}

func TestFaults(t *testing.T) {
	none := func(int, []byte) error { return nil }
	for _, c := range []struct {
		name, text, want string
		n                int
	}{
		{"a.csv", "1\n2\n3\n", "a.csv: 3 lines, expected 4, one for each of the nodes", 4},
		{"a.csv", "1\n2\n3\n", "a.csv:3: one line too many, expected 2, one for each of the nodes", 2},
		{"a.csv", "1\n", "a.csv: the file is too short for 9 nodes", 9},
		{"a.csv.gz", "1\n", "a.csv.gz: the file is too short for 1000000 nodes", 1_000_000},
	} {
		err := open(t, c.name, c.text).Rows(t.Context(), c.n, 1, "nodes", none)
		fixture.Says(t, err, c.want)
	}
	mattest.OK(t, open(t, "a.csv", "1\n2\n\n\n").Rows(t.Context(), 2, 1, "nodes", none))
	packed := fixture.Packed(strings.Repeat("0123456789\n", 1_000_000))
	path := filepath.Join(t.TempDir(), "cut.gz")
	mattest.OK(t, os.WriteFile(path, packed[:len(packed)/2], 0o600))
	f := mattest.Must(lines.Open(path))
	defer f.Close()
	mattest.WantIs(t, f.Rows(t.Context(), 1_000_000, 1, "nodes", none), io.ErrUnexpectedEOF)
	mattest.Fails(t, "a folder, must be a file")(lines.Open(t.TempDir()))
	mattest.WantIs(t, open(t, "a.csv", "1\n").Rows(mattest.Cancelled(t), 1, 1, "nodes", none), context.Canceled)
}

func TestMatrix(t *testing.T) {
	for text, header := range map[string]bool{"1,2\n3,4": false, "a,b\r\n1,2\r\n3,4\r\n": true, "1,2\n3,4\n": true} {
		f := open(t, "a.csv.gz", text)
		x, err := lines.Matrix(t.Context(), f.Path, 2, header)
		if err != nil || x.Cols != 2 || !slices.Equal(x.Data, []float32{1, 2, 3, 4}) {
			t.Errorf("%q: %v, error %v", text, x, err)
		}
	}
	const n = 100_000 // several blocks
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "%d,0.125,-3.0000001,%d.5\n", i, i%7)
	}
	x := mattest.Must(lines.Matrix(t.Context(), open(t, "a.csv", text.String()).Path, n, false))
	for i := range n {
		if want := []float32{float32(i), .125, -3, float32(i%7) + .5}; !slices.Equal(x.Row(i), want) {
			t.Fatalf("row %d is %v, want %v", i, x.Row(i), want)
		}
	}
	f := open(t, "a.csv", "1,2\n3,4\n")
	const want = "too short for 1073741824 nodes with 2 features"
	mattest.Fails(t, want)(lines.Matrix(t.Context(), f.Path, 1<<30, false))
}
