package dataset_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// pairs is an external format: {"edges": [[0, 1], …], "labels": [0, …]} in a .pairs file, with one-hot node numbers as
// features.
type pairs struct{}

type pairsFile struct {
	Edges  [][2]int `json:"edges"`
	Labels []int32  `json:"labels"`
}

func (pairs) Describe() format.Description {
	return format.Description{Title: "pairs", File: "a .pairs file", Extensions: []string{".pairs"}}
}

func (pairs) Recognise(path string) format.Certainty {
	if filepath.Ext(path) == ".pairs" {
		return format.Likely
	}
	return format.No
}

func (pairs) Read(ctx context.Context, path string) (*graph.Graph, []string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	var file pairsFile
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, nil, &format.ReadError{File: path, Err: err}
	}
	x := mat.NewDense(len(file.Labels), len(file.Labels))
	for i := range x.Rows {
		x.Row(i)[i] = 1
	}
	b := graph.Builder{X: x, Y: file.Labels}
	for _, e := range file.Edges {
		b.AddEdge(e[0], e[1])
	}
	return format.Build(ctx, &b, path, nil)
}

func (pairs) Write(_ context.Context, path string, g *graph.Graph) error {
	file := pairsFile{Labels: g.Y}
	for u := range g.Nodes() {
		for v := range g.Adj.Row(u) {
			if u < v {
				file.Edges = append(file.Edges, [2]int{u, v})
			}
		}
	}
	text, err := json.Marshal(file)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

func init() { format.Register("pairs", pairs{}) }

// Register your own format once. Its graphs can then be opened, described and written, and errors mention it.
func Example_addAFormat() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "pairs")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "ring.pairs")
	content := `{"edges": [[1, 0], [1, 2], [2, 3], [0, 1]], "labels": [0, 1, 0, 1]}`
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		fmt.Println(err)
		return
	}
	o := dataset.Options{Note: func(sentence string) { fmt.Println(sentence) }}
	g, err := o.Open(ctx, path)
	if err != nil {
		fmt.Println(err)
		return
	}
	facts, err := dataset.Describe(g)
	fmt.Println(facts.Name, facts.Nodes, facts.Edges, facts.Classes, err)

	again := filepath.Join(dir, "again.pairs")
	fmt.Println(dataset.Write(ctx, again, g)) // data convert does this
	text, err := os.ReadFile(again)
	fmt.Println(string(text), err)

	_, err = o.Open(ctx, "stranger_test.go")
	fmt.Println(strings.Contains(err.Error(), "a .pairs file (pairs)"))
	// Output:
	// ring.pairs: 4 edge entries became 3 undirected edges (1 repeat or opposite direction merged)
	// ring comes without a split: one was drawn with seed 0 (2 train, 0 val, 2 test nodes)
	// ring 4 3 2 <nil>
	// <nil>
	// {"edges":[[0,1],[1,2],[2,3]],"labels":[0,1,0,1]} <nil>
	// true
}
