package cgc_test

import (
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// layers lists the layers of the architecture, bottom up. A folder belongs to the longest entry that contains it. Its
// code, tests aside, may import lower layers and its own entry. The steps of the method share a layer, so they never
// import one another: they exchange values of mat and graph, or plain slices. If a change breaks this rule, move the
// code instead of adding an entry.
var layers = []string{
	"internal/atomicfile internal/buildinfo internal/confine internal/digits internal/golden internal/kernel " +
		"internal/known internal/memory internal/object internal/parallel internal/parameter internal/radix " +
		"internal/scales internal/slow progress",
	"internal/product internal/registry internal/safetensors",
	"mat",
	"internal/dropout internal/mattest internal/paneled",
	"internal/budget internal/factor internal/ward",
	"graph internal/adam internal/ntk internal/reach",
	"internal/content internal/external",
	"propagate internal/assess partition internal/generate dataset/format gnn",
	"dataset condense internal/training",
	". experiment internal/judge internal/rival",
	"dataset/format/formattest internal/fixture experiment/model experiment/search internal/distill rival tables",
	"condense/auto",
	"experiment/tune",
	"cmd/cgc/internal",
	"cmd/cgc/cli",
	"cmd/cgc cmd/cgc/internal/pages",
}

// mayUse names the folders that may import each library. cmd/cgc, its browser tests and tables are separate modules,
// whose go.mod files list their libraries. A new line here is a new dependency, which the README must list too.
var mayUse = map[string]string{
	"github.com/klauspost/compress":  "dataset/format",
	"github.com/nlpodyssey/gopickle": "dataset/format",
	"go.yaml.in/yaml/v3":             "dataset/format/internal/formats/dgl",
	"golang.org/x/sys":               "internal",
	"gonum.org/v1/gonum":             "internal/factor internal/generate experiment condense/auto",
}

// banned lists packages that must not be imported, and what to use instead.
var banned = map[string]string{
	"C":         "no cgo",
	"math/rand": "math/rand/v2 with a rand.Source handed in",
	"log":       "return an error; only the command prints",
}

const module = "github.com/graph-condensation/cgc"

// TestImports checks the imports of every file against layers, mayUse and banned, and that mayUse has no unused
// entries.
func TestImports(t *testing.T) {
	used := map[string]bool{} // the entries of mayUse that are needed
	for file, imports := range sources(t) {
		folder := path.Dir(file)
		for _, name := range imports {
			if instead, is := banned[name]; is {
				t.Errorf("%s imports %s: %s", file, name, instead)
			}
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			if why := forbidden(folder, name); why != "" {
				t.Errorf("%s %s", file, why)
			}
			for library, folders := range mayUse {
				if within(name, library) {
					used[library+longest(folder, folders)] = true
				}
			}
		}
	}
	for library, folders := range mayUse {
		for folder := range strings.FieldsSeq(folders) {
			if !used[library+folder] {
				t.Errorf("mayUse lets %s import %s, which it does not", folder, library)
			}
		}
	}
}

// TestCondensingIsLight checks that a program that imports this package compiles the native file format and no other.
func TestCondensingIsLight(t *testing.T) {
	out := mattest.Must(exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output())
	for name := range strings.FieldsSeq(string(out)) {
		formats := within(name, module+"/dataset") &&
			(!strings.Contains(name, "/internal/") || strings.Contains(name, "/internal/formats/"))
		if formats && name != module+"/dataset/format" && name != module+"/dataset/format/native" ||
			strings.Contains(name, "gopickle") || strings.Contains(name, "yaml") || strings.Contains(name, "encoding/xml") {
			t.Errorf("a program that condenses compiles %s", name)
		}
	}
}

// TestUnknownFormatSaysWhatToImport checks the errors of a program that does not import package dataset, such as these
// tests.
func TestUnknownFormatSaysWhatToImport(t *testing.T) {
	const hint = "import github.com/graph-condensation/cgc/dataset"
	mattest.WantError(t, new(cgc.Condensed).Save(t.Context(), "small.xyz"), hint)
	mattest.WantError(t, new(cgc.Condensed).SaveAs(t.Context(), "small", "graphml"), hint)
	mattest.Fails(t, hint)(cgc.Load("imports_test.go"))
	_, err := cgc.Load("small.xyz")
	mattest.WantIs(t, err, os.ErrNotExist)
	if strings.Contains(err.Error(), hint) {
		t.Errorf("the error about a missing file is %v", err)
	}
}

// TestImportsCatches checks that forbidden rejects a step that imports another, an import of a higher layer and a new
// library.
func TestImportsCatches(t *testing.T) {
	for _, c := range []struct {
		folder, imports string
		allowed         bool
	}{
		{"partition", module + "/propagate", false}, {"internal/generate", module + "/partition", false},
		{"mat", module + "/graph", false}, {"internal/assess", module, false}, {"gnn", module + "/experiment", false},
		{"internal/new", module + "/mat", false}, {"graph", "gonum.org/v1/gonum/stat", false},
		{"graph", module + "/mat", true}, {"graph", "math/rand/v2", true}, {"gnn", module + "/gnn/autodiff", true},
		{"cmd/cgc/cli", "github.com/spf13/cobra", true},
	} {
		if why := forbidden(c.folder, c.imports); (why == "") != c.allowed {
			t.Errorf("%s imports %s: %q", c.folder, c.imports, why)
		}
	}
}

// forbidden returns why a file in folder must not import name, or "".
func forbidden(folder, name string) string {
	first, _, _ := strings.Cut(name, "/")
	switch {
	case !strings.Contains(first, "."): // the standard library
		return ""
	case within(name, module):
		to := strings.TrimPrefix(strings.TrimPrefix(name, module), "/")
		if to == "" {
			to = "."
		}
		fromLayer, fromEntry := layer(folder)
		toLayer, toEntry := layer(to)
		if fromLayer < 0 || toLayer < 0 {
			return "imports " + name + ": layers must contain both folders"
		}
		if toLayer < fromLayer || toEntry == fromEntry {
			return ""
		}
		return "imports " + name + ", which is no lower layer"
	case within(folder, "cmd/cgc"), within(folder, "tables"), within(folder, "internal/kernel/gen"):
		return ""
	}
	for library, folders := range mayUse {
		if within(name, library) && longest(folder, folders) != "" {
			return ""
		}
	}
	return "imports " + name + ", which mayUse does not let it"
}

// layer returns the layer of a folder, counted from 0, and its entry in layers; −1 if there is none.
func layer(folder string) (number int, entry string) {
	number = -1
	for i, entries := range layers {
		if e := longest(folder, entries); len(e) > len(entry) {
			number, entry = i, e
		}
	}
	return number, entry
}

// longest returns the longest entry of a list that is folder or contains it, or "".
func longest(folder, list string) (found string) {
	for entry := range strings.FieldsSeq(list) {
		if within(folder, entry) && len(entry) > len(found) {
			found = entry
		}
	}
	return found
}

// within reports whether name is folder or is below it.
func within(name, folder string) bool { return name == folder || strings.HasPrefix(name, folder+"/") }

// sources returns the imports of each Go file of the repository, by its slash-separated path.
func sources(t *testing.T) map[string][]string {
	t.Helper()
	files := map[string][]string{}
	for _, file := range goFiles(t) {
		parsed := mattest.Must(parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly))
		var names []string
		for _, i := range parsed.Imports {
			names = append(names, strings.Trim(i.Path.Value, "`\""))
		}
		files[filepath.ToSlash(file)] = names
	}
	if len(files) < 10 {
		t.Fatalf("found %d Go files, want the whole module", len(files))
	}
	return files
}
