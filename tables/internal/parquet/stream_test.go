package parquet_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// same fails the test unless reading in parts gives the same file and notes, or the same error, as reading at once. It
// returns the error.
func same(t *testing.T, what, folder string) error {
	t.Helper()
	want, notes, wrong := fixture.Written(t.Context(), t, folder, 0)
	got, inParts, err := fixture.Written(t.Context(), t, folder, 1<<20)
	slices.Sort(notes)
	slices.Sort(inParts)
	if fmt.Sprint(err) != fmt.Sprint(wrong) || !bytes.Equal(want, got) || err == nil && !slices.Equal(notes, inParts) {
		t.Errorf("%s in parts: %d bytes, notes %q, error %v\nat once: %d bytes, notes %q, error %v", what, len(got), inParts,
			err, len(want), notes, wrong)
	}
	return err
}

// TestStream checks each folder of testdata.
func TestStream(t *testing.T) {
	compared, refused := 0, 0
	for _, folder := range mattest.Must(filepath.Glob(filepath.Join("testdata", "*"))) {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			continue
		}
		if same(t, folder, folder) != nil {
			refused++
		}
		compared++
	}
	if compared < 20 || refused < 10 {
		t.Errorf("%d folders compared, %d of them refused", compared, refused)
	}
}

// node and edge are rows of files of several row groups.
type node struct {
	ID    string    `parquet:"id"`
	Label string    `parquet:"label"`
	Split string    `parquet:"split"`
	Age   int64     `parquet:"age"`
	X     []float32 `parquet:"x,list"`
}

type edge struct {
	Source string  `parquet:"source"`
	Target string  `parquet:"target"`
	Weight float64 `parquet:"weight"`
}

func writeRows[T any](t *testing.T, path string, rows []T) {
	t.Helper()
	file, err := os.Create(path)
	mattest.OK(t, err)
	w := pq.NewGenericWriter[T](file, pq.MaxRowsPerRowGroup(300))
	_, err = w.Write(rows)
	mattest.OK(t, errors.Join(err, w.Close(), file.Close()))
}

func TestStreamOfManyRowGroups(t *testing.T) {
	const many = 1000
	random := rand.New(rand.NewPCG(1, 1))
	var nodes []node
	var edges []edge
	for i := range many {
		n := node{ID: fmt.Sprintf("node %d", i*i), Label: string(rune('a' + random.IntN(5))), Age: int64(i)}
		n.Split = []string{"train", "val", "test", ""}[random.IntN(4)]
		n.X = []float32{random.Float32(), random.Float32()}
		nodes = append(nodes, n)
	}
	for range 5 * many {
		u, v := nodes[random.IntN(many)], nodes[random.IntN(many)]
		edges = append(edges, edge{u.ID, v.ID, float64(1 + random.IntN(2))})
	}
	dir := filepath.Join(t.TempDir(), "own")
	compare := func(what, wantError string) {
		t.Helper()
		mattest.OK(t, os.MkdirAll(dir, 0o755))
		writeRows(t, filepath.Join(dir, "nodes.parquet"), nodes)
		writeRows(t, filepath.Join(dir, "edges.parquet"), edges)
		if err := same(t, what, dir); wantError != "" || err != nil {
			mattest.WantError(t, err, wantError)
		}
	}
	compare("names", "")
	for i := range edges {
		edges[i].Weight = 1
	}
	compare("weights of 1", "")
	edges[4000].Target = "Node 9"
	compare("an id in other letters", `edges.parquet: row 4001: target "Node 9" is not an id in nodes.parquet, which has`)
	edges = edges[:3000]
	nodes[800].ID = nodes[100].ID
	compare("an id twice", `nodes.parquet: row 801: the id "node 10000" appears twice, first in row 101`)
	for i := range nodes {
		nodes[i].ID = fmt.Sprint(i)
	}
	for i := range edges {
		edges[i].Source, edges[i].Target = fmt.Sprint(random.IntN(many)), fmt.Sprint(random.IntN(many))
	}
	compare("numbers", "")
	nodes[700].ID, nodes[701].ID = "7.0", "a name"
	for i := range edges {
		if e := &edges[i]; e.Source == "700" || e.Source == "701" || e.Target == "700" || e.Target == "701" {
			e.Source, e.Target = "7.0", "a name"
		}
	}
	compare("numbers and names", "")
	nodes[many-1].X[1] = 4 * 65504
	file := filepath.Join(t.TempDir(), "half.safetensors")
	writeRows(t, filepath.Join(dir, "nodes.parquet"), nodes)
	s := mattest.Must((dataset.Options{}).Stream(t.Context(), dir, 1<<20))
	defer s.Close()
	_, err := dataset.WriteStream(t.Context(), file, s, format.Storing{Memory: 1 << 16, Storage: mat.F16})
	fixture.Says(t, err, "nodes.parquet: feature 2 of node 999 is 262016, expected −65504 to")
	mattest.Fails(t, "the ids of 1000 nodes take")((dataset.Options{}).Stream(t.Context(), dir, 14_000))
}
