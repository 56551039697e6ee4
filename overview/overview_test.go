package overview_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/bench"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/overview"
	"github.com/graph-condensation/cgc/report"
)

// condensed returns the demo graph, with names, and a condensed graph of it with edges.
func condensed(t testing.TB, change func(*cgc.Config)) (*graph.Graph, *cgc.Condensed) {
	t.Helper()
	g := synth.Demo()
	for v := range g.Nodes() {
		g.IDs = append(g.IDs, fmt.Sprintf("paper %d", v))
	}
	for c := range g.Classes {
		g.ClassNames = append(g.ClassNames, string(rune('A'+c)))
	}
	config := cgc.Defaults()
	config.Nodes, config.Threshold = 42, 0.2
	if change != nil {
		change(&config)
	}
	small, err := cgc.Condense(context.Background(), g, config)
	if err != nil {
		t.Fatal(err)
	}
	return g, small
}

// plots returns the plots of a document by their names.
func plots(t testing.TB, s overview.Subject) map[string]*report.Plot {
	t.Helper()
	d, err := s.Document(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]*report.Plot{}
	for _, block := range d.Blocks {
		if p, is := block.(*report.Plot); is {
			found[p.Name] = p
		}
	}
	return found
}

// Each training node and each condensed node has a mark, with its class, its name, and the node that it belongs to.
func TestEmbeddings(t *testing.T) {
	for name, change := range map[string]func(*cgc.Config){
		"plain": nil, "standardized": func(c *cgc.Config) { c.Standardize = true },
		"inductive": func(c *cgc.Config) { c.Inductive = true }, "no edges": func(c *cgc.Config) { c.Variant = cgc.CGCX },
		"mixed": func(c *cgc.Config) { c.HopWeights = []float64{1, 1, 2} },
	} {
		g, small := condensed(t, change)
		s := plots(t, overview.Subject{Graph: g, Condensed: small})["embeddings"].Data.(*report.Scatter)
		nodes, groups := s.Layers[0], s.Layers[1]
		if nodes.Len() != len(g.Split.Train) || groups.Len() != small.Nodes() || len(s.Views) != 2 {
			t.Fatalf("%s: %d and %d marks in %d views, want %d and %d in 2", name, nodes.Len(), groups.Len(), len(s.Views),
				len(g.Split.Train), small.Nodes())
		}
		for i, v := range g.Split.Train {
			owner := nodes.Owner[i]
			if nodes.Label[i] != g.IDs[v] || nodes.Class[i] != g.Y[v] || owner < 0 || groups.Class[owner] != g.Y[v] {
				t.Fatalf("%s: mark %d is %q of class %d, in %d", name, i, nodes.Label[i], nodes.Class[i], owner)
			}
			if !strings.Contains(groups.Detail[owner], "member") {
				t.Errorf("%s: condensed node %d is described as %q", name, owner, groups.Detail[owner])
			}
		}
		for _, view := range s.Views {
			for l, at := range view.At {
				for i, p := range at {
					if !(math.Abs(p[0]) <= 5000 && math.Abs(p[1]) <= 5000) || len(at) != s.Layers[l].Len() {
						t.Fatalf("%s: mark %d of layer %d is at %v", name, i, l, p)
					}
				}
			}
		}
	}
}

// Without edges and with one training node for each condensed node, both lie at the same place: one space, one
// projection.
func TestOneSpace(t *testing.T) {
	g, small := condensed(t, func(c *cgc.Config) { c.Variant, c.Nodes = cgc.CGCX, 140 })
	s := plots(t, overview.Subject{Graph: g, Condensed: small})["embeddings"].Data.(*report.Scatter)
	for _, view := range s.Views {
		for i, j := range s.Layers[0].Owner {
			a, b := view.At[0][i], view.At[1][j]
			if math.Hypot(a[0]-b[0], a[1]-b[1]) > 3 { // of 10,000: float32 and the grid
				t.Fatalf("%s: node %d at %v, its condensed node at %v", view.Name, i, a, b)
			}
		}
	}
}

// Principal components are those of a matrix whose components are known.
func TestPrincipal(t *testing.T) {
	for _, rows := range []int{4, 400} { // more columns than rows, and fewer
		x := mat.NewDense(rows, 12)
		for i := range rows {
			a, b := math.Sincos(float64(i) * 2 * math.Pi / float64(rows))
			x.Row(i)[3], x.Row(i)[7] = float32(2*a), float32(-b)
		}
		axes, shares, err := overview.Principal(context.Background(), x)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(shares[0]-0.8) > 1e-4 || math.Abs(shares[1]-0.2) > 1e-4 {
			t.Errorf("%d rows: shares %v, want 0.8 and 0.2", rows, shares)
		}
		for i := range axes.Rows {
			want := [2]float64{}
			switch i {
			case 3:
				want[0] = 1
			case 7:
				want[1] = 1
			}
			for k := range 2 {
				if math.Abs(float64(axes.Row(i)[k])-want[k]) > 1e-3 {
					t.Errorf("%d rows: axis %d has %v at %d, want %v", rows, k, axes.Row(i)[k], i, want[k])
				}
			}
		}
	}
	axes, shares, err := overview.Principal(context.Background(), mat.NewDense(3, 2))
	if err != nil || shares != [2]float64{} || axes.Rows != 2 || axes.Cols != 2 {
		t.Errorf("of zeros: %v, shares %v, %d×%d", err, shares, axes.Rows, axes.Cols)
	}
}

// Discs do not overlap, whatever their sizes.
func TestPack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		radii := rapid.SliceOfN(rapid.Float64Range(0.3, 5), 1, 60).Draw(t, "radii")
		places := overview.Pack(radii)
		for i := range radii {
			for j := range i {
				apart := math.Hypot(places[i][0]-places[j][0], places[i][1]-places[j][1])
				if apart < radii[i]+radii[j]-1e-9 {
					t.Fatalf("discs %d and %d of radii %v and %v are %v apart", i, j, radii[i], radii[j], apart)
				}
			}
		}
	})
}

// A sample has each class in proportion, and no node twice.
func TestSpread(t *testing.T) {
	g := synth.Demo()
	all := make([]int32, g.Nodes())
	for v := range all {
		all[v] = int32(v)
	}
	got := overview.Spread(g, all, 400)
	counts, whole := g.Counts(got), g.Counts(all)
	if len(got) > 400+g.Classes || len(got) < 390 {
		t.Errorf("%d nodes, want about 400", len(got))
	}
	for c := range counts {
		if want := float64(whole[c]) / 10; math.Abs(float64(counts[c])-want) > 1 {
			t.Errorf("class %d has %d nodes, want %.1f", c, counts[c], want)
		}
	}
	for i := 1; i < len(got); i++ {
		if got[i] <= got[i-1] {
			t.Fatalf("node %d after %d", got[i], got[i-1])
		}
	}
}

// The difference of predictions has zero sums over rows, and the diagonal tells the difference in accuracy.
func TestConfusion(t *testing.T) {
	g, small := condensed(t, nil)
	truth := g.Labels(g.Split.Test)
	good, bad := append([]int32{}, truth...), append([]int32{}, truth...)
	for i := range bad {
		if i%10 == 0 {
			bad[i] = (bad[i] + 1) % int32(g.Classes)
		}
		if i%50 == 0 {
			good[i] = (good[i] + 1) % int32(g.Classes)
		}
	}
	s := overview.Subject{
		Graph: g, Condensed: small, Over: "training seeds",
		Small: []experiment.Score{{Model: "gcn", Test: []float64{90, 91}, Predicted: bad}},
		Whole: []experiment.Score{{Model: "gcn", Test: []float64{98, 97}, Predicted: good}},
	}
	found := plots(t, s)
	matrix := found["confusion"].Data.(*report.Heatmap)
	right := 0
	for c, row := range matrix.Sheets[0].Values {
		sum := 0
		for _, v := range row {
			sum += v
		}
		if sum != 0 {
			t.Errorf("row %d of the difference has the sum %d, want 0", c, sum)
		}
		right += row[c]
	}
	n := len(truth)
	if want := (n+49)/50 - (n+9)/10; right != want || !matrix.Sheets[0].Signed {
		t.Errorf("the diagonal of the difference has the sum %d, want %d", right, want)
	}
	if bars := found["accuracy"].Data.(*report.Bars); len(bars.Series) != 2 || bars.Series[0].Values[0] != 90.5 {
		t.Errorf("accuracies %+v, want two series that begin with 90.5", bars.Series)
	}
	s.Whole = nil
	if sheets := plots(t, s)["confusion"].Data.(*report.Heatmap).Sheets; len(sheets) != 1 || sheets[0].Signed {
		t.Errorf("%d sheets without the whole graph, want one that is no difference", len(sheets))
	}
}

// Steps have a bound where the work and the ceiling are known, and the bound is work over ceiling.
func TestSeconds(t *testing.T) {
	g, small := condensed(t, nil)
	steps, err := bench.Steps(g, small, bench.Ceilings{Stream: 10, Gather: 5, Compute: 50})
	if err != nil {
		t.Fatal(err)
	}
	bars := plots(t, overview.Subject{Graph: g, Condensed: small, Steps: steps})["seconds"].Data.(*report.Bars)
	if len(bars.Series) != 2 || bars.Rows[0] != "propagate" {
		t.Fatalf("rows %v in %d series, want propagate first, and two series", bars.Rows, len(bars.Series))
	}
	if want := steps[0].Amount / 5; math.Abs(bars.Series[1].Values[0]/want-1) > 1e-9 {
		t.Errorf("propagation needs at least %v s, want %v GB at 5 GB/s, %v s", bars.Series[1].Values[0], steps[0].Amount,
			want)
	}
}

// The same subject gives the same document, for any number of threads.
func TestRepeats(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	g, small := condensed(t, nil)
	var first []byte
	for _, threads := range []int{1, 3, 8} {
		runtime.GOMAXPROCS(threads)
		p := plots(t, overview.Subject{Graph: g, Condensed: small})
		text, err := json.Marshal([]*report.Plot{p["embeddings"], p["network"], p["budgets"]})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = text
		}
		if !bytes.Equal(text, first) {
			t.Errorf("%d threads give another document", threads)
		}
	}
}

// A condensed graph of another graph, and a context that ended, are errors.
func TestErrors(t *testing.T) {
	g, small := condensed(t, nil)
	other := *small
	other.GraphNodes, other.Graph = 17, "other"
	_, err := overview.Subject{Graph: g, Condensed: &other}.Document(context.Background())
	if err == nil || !strings.Contains(err.Error(), "it was condensed from another (other)") {
		t.Errorf("another graph: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (overview.Subject{Graph: g, Condensed: small}).Document(ctx); err == nil {
		t.Error("no error after the end of the context")
	}
}

// A condensed graph without members, as some methods make it, is drawn too.
func TestWithoutMembers(t *testing.T) {
	g, small := condensed(t, nil)
	bare := *small
	bare.Members, bare.MemberIDs, bare.Config = nil, nil, json.RawMessage(`{"method":"mine"}`)
	found := plots(t, overview.Subject{Graph: g, Condensed: &bare})
	if n := found["network"].Data.(*report.Network); n.Len() != small.Nodes() || n.Size != nil || n.Detail != nil {
		t.Errorf("%d marks, want %d without sizes and details", n.Len(), small.Nodes())
	}
	if c := found["embeddings"].Caption; !strings.Contains(c, "not one of cgc's own") {
		t.Errorf("caption %q does not say that the propagation is the default", c)
	}
}

func Example() {
	g := synth.Demo()
	config := cgc.Defaults()
	config.Nodes = 70
	small, err := cgc.Condense(context.Background(), g, config)
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := overview.Subject{Graph: g, Condensed: small}.Document(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Title)
	// Output: demo, condensed to 70 nodes
}
