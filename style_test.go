package cgc_test

import (
	"bufio"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// columns is the maximum length of a line of Go code, in characters. A tab counts as one.
const columns = 120

// TestColumns lists the lines of Go code that are too long, except in generated files.
func TestColumns(t *testing.T) {
	for _, file := range goFiles(t) {
		if long := tooLong(t, file); len(long) > 0 {
			t.Errorf("%s: more than %d characters in the lines %v", file, columns, long)
		}
	}
}

// tooLong returns the numbers of the lines of file that have more than columns characters.
func tooLong(t *testing.T, file string) (lines []int) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, 1<<20)
	for n := 1; scanner.Scan(); n++ {
		if line := scanner.Text(); strings.HasPrefix(line, "// Code generated ") && strings.HasSuffix(line, " DO NOT EDIT.") {
			return nil
		}
		if utf8.RuneCount(scanner.Bytes()) > columns {
			lines = append(lines, n)
		}
	}
	if err := scanner.Err(); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return lines
}

// houseWords matches jargon of this project that readers would have to decode.
var houseWords = regexp.MustCompile(`(?i)\b(bound on memory|whole graphs?|made graphs?|truth values?|whole numbers?|` +
	`of one's own|at hand|so many|as far as|by more than chance|handed out|sorts of nodes|what comes of|to be had)\b`)

// TestComments lists the comments that contain house words.
func TestComments(t *testing.T) {
	for _, file := range goFiles(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			n++
			_, comment, _ := strings.Cut(line, "//")
			if word := houseWords.FindString(comment); word != "" {
				t.Errorf("%s:%d: %q in a comment", file, n, word)
			}
		}
	}
}

// TestColumnsCatches shows that a line of 121 characters is found, and one of 120 is not.
func TestColumnsCatches(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.go")
	text := strings.Repeat("é", columns) + "\n" + strings.Repeat("é", columns+1) + "\n\t" + strings.Repeat("a", columns-1)
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := tooLong(t, file); !slices.Equal(got, []int{2}) {
		t.Errorf("lines %v, want line 2", got)
	}
}

// goFiles returns the paths of all Go files of the repository.
func goFiles(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && file != ".":
			return filepath.SkipDir
		case strings.HasSuffix(file, ".go"):
			files = append(files, file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
