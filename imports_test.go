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
// Each may import internal/memory too: what may be large is made there.
var mayImport = map[string]string{
	"internal/kernel":      "",
	"internal/memory":      "",
	"internal/confine":     "",
	"internal/parallel":    "",
	"internal/radix":       "",
	"internal/external":    "graph progress internal/parallel internal/radix",
	"internal/safetensors": "internal/atomicfile progress",
	"internal/atomicfile":  "",
	"internal/parameter":   "",
	"internal/offline":     "",
	"internal/spelling":    "",
	"internal/registry":    "",
	"internal/buildinfo":   "",
	"internal/golden":      "",
	"internal/awkward":     "",
	"internal/load":        "",
	"internal/plain":       "condense gnn",
	"internal/commandline": ". condense",
	"progress":             "",
	"checkpoint":           "mat progress internal/atomicfile internal/safetensors",
	"mat":                  "internal/kernel internal/parallel",
	"graph":                "mat progress internal/kernel internal/parallel internal/radix",

	"propagate":               "graph mat internal/kernel internal/parallel internal/registry",
	"propagate/blocked":       "propagate graph mat progress internal/kernel internal/parallel",
	"propagate/stored":        "propagate graph mat internal/safetensors",
	"assess":                  "mat internal/kernel internal/parallel",
	"augment":                 "",
	"partition":               "mat progress internal/kernel internal/parallel internal/registry",
	"partition/partitiontest": "partition mat",
	"generate":                "graph mat internal/kernel internal/parallel",

	"autodiff": "mat internal/kernel internal/parallel",
	"gnn": "autodiff graph mat progress internal/kernel internal/parallel internal/parameter " +
		"internal/registry",
	"gnn/gnntest": "autodiff gnn graph mat",

	"dataset": "dataset/format dataset/format/builtin dataset/format/native dataset/format/planetoid dataset/synth " +
		"graph mat progress internal/atomicfile internal/parallel",
	"dataset/synth":  "dataset/format graph mat progress internal/parallel internal/registry",
	"dataset/format": "graph mat internal/registry",
	"dataset/format/builtin": "dataset/format dataset/format/arrays dataset/format/dgl dataset/format/graphml " +
		"dataset/format/mtx dataset/format/named dataset/format/native dataset/format/ogb dataset/format/planetoid " +
		"dataset/format/pyg dataset/format/saint dataset/format/scipy dataset/format/text " +
		"dataset/format/torch",
	"dataset/format/arrays": "dataset/format dataset/format/internal/csr dataset/format/internal/numpy graph mat",
	"dataset/format/dgl": "dataset/format dataset/format/internal/csvfile dataset/format/internal/decimal " +
		"dataset/format/table graph internal/atomicfile progress",
	"dataset/format/graphml": "dataset/format dataset/format/internal/classes dataset/format/internal/decimal " +
		"dataset/format/internal/lines graph mat progress internal/atomicfile",
	"dataset/format/named": "dataset/format dataset/format/internal/csvfile dataset/format/table graph",
	"dataset/format/table": "dataset/format dataset/format/internal/decimal dataset/format/internal/ids graph " +
		"mat progress internal/parallel",
	"dataset/format/native": "dataset/format dataset/format/internal/csr dataset/format/internal/numpy graph mat " +
		"progress internal/atomicfile internal/external internal/safetensors",
	"dataset/format/mtx": "dataset/format dataset/format/internal/classes dataset/format/internal/csr " +
		"dataset/format/internal/csvfile dataset/format/internal/decimal dataset/format/internal/lines " +
		"dataset/format/internal/numpy graph mat",
	"dataset/format/ogb": "dataset/format dataset/format/internal/csvfile dataset/format/internal/decimal " +
		"dataset/format/internal/lines dataset/format/internal/numpy dataset/format/internal/torchfile graph " +
		"mat progress",
	"dataset/format/planetoid": "dataset/format dataset/format/internal/pickle dataset/format/internal/reading graph mat",
	"dataset/format/pyg": "dataset/format dataset/format/internal/archive dataset/format/internal/numpy " +
		"dataset/format/internal/pygraph graph mat",
	"dataset/format/torch": "dataset/format dataset/format/internal/numpy dataset/format/internal/pygraph " +
		"dataset/format/internal/torchfile graph mat",
	"dataset/format/scipy": "dataset/format dataset/format/internal/csr dataset/format/internal/numpy " +
		"dataset/format/internal/parts dataset/format/internal/pickle graph mat",
	"dataset/format/saint": "dataset/format dataset/format/internal/csr dataset/format/internal/decimal " +
		"dataset/format/internal/numpy dataset/format/internal/reading graph",
	"dataset/format/text": "dataset/format dataset/format/internal/csvfile dataset/format/internal/decimal " +
		"dataset/format/internal/lines dataset/format/internal/numpy graph mat progress internal/parallel",
	"dataset/format/internal/archive": "internal/atomicfile progress",
	"dataset/format/internal/pygraph": "dataset/format dataset/format/internal/csr dataset/format/internal/numpy " +
		"dataset/format/internal/parts graph mat",
	"dataset/format/internal/torchfile": "dataset/format dataset/format/internal/archive dataset/format/internal/csr " +
		"dataset/format/internal/numpy dataset/format/internal/pickle dataset/format/internal/reading graph mat",
	"dataset/format/internal/classes": "dataset/format dataset/format/internal/decimal graph",
	"dataset/format/internal/csr":     "graph mat internal/parallel",
	"dataset/format/internal/decimal": "",
	"dataset/format/internal/csvfile": "dataset/format dataset/format/internal/lines dataset/format/internal/reading " +
		"internal/parallel",
	"dataset/format/internal/ids":   "",
	"dataset/format/internal/lines": "dataset/format dataset/format/internal/decimal mat progress",
	"dataset/format/internal/numpy": "dataset/format dataset/format/internal/csr dataset/format/internal/reading " +
		"graph mat",
	"dataset/format/internal/parts": "dataset/format dataset/format/internal/numpy graph",
	"dataset/format/internal/pickle": "dataset/format/internal/csr dataset/format/internal/numpy " +
		"dataset/format/internal/reading graph mat",
	"dataset/format/internal/reading": "progress",
	"dataset/format/formattest":       "condense dataset/format graph mat",
	"dataset/internal/fixture":        "dataset dataset/synth graph",

	"condense": "dataset/format dataset/format/builtin dataset/format/native graph mat progress internal/parameter " +
		"internal/registry",
	"condense/condensetest": "condense graph mat progress",
	"selftrain":             "mat internal/kernel internal/parallel",

	"rival": "condense graph mat partition",
	"rival/all": ". condense rival/coarsening rival/distribution rival/gradient rival/kernel rival/selection " +
		"rival/trajectory",
	"rival/coarsening":   "condense graph mat progress propagate propagate/blocked rival internal/parallel",
	"rival/kernel":       "autodiff condense graph kernelridge mat rival rival/learn internal/parallel",
	"rival/distribution": "autodiff condense gnn graph mat internal/kernel internal/parallel rival rival/learn",
	"rival/gradient":     "autodiff condense gnn graph mat internal/kernel internal/parallel rival rival/learn",
	"rival/learn": "checkpoint condense gnn graph mat partition progress propagate propagate/blocked rival " +
		"internal/kernel internal/parallel internal/parameter",
	"rival/learn/learntest": "graph mat rival/learn",
	"rival/selection":       "condense graph mat propagate propagate/blocked rival internal/parallel",
	"rival/trajectory": "autodiff condense graph mat progress rival rival/learn rival/selection internal/kernel " +
		"internal/parallel",

	"distill": ". condense graph mat partition rival selftrain internal/kernel",

	".": "condense selftrain propagate propagate/blocked assess augment partition generate graph mat",

	"experiment":  "condense gnn graph mat progress report internal/atomicfile internal/buildinfo internal/parallel",
	"tune":        ". condense experiment gnn graph kernelridge mat partition progress propagate report internal/parallel",
	"kernelridge": "mat internal/parallel",
	"bench": ". condense dataset/synth gnn graph mat partition progress propagate/blocked report internal/kernel " +
		"internal/parallel internal/parameter",
	"paper": ". bench condense dataset dataset/synth experiment gnn graph progress propagate report " +
		"internal/registry",
	"overview":     ". bench condense experiment graph mat propagate propagate/blocked report",
	"report":       "",
	"report/chart": "report",
	"report/html":  "report",
	"cli": ". bench checkpoint condense experiment tune overview paper progress report report/chart report/html dataset " +
		"dataset/format " +
		"dataset/synth gnn graph cluster propagate propagate/blocked propagate/stored partition internal/atomicfile " +
		"internal/buildinfo internal/confine internal/kernel internal/commandline internal/plain internal/spelling " +
		"distill rival/all web mat",
	"cmd/cgc": "cli tables",
	"cluster": "graph mat propagate propagate/blocked propagate/stored internal/parallel internal/radix",

	"tables":                "dataset/format tables/parquet tables/postgres tables/sqlite",
	"tables/parquet":        "dataset/format dataset/format/table graph internal/atomicfile progress",
	"tables/postgres":       "dataset/format dataset/format/table graph tables/internal/query",
	"tables/sqlite":         "dataset/format dataset/format/table graph tables/internal/query",
	"tables/internal/query": "dataset/format dataset/format/table",

	"web":       "internal/atomicfile",
	"web/build": "internal/atomicfile",
	"web/wasm":  "progress web/session",
	"web/session": ". condense dataset dataset/format dataset/synth experiment gnn graph overview partition progress " +
		"propagate report/html internal/atomicfile internal/buildinfo internal/commandline internal/plain",
}

// mayUse lists, for each folder, the packages of other modules that its code, tests aside, imports. Folders without an
// entry use the standard library alone. A new line here is a new dependency: it wants one in the README too.
var mayUse = map[string]string{
	"bench": "gonum.org/v1/gonum/stat",
	"cli": "github.com/spf13/cobra github.com/spf13/cobra/doc github.com/spf13/pflag " +
		"github.com/vbauerster/mpb/v8 github.com/vbauerster/mpb/v8/cwriter " +
		"github.com/vbauerster/mpb/v8/decor gonum.org/v1/gonum/stat",
	"dataset/format/dgl":              "go.yaml.in/yaml/v3",
	"dataset/format/graphml":          "github.com/klauspost/compress/gzip",
	"dataset/format/internal/csvfile": "github.com/klauspost/compress/gzip",
	"dataset/format/internal/lines":   "github.com/klauspost/compress/gzip",
	"dataset/format/internal/numpy":   "github.com/klauspost/compress/flate",
	"dataset/format/internal/pickle": "github.com/nlpodyssey/gopickle/pickle " +
		"github.com/nlpodyssey/gopickle/types",
	"dataset/format/internal/torchfile": "github.com/nlpodyssey/gopickle/types",
	"dataset/format/planetoid":          "github.com/nlpodyssey/gopickle/types",
	"dataset/format/torch":              "github.com/nlpodyssey/gopickle/types",
	"experiment":                        "gonum.org/v1/gonum/stat gonum.org/v1/gonum/stat/distuv",
	"generate":                          "gonum.org/v1/gonum/blas/blas64",
	"internal/kernel":                   "golang.org/x/sys/cpu",
	"internal/atomicfile":               "golang.org/x/sys/unix",
	"internal/memory":                   "golang.org/x/sys/unix",
	"internal/confine":                  "golang.org/x/sys/unix",
	"internal/safetensors":              "golang.org/x/sys/unix",
	"mat": "gonum.org/v1/gonum/blas gonum.org/v1/gonum/blas/blas64 " +
		"gonum.org/v1/gonum/mat",
	"overview": "gonum.org/v1/gonum/graph gonum.org/v1/gonum/graph/iterator gonum.org/v1/gonum/graph/layout " +
		"gonum.org/v1/gonum/graph/simple",
	"report/chart": "gonum.org/v1/plot gonum.org/v1/plot/font gonum.org/v1/plot/plotter " +
		"gonum.org/v1/plot/vg gonum.org/v1/plot/vg/draw " +
		"gonum.org/v1/plot/vg/vgimg gonum.org/v1/plot/vg/vgsvg",
	"tables/parquet": "github.com/parquet-go/parquet-go github.com/parquet-go/parquet-go/compress/zstd " +
		"github.com/parquet-go/parquet-go/encoding/thrift github.com/parquet-go/parquet-go/format " +
		"github.com/pierrec/lz4/v4",
	"tables/postgres": "github.com/jackc/pgx/v5 github.com/jackc/pgx/v5/pgconn " +
		"github.com/jackc/pgx/v5/pgtype",
	"tables/sqlite": "modernc.org/sqlite",
	"tune":          "gonum.org/v1/gonum/stat",
}

// banned lists packages that must not be imported, and what to use instead.
var banned = map[string]string{
	"C":         "no cgo",
	"math/rand": "math/rand/v2 with a rand.Source handed in",
	"log":       "return an error; only the command prints",
}

const module = "github.com/graph-condensation/cgc"

// The tables hold what is imported, no less and no more.
func TestImports(t *testing.T) {
	used := map[string]map[string]bool{} // by folder, the names as the tables write them
	for file, imports := range sources(t) {
		folder := path.Dir(file)
		if strings.HasPrefix(folder, "internal/kernel/gen") || strings.HasPrefix(folder, "browser") {
			continue // the generator and the tests in a browser are modules of their own
		}
		if _, known := mayImport[folder]; !known {
			t.Errorf("%s: folder %s has no entry in mayImport", file, folder)
			continue
		}
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
			if used[folder] == nil {
				used[folder] = map[string]bool{}
			}
			used[folder][written(name)] = true
		}
	}
	for _, table := range []map[string]string{mayImport, mayUse} {
		for folder, entries := range table {
			for _, name := range strings.Fields(entries) {
				if !used[folder][name] {
					t.Errorf("the tables let %s import %s, which it does not", folder, name)
				}
			}
		}
	}
}

// TestImportsTableCatches shows that the tables refuse what they should: a step that imports another, a new dependency.
func TestImportsTableCatches(t *testing.T) {
	for _, c := range []struct{ folder, imports string }{
		{"partition", module + "/propagate"}, {"generate", module + "/partition"}, {"mat", module + "/graph"},
		{"assess", module}, {"gnn", module + "/experiment"}, {"graph", "gonum.org/v1/gonum/stat"},
	} {
		if forbidden(c.folder, c.imports) == "" {
			t.Errorf("%s may import %s", c.folder, c.imports)
		}
	}
	for _, c := range []struct{ folder, imports string }{{"graph", module + "/mat"}, {"graph", "math/rand/v2"}} {
		if why := forbidden(c.folder, c.imports); why != "" {
			t.Errorf("%s may not import %s: %s", c.folder, c.imports, why)
		}
	}
}

// written returns the name of a package as the tables write it: by its folder in this module, in full elsewhere.
func written(name string) string {
	own, isOwn := strings.CutPrefix(name, module)
	switch {
	case !isOwn:
		return name
	case own == "":
		return "."
	}
	return strings.TrimPrefix(own, "/")
}

// forbidden says why a file in folder may not import name, or returns "".
func forbidden(folder, name string) string {
	table := mayImport[folder]
	if name == module+"/internal/memory" {
		return ""
	}
	if !strings.HasPrefix(name, module) {
		if first, _, _ := strings.Cut(name, "/"); !strings.Contains(first, ".") {
			return "" // the standard library
		}
		table = mayUse[folder]
	}
	if slices.Contains(strings.Fields(table), written(name)) {
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
