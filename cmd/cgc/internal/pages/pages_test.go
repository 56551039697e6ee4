package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
)

const root = "../../../.."

// TestPagesAreFresh checks that the generated parts of all pages are up to date, and that each generator is used.
func TestPagesAreFresh(t *testing.T) {
	used := map[string]bool{}
	for _, name := range slices.AppendSeq(mattest.Must(find(root)), maps.Keys(files)) {
		text := mattest.Must(os.ReadFile(filepath.Join(root, name)))
		made, err := fresh(root, name, string(text))
		mattest.True(t, err == nil && made == string(text), "%s is stale (%v): %s", name, err, command)
		for _, mark := range begin.FindAllStringSubmatch(string(text), -1) {
			generator, _, _ := strings.Cut(mark[1], " ")
			used[generator] = true
		}
	}
	for name := range generators {
		mattest.True(t, used[name], "no page has a part of the generator %s", name)
	}
}

// TestFirstRun checks that the seconds of the first command in README are those of its record.
func TestFirstRun(t *testing.T) {
	type run struct {
		Total float64 `json:"total_seconds"`
		Train float64 `json:"train_seconds"`
		Whole float64 `json:"whole_train_seconds"`
	}
	text := string(mattest.Must(os.ReadFile(filepath.Join(root, "README.md"))))
	for _, r := range readLines[run](root, "first-run") {
		for _, want := range []string{
			fmt.Sprintf(`This takes %v seconds on two\s+idle AVX-512 cores`, r.Total),
			fmt.Sprintf(`(?m)^gcn +\S+ ± \S+ +\S+ to \S+ +%v +\S+ ± \S+ +%v +\S+%%$`, r.Train, r.Whole),
		} {
			mattest.True(t, regexp.MustCompile(want).MatchString(text), "README has nothing like %q", want)
		}
	}
}

// TestFill checks that the text between the marks is replaced and the rest is kept.
func TestFill(t *testing.T) {
	generators["words"] = func(_ string, args []string) string { return strings.Join(args, " and ") }
	defer delete(generators, "words")
	got := mattest.Must(fill(root, "one\n<!-- generated: words a b -->\nold\n<!-- end -->\ntwo\n"))
	mattest.Equal(t, got, "one\n<!-- generated: words a b -->\na and b\n<!-- end -->\ntwo\n", "the page is")
	mattest.Fails(t, "no such generator")(fill(root, "<!-- generated: nothing -->\n<!-- end -->\n"))
	mattest.Fails(t, "follows")(fill(root, "<!-- generated: words a -->\n"))
}

// TestLinks checks that links within the repository lead to an existing file and, within a page, to an existing
// heading. It checks README, and links to the pages of results, only if these pages exist.
func TestLinks(t *testing.T) {
	pages := mattest.Must(find(root))
	pages = append(pages, "CONTRIBUTING.md", "SECURITY.md")
	_, missing := os.Stat(filepath.Join(root, "docs", "results"))
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, page := range pages {
		if missing != nil && page == "README.md" {
			continue
		}
		text := mattest.Must(os.ReadFile(filepath.Join(root, page)))
		for _, found := range link.FindAllStringSubmatch(string(text), -1) {
			path, heading, _ := strings.Cut(found[1], "#")
			if strings.Contains(path, "://") || missing != nil && strings.Contains(path, "results/") {
				continue
			}
			file := filepath.Join(root, filepath.Dir(page), path)
			if path == "" {
				file = filepath.Join(root, page)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s links to %s, which is not there", page, found[1])
			} else if heading != "" && !slices.Contains(headings(t, file), heading) {
				t.Errorf("%s links to %s, and there is no such heading", page, found[1])
			}
		}
	}
}

// headings returns the link anchors of the headings of a page.
func headings(t *testing.T, file string) (names []string) {
	t.Helper()
	text := mattest.Must(os.ReadFile(file))
	other := regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	for _, line := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(string(text), -1) {
		name := other.ReplaceAllString(strings.ToLower(line[1]), "")
		names = append(names, strings.ReplaceAll(name, " ", "-"))
	}
	return names
}

// TestPublicNames checks which names of a module with all kinds of declarations are listed.
func TestPublicNames(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"a.go": `package a
const A, b = 1, 2
type Set[K comparable] map[K]bool
type Same = Set[int]
type S struct { X, Y []float32; hidden int; Named }
func (s *S) Do(n int, to ...string) (err error) { return nil }
type s struct{}
func (s) Hidden() {}
type Named interface { Name() string; hidden() }
func Of[T any](x T) *T { return &x }
func of() {}
`,
		"a_test.go":       "package a\nfunc Tested() {}\n",
		"a_windows.go":    "package a\nvar Windows int\n",
		"internal/b/b.go": "package b\nvar B int\n",
		"cmd/main.go":     "package main\nvar M int\nfunc main() {}\n",
		"sub/c/c.go":      "package c\nvar C int\n",
		"sub/notes.md":    "",
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		mattest.OK(t, os.MkdirAll(filepath.Dir(file), 0o777))
		mattest.OK(t, os.WriteFile(file, []byte(text), 0o666))
	}
	const want = `a: const A
a: func (*S) Do(n int, to ...string) (err error)
a: func Of[T any](x T) *T
a: type Named interface
a: type Named interface: Name() string
a: type S struct
a: type S struct: Named
a: type S struct: X []float32
a: type S struct: Y []float32
a: type Same = Set[int]
a: type Set[K comparable] map[K]bool
sub/c: var C
`
	mattest.Equal(t, publicNames(root), want, "the names are")
}
