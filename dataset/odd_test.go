package dataset_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// usual is a graph with nothing odd: two classes of 300 nodes, each a ring, and an edge between them.
func usual() graph.Builder {
	const n = 600
	random := rand.New(rand.NewPCG(1, 1))
	b := graph.Builder{Nodes: n, X: mat.NewDense(n, 4), ClassNames: []string{"red", "blue"}}
	for i := range n {
		b.Y = append(b.Y, int32(i%2))
		b.AddEdge(i, (i+2)%n)
		for j := range 4 {
			row(b, i)[j] = float32(random.NormFloat64())
		}
		list := [...]*[]int32{&b.Split.Train, &b.Split.Val, &b.Split.Test}[i/200]
		*list = append(*list, int32(i))
	}
	b.AddEdge(0, 1)
	return b
}

func row(b graph.Builder, i int) []float32 { return b.X.(*mat.Dense).Row(i) }

// TestOdd plants one unusual property at a time, and checks that only this property is reported.
func TestOdd(t *testing.T) {
	for want, plant := range map[string]func(b *graph.Builder){
		"": func(*graph.Builder) {},
		"isolated: 2 of 600 nodes have no edge, 1 of them in the training split": func(b *graph.Builder) {
			b.Edges = without(b.Edges, func(u int32) bool { return u == 0 || u == 599 })
			b.AddEdge(2, 3)
		},
		"unreached: 120 of 600 nodes are in components without a training node (there are 3 comp": func(b *graph.Builder) {
			b.Edges = without(b.Edges, func(u int32) bool { return u == 300 || u == 301 || u == 421 || u == 422 })
			for _, bridge := range [][2]int{{300, 298}, {301, 299}, {421, 419}, {422, 424}} {
				b.AddEdge(bridge[0], bridge[1])
			}
		},
		"heterophily: 2.12% of the edges join nodes of one class, and 50% would by chance": func(b *graph.Builder) {
			b.Edges = graph.Edges{}
			for i := range 600 {
				b.AddEdge(i, (i+1)%600)
				if i < 25 && i%2 == 0 {
					b.AddEdge(i, i+2)
				}
			}
		},
		"few_train: 10 training nodes for 2 classes": func(b *graph.Builder) {
			b.Split.Train = b.Split.Train[:10]
		},
		"few_val: 0 validation nodes": func(b *graph.Builder) { b.Split.Val = nil },
		"few_val: 25 validation nodes. An accuracy on them has a standard error of up to 10 points": func(b *graph.Builder) {
			b.Split.Val = b.Split.Val[:25]
		},
		"few_test: 0 test nodes. No accuracy": func(b *graph.Builder) { b.Split.Test = nil },
		"empty_class: Class 2 has no node":    func(b *graph.Builder) { b.Classes, b.ClassNames = 3, nil },
		`untrained_class: Class "grey" has no training node, and 1 test nodes. No model can learn it: at most 99.5%`: func(
			b *graph.Builder,
		) {
			b.Y[599], b.ClassNames = 2, []string{"red", "blue", "grey"}
		},
		`tiny_class: Class "grey" has fewer than 5 training nodes`: func(b *graph.Builder) {
			b.Y[0], b.Y[599], b.ClassNames = 2, 2, []string{"red", "blue", "grey"}
		},
		`majority: 180 of 200 test nodes are of class "red"`: func(b *graph.Builder) {
			for i := 400; i < 600; i++ {
				b.Y[i] = int32(i % 10 / 9)
			}
			b.Edges = graph.Edges{}
			for i := range 600 {
				for j := i + 1; j < min(600, i+12); j++ {
					if b.Y[i] == b.Y[j] {
						b.AddEdge(i, j)
					}
				}
			}
			b.AddEdge(0, 1)
		},
		"constant_features: 2 of 4 features have one value for all nodes, the first is feature 1 (counted from 0)": func(
			b *graph.Builder,
		) {
			for i := range 600 {
				row(*b, i)[1], row(*b, i)[3] = 7, 0
			}
		},
		`telling_features: 2 of 4 features have the same value in all nodes of a class, and others in other classes; ` +
			`the first is feature 1 (counted from 0). It reveals the class`: func(b *graph.Builder) {
			for i := range 600 {
				row(*b, i)[1], row(*b, i)[3] = float32(2*b.Y[i]-1), float32(b.Y[i])
			}
		},
		"scales: The largest is feature 2 (counted from 0): 1": func(b *graph.Builder) {
			for i := range 600 {
				row(*b, i)[2] *= 1000
			}
		},
		`scales: The largest is feature "price": 1`: func(b *graph.Builder) {
			for i := range 600 {
				row(*b, i)[2] *= 1000
			}
			b.FeatureNames = []string{"a", "b", "price", "d"}
		},
		"magnitude: The features of a node have a norm of 197.8 (root mean square). GNNs learn": func(b *graph.Builder) {
			for i := range 600 {
				for j := range row(*b, i) {
					row(*b, i)[j] *= 100
				}
			}
		},
		"zero_rows: 1 of 600 nodes has only zero features, 1 of them in the training": func(b *graph.Builder) {
			clear(row(*b, 0))
		},
		"copies: 2 of 200 test nodes have exactly the features of a training node": func(b *graph.Builder) {
			copy(row(*b, 598), row(*b, 0))
			copy(row(*b, 596), row(*b, 0))
		},
		"contradictions: 6 of 600 labelled nodes have exactly": func(b *graph.Builder) {
			for i := 201; i < 206; i++ {
				copy(row(*b, i), row(*b, 200))
			}
		},
	} {
		b := usual()
		plant(&b)
		g, _, err := b.Graph(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", want, err)
		}
		for _, g.X = range []mat.Matrix{g.X, g.X.(*mat.Dense).Sparse(), mattest.Distant{Of: g.X.(*mat.Dense)}} {
			facts := mattest.Must(dataset.Describe(g))
			var got []string
			for _, o := range facts.Odd {
				got = append(got, o.Key+": "+o.String())
				if o.Count == 0 && !strings.HasPrefix(o.Fact, "0 ") || o.Meaning == "" || o.Help == "" {
					t.Errorf("%+v is not whole", o)
				}
			}
			if want == "" && len(got) != 0 || want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], want)) {
				t.Errorf("%T: got %q\nwant %q", g.X, got, want)
			}
		}
	}
}

// without returns the edges that do not touch the nodes for which is returns true.
func without(e graph.Edges, is func(int32) bool) (kept graph.Edges) {
	for i, u := range e.From {
		if !is(u) && !is(e.To[i]) {
			kept.From, kept.To = append(kept.From, u), append(kept.To, e.To[i])
		}
	}
	return kept
}

// TestDescribeTellsWhatReadingDropped checks that the notes list what reading drops, and that the JSON keys are the
// documented ones.
func TestDescribeTellsWhatReadingDropped(t *testing.T) {
	dir := fixture.Folder(t, fixture.Plain())
	f, err := dataset.Options{}.Describe(t.Context(), dir)
	if err != nil || len(f.Notes) != 1 || !strings.Contains(f.Notes[0], "1 self-loop dropped, 1 repeat or opposite") {
		t.Errorf("%v: notes %q", err, f.Notes)
	}
	var keys map[string]any
	mattest.OK(t, json.Unmarshal(mattest.Must(json.Marshal(f)), &keys))
	odd := fmt.Sprint(keys["odd"])
	for _, key := range []string{"key:isolated", "key:zero_rows", "count:", "fact:", "meaning:", "help:"} {
		if !strings.Contains(odd, key) {
			t.Errorf("%s is not in %s", key, odd)
		}
	}
	mattest.Equal(t, len(keys["notes"].([]any)), 1, "notes")
}

// TestNotesDoubtfulClasses checks the notes about labels that nearly every node has to itself, and about labels that
// are spellings of a missing value.
func TestNotesDoubtfulClasses(t *testing.T) {
	described := func(label func(i int) string) string {
		nodes := "id,label,height\n"
		for i := range 120 {
			nodes += fmt.Sprintf("%d,%s,%d\n", i, label(i), i)
		}
		f, err := dataset.Options{}.Describe(t.Context(), fixture.Folder(t, map[string][]byte{
			"nodes.csv": []byte(nodes), "edges.csv": []byte("source,target\n0,1\n"),
		}))
		mattest.OK(t, err)
		return strings.Join(f.Notes, "\n")
	}
	for distinct, want := range map[int]bool{60: false, 61: true} {
		notes := described(func(i int) string { return fmt.Sprintf("%d.5", i%distinct) })
		if strings.Contains(notes, fmt.Sprintf("has %d classes for 120 nodes with a label", distinct)) != want {
			t.Errorf("%d labels: notes %q", distinct, notes)
		}
	}
	names, ids := "id,label,f\n", []string{}
	for i := range 60 {
		names, ids = names+fmt.Sprintf("%d,c%d,1\n", i, i), append(ids, strconv.Itoa(i))
	}
	for want, c := range map[string]struct {
		files   map[string][]byte
		without []string
	}{
		"90 classes for 4 nodes with a label: every number up to the largest of the 2 different labels is a class": {
			fixture.Text("0,1\n", "1\n2\n3\n4\n", "3\n90\n3\n90\n"), nil,
		},
		"60 classes for 55 nodes with a label: every label is a class": {
			map[string][]byte{"nodes.csv": []byte(names), "edges.csv": []byte("source,target\n0,1\n")}, ids[:5],
		},
	} {
		var notes []string
		o := dataset.Options{Without: c.without, Note: func(note string) { notes = append(notes, note) }}
		_, err := o.Describe(t.Context(), fixture.Folder(t, c.files))
		mattest.OK(t, err)
		if all := strings.Join(notes, "\n"); !strings.Contains(all, want) {
			t.Errorf("notes %q, want %q", all, want)
		}
	}
	for label, want := range map[string]bool{"": false, "no": false, "NaN": true, "none": true} {
		notes := described(func(i int) string { return []string{"yes", "maybe", label}[i%3] })
		if strings.Contains(notes, fmt.Sprintf("the class %q", label)) != want {
			t.Errorf("label %q: notes %q", label, notes)
		}
	}
}
