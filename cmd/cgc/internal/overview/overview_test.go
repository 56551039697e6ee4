package overview_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/bench"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/overview"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/slow"
	"github.com/graph-condensation/cgc/mat"
)

// condensed returns the demo graph with names, and its condensed graph with edges.
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
	return g, mattest.Must(cgc.Condense(context.Background(), g, config))
}

func blocks(t testing.TB, s overview.Subject) []report.Block {
	t.Helper()
	return mattest.Must(s.Document(context.Background())).Blocks
}

// plots returns the plots of a document by their names.
func plots(t testing.TB, s overview.Subject) map[string]*report.Plot {
	t.Helper()
	found := map[string]*report.Plot{}
	for _, block := range blocks(t, s) {
		if p, is := block.(*report.Plot); is {
			found[p.Name] = p
		}
	}
	return found
}

// TestEmbeddings checks that each training node and each condensed node has a mark with its class and name, and that
// the mark of a training node refers to its condensed node.
func TestEmbeddings(t *testing.T) {
	for name, change := range map[string]func(*cgc.Config){
		"plain": nil, "standardized": func(c *cgc.Config) { c.Standardize = true },
		"inductive": func(c *cgc.Config) { c.Inductive = true }, "no edges": func(c *cgc.Config) { c.Variant = cgc.CGCX },
	} {
		g, small := condensed(t, change)
		s := plots(t, overview.Subject{Graph: g, Condensed: small})["embeddings"].Data.(*report.Scatter)
		nodes, groups := s.Layers[0], s.Layers[1]
		if len(nodes.Class) != len(g.Split.Train) || len(groups.Class) != small.Nodes() || len(s.Views) != 2 {
			t.Fatalf("%s: %d and %d marks in %d views, want %d and %d in 2", name, len(nodes.Class), len(groups.Class),
				len(s.Views), len(g.Split.Train), small.Nodes())
		}
		for i, v := range g.Split.Train {
			owner := nodes.Owner[i]
			if nodes.Label[i] != g.IDs[v] || nodes.Class[i] != g.Y[v] || owner < 0 || groups.Class[owner] != g.Y[v] {
				t.Fatalf("%s: mark %d is %q of class %d, in %d", name, i, nodes.Label[i], nodes.Class[i], owner)
			}
			mattest.Says(t, groups.Detail[owner], "source node")
		}
		for k, of := range []string{"class means", "training nodes"} {
			x, y := "PC 1 of "+of+" (", "PC 2 of "+of+" ("
			if view := s.Views[k]; !strings.HasPrefix(view.X, x) || !strings.HasPrefix(view.Y, y) {
				t.Errorf("%s: the axes are %q and %q", name, view.X, view.Y)
			}
		}
		for _, view := range s.Views {
			for l, at := range view.At {
				for i, p := range at {
					if !(math.Abs(p[0]) <= 5000 && math.Abs(p[1]) <= 5000) || len(at) != len(s.Layers[l].Class) {
						t.Fatalf("%s: mark %d of layer %d is at %v", name, i, l, p)
					}
				}
			}
		}
	}
}

// TestOneSpace checks that training nodes and condensed nodes share one projection: without edges, and with one
// training node per condensed node, both have the same position.
func TestOneSpace(t *testing.T) {
	g, small := condensed(t, func(c *cgc.Config) { c.Variant, c.Nodes = cgc.CGCX, 140 })
	s := plots(t, overview.Subject{Graph: g, Condensed: small})["embeddings"].Data.(*report.Scatter)
	for _, view := range s.Views {
		for i, j := range s.Layers[0].Owner {
			a, b := view.At[0][i], view.At[1][j]
			if math.Hypot(a[0]-b[0], a[1]-b[1]) > 3 { // tolerance for float32 and the grid, in a range of 10,000
				t.Fatalf("%s: node %d at %v, its condensed node at %v", view.Name, i, a, b)
			}
		}
	}
}

// TestTwoClasses checks that two classes, whose means are on a line, are drawn in a plane.
func TestTwoClasses(t *testing.T) {
	shape := synth.DemoShape()
	shape.Classes, shape.Balanced = 2, false
	g := mattest.Must(synth.Make(t.Context(), shape, rand.NewPCG(1, 0)))
	config := cgc.Defaults()
	config.Nodes = 20
	small := mattest.Must(cgc.Condense(t.Context(), g, config))
	view := plots(t, overview.Subject{Graph: g, Condensed: small})["embeddings"].Data.(*report.Scatter).Views[0]
	low, high := math.Inf(1), math.Inf(-1)
	for _, at := range view.At[0] {
		low, high = min(low, at[1]), max(high, at[1])
	}
	mattest.True(t, high-low >= 1000 && strings.HasPrefix(view.Y, "orthogonal PC of training nodes ("),
		"the second axis, %q, holds the marks from %v to %v", view.Y, low, high)
}

// TestEmbeddingsOfAnySize checks that multiplying all features by a power of two leaves every mark where it was. At 2⁷⁰
// squares overflow in float32, and at 2⁻⁸⁰ they vanish.
func TestEmbeddingsOfAnySize(t *testing.T) {
	g, small := condensed(t, nil)
	want := plots(t, overview.Subject{Graph: g, Condensed: small})["embeddings"].Data.(*report.Scatter)
	for _, exponent := range []int{70, -80} {
		scaledGraph, scaledSmall := *g, *small
		scaledGraph.X, scaledSmall.X, scaledSmall.Source = g.X.(*mat.Dense).Clone(), small.X.Clone(), nil
		for _, x := range []*mat.Dense{scaledGraph.X.(*mat.Dense), scaledSmall.X} {
			for i := range x.Data {
				x.Data[i] *= float32(math.Ldexp(1, exponent))
			}
		}
		got := plots(t, overview.Subject{Graph: &scaledGraph, Condensed: &scaledSmall})["embeddings"].Data.(*report.Scatter)
		mattest.True(t, reflect.DeepEqual(got.Views, want.Views),
			"features times 2^%d: other places or axes, %q", exponent, got.Views[0].X)
	}
}

// TestPrincipal checks the principal components of a matrix with known components.
func TestPrincipal(t *testing.T) {
	for _, rows := range []int{4, 400} { // fewer rows than columns, and more
		x := mat.NewDense(rows, 12)
		for i := range rows {
			a, b := math.Sincos(float64(i) * 2 * math.Pi / float64(rows))
			x.Row(i)[3], x.Row(i)[7] = float32(2*a), float32(-b)
		}
		axes, shares, err := overview.Principal(context.Background(), x)
		mattest.OK(t, err)
		mattest.True(t, math.Abs(shares[0]-0.8) <= 1e-4 && math.Abs(shares[1]-0.2) <= 1e-4,
			"%d rows: shares %v, want 0.8 and 0.2", rows, shares)
		for i := range axes.Rows {
			want := map[int][2]float64{3: {1, 0}, 7: {0, 1}}[i]
			for k := range 2 {
				mattest.Near(t, float64(axes.Row(i)[k]), want[k], 1e-3, "%d rows: at %d, axis %d has", rows, i, k)
			}
		}
	}
	axes, shares, err := overview.Principal(context.Background(), mat.NewDense(3, 2))
	mattest.True(t, err == nil && shares == [2]float64{} && axes.Rows == 2 && axes.Cols == 2,
		"of zeros: %v, shares %v, %d×%d", err, shares, axes.Rows, axes.Cols)
}

// TestDense checks that a condensed graph in which all nodes are connected is drawn with marks that do not overlap.
func TestDense(t *testing.T) {
	slow.Test(t, "lays out 139 nodes with all edges")
	for _, n := range []int{15, 42, 139} {
		g, small := condensed(t, func(c *cgc.Config) { c.Nodes = n })
		small.Adj = &mat.CSR{Rows: n, Cols: n, Indptr: []int64{0}}
		for i := range n {
			for j := range n {
				if i != j {
					small.Adj.Indices = append(small.Adj.Indices, int32(j))
				}
			}
			small.Adj.Indptr = append(small.Adj.Indptr, int64(len(small.Adj.Indices)))
		}
		net := plots(t, overview.Subject{Graph: g, Condensed: small})["network"].Data.(*report.Network)
		most := slices.Max(net.Size)
		for i, a := range net.At {
			for j, b := range net.At[:i] {
				radii := net.Radius * (math.Sqrt(net.Size[i]/most) + math.Sqrt(net.Size[j]/most))
				mattest.True(t, math.Hypot(a[0]-b[0], a[1]-b[1]) >= radii, "of %d nodes, %d and %d overlap", n, i, j)
			}
		}
	}
}

// TestPack checks that discs of arbitrary sizes do not overlap.
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

// TestSpread checks that a sample represents each class proportionally and contains no node twice.
func TestSpread(t *testing.T) {
	g := synth.Demo()
	all := memory.Range(0, g.Nodes())
	got := overview.Spread(g, all, 400)
	counts, whole := g.Counts(got), g.Counts(all)
	mattest.True(t, len(got) <= 400+g.Classes && len(got) >= 390, "%d nodes, want about 400", len(got))
	for c := range counts {
		want := float64(whole[c]) / 10
		mattest.True(t, math.Abs(float64(counts[c])-want) <= 1, "class %d has %d nodes, want %.1f", c, counts[c], want)
	}
	mattest.Equal(t, got, slices.Compact(slices.Sorted(slices.Values(got))), "nodes")
}

// TestConfusion checks that the differences of predictions sum to zero in each row, and that the diagonal determines
// the difference in accuracy.
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
		mattest.Equal(t, sum, 0, "row %d of the difference has the sum", c)
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
		t.Errorf("%d sheets without the full graph, want one that is no difference", len(sheets))
	}
}

// outline returns a word for each block of a document, in order.
func outline(all []report.Block) (words []string) {
	for _, block := range all {
		switch block := block.(type) {
		case report.Heading:
			words = append(words, "# "+string(block))
		case *report.Plot:
			words = append(words, block.Name)
		case *report.Table:
			switch {
			case block.Lead:
				words = append(words, "tiles")
			case block.Folded:
				words = append(words, "folded "+strings.Fields(block.Title)[0])
			default:
				words = append(words, "table")
			}
		default:
			words = append(words, fmt.Sprintf("%T", block))
		}
	}
	return words
}

// scores returns the scores of two models, with three and two training runs.
func scores(first, second float64) []experiment.Score {
	return []experiment.Score{
		{Model: "gcn", Test: []float64{first - 1, first, first + 1}, Seconds: first / 10},
		{Model: "sgc", Test: []float64{second - 1, second + 1}, Seconds: second / 100},
	}
}

// TestOrder checks that the page begins with the main results, and that parts without content are omitted: the plot of
// a graph without edges, classes of equal size, accuracies if no model was trained, the plot of a single accuracy, and
// the program if there is no file. Short times are collapsed.
func TestOrder(t *testing.T) {
	g, small := condensed(t, nil)
	full := overview.Subject{
		Graph: g, Condensed: small, Small: scores(80, 70), Whole: scores(81, 69), Over: "training seeds",
		Source: "demo", File: "demo-42.safetensors", Command: "cgc condense demo",
	}
	uneven := *small
	uneven.Budget = append([]int{}, small.Budget...)
	uneven.Budget[0]++
	bare, alone := overview.Subject{Graph: g, Condensed: small}, full
	_, edgeless := condensed(t, func(c *cgc.Config) { c.Variant = cgc.CGCX })
	bare.Condensed = edgeless
	alone.Small, alone.Whole, alone.Condensed = []experiment.Score{{Model: "gcn", Test: []float64{80}}}, nil, &uneven
	for name, is := range map[string]struct {
		subject overview.Subject
		want    string
	}{
		"all": {full, "report.Paragraph, tiles, embeddings, # What models learn from it, accuracy, # The condensed graph, " +
			"network, # Train on it, report.Paragraph, report.Code, # How it was made, report.Command, folded All, " +
			"folded Seconds"},
		"bare": {bare, "report.Paragraph, tiles, embeddings, # How it was made, folded All, folded Seconds"},
		"one training": {alone, "report.Paragraph, tiles, embeddings, # What models learn from it, # The condensed graph, " +
			"network, budgets, # Train on it, report.Paragraph, report.Code, # How it was made, report.Command, folded All, " +
			"folded Seconds"},
	} {
		mattest.Equal(t, strings.Join(outline(blocks(t, is.subject)), ", "), is.want, "%s: the blocks are", name)
	}
	for name, p := range plots(t, full) {
		mattest.True(t, strings.Contains(p.Caption, "Ideally, "),
			"%s: the caption does not say what a good picture looks like: %s", name, p.Caption)
	}
}

// TestTiles checks the comparison with the full graph for small and large ratios.
func TestTiles(t *testing.T) {
	g, small := condensed(t, nil)
	text := func(s overview.Subject) (lines []string) {
		for _, block := range blocks(t, s) {
			if t, is := block.(*report.Table); is && t.Lead {
				for i := range t.Rows {
					lines = append(lines, t.Cell(i, 0).Text+": "+t.Cell(i, 1).Text+", "+t.Cell(i, 2).Text)
				}
			}
		}
		return lines
	}
	s := overview.Subject{Graph: g, Condensed: small, Small: scores(80, 70), Whole: scores(100, 69)}
	got := text(s)
	for i, want := range []string{
		"test accuracy, gcn: 80.0%, 100.0% if trained on the full graph",
		"training time, gcn: 8.0 s, 1.2× faster than on the full graph (10 s)",
		"nodes: 42, 95.2× fewer than 4,000; ",
		"memory: ",
	} {
		mattest.True(t, strings.HasPrefix(got[i], want), "tile %d is %q, expected %q", i, got[i], want)
	}
	s.Whole = nil
	mattest.Equal(t, text(s)[1], "training time, gcn: 8.0 s, mean of 3 training runs", "without the full graph:")
	s.Small = []experiment.Score{{Model: "gcn", Test: []float64{80}, Seconds: 8}}
	if got := text(s)[1]; !strings.HasSuffix(got, ", one training run") {
		t.Errorf("a single training run: %q", got)
	}
	_, edgeless := condensed(t, func(c *cgc.Config) { c.Variant, c.Nodes = cgc.CGCX, 7 })
	got = text(overview.Subject{Graph: g, Condensed: edgeless})
	mattest.Equal(t, got[0], "nodes: 7, 571× fewer than 4,000; no edges", "without edges")
	bare := *g
	bare.Adj = &mat.CSR{Rows: g.Nodes(), Cols: g.Nodes(), Indptr: make([]int64, g.Nodes()+1)}
	got = text(overview.Subject{Graph: &bare, Condensed: small, OtherGraph: true})
	mattest.True(t, strings.HasSuffix(got[0], " edges, up from 0"), "a graph without edges: %q", got[0])
}

// TestAccuracies checks that an interval is shown only for three or more training runs, and that the page rounds a
// number in the same way everywhere.
func TestAccuracies(t *testing.T) {
	g, small := condensed(t, nil)
	s := overview.Subject{Graph: g, Condensed: small, Small: scores(81.35, 78.85), Whole: scores(80.25, 70)}
	p := plots(t, s)["accuracy"]
	for _, series := range p.Data.(*report.Bars).Series {
		mattest.True(t, !math.IsNaN(series.Low[0]) && math.IsNaN(series.Low[1]) && math.IsNaN(series.High[1]),
			"intervals from %v to %v, expected one for the first model only", series.Low, series.High)
		mattest.Equal(t, [...]int{len(series.Samples[0]), len(series.Samples[1])}, [...]int{3, 2}, "samples:")
	}
	drawn := mattest.Must(json.Marshal(p))
	var bars struct {
		Series []struct{ Texts [][2]string }
	}
	mattest.OK(t, json.Unmarshal(drawn, &bars))
	for i := range p.Numbers.Rows {
		text, _, _ := strings.Cut(p.Numbers.Cell(i, 2).Text, " ")
		mattest.Equal(t, bars.Series[i%2].Texts[i/2][0], text, "row %d of the table: the plot has", i)
	}
	s.Small, s.Whole = s.Small[1:], nil
	c := plots(t, s)["accuracy"].Caption
	mattest.True(t, !strings.Contains(c, "interval"), "with two trainings the caption speaks of intervals: %s", c)
}

// TestTraining checks that the generated program scales features, learns soft labels and tests as cgc does.
func TestTraining(t *testing.T) {
	program := func(change func(*cgc.Config), soft bool) string {
		g, small := condensed(t, change)
		if soft {
			small.Soft = mat.NewDense(small.Nodes(), small.Classes)
			for i, c := range small.Y {
				small.Soft.Row(i)[c] = 1
			}
		}
		for _, block := range blocks(t, overview.Subject{Graph: g, Condensed: small, Source: `a "b"`, File: "s.npz",
			Reading: []string{"--without", "c d.txt", "--split", "2"}}) {
			if code, is := block.(report.Code); is {
				return string(code)
			}
		}
		t.Fatal("there is no program")
		return ""
	}
	all := map[string]string{
		`cgc.load("s.npz").to_pyg()`: "", `cgc.load_dataset("a \"b\"", without="c d.txt", split=2).to_pyg()`: "",
		"small.weight / small.weight.sum()": "", "small.y, reduction": "", "out_channels=7": "", "[data.test_mask]": "",
		"small.scaling_mean": "standardize",
		"data.x.abs().sum":   "normalize", "data.subgraph(data.test_mask)": "inductive", "small.y_soft": "soft",
	}
	for name, change := range map[string]func(*cgc.Config){
		"": nil, "standardize": func(c *cgc.Config) { c.Standardize = true },
		"normalize": func(c *cgc.Config) { c.NormalizeFeatures = true },
		"inductive": func(c *cgc.Config) { c.Inductive = true }, "soft": nil,
	} {
		text := program(change, name == "soft")
		for part, of := range all {
			wants := of == "" || of == name
			if part == "small.y, reduction" && name == "soft" {
				wants = false
			}
			mattest.True(t, strings.Contains(text, part) == wants,
				"%q: the program has %q: %v, expected %v\n%s", name, part, !wants, wants, text)
		}
	}
}

// TestSeconds checks that the times of steps are expanded if they total at least one second, and that the lower bound
// of a step is work / ceiling if both are known.
func TestSeconds(t *testing.T) {
	g, small := condensed(t, nil)
	small.Seconds.Total += 1000
	for i := range small.Seconds.Steps {
		small.Seconds.Steps[i].Seconds += 100
	}
	steps := mattest.Must(bench.Steps(g, small, bench.Ceilings{Stream: 10, Gather: 5, Compute: 50}))
	bars := plots(t, overview.Subject{Graph: g, Condensed: small, Steps: steps})["seconds"].Data.(*report.Bars)
	if len(bars.Series) != 2 || bars.Rows[0] != "propagate" {
		t.Fatalf("rows %v in %d series, want propagate first, and two series", bars.Rows, len(bars.Series))
	}
	want := steps[0].Amount / 5
	mattest.True(t, math.Abs(bars.Series[1].Values[0]/want-1) <= 1e-9,
		"propagation needs at least %v s, want %v GB at 5 GB/s, %v s", bars.Series[1].Values[0], steps[0].Amount, want)
}

// TestRepeats checks that equal subjects give equal documents for any number of threads.
func TestRepeats(t *testing.T) {
	g, small := condensed(t, nil)
	mattest.IgnoresThreads(t, func() string {
		p := plots(t, overview.Subject{Graph: g, Condensed: small})
		return string(mattest.Must(json.Marshal([]*report.Plot{p["embeddings"], p["network"]})))
	})
}

// TestErrors checks the errors for a condensed graph of another graph, and for a cancelled context.
func TestErrors(t *testing.T) {
	g, small := condensed(t, nil)
	other := *small
	other.GraphNodes, other.Graph = 17, "other"
	mattest.Fails(t, "it was condensed from another (other)")(
		overview.Subject{Graph: g, Condensed: &other}.Document(t.Context()))
	mattest.Fails(t, "canceled")(overview.Subject{Graph: g, Condensed: small}.Document(mattest.Cancelled(t)))
}

// TestWithoutMembers checks that a condensed graph without Members, which some methods return, or without names is
// drawn too.
func TestWithoutMembers(t *testing.T) {
	g, small := condensed(t, nil)
	bare := *small
	bare.Members, bare.MemberIDs, bare.Config = nil, nil, json.RawMessage(`{"method":"mine"}`)
	g.IDs, g.ClassNames, bare.ClassNames = nil, nil, nil
	found := plots(t, overview.Subject{Graph: g, Condensed: &bare})
	if n := found["network"].Data.(*report.Network); len(n.Class) != small.Nodes() || n.Size != nil || n.Detail != nil {
		t.Errorf("%d marks, want %d without sizes and details", len(n.Class), small.Nodes())
	}
	if c := found["embeddings"].Caption; !strings.Contains(c, "not one of cgc's own") || strings.Contains(c, "source") {
		t.Errorf("caption %q does not say that the propagation is the default, or mentions source nodes", c)
	}
	for _, block := range blocks(t, overview.Subject{Graph: g, Condensed: &bare, Source: "demo", File: "small.pt"}) {
		if p, is := block.(report.Paragraph); is && strings.Contains(string(p), "represents") {
			t.Errorf("%q mentions source nodes", p)
		}
	}
}
