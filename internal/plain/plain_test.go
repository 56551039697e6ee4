package plain

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSentence removes the names of packages, and nothing else.
func TestSentence(t *testing.T) {
	for text, want := range map[string]string{
		"dataset: a.npz: graph: label 9 of node 3, want 0 to 6": "a.npz: label 9 of node 3, want 0 to 6",
		"cgc: first\ncgc: second":                               "first; second",
		"dataset: reading graph: not there":                     "reading graph: not there",
		"dataset: graph: the training split is empty":           "graph: the training split is empty",
	} {
		if got := Sentence(errors.New(text)); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// TestPackages compares the names that Sentence knows with those that errors in the sources begin with.
func TestPackages(t *testing.T) {
	found := []string{"json"} // of the standard library
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		prefix := `"` + file.Name.Name + ": "
		ast.Inspect(file, func(n ast.Node) bool {
			if call, is := n.(*ast.CallExpr); is {
				if name, is := call.Fun.(*ast.Ident); is && name.Name == "panic" {
					return false // not an error
				}
			}
			begins := false
			switch n := n.(type) {
			case *ast.BasicLit:
				begins = strings.HasPrefix(n.Value, prefix)
			case *ast.KeyValueExpr: // of a FieldError
				key, is := n.Key.(*ast.Ident)
				begins = is && key.Name == "Package"
			}
			if begins && file.Name.Name != "cli" {
				found = append(found, file.Name.Name)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	if found = slices.Compact(found); !slices.Equal(found, packages) {
		t.Errorf("errors begin with\n%v, and Sentence knows\n%v", found, packages)
	}
}
