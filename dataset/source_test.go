package dataset_test

import (
	"path/filepath"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
)

func TestOpenFindsNames(t *testing.T) {
	dir := filepath.Dir(fixture.Folder(t, fixture.Plain())) // dir/own
	o := dataset.Options{Search: []string{t.TempDir(), dir}}
	if g, err := o.Open(t.Context(), "own"); err != nil || g.Name != "own" {
		t.Errorf("own in a folder searched: %v", err)
	}
	if g, err := dataset.Open(t.Context(), "demo"); err != nil || g.Name != "demo" {
		t.Errorf("demo: %v", err)
	}
	names := map[string]string{}
	for _, s := range o.List() {
		names[s.Name] = s.Path
	}
	if names["own"] != filepath.Join(dir, "own") || names["cora"] != "" || len(names) != 9 {
		t.Errorf("list %v", names)
	}
}

func TestOpenExplainsWhatItDoesNotFind(t *testing.T) {
	dir := filepath.Dir(fixture.Folder(t, fixture.Plain()))
	for name, want := range map[string][]string{
		"coar":        {`"coar" is not a graph`, "did you mean cora?", "citeseer", "own"},
		"Arxiv":       {"did you mean arxiv?"},
		"zzzzzzzz":    {"demo, cora, citeseer"},
		"./nowhere":   {"no file or folder", "nowhere"},
		"x.npz":       {"no file or folder"},
		"reddit":      {"reddit is not on this disk", "adj_full.npz", "CGC_DATA", dir},
		"cora":        {"cora is not on this disk", dir},
		"pubmed":      {"pubmed is not on this", "put ind.pubmed.* from https://", "into a folder DIR and set CGC_DATA=DIR"},
		dir:           {"holds no graph"},
		"dataset.go":  {"format of dataset.go is not recognised"},
		"":            {`"" is not a graph`},
		"../no/graph": {"no file or folder"},
	} {
		_, err := dataset.Options{Search: []string{dir}}.Open(t.Context(), name)
		for _, w := range want {
			fixture.Says(t, err, w)
		}
	}
}

// Options without folders do not read CGC_DATA, so the error also names the field.
func TestOpenWithoutFolders(t *testing.T) {
	_, err := dataset.Options{}.Open(t.Context(), "cora")
	fixture.Says(t, err, "no folder: CGC_DATA and HOME are not set, nor dataset.Options.Search in a Go program")
	_, err = dataset.Options{}.Fetch(t.Context(), "cora")
	fixture.Says(t, err, "set HOME, or dataset.Options.Cache in a Go program")
	_, err = dataset.Options{}.Open(t.Context(), "postgres://user:secret@host/db")
	fixture.Says(t, err, "reads addresses such as postgres://host/db: a Go program has to import package tables of cgc")
}

func TestDemoHasOneSplit(t *testing.T) {
	_, err := dataset.Options{Split: 1}.Open(t.Context(), "demo")
	fixture.Says(t, err, "split 1, must be 0: demo has one split")
}

func TestFetchRefusesNames(t *testing.T) {
	for name, want := range map[string]string{
		"arxiv": "cannot be fetched", "citeser": "did you mean citeseer?", "demo": "generated", "cora": "no cache folder",
	} {
		mattest.Fails(t, want)((dataset.Options{}).Fetch(t.Context(), name))
	}
}

func TestDescribe(t *testing.T) {
	dir := fixture.Folder(t, fixture.With(fixture.Plain(), "edges.csv", []byte("0,1,2\n1,3,1\n")))
	f := mattest.Must(dataset.Describe(fixture.Open(t, dir)))
	if f.Nodes != 4 || f.Edges != 2 || f.Isolated != 1 || f.Unlabelled != 1 || !f.Weighted || f.Sparse {
		t.Errorf("facts %+v", f)
	}
	if f.Degrees.Min != 0 || f.Degrees.Median != 1 || f.Degrees.Max != 2 || f.Density != 5./8 || f.Homophily != 0.5 {
		t.Errorf("facts %+v", f)
	}
	if f.PerClass[1] != (dataset.ClassFacts{All: 2, Val: 1, Test: 1}) {
		t.Errorf("class 1 %+v", f.PerClass[1])
	}
}
