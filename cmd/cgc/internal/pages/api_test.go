package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPublicNames checks what is listed of a module with all kinds of declarations, and what is not.
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
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
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
	if got, err := publicNames(root); err != nil || got != want {
		t.Errorf("%v, %s\nwant %s", err, got, want)
	}
}
