package paper_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/chart"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/paper"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/golden"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/slow"
	"github.com/graph-condensation/cgc/progress"
)

// tiny returns a tiny graph with the name of a data set.
func tiny(t *testing.T, name string) *graph.Graph {
	t.Helper()
	return mattest.Must(synth.Make(t.Context(), synth.Shape{
		Name: name, Nodes: 160, Edges: 480, Features: 12, Classes: 3, Train: 36, Val: 40, Test: 60, Groups: 2,
		Homophily: 0.7, Signal: 2,
	}, rand.NewPCG(1, 2)))
}

func training() gnn.Config {
	c := gnn.Defaults()
	c.Epochs, c.Hidden, c.ValidateEvery = 6, 8, 3
	return c
}

func job(t *testing.T, study string, graphs ...string) paper.Job {
	t.Helper()
	j := paper.Job{
		Study: mattest.Must(paper.Find([]string{study}))[0], Seeds: 2, Whole: -1, Training: training(),
		Open: func(_ context.Context, s paper.Source) (*graph.Graph, error) { return tiny(t, s.Name), nil },
	}
	for _, name := range graphs {
		j.Sources = append(j.Sources, paper.Source{Name: name})
	}
	return j
}

func newLog(t *testing.T) *experiment.Log {
	t.Helper()
	log := mattest.Must(experiment.OpenLog(filepath.Join(t.TempDir(), "log.jsonl")))
	t.Cleanup(func() { log.Close() })
	return log
}

func mustRun(t *testing.T, j paper.Job) *paper.Result {
	t.Helper()
	return mattest.Must(j.Run(t.Context()))
}

// TestEveryStudy measures every table and figure on a tiny graph with the name of one of its data sets, and renders the
// result in every format.
func TestEveryStudy(t *testing.T) {
	slow.Test(t, "runs every table of the paper")
	log := newLog(t)
	want := map[string]struct{ arms, figures int }{
		"table2": {2, 0}, "table3": {7, 2}, "table8": {0, 0}, "figure3": {2, 2},
		"table4": {0, 1}, "table5": {7, 1}, "table6": {6, 1}, "table10": {6, 1},
		"table11": {5, 1}, "table12": {6, 1}, "figure4": {26, 4}, "figure5": {6, 1},
	}
	for _, s := range paper.Studies() {
		j := job(t, s.Name, s.Graphs[0], "own")
		j.Log = log
		r := mustRun(t, j)
		cells := 0
		for _, c := range r.Cells {
			if c.Graph == s.Graphs[0] {
				cells++
			}
			mattest.True(t, c.Test.Mean >= 0 && c.Test.Mean <= 100 && c.Seeds == 2,
				"%s: accuracy %v of %d seeds", s.Name, c.Test.Mean, c.Seeds)
			mattest.True(t, !c.Comparable, "%s: %s can be compared, but is a tiny graph", s.Name, c.Graph)
			// If the paper prints numbers for the study, every cell of its data sets has one. Cells of other graphs have none.
			if has := c.Paper != nil; has != (c.Graph == s.Graphs[0] && s.Name != "figure4" && s.Name != "figure5") {
				t.Errorf("%s, %s, %s, %s: has a number of the paper: %v", s.Name, c.Graph, c.Arm, c.Model, has)
			}
		}
		mattest.Equal(t, cells, want[s.Name].arms, "cells of %s for a graph:", s.Name)
		mattest.Equal(t, len(r.Times) == 4, s.Name == "table2" || s.Name == "table4", "%s has four times:", s.Name)
		for _, v := range r.Times {
			mattest.True(t, v.Seconds.Total > 0 && (v.Paper != nil) == (v.Graph != "own"),
				"%s, %s: %v seconds, the paper's: %v", s.Name, v.Graph, v.Seconds.Total, v.Paper)
		}
		var b bytes.Buffer
		mattest.OK(t, errors.Join(report.Text(&b, r.Document()), report.Markdown(&b, r.Document()),
			report.CSV(&b, r.Lines())))
		text := mattest.Must(json.Marshal(r))
		var back paper.Result
		if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back.Document(), r.Document()) {
			t.Errorf("%s: the result read from its JSON makes another document (%v)", s.Name, err)
		}
		mattest.Equal(t, len(r.Figures()), want[s.Name].figures, "figures of %s:", s.Name)
		for _, p := range r.Figures() {
			mattest.OK(t, chart.SVG(&b, p))
			for _, series := range p.Data.(*report.Lines).Series {
				if strings.HasSuffix(series.Name, ", paper") && s.Name != "table4" && len(series.Y) > 0 {
					t.Errorf("%s draws the paper's accuracies beside those of a graph that is not its own", p.Name)
				}
			}
		}
		did := paper.Work{Timed: 2 * len(r.Times)}
		for _, c := range r.Cells {
			switch {
			case c.Arm == "Whole":
				did.Whole += 2
			case c.Model != "AVG":
				did.Trainings += 2
			}
		}
		mattest.Equal(t, did, s.Work(j.Sources, 2), "the work of %s is", s.Name)
	}
}

// TestGolden compares the text of table 6 for three graphs: one marked as the paper's, one that differs, and a
// synthetic graph. Numbers that depend on the SIMD code path are replaced.
func TestGolden(t *testing.T) {
	j := job(t, "table6", "cora", "arxiv", "flickr")
	j.Sources[2].Made = true
	j.Left = []string{"reddit is not here, and large"}
	r := mustRun(t, j)
	r.Graphs[0].Comparable, r.Graphs[0].Why = true, ""
	for i := range r.Cells {
		c := &r.Cells[i]
		c.Comparable = c.Graph == "cora"
		c.Test.Mean, c.Test.Std = 80+float64(i)/10, float64(i)/20
	}
	b := bytes.NewBufferString(r.Document().String() + "\n")
	mattest.OK(t, report.Markdown(b, r.Document()))
	golden.Compare(t, "testdata/table6.txt", b.Bytes())
}

// TestResume checks that a job keeps its training runs in the log, and that the next one repeats none and gets the same
// numbers.
func TestResume(t *testing.T) {
	log := newLog(t)
	j := job(t, "table6", "cora")
	want := mustRun(t, j)
	j.Log = log
	for _, missing := range []int{12, 0} {
		trained := 0
		r, err := j.Run(progress.With(t.Context(), func(e progress.Event) {
			if strings.HasPrefix(e.Stage, "training") && e.Done > 0 {
				trained++
			}
		}))
		if err != nil || trained != missing || len(log.Records()) != 12 {
			t.Fatalf("%d trainings, %d records (%v), want %d and 12", trained, len(log.Records()), err, missing)
		}
		for i, c := range r.Cells {
			mattest.True(t, c.Test == want.Cells[i].Test && c.Arm == want.Cells[i].Arm,
				"%s: %v with a log, %v without", c.Arm, c.Test, want.Cells[i].Test)
		}
	}
}

// TestSettings checks that the configurations of the arms match their names.
func TestSettings(t *testing.T) {
	by := func(r *paper.Result) map[string]cgc.Config {
		all := map[string]cgc.Config{}
		for _, c := range r.Cells {
			if c.Config != nil {
				config := cgc.Defaults()
				mattest.OK(t, json.Unmarshal(c.Config, &config))
				all[c.Arm] = config
			}
		}
		return all
	}
	j := job(t, "table11", "cora")
	c := by(mustRun(t, j))
	full := c["CGC"]
	if full.Variant != cgc.CGC || full.Partition != "spectral" || full.Hops != 2 || full.Augment == 0 ||
		math.IsInf(float64(full.Temperature), 1) || full.Inductive {
		t.Errorf("CGC is %+v", full)
	}
	for arm, is := range map[string]func(cgc.Config) bool{
		"CGC w/o AUG":   func(c cgc.Config) bool { return c.Augment == 0 },
		"CGC w/o CAL":   func(c cgc.Config) bool { return math.IsInf(float64(c.Temperature), 1) },
		"CGC w K-means": func(c cgc.Config) bool { return c.Partition == "kmeans" },
		"CGC w RAN":     func(c cgc.Config) bool { return c.Partition == "random" },
	} {
		mattest.True(t, is(c[arm]), "%s is %+v", arm, c[arm])
	}
	j.Ours = true
	ours, want := by(mustRun(t, j))["CGC"], cgc.Defaults()
	want.Nodes = ours.Nodes
	mattest.True(t, ours.Augment == want.Augment && ours.Partition == want.Partition && ours.Threshold == want.Threshold,
		"with Ours, CGC is %+v, want %+v", ours, want)
	j.NormalizeFeatures = true
	normalized := mustRun(t, j)
	mattest.True(t, by(normalized)["CGC"].NormalizeFeatures && normalized.NormalizeFeatures,
		"with NormalizeFeatures, CGC sees the features as they are")
	r := mustRun(t, job(t, "table5", "flickr"))
	mattest.True(t, by(r)[r.Cells[0].Arm].Inductive && r.Graphs[0].Inductive, "flickr is not inductive")
}

// TestAuthors checks that each cell of a table has the parameters of the authors' program, for condensing and for
// training, and that a graph without such parameters is an error.
func TestAuthors(t *testing.T) {
	j := job(t, "table3", "cora")
	j.Authors, j.Whole, j.Log = true, 0, newLog(t)
	r := mustRun(t, j)
	at := map[string]cgc.Config{}
	for _, c := range r.Cells {
		config := cgc.Defaults()
		mattest.OK(t, json.Unmarshal(c.Config, &config))
		at[c.Arm+" "+c.Ratio] = config
	}
	if c := at["CGC 2.60%"]; c.Alpha != 7 || c.Threshold != 0.8 || c.Degree != 0 || c.Temperature != 1 ||
		c.Augment != 0.5 || c.Partition != "spectral" {
		t.Errorf("CGC at 2.60%% is %+v", c)
	}
	if c := at["CGC-X 5.20%"]; len(at) != 6 || c.Temperature != 0.7 || c.Augment != 0.3 {
		t.Errorf("CGC-X at 5.20%% is %+v, of %d numbers", c, len(at))
	}
	for _, record := range j.Log.Records() {
		want := 0.8
		if record.Method() == "cgc-x" && record.Nodes == r.Cells[len(r.Cells)-1].Nodes {
			want = 0.9
		}
		mattest.Equal(t, record.Training.Dropout, want, "%s with %d nodes: dropout", record.Method(), record.Nodes)
	}
	j = job(t, "table3", "products")
	j.Authors = true
	mattest.Fails(t, "sets no parameters for this graph")(j.Run(t.Context()))
}

// TestSizes checks that graphs of the paper's sizes get the paper's numbers of condensed nodes.
func TestSizes(t *testing.T) {
	want := map[string][]int{
		"cora": {35, 70, 140}, "citeseer": {30, 60, 120}, "arxiv": {90, 454, 909}, "flickr": {44, 223, 446},
		"reddit": {76, 153, 307}, "products": {629, 1238, 2477},
	}
	for name, nodes := range want {
		of, _ := paper.Published().Of(name)
		y := make([]int32, of.Train)
		for i := range y {
			y[i] = int32(i % of.Classes)
		}
		g := &graph.Graph{Name: name, Y: y, Classes: of.Classes, Split: graph.Split{Train: memory.Range(0, of.Train)}}
		mattest.Equal(t, paper.SizesOn(name, g), nodes, "%s: N′ is", name)
	}
}

// TestModels checks a study with some of its models. Their average must not be compared with the paper's.
func TestModels(t *testing.T) {
	j := job(t, "table5", "arxiv", "cora")
	j.Seeds, j.Models = 1, []gnn.Model{gnn.GCN(), gnn.SGC()}
	r := mustRun(t, j)
	var said []string
	for _, c := range r.Cells[:3] {
		text := c.Model
		if c.Paper != nil {
			text += " " + c.Paper.String()
		}
		said = append(said, text)
	}
	mattest.Equal(t, strings.Join(said, ", "), "sgc 64.9, gcn 66.4, AVG", "cells are")
	mean := (r.Cells[0].Test.Mean + r.Cells[1].Test.Mean) / 2
	mattest.Near(t, r.Cells[2].Test.Mean, mean, 1e-9, "the average is")
	mattest.Says(t, r.Document().String(), "The paper has no numbers for cora in this table.")
}

// TestSensitivity checks that A′ has edges in the sweeps over T and α even on a graph with dissimilar embeddings, such
// as cora, and that raising T removes edges.
func TestSensitivity(t *testing.T) {
	j := job(t, "figure4", "own")
	j.Seeds = 1
	j.Open = func(_ context.Context, s paper.Source) (*graph.Graph, error) {
		return synth.Make(t.Context(), synth.Shape{
			Name: s.Name, Nodes: 300, Edges: 375, Features: 60, Classes: 4, Train: 60, Val: 40, Test: 60, Groups: 2,
			Homophily: 0.8, Signal: 1,
		}, rand.NewPCG(3, 4))
	}
	previous, least, most := math.Inf(1), math.Inf(1), 0.0
	for _, c := range mustRun(t, j).Cells {
		switch c.Part {
		case "threshold":
			mattest.True(t, c.Edges <= previous, "%s: %g edges, %g at the T before it", c.Arm, c.Edges, previous)
			previous, least, most = c.Edges, min(least, c.Edges), max(most, c.Edges)
		case "alpha":
			mean := 2 * c.Edges / float64(c.Nodes)
			mattest.True(t, mean >= 0.5 && mean <= 1, "%s: A′ has a mean degree of %g, want 0.5 to 1", c.Arm, mean)
		case "temperature":
			mattest.True(t, c.Edges <= 0, "%s: %g edges at T = 0.85, so this graph is not what the test wants", c.Arm, c.Edges)
		}
	}
	mattest.True(t, least <= 0 && most >= 20, "over T, A′ has %g to %g edges, want 0 to 20 or more", least, most)
}

func TestFind(t *testing.T) {
	for words, want := range map[string]string{
		"table3": "table3", "table1": "table2", "ablation": "table6 table11", "models table4": "table4 table5 table10",
		"depth sensitivity": "figure4 figure5", "table3 accuracy": "table3",
	} {
		var names []string
		for _, s := range mattest.Must(paper.Find(strings.Fields(words))) {
			names = append(names, s.Name)
		}
		mattest.Equal(t, strings.Join(names, " "), want, "%q calls", words)
	}
	mattest.Fails(t, "table7")(paper.Find([]string{"table3", "table7"}))
}

// TestChoose checks that available graphs are read, that missing ones are replaced by synthetic graphs, and that large
// missing graphs are omitted, with a reason.
func TestChoose(t *testing.T) {
	dir := t.TempDir()
	mattest.OK(t, dataset.Write(t.Context(), filepath.Join(dir, "cora.safetensors"), tiny(t, "cora")))
	options := dataset.Options{Search: []string{dir}}
	found := mattest.Must(paper.Find([]string{"table3"}))
	said := func(names []string, all bool) (string, int) {
		sources, left := paper.Choose(found[0], options, names, all)
		var words []string
		for _, s := range sources {
			if s.Made {
				s.Name += "*"
			}
			words = append(words, s.Name)
		}
		return strings.Join(words, " "), len(left)
	}
	for _, c := range []struct {
		names []string
		all   bool
		want  string
		left  int
	}{
		{nil, false, "cora citeseer* arxiv* flickr*", 2},
		{nil, true, "cora citeseer* arxiv* flickr* reddit* products*", 0},
		{[]string{"reddit", "own", "cora"}, false, "reddit* own cora", 0},
	} {
		if got, left := said(c.names, c.all); got != c.want || left != c.left {
			t.Errorf("%v, all %v: %s, %d left out, want %s and %d", c.names, c.all, got, left, c.want, c.left)
		}
	}
	for source, nodes := range map[paper.Source]int{{Name: "cora"}: 160, {Name: "citeseer", Made: true}: 3327} {
		g := mattest.Must(source.Open(t.Context(), options))
		mattest.True(t, g.Nodes() == nodes, "%+v has %d nodes, want %d", source, g.Nodes(), nodes)
	}
}

// TestComparable checks that a graph counts as the paper's data set because of its content, not only its sizes.
func TestComparable(t *testing.T) {
	r := mustRun(t, job(t, "table4", "cora", "own"))
	if g := r.Graphs[0]; g.Comparable || !strings.Contains(g.Why, "12 features here, 1433 in the paper") || !g.Paper {
		t.Errorf("cora of 12 features: %+v", g)
	}
	mattest.True(t, !r.Graphs[1].Comparable && !r.Graphs[1].Paper, "own: %+v", r.Graphs[1])
	for _, c := range []struct {
		name string
		made bool
		own  string // the name of the graph
		why  string
	}{
		{"citeseer", false, "citeseer", "not the public citeseer"},
		{"citeseer", false, "made-citeseer", "a synthetic graph"},
		{"citeseer", true, "citeseer", "a synthetic graph"},
	} {
		j := job(t, "table4", c.name)
		j.Seeds, j.Sources[0].Made = 1, c.made
		j.Open = func(ctx context.Context, s paper.Source) (*graph.Graph, error) {
			g, err := paper.Source{Name: s.Name, Made: true}.Open(ctx, dataset.Options{})
			g.Name = c.own
			return g, err
		}
		if g := mustRun(t, j).Graphs[0]; g.Comparable || !strings.Contains(g.Why, c.why) ||
			g.Made != (c.why == "a synthetic graph") {
			t.Errorf("%+v: %+v", c, g)
		}
	}
}

// TestRealIsComparable checks that results on a real data set are compared with the paper's.
func TestRealIsComparable(t *testing.T) {
	o := dataset.Environment()
	o.Cache = "" // never fetch
	if _, err := o.Open(t.Context(), "citeseer"); err != nil {
		t.Skip("citeseer is not in $CGC_DATA")
	}
	j := job(t, "table4", "citeseer")
	j.Seeds = 1
	j.Open = func(ctx context.Context, s paper.Source) (*graph.Graph, error) { return s.Open(ctx, o) }
	g := mustRun(t, j).Graphs[0]
	mattest.True(t, g.Comparable && g.Why == "", "%+v", g)
}

func TestMain(m *testing.M) { os.Exit(fixture.Offline(m)) }
