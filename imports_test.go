package cgc_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mayImport is the architecture: for each folder, the folders of this module that its code, tests aside, may import.
// Steps of the method never import one another; what passes between them is a value of mat, of graph, or a plain slice.
// A build that breaks this table is mended by moving code, not by a new entry.
var mayImport = map[string]string{
	"internal/kernel":      "",
	"internal/memory":      "",
	"internal/parallel":    "",
	"internal/safetensors": "internal/atomicfile progress",
	"internal/atomicfile":  "",
	"internal/parameter":   "",
	"internal/offline":     "",
	"internal/registry":    "",
	"internal/buildinfo":   "",
	"progress":             "",
	"mat":                  "internal/kernel internal/memory internal/parallel",
	"graph":                "mat internal/kernel internal/parallel",

	"propagate":               "graph mat internal/kernel internal/parallel internal/registry",
	"propagate/blocked":       "propagate graph mat internal/kernel internal/memory internal/parallel",
	"assess":                  "mat internal/kernel internal/parallel",
	"augment":                 "mat internal/parallel",
	"partition":               "mat internal/kernel internal/parallel internal/registry",
	"partition/partitiontest": "partition mat",
	"generate":                "graph mat internal/kernel internal/parallel",

	"autodiff":    "mat internal/kernel internal/parallel",
	"gnn":         "autodiff graph mat progress internal/kernel internal/parallel internal/parameter internal/registry",
	"gnn/gnntest": "autodiff gnn graph mat",

	"dataset": "dataset/format dataset/format/arrays dataset/format/native dataset/format/planetoid " +
		"dataset/format/saint dataset/format/text dataset/synth graph mat progress internal/parallel",
	"dataset/synth":         "graph mat internal/parallel internal/registry",
	"dataset/format":        "graph internal/registry",
	"dataset/format/arrays": "dataset/format dataset/format/internal/csr dataset/format/internal/numpy graph mat",
	"dataset/format/native": "dataset/format dataset/format/internal/csr dataset/format/internal/numpy graph mat " +
		"internal/safetensors",
	"dataset/format/planetoid": "dataset/format dataset/format/internal/csr dataset/format/internal/numpy graph mat",
	"dataset/format/saint": "dataset/format dataset/format/internal/csr dataset/format/internal/decimal " +
		"dataset/format/internal/numpy graph",
	"dataset/format/text": "dataset/format dataset/format/internal/decimal dataset/format/internal/numpy graph mat " +
		"internal/parallel",
	"dataset/format/internal/csr":     "graph mat internal/parallel",
	"dataset/format/internal/decimal": "",
	"dataset/format/internal/numpy":   "dataset/format dataset/format/internal/csr graph mat",
	"dataset/format/formattest":       "dataset/format graph",
	"dataset/internal/fixture":        "dataset dataset/synth graph",

	"condense":              "graph mat progress internal/parameter internal/registry internal/safetensors",
	"condense/condensetest": "condense graph mat progress",
	"selftrain":             "mat internal/kernel internal/parallel",

	".": "condense selftrain progress propagate propagate/blocked assess augment partition generate graph mat",

	"experiment":  "condense gnn graph mat progress report internal/buildinfo",
	"tune":        ". condense experiment gnn graph kernelridge mat partition progress propagate report",
	"kernelridge": "mat internal/parallel",
	"bench": ". condense dataset/synth gnn graph mat partition progress report internal/kernel " +
		"internal/parallel internal/parameter",
	"paper": ". bench condense dataset dataset/synth experiment gnn graph progress propagate report " +
		"internal/registry",
	"report":       "",
	"report/chart": "report",
	"cli": ". bench condense experiment tune paper progress report report/chart dataset dataset/format " +
		"dataset/synth gnn graph mat propagate partition internal/atomicfile internal/buildinfo",
	"cmd/cgc": "cli",
}

// banned lists packages that must not be imported, and what to use instead.
var banned = map[string]string{
	"C":         "no cgo",
	"math/rand": "math/rand/v2 with a rand.Source handed in",
	"log":       "return an error; only the command prints",
}

const module = "github.com/graph-condensation/cgc"

func TestImports(t *testing.T) {
	for file, imports := range sources(t) {
		folder := path.Dir(file)
		if strings.HasPrefix(folder, "internal/kernel/gen") {
			continue // the generator is a module of its own
		}
		table, known := mayImport[folder]
		if !known {
			t.Errorf("%s: folder %s has no entry in mayImport", file, folder)
			continue
		}
		for _, name := range imports {
			if instead, is := banned[name]; is {
				t.Errorf("%s imports %s: %s", file, name, instead)
			}
			if why := forbidden(folder, table, name); why != "" && !strings.HasSuffix(file, "_test.go") {
				t.Errorf("%s %s", file, why)
			}
		}
	}
}

// TestImportsTableCatches shows that the table refuses what it should: a step that imports another.
func TestImportsTableCatches(t *testing.T) {
	for _, c := range []struct{ folder, imports string }{
		{"partition", module + "/propagate"}, {"generate", module + "/partition"}, {"mat", module + "/graph"},
		{"assess", module}, {"gnn", module + "/experiment"},
	} {
		if forbidden(c.folder, mayImport[c.folder], c.imports) == "" {
			t.Errorf("%s may import %s", c.folder, c.imports)
		}
	}
	if why := forbidden("graph", mayImport["graph"], module+"/mat"); why != "" {
		t.Errorf("graph may not import mat: %s", why)
	}
}

// forbidden says why a file in folder may not import name, or returns "".
func forbidden(folder, table, name string) string {
	own, isOwn := strings.CutPrefix(name, module)
	if !isOwn {
		return ""
	}
	if own = strings.TrimPrefix(own, "/"); own == "" {
		own = "."
	}
	if slices.Contains(strings.Fields(table), own) {
		return ""
	}
	return "imports " + name + ", but " + folder + " may import only: " + table
}

// sources returns the imports of each Go file of the module, by its slash-separated path.
func sources(t *testing.T) map[string][]string {
	t.Helper()
	files := map[string][]string{}
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".") && file != "."):
			return filepath.SkipDir
		case !strings.HasSuffix(file, ".go"):
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		var names []string
		for _, i := range parsed.Imports {
			name, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			names = append(names, name)
		}
		files[filepath.ToSlash(file)] = names
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 10 {
		t.Fatalf("found %d Go files from %s, want the whole module", len(files), must(os.Getwd()))
	}
	return files
}

func must(s string, err error) string {
	if err != nil {
		return err.Error()
	}
	return s
}
