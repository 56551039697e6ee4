package musae_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/formattest"
	"github.com/graph-condensation/cgc/dataset/format/internal/formats/musae"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// facebook is the path 3–0–1–2 as MUSAE publishes it. Node 2 has no features.
func facebook() map[string][]byte {
	return map[string][]byte{
		"musae_facebook_edges.csv":     []byte("id_1,id_2\n0,1\n1,2\n3,0\n"),
		"musae_facebook_features.json": []byte(`{"1": [4, 0], "0": [2, 2], "3": []}`),
		"musae_facebook_target.csv": []byte("id,facebook_id,page_name,page_type\n" +
			"0,14,\"The, Voice\",tvshow\n1,19,US,government\n3,5,b,tvshow\n2,7,a,government\n"),
	}
}

// karate is the same graph with the file names of Karate Club.
func karate() map[string][]byte {
	return map[string][]byte{
		"edges.csv":    []byte("id_1,id_2\n0,1\n1,2\n3,0\n"),
		"features.csv": []byte("node_id,feature_id,value\n1,4,1.0\n0,2,2\n1,0,1\n"),
		"target.csv":   []byte("id,target\n0,1\n1,0\n2,0\n3,1\n"),
	}
}

// geom is the same graph as Geom-GCN publishes it, with two splits.
func geom() map[string][]byte {
	mask := func(split, a, b uint8) map[string][]byte {
		of := func(part uint8) []byte {
			in := make([]uint8, 4)
			for i, p := range []uint8{0, 0, a, b} {
				if p == part {
					in[i] = 1
				}
			}
			return fixture.Npy("|u1", "4,", in)
		}
		return map[string][]byte{fmt.Sprintf("own_split_0.6_0.2_%d.npz", split): fixture.Npz(map[string][]byte{
			"train_mask": of(0), "val_mask": of(1), "test_mask": of(2),
		})}
	}
	files := map[string][]byte{
		"out1_graph_edges.txt": []byte("node_id\tnode_id\n0\t1\n1\t2\n3\t0\n"),
		"out1_node_feature_label.txt": []byte("node_id\tfeature\tlabel\n" +
			"1\t1,0,0,0,1\t0\n0\t0,0,2,0,0\t1\n3\t0,0,0,0,0\t1\n2\t0,0,0,0,0\t0\n"),
	}
	maps.Copy(files, mask(0, 1, 2))
	maps.Copy(files, mask(1, 2, 1))
	return files
}

// film is the same graph, with features as in Geom-GCN's film: indices of columns. The header contains the largest
// index.
func film() map[string][]byte {
	return fixture.With(geom(), "out1_node_feature_label.txt",
		[]byte("node_id\tfeature(feature_amount:4)\tlabel\n1\t4,0\t0\n0\t2,2\t1\n3\t\t1\n2\t\t0\n"))
}

// same checks that dir holds the path 3–0–1–2.
func same(t *testing.T, dir string) *graph.Graph {
	t.Helper()
	g := fixture.Open(t, dir)
	fixture.Is(t, g, "edges 0-1 0-3 1-2; sparse 0 0 2 0 0, 1 0 0 0 1, 0 0 0 0 0, 0 0 0 0 0; y 1 0 0 1")
	return g
}

func TestRead(t *testing.T) {
	for name, files := range map[string]map[string][]byte{
		"own": karate(), "musae_facebook": facebook(),
	} {
		dir := fixture.Folder(t, files)
		g := same(t, dir)
		mattest.Equal(t, g.Name, name, "the name is")
	}
	dir := fixture.Folder(t, facebook())
	same(t, filepath.Join(dir, "musae_facebook_edges.csv"))
	fixture.Is(t, fixture.Open(t, dir), "classes government|tvshow")
	same(t, fixture.Folder(t, geom()))
	same(t, fixture.Folder(t, film()))
	formattest.Run(t, musae.Name, dir)
	formattest.Run(t, musae.Name, fixture.Folder(t, film()))
}

// TestTwitch checks the columns of MUSAE's Twitch graphs, whose node ids are in the column new_id, and gzip-compressed
// files.
func TestTwitch(t *testing.T) {
	files := facebook()
	delete(files, "musae_facebook_target.csv")
	files["musae_facebook_target.csv.gz"] = fixture.Packed("id,days,mature,views,partner,new_id\n" +
		"730,1,True,9,False,3\n615,2,False,3,True,2\n9,2,False,3,True,1\n8,2,True,3,True,0\n")
	fixture.Is(t, same(t, fixture.Folder(t, files)), "classes False|True")
}

// TestSeveral checks that the error for a folder of several graphs names them, and that each can be opened.
func TestSeveral(t *testing.T) {
	files := facebook()
	for name, data := range facebook() {
		files[strings.Replace(name, "facebook", "git", 1)] = data
	}
	dir := fixture.Folder(t, files)
	_, err := dataset.Options{}.Open(t.Context(), dir)
	if several, is := err.(*format.SeveralError); !is || len(several.Graphs) != 2 {
		t.Errorf("error %v, want one that names two graphs", err)
	}
	same(t, filepath.Join(dir, "musae_git_edges.csv"))
}

// TestOtherFolders checks that a folder of another format is left to that format.
func TestOtherFolders(t *testing.T) {
	for _, name := range []string{"target.csv", "own_target.csv", "own_edges.csv"} {
		files := fixture.With(fixture.Plain(), name, []byte("id,target\n"))
		files["own_edges.csv"] = []byte("id_1,id_2\n")
		if place, err := format.Recognise(fixture.Folder(t, files)); err != nil || place.FormatName != "csv" {
			t.Errorf("with %s it is of the format %q, %v", name, place.FormatName, err)
		}
	}
}

// TestSplits checks that the masks of each split are found, and that other numbers are errors.
func TestSplits(t *testing.T) {
	var notes []string
	open := func(files map[string][]byte, k int) (*graph.Graph, error) {
		o := dataset.Options{Split: k, Note: func(s string) { notes = append(notes, s) }}
		return o.Open(t.Context(), fixture.Folder(t, files))
	}
	for k, want := range []string{"split 0 1 / 2 / 3", "split 0 1 / 3 / 2"} {
		fixture.Is(t, mattest.Must(open(geom(), k)), want)
	}
	fixture.Notes(t, notes, "holds 2 splits: split 0 of 0 to 1 is used", "holds 2 splits: split 1 of 0 to 1 is used")
	other := fixture.With(geom(), "film_split_0.6_0.2_0.npz", []byte("PK"))
	for _, c := range []struct {
		files map[string][]byte
		k     int
		want  string
	}{
		{geom(), 2, "split 2, must be one of [0 1]: there is no file own_split_0.6_0.2_2.npz"},
		{karate(), 1, "split 1, must be 0: the folder holds no splits"},
		{other, 0, "it holds the splits film_split_0.6_0.2 and own_split_0.6_0.2, must be those of one graph"},
	} {
		mattest.Fails(t, c.want)(open(c.files, c.k))
	}
}

// TestQuantity checks that a target of many different numbers gives five classes of about equal size.
func TestQuantity(t *testing.T) {
	target, features := "id,target\n", "node_id,feature_id,value\n0,0,1\n"
	for i := range 200 {
		target += fmt.Sprintf("%d,%d\n", i, max(40, 199-i)*1000)
	}
	files := fixture.With(karate(), "target.csv", []byte(target))
	files["features.csv"] = []byte(features)
	g, notes := fixture.Noted(t, fixture.Folder(t, files))
	count := make([]int, 5)
	for _, c := range g.Y {
		count[c]++
	}
	if !slices.Equal(count, []int{41, 39, 40, 40, 40}) || g.Y[0] != 4 || g.Y[199] != 0 {
		t.Errorf("%v nodes in the classes", count)
	}
	fixture.Notes(t, notes[:1], "target holds 160 different numbers: they were divided into 5 classes")
}

func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		files               map[string][]byte
		file, content, want string
	}{
		{karate(), "edges.csv", "id_1,id_2\n0,4\n", "edges.csv:2: node 4, must be 0 to 3"},
		{karate(), "edges.csv", "id_1,id_2\n0,1,2\n", "edges.csv:2: 3 fields, must be 2"},
		{karate(), "edges.csv", "id_1,id_2\n0,a\n", "edges.csv:2: node "},
		{karate(), "target.csv", "id,target\n0,1\n0,2\n", "target.csv:3: node 0 appears twice, must appear once"},
		{karate(), "target.csv", "id,target\n0,1\n7,2\n", "target.csv:3: node 7, must be 0 to 1 (there are 2 rows)"},
		{karate(), "target.csv", "id,target\n-1,1\n", "target.csv:2: node -1, must be 0 to "},
		{karate(), "target.csv", "id,target\n", "target.csv: the file has no rows, must have at least 1 node"},
		{karate(), "target.csv", "id,color\n0,1\n", `there is no column target, the columns are "id,color"`},
		{karate(), "target.csv", "id,target\n0,1\n1,red\n2,0\n3,0\n", "target.csv:3: label"},
		{karate(), "features.csv", "node_id,value\n0,1\n", "features.csv:1: there is no column feature_id"},
		{karate(), "features.csv", "node_id,feature_id,value\n4,0,1\n", "features.csv:2: node 4, must be 0 to 3"},
		{karate(), "features.csv", "node_id,feature_id,value\n0,2147483647,1\n", "features.csv:2: feature 2147483647, must"},
		{karate(), "features.csv", "node_id,feature_id,value\n0,0,x\n", `features.csv:2: value "x", must be a number`},
		{karate(), "features.csv", "node_id,feature_id,value\n", "features are 4×0"},
		{facebook(), "musae_facebook_features.json", "[1]", `features.json:1: byte 0: found '[', expected '{'`},
		{facebook(), "musae_facebook_features.json", `{"4": []}`, "node 4, must be 0 to 3"},
		{facebook(), "musae_facebook_features.json", `{"0": 1}`, `found '1', expected '['`},
		{facebook(), "musae_facebook_features.json", `{"0": [[1]]}`, `node 0: feature "[1" is not an integer`},
		{facebook(), "musae_facebook_features.json", `{"0": [-1]}`, "node 0: feature -1, must be 0 to"},
		{facebook(), "musae_facebook_features.json", `{"0": [1`, "file ends, expected ','"},
		{facebook(), "musae_facebook_features.json", ``, "file ends, expected '{'"},
		{geom(), "out1_node_feature_label.txt", "node_id\tfeature\tlabel\n0\t0,1\t0\n1\t0\t1\n",
			"out1_node_feature_label.txt:3: 1 features, must be 2 as in the first row"},
		{geom(), "out1_node_feature_label.txt", "node_id\tfeature\tlabel\n0\t0,z\t0\n", `feature "z", must be a number`},
		{geom(), "out1_node_feature_label.txt", "node_id\tlabel\n0\t0\n", "there is no column feature, the columns are"},
		{film(), "out1_node_feature_label.txt", "node_id\tfeature(feature_amount:4)\tlabel\n0\t5\t0\n",
			"feature 5, must be 0 to 4"},
		{film(), "out1_node_feature_label.txt", "node_id\tfeature(feature_amount:x)\tlabel\n0\t5\t0\n",
			"must end with the largest number of a feature"},
		{geom(), "own_split_0.6_0.2_0.npz", "PK", "own_split_0.6_0.2_0.npz: not an .npz file"},
	} {
		fixture.Refuses(t, fixture.With(c.files, c.file, []byte(c.content)), c.want)
	}
	missing := facebook()
	delete(missing, "musae_facebook_features.json")
	fixture.Refuses(t, missing, "musae_facebook_features.csv: there is no such file, and the format of this graph (MUSAE")
}

// FuzzRead checks that no input causes a panic or unbounded memory use. Errors are allowed.
func FuzzRead(f *testing.F) {
	for k, files := range []map[string][]byte{karate(), facebook(), geom(), film()} {
		edges, nodes, features := names(k)
		f.Add(k, files[edges], files[nodes], files[features])
	}
	f.Fuzz(func(t *testing.T, k int, edges, nodes, features []byte) {
		k = ((k % 4) + 4) % 4
		edgesFile, nodesFile, featuresFile := names(k)
		files := map[string][]byte{edgesFile: edges, nodesFile: nodes}
		if featuresFile != "" {
			files[featuresFile] = features
		}
		fixture.Valid(t, fixture.Folder(t, files))
	})
}

// names returns the names of the files in layout k.
func names(k int) (edges, nodes, features string) {
	switch k {
	case 0:
		return "edges.csv", "target.csv", "features.csv"
	case 1:
		return "musae_facebook_edges.csv", "musae_facebook_target.csv", "musae_facebook_features.json"
	}
	return "out1_graph_edges.txt", "out1_node_feature_label.txt", ""
}
