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

	"github.com/graph-condensation/cgc/internal/mattest"
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
	f := mattest.Must(os.Open(file))
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

// TestLengths keeps the pages short. Notes and pages for contributors are not counted.
func TestLengths(t *testing.T) {
	lines := func(files ...string) (n int) {
		for _, file := range files {
			n += strings.Count(string(mattest.Must(os.ReadFile(file))), "\n")
		}
		return n
	}
	pages := append(mattest.Must(filepath.Glob("docs/*.md")), mattest.Must(filepath.Glob("docs/[^n]*/*.md"))...)
	pages = slices.DeleteFunc(append(pages, "README.md"), func(page string) bool {
		return slices.Contains([]string{"architecture.md", "extend.md"}, filepath.Base(page))
	})
	for _, c := range []struct {
		what        string
		lines, most int
	}{
		{"README.md", lines("README.md"), 140}, {"CHANGELOG.md", lines("CHANGELOG.md"), 80},
		{"pages for users", lines(pages...), 2200},
	} {
		if c.lines > c.most {
			t.Errorf("%s: %d lines, must be at most %d", c.what, c.lines, c.most)
		}
	}
}

// houseWords matches jargon of this project that readers would have to decode.
var houseWords = regexp.MustCompile(`(?i)\b(bound on memory|whole graphs?|made graphs?|truth values?|whole numbers?|` +
	`of one's own|at hand|so many|as far as|by more than chance|handed out|sorts of nodes|what comes of|to be had|` +
	`takes? long|(?:has|have|gives?) the (?:bytes|bits) of|named instead of)\b`)

// TestWords lists the comments and messages that contain house words.
func TestWords(t *testing.T) {
	for _, file := range goFiles(t) {
		if file == "style_test.go" {
			continue // which lists them
		}
		text := mattest.Must(os.ReadFile(file))
		n := 0
		for line := range strings.Lines(string(text)) {
			n++
			if word := houseWords.FindString(line); word != "" {
				t.Errorf("%s:%d: %q", file, n, word)
			}
		}
	}
}

// TestErrors lists the errors that begin with the name of their package or of a folder above it.
func TestErrors(t *testing.T) {
	for _, file := range goFiles(t) {
		text := mattest.Must(os.ReadFile(file))
		for _, found := range prefixed(file, string(text)) {
			t.Errorf("%s: an error begins with %q", file, found)
		}
	}
}

var (
	packageClause = regexp.MustCompile(`(?m)^package (\w+?)(_test)?$`)
	errorLiteral  = regexp.MustCompile(
		"(?:fmt\\.Errorf\\(|errors\\.New\\(|return fmt\\.Sprintf\\(|return )\\s*[\"`]((\\w+): )")
)

// prefixed returns the prefixes of the errors in the text of file that name its package or a folder above it. It reads
// the literals in fmt.Errorf and errors.New, and the literals that a function such as Error returns.
func prefixed(file, text string) (found []string) {
	names := strings.Split(filepath.ToSlash(filepath.Dir(file)), "/")
	if clause := packageClause.FindStringSubmatch(text); clause != nil {
		names = append(names, clause[1])
	}
	for _, literal := range errorLiteral.FindAllStringSubmatch(text, -1) {
		if slices.Contains(names, literal[2]) {
			found = append(found, literal[1])
		}
	}
	return found
}

// undocumented matches the first line of a function or method with an exported name, if no comment ends above it.
var undocumented = regexp.MustCompile(`(?m)^(?:[^/\n].*)?\n(func (?:\([^)]*\) )?[A-Z].*)$`)

// TestDocComments lists exported functions, and methods of any type, that lack a doc comment.
func TestDocComments(t *testing.T) {
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, found := range undocumented.FindAllSubmatch(mattest.Must(os.ReadFile(file)), -1) {
			t.Errorf("%s: no doc comment above %s", file, found[1])
		}
	}
}

// TestErrorsCatches shows that prefixes are found in each form of an error, and that other words and panics are not.
func TestErrorsCatches(t *testing.T) {
	const text = "package b_test\n" +
		"var e = errors.New(`b: x`)\n" +
		"return fmt.Errorf(\n\"a: %w\", err)\n" +
		"func (e *E) Error() string { return \"b: \" + e.text }\n" +
		"func (f *F) Error() string { return fmt.Sprintf(\"b: %d\", f.n) }\n" +
		"return fmt.Errorf(\"c: %w\", err)\n" +
		"panic(\"b: x\"); panic(fmt.Sprintf(\"b: %d\", 1)); t.Errorf(\"b: %d\", 1)\n"
	mattest.Equal(t, prefixed("a/b/c_test.go", text), []string{"b: ", "a: ", "b: ", "b: "}, "prefixes")
}

// TestColumnsCatches shows that a line of 121 characters is found, and one of 120 is not.
func TestColumnsCatches(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.go")
	text := strings.Repeat("é", columns) + "\n" + strings.Repeat("é", columns+1) + "\n\t" + strings.Repeat("a", columns-1)
	mattest.OK(t, os.WriteFile(file, []byte(text), 0o666))
	mattest.Equal(t, tooLong(t, file), []int{2}, "lines")
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
	mattest.OK(t, err)
	return files
}
