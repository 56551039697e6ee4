package ogb_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format/formattest"
	"github.com/graph-condensation/cgc/dataset/format/internal/formats/ogb"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// small is the path 0–1–2 and the isolated node 3, like fixture.Plain.
func small() map[string][]byte {
	return map[string][]byte{
		"raw/edge.csv":           []byte("1,0\n1,2\n"),
		"raw/node-feat.csv":      []byte("1,0.5\n0,-2e-3\r\n0,0\n3,4\n\n"),
		"raw/node-label.csv":     []byte("0\n1.0\n\"\"\n1\n"),
		"raw/num-node-list.csv":  []byte("4\n"),
		"raw/num-edge-list.csv":  []byte("2\n"),
		"split/rank/train.csv":   []byte("0\n"),
		"split/rank/valid.csv":   []byte("1\n"),
		"split/rank/test.csv.gz": fixture.Packed("3\n"),
	}
}

func TestContract(t *testing.T) {
	formattest.Run(t, ogb.Name, fixture.Folder(t, small()))
	formattest.Run(t, ogb.Name, fixture.Unzipped(t, filepath.Join("testdata", "binary.zip.b64")))
	formattest.Run(t, ogb.Name, fixture.Unzipped(t, filepath.Join("testdata", "papers.zip.b64")))
}

// TestReadFilesOfOGB checks that the files of testdata/write.py are read: arrays by ogb's DatasetSaver, and text in the
// form that ogb reads.
func TestReadFilesOfOGB(t *testing.T) {
	want := mattest.Must(os.ReadFile(filepath.Join("testdata", "want.txt")))
	y := strings.Repeat("0 1 2 ", 10)
	for kind, rest := range map[string]string{
		"text":   "; y " + strings.TrimSpace(y) + `; classes arxiv cs na|Arts, Crafts & Sewing|the "third"`,
		"binary": "; y " + y[:50] + "- - - - -; ids",
	} {
		g, notes := fixture.Noted(t, fixture.Unzipped(t, filepath.Join("testdata", kind+".zip.b64")))
		fixture.Is(t, g, strings.TrimSpace(string(want))+rest)
		if s := g.Split; len(s.Train) != 10 || len(s.Val) != 5 || len(s.Test) != 10 || s.Test[9] != 24 {
			t.Errorf("%s: split %+v", kind, s)
		}
		if kind == "text" && g.IDs[29] != "9657813" || kind == "binary" && !strings.HasPrefix(g.Name, "tiny") {
			t.Errorf("graph %s, ids %q", g.Name, g.IDs)
		}
		all := strings.Join(notes, "\n")
		if !strings.Contains(all, "60 edge entries became") ||
			strings.Contains(all, "features of edges are not read") != (kind == "binary") {
			t.Errorf("%s: notes %q", kind, notes)
		}
	}
}

// TestPapers checks that MAG240M, from testdata/papers.py, is read as papers that cite papers.
func TestPapers(t *testing.T) {
	dir := fixture.Unzipped(t, filepath.Join("testdata", "papers.zip.b64"))
	g, notes := fixture.Noted(t, dir)
	fixture.Is(t, g, "edges 0-1 1-2 2-3 4-5; dense 0 0.25, 0.5 0.75, 1 1.25, 1.5 1.75, 2 2.25, 2.5 2.75; y 0 2 1 - - -")
	mattest.Equal(t, g.Split, graph.Split{Train: []int32{0, 1}, Val: []int32{2}}, "split")
	all := strings.Join(notes, "\n")
	for _, want := range []string{
		filepath.Join(dir, "processed") + ": only the papers and the citations among them are read",
		"split_dict.pt: test-dev has no labels, so the split has no test nodes",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("notes %q, want %s", notes, want)
		}
	}
	if g.Name != "mag240m_kddcup2021" {
		t.Errorf("name %s", g.Name)
	}
	for file, want := range map[string]string{
		"processed/paper/node_feat.npy":                  "paper/node_feat.npy: ",
		"processed/paper/node_label.npy":                 "paper/node_label.npy: ",
		"processed/paper___cites___paper/edge_index.npy": "paper___cites___paper/edge_index.npy: ",
	} {
		path := filepath.Join(fixture.Unzipped(t, filepath.Join("testdata", "papers.zip.b64")), file)
		mattest.OK(t, os.WriteFile(path, fixture.Npy("<i8", "2, 3, 2", make([]int64, 12)), 0o600))
		_, err := dataset.Options{}.Open(t.Context(), strings.TrimSuffix(path, file))
		fixture.Says(t, err, want)
	}
}

// TestSplits checks that a split can be chosen among several folders.
func TestSplits(t *testing.T) {
	files := small()
	for name, data := range map[string]string{"train": "3\n", "valid": "1\n", "test": "0\n"} {
		files["split/time/"+name+".csv"] = []byte(data)
	}
	dir := fixture.Folder(t, files)
	for k, want := range []string{"split 0 / 1 / 3", "split 3 / 1 / 0"} {
		fixture.Is(t, mattest.Must(dataset.Options{Split: k}.Open(t.Context(), dir)), want)
	}
	const want = `split 2, must be 0 to 1: the folder holds the splits ["rank" "time"]`
	mattest.Fails(t, want)(dataset.Options{Split: 2}.Open(t.Context(), dir))
}

// TestReadText checks that the graph equals the same graph in the text format, even if the path is raw itself.
func TestReadText(t *testing.T) {
	dir := fixture.Folder(t, small())
	want := fixture.Open(t, fixture.Folder(t, fixture.Plain()))
	for _, path := range []string{dir, filepath.Join(dir, "raw")} {
		g := fixture.Open(t, path)
		if fixture.Same(t, g, want); g.Name != "own" {
			t.Errorf("%s: the name is %q", path, g.Name)
		}
	}
}

func TestRefuses(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"raw/edge.csv", "1,0\n1,4\n", "edge.csv:2: node 4, must be 0 to 3"},
		{"raw/edge.csv", "1,0\n1   \n", `edge.csv:2: node "" is not an integer`},
		{"raw/edge.csv", "1,0\n", "edge.csv: the file is too short for 2 edges"},
		{"raw/edge.csv", "1,0    \n", "edge.csv: 1 lines, expected 2, one for each of the edges"},
		{"raw/edge.csv", "1,0\n1,2\n2,3\n", "edge.csv:3: one line too many, expected 2, one for each of the edges"},
		{"raw/node-feat.csv", "1,2\n", "node-feat.csv: the file is too short for 4 nodes with 2 features"},
		{"raw/node-feat.csv", "1,2\n3\n5,6\n7,80000\n", "node-feat.csv:2: 1 columns, and the first line has 2"},
		{"raw/node-feat.csv", "1,2\n3,4,5\n5,6\n7,8\n", "node-feat.csv:2: 3 columns, and the first line has 2"},
		{"raw/node-feat.csv", "1,2\n3,\n5,6\n7,80000\n", `node-feat.csv:2: column 2: "", must be a finite number`},
		{"raw/node-label.csv", "0\n1\n1,0\n0\n", "node-label.csv:3: 2 labels, expected one"},
		{"raw/node-label.csv", "0\n1\n1.5\n0\n", "node-label.csv:3: label 1.5, must be an integer from 0 to 65535"},
		{"raw/node-label.csv", "0\n1\nx\n0\n", `node-label.csv:3: label "x" is not a number`},
		{"raw/num-node-list.csv", "4\n5\n", "num-node-list.csv:2: a second number of nodes: the folder holds several"},
		{"raw/num-node-list.csv", "", "num-node-list.csv: the file is empty, must begin with the number of nodes"},
		{"raw/num-node-list.csv", "x", `num-node-list.csv:1: "x", must be the number of nodes`},
		{"raw/num-node-list.csv", "2147483647", "node-feat.csv: the file is too short for 2147483647 nodes"},
		{"raw/num-node-list.csv", "2147483648", "num-node-list.csv:1: 2147483648 nodes, must be at most 2147483647"},
		{"raw/triplet-type-list.csv", "a,to,b", "several types of nodes or edges, must be a graph with one type"},
		{"split/rank/valid.csv", "1\n7\n", "valid.csv:2: node 7, must be 0 to 3"},
		{"split/rank/valid.csv", "0\n", "split/rank: node 0 is in train and again in val"},
		{"split/rank/train.csv", "", "split/rank: the training split is empty"},
	} {
		fixture.Refuses(t, fixture.With(small(), c.file, []byte(c.text)), c.want)
	}
	for file, want := range map[string]string{
		"raw/node-feat.csv":     "node-feat.csv.gz: missing: cgc needs features of the nodes",
		"raw/node-label.csv":    "node-label.csv.gz: missing: a data set for nodes has a label for each",
		"raw/num-edge-list.csv": "num-edge-list.csv.gz: missing: it holds the number of edges",
		"split/rank/valid.csv":  "valid.csv.gz: missing: it holds a part of the split",
	} {
		fixture.Refuses(t, fixture.With(small(), file, nil), want)
	}
	cut := fixture.Packed(strings.Repeat("1,2\n", 4))
	files := fixture.With(small(), "raw/node-feat.csv", nil)
	fixture.Refuses(t, fixture.With(files, "raw/node-feat.csv.gz", cut[:len(cut)-9]),
		"node-feat.csv.gz: unpacking gzip: unexpected EOF")
	files = fixture.With(small(), "split/rank/train.csv", nil)
	fixture.Refuses(t, fixture.With(files, "split/rank/split_dict.pt", []byte{1}), "split/rank/split_dict.pt: ")
}

// TestPickledSplit checks that a split is read from a file of torch.save, as DatasetSaver writes it.
func TestPickledSplit(t *testing.T) {
	dir := fixture.Unzipped(t, filepath.Join("testdata", "binary.zip.b64"))
	want := fixture.Open(t, dir).Split
	for _, part := range []string{"train", "valid", "test"} {
		mattest.OK(t, os.Remove(filepath.Join(dir, "split", "time", part+".csv.gz")))
	}
	mattest.Equal(t, fixture.Open(t, dir).Split, want, "split")
}

// TestOddMapping checks that a graph with a faulty mapping is read, but without the names in that mapping.
func TestOddMapping(t *testing.T) {
	for text, want := range map[string]string{
		"label idx,name\n0,a\n":       "names 1 classes, and there are 2; the names are left out",
		"label idx,name\n0,a\n0,b\n":  "labelidx2x.csv:3: number 0, expected each of 0 to 1 once; its names are left out",
		"label idx,name\n0,a\n1,\xff": "labelidx2x.csv:3: the name is not UTF-8 text",
		"label idx,name\nx,a\n":       `labelidx2x.csv:2: "x" is not an integer`,
		"label idx,name\n0,\"\n1,b\n": "labelidx2x.csv:2: a quote is not closed",
	} {
		g, notes := fixture.Noted(t, fixture.Folder(t, fixture.With(small(), "mapping/labelidx2x.csv", []byte(text))))
		fixture.Notes(t, notes, want)
		fixture.Is(t, g, "classes")
	}
	files := fixture.With(small(), "mapping/labelidx2x.csv", []byte("label idx,name\n1,b\n0,\n\n2"))
	g, notes := fixture.Noted(t, fixture.Folder(t, files))
	fixture.Notes(t, notes)
	fixture.Is(t, g, "classes 0|b|2")
	mattest.Equal(t, g.Classes, 3, "classes")
}

// FuzzRead checks that no input causes a panic or unbounded memory use. Errors are allowed.
func FuzzRead(f *testing.F) {
	s := small()
	f.Add(string(s["raw/edge.csv"]), string(s["raw/node-feat.csv"]), string(s["raw/node-label.csv"]), "4\n", "2\n",
		"label,name\n0,a\n1,\"b\"\n")
	f.Fuzz(func(t *testing.T, edges, features, labels, nodes, count, mapping string) {
		files := small()
		files["raw/edge.csv"], files["raw/node-feat.csv"] = []byte(edges), []byte(features)
		files["raw/node-label.csv"], files["mapping/labelidx2x.csv"] = []byte(labels), []byte(mapping)
		files["raw/num-node-list.csv"], files["raw/num-edge-list.csv"] = []byte(nodes), []byte(count)
		fixture.Valid(t, fixture.Folder(t, files))
	})
}

// TestFoundByName checks that the name arxiv finds the folder that ogb creates, and that other names do not.
func TestFoundByName(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"ogbn_arxiv", "ogbn_own"} {
		mattest.OK(t, os.CopyFS(filepath.Join(dir, name), os.DirFS(fixture.Folder(t, small()))))
	}
	o := dataset.Options{Search: []string{dir}}
	for name, want := range map[string]string{"arxiv": "arxiv", "ogbn_arxiv": "ogbn_arxiv", "own": ""} {
		if g, err := o.Open(t.Context(), name); (err == nil) != (want != "") || err == nil && g.Name != want {
			t.Errorf("%s: %v, want the graph %q", name, err, want)
		}
	}
	mattest.Fails(t, "as DIR/ogbn_products")(o.Open(t.Context(), "products"))
}
