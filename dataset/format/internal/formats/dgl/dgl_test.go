package dgl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format/formattest"
	"github.com/graph-condensation/cgc/dataset/format/internal/formats/dgl"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// plain returns the files of the graph of fixture.Plain.
func plain() map[string][]byte {
	return map[string][]byte{
		"meta.yaml": []byte("dataset_name: own\nedge_data:\n- file_name: e.csv\nnode_data:\n- file_name: n.csv\n"),
		"n.csv": []byte("node_id,label,train_mask,val_mask,test_mask,feat\n" +
			"0,0,1,0,0,\"1,0.5\"\n1,1,0,1,0,\"[0, -2e-3]\"\n2,,0,0,0,\"0,0\"\n3,1,0,0,1,\"3,4\"\n"),
		"e.csv": []byte("src_id,dst_id\n0,1\n1,0\n1,2\n2,2\n"),
	}
}

func TestContract(t *testing.T) {
	formattest.Run(t, dgl.Name, fixture.Folder(t, plain()))
	formattest.Condensed(t, dgl.Name)
}

// TestReadFilesOfPandas reads the files of testdata/write.py, which pandas wrote and DGL can load.
func TestReadFilesOfPandas(t *testing.T) {
	g, notes := fixture.Noted(t, filepath.Join("testdata", "made"))
	fixture.Is(t, g, "edges 0-1*2.5 1-2*1; dense 3.5 1 0.5, 1 0 -0.002, 0 0 0, 0.25 3 4; y 0 1 0 -; split 0 / 1 / 2")
	fixture.Is(t, g, "ids a|b|c|d, e")
	if all := strings.Join(notes, "\n"); !strings.Contains(all, "edges_0.csv: columns that are not read: feat") {
		t.Errorf("notes %q", notes)
	}
}

// TestRead checks that the same data gives the same graph as in other formats.
func TestRead(t *testing.T) {
	fixture.Same(t, fixture.Open(t, fixture.Folder(t, plain())), fixture.Open(t, fixture.Folder(t, fixture.Plain())))
}

// TestWrite checks that each edge is written in both directions, and that a folder with other files is not replaced.
func TestWrite(t *testing.T) {
	g, path := fixture.Open(t, filepath.Join("testdata", "made")), filepath.Join(t.TempDir(), "out.dgl")
	mattest.OK(t, dataset.Write(t.Context(), path, g))
	edges, _ := os.ReadFile(filepath.Join(path, "edges_0.csv"))
	if want := "src_id,dst_id,weight\na,b,2.5\nb,c,1\nb,a,2.5\nc,b,1\n"; string(edges) != want {
		t.Errorf("edges %q, want %q", edges, want)
	}
	mine := filepath.Join(path, "thesis.tex")
	mattest.OK(t, os.WriteFile(mine, []byte("mine"), 0o600))
	err := dataset.Write(t.Context(), path, g)
	fixture.Says(t, err, "the folder holds thesis.tex, must hold only meta.yaml")
	if text, err := os.ReadFile(mine); err != nil || string(text) != "mine" {
		t.Errorf("%v: thesis.tex holds %q", err, text)
	}
}

// TestDGLReads checks that DGL loads a written graph and a condensed graph.
func TestDGLReads(t *testing.T) {
	dir := t.TempDir()
	graphFolder, smallFolder := filepath.Join(dir, "graph.dgl"), filepath.Join(dir, "small.dgl")
	g := fixture.Open(t, filepath.Join("testdata", "made"))
	mattest.OK(t, dataset.Write(t.Context(), graphFolder, g))
	small := formattest.Small()
	mattest.OK(t, small.Save(t.Context(), smallFolder))
	mattest.Python(t, "dgl", `
import os, sys
os.environ["DGLBACKEND"] = "pytorch"
import dgl
g = dgl.data.CSVDataset(sys.argv[1])[0]
assert g.num_nodes() == 4 and g.num_edges() == 4, g
assert g.ndata["feat"].tolist()[0] == [3.5, 1.0, 0.5], g.ndata
assert g.ndata["label"].tolist() == [0, 1, 0, -1], g.ndata
assert g.ndata["train_mask"].tolist() == [1, 0, 0, 0] and g.ndata["test_mask"].tolist() == [0, 0, 1, 0], g.ndata
u, v = g.edges()
assert sorted(zip(u.tolist(), v.tolist(), g.edata["weight"].tolist())) == [
    (0, 1, 2.5), (1, 0, 2.5), (1, 2, 1.0), (2, 1, 1.0)], (u, v, g.edata)
s = dgl.data.CSVDataset(sys.argv[2])[0]
assert s.num_nodes() == 2 and s.edata["weight"].tolist() == [0.5, 0.5], s
assert s.ndata["feat"].tolist() == [[1.0, 0.0], [0.25, -3.0]] and s.ndata["weight"].tolist() == [1, 2], s.ndata
assert s.ndata["label"].tolist() == [1, 0], s.ndata
`, graphFolder, smallFolder)
	if _, err := condense.Load(smallFolder); err != nil {
		t.Errorf("after DGL has left its files beside: %v", err)
	}
	if err := small.Save(t.Context(), smallFolder); err != nil {
		t.Errorf("after DGL has left its files beside: %v", err)
	}
}

func TestRefuses(t *testing.T) {
	const one = "dataset_name: own\nedge_data:\n- file_name: e.csv\n"
	for _, c := range []struct{ file, text, want string }{
		{"meta.yaml", "a: [", "meta.yaml: line 1: did not find expected node content"},
		{"meta.yaml", one, "meta.yaml: 0 types of nodes (), expected one"},
		{"meta.yaml", one + "node_data:\n- {file_name: n.csv, ntype: user}\n- {file_name: m.csv, ntype: item}\n",
			"meta.yaml: 2 types of nodes (user, item), expected one"},
		{"meta.yaml", one + "- {file_name: f.csv, etype: [u, follows, v]}\nnode_data:\n- file_name: n.csv\n",
			"meta.yaml: 2 types of edges (e.csv, u–follows–v), expected one"},
		{"meta.yaml", one + "separator: ;\nnode_data:\n- file_name: n.csv\n", `separator ";", must be a comma`},
		{"meta.yaml", one + "version: 2.0.0\nnode_data:\n- file_name: n.csv\n", `version "2.0.0", must be 1.0.0`},
		{"meta.yaml", one + "node_data:\n- file_name: ../n.csv\n", `file_name "../n.csv", must be a file in the folder`},
		{"meta.yaml", one + "node_data:\n- file_name: m.csv\n", `meta.yaml: there is no file "m.csv"`},
		{"n.csv", "node_id,feat\n0,1\n",
			`n.csv:1: there is no column label, the columns are "node_id,feat" (label may also be called labels or class`},
		{"n.csv", "node_id,label,feat,graph_id\n0,1,1,0\n1,1,1,1\n",
			`n.csv:3: graph_id "1", and "0" in the first row: the file holds several graphs, expected one`},
		{"n.csv", "node_id,label,feat,train_mask\n0,1,1,2\n", `n.csv:2: train_mask is "2", must be 0 or 1`},
		{"n.csv", "node_id,label,feat,train_mask,test_mask\n0,1,1,True,1.0\n",
			"n.csv:2: the node is in train_mask and in test_mask, must be in one of them"},
		{"n.csv", "node_id,label,feat\n0,1,\"1,x\"\n", `n.csv:2: column feat: number 2 of the list is "x"`},
		{"n.csv", "node_id,label,feat\n0,1,[]\n", "n.csv:2: column feat: an empty list, must be numbers"},
		{"n.csv", "node_id,label,feat\n0,1,\"1,nan\"\n", "n.csv:2: column feat: number 2 of the list is NaN"},
		{"n.csv", "node_id,label,feat\n0,1,\"1,2\"\n1,1,3\n", "n.csv:3: column feat holds 1 numbers, and 2 in"},
		{"e.csv", "src,dst\n0,1\n", `e.csv:1: there is no column src_id and no column dst_id, the columns are "src,dst"`},
	} {
		fixture.Refuses(t, fixture.With(plain(), c.file, []byte(c.text)), c.want)
	}
	own := string(plain()["meta.yaml"]) + "metadata: {format: cgc.graph, classes: \"1\"}\n"
	fixture.Refuses(t, fixture.With(plain(), "meta.yaml", []byte(own)), `n.csv:3: label "1" is not a class`)
}

// FuzzRead checks that no input causes a panic or unbounded memory use. Errors are allowed.
func FuzzRead(f *testing.F) {
	files := plain()
	f.Add(string(files["meta.yaml"]), string(files["n.csv"]), string(files["e.csv"]))
	f.Fuzz(func(t *testing.T, meta, nodes, edges string) {
		dir := fixture.Folder(t, map[string][]byte{
			"meta.yaml": []byte(meta), "n.csv": []byte(nodes), "e.csv": []byte(edges),
		})
		fixture.Valid(t, dir)
		_, _ = dgl.Format{}.ReadTables(t.Context(), dir)
	})
}
