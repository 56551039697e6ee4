package cgc_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
)

// No test uses the network. dataset.Open and dataset.Environment may download files. A package whose tests call one of
// them must run its tests through fixture.Offline, which blocks connections to other machines.
func TestTestsAreOffline(t *testing.T) {
	fetches, guarded := map[string]string{}, map[string]bool{}
	for file := range sources(t) {
		if ok, _ := path.Match("*_test.go", path.Base(file)); !ok {
			continue
		}
		folder := path.Dir(file)
		parsed := mattest.Must(parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution))
		ast.Inspect(parsed, func(n ast.Node) bool {
			if selected, ok := n.(*ast.SelectorExpr); ok {
				of, _ := selected.X.(*ast.Ident)
				switch {
				case of == nil:
				case of.Name == "dataset" && (selected.Sel.Name == "Open" || selected.Sel.Name == "Environment"):
					fetches[folder] = file
				case of.Name == "fixture" && selected.Sel.Name == "Offline":
					guarded[folder] = true
				}
			}
			return true
		})
	}
	if len(fetches) < 2 {
		t.Errorf("found %v, want the tests of real data sets among them", fetches)
	}
	for folder, file := range fetches {
		if !guarded[folder] {
			t.Errorf("%s may fetch a data set, want a TestMain that calls fixture.Offline", file)
		}
	}
}
