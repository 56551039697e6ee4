package session_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/cli"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/predictions"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/web/session"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format/arrivals"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/experiment/model"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
)

// tester sends requests to a session.
type tester struct {
	*testing.T
	*session.Session
	events []progress.Event
}

func begin(t *testing.T) *tester {
	return &tester{T: t, Session: &session.Session{Inbox: t.TempDir(), Outbox: t.TempDir()}}
}

// ask sends a request. It stores the answer in out, or returns the message of a failure.
func (t *tester) ask(request map[string]any, out any) (sentence string) {
	t.Helper()
	text := mattest.Must(json.Marshal(request))
	ctx := progress.With(t.Context(), func(e progress.Event) { t.events = append(t.events, e) })
	answer := t.Do(ctx, text)
	var failed session.Failure
	if json.Unmarshal(answer, &failed) == nil && failed.Error != "" {
		return failed.Error
	}
	mattest.OK(t, json.Unmarshal(answer, out))
	return ""
}

// get sends a request that must succeed, and returns the answer.
func get[T any](t *tester, request map[string]any) (answer T) {
	t.Helper()
	if sentence := t.ask(request, &answer); sentence != "" {
		t.Fatalf("%v: %s", request, sentence)
	}
	return answer
}

// demo condenses the demo graph with the given parameters.
func (t *tester) demo(changes map[string]any) session.Condensed {
	t.Helper()
	return get[session.Condensed](t, map[string]any{"do": "condense", "graph": "demo", "config": changes})
}

// report returns the report on a condensation of the demo graph.
func (t *tester) report(c session.Condensed) string {
	t.Helper()
	ask := map[string]any{"do": "report", "graph": "demo", "file": c.Files[0].Path}
	page := get[session.Converted](t, ask).Files[0]
	mattest.Equal(t, page.Name, strings.TrimSuffix(c.Files[0].Name, ".safetensors")+".html", "the report is")
	return string(mattest.Must(os.ReadFile(page.Path)))
}

// put writes a file into the inbox.
func (t *tester) put(name, text string) {
	t.Helper()
	path := filepath.Join(t.Inbox, name)
	mattest.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
	mattest.OK(t, os.WriteFile(path, []byte(text), 0o600))
}

func TestAbout(t *testing.T) {
	a := get[session.About](begin(t), map[string]any{"do": "about"})
	if a.Methods[0] != "auto" || !slices.Contains(a.Partitions, "kmeans") || !slices.Contains(a.Models, "gcn") ||
		len(a.Propagations) < 3 || len(a.Formats) < 8 || a.Go == "" {
		t.Errorf("%+v", a)
	}
}

// TestCommandMakesTheSame checks that a session writes the same file as the command line it displays, except for the
// timings.
func TestCommandMakesTheSame(t *testing.T) {
	for _, changes := range []map[string]any{
		nil,
		{"nodes": 35, "method": "cgc-x", "seed": 3},
		{"nodes": 21, "hops": 3, "partition": "spectral", "standardize": true},
		{"nodes": 14, "method": "auto", "inductive": true},
		{"temperature": "inf", "inductive": true, "augment": 0.5},
	} {
		s := begin(t)
		c := s.demo(changes)
		t.Chdir(t.TempDir())
		words := strings.Fields(c.Command)
		if code := cli.Run(t.Context(), words[1:], io.Discard, os.Stderr); words[0] != "cgc" || code != 0 {
			t.Fatalf("%s ends with %d", c.Command, code)
		}
		file := c.Files[0]
		same := bytes.Equal(mattest.Must(os.ReadFile(file.Path)), mattest.Must(os.ReadFile(file.Name)))
		mattest.True(t, same, "%s makes another file", c.Command)
		mattest.Equal(t, mattest.Must(os.Stat(c.Files[0].Path)).Size(), c.Files[0].Bytes, "the size of the file is")
	}
}

// TestConvert checks that the condensed graph has a report, and can be converted to each format that stores it as one
// file.
func TestConvert(t *testing.T) {
	s := begin(t)
	c := s.demo(nil)
	page := s.report(c)
	mattest.True(t, strings.Contains(page, c.Command), "a report of %d bytes, want one with the command %q", len(page),
		c.Command)
	want := mattest.Must(condense.Load(c.Files[0].Path))
	for _, extension := range []string{".npz", ".pt"} {
		mattest.True(t, slices.ContainsFunc(c.Formats, func(s session.Store) bool { return s.Extension == extension }),
			"formats %+v, want one with %s", c.Formats, extension)
	}
	for _, store := range append(c.Formats, session.Store{Name: "safetensors"}, session.Store{Name: "gone"}) {
		var got session.Converted
		conversion := map[string]any{"file": c.Files[0].Path, "format": store.Name}
		sentence := s.ask(map[string]any{"do": "convert", "conversion": conversion}, &got)
		if store.Extension == "" {
			mattest.True(t, strings.Contains(sentence, store.Name), "%s: %q", store.Name, sentence)
			continue
		}
		if sentence != "" || got.Files[0].Name != "demo-70"+store.Extension {
			t.Fatalf("%+v: %q, %+v", store, sentence, got)
		}
		again := mattest.Must(condense.Load(got.Files[0].Path))
		mattest.True(t, slices.Equal(again.X.Data, want.X.Data) && slices.Equal(again.Y, want.Y),
			"%s comes back as another graph", got.Files[0].Name)
	}
}

// TestTrain checks that training gives the same results as an evaluation, even on a file of another session, and that
// it reports its epochs.
func TestTrain(t *testing.T) {
	s := begin(t)
	c := s.demo(map[string]any{"standardize": true})
	small := mattest.Must(condense.Load(c.Files[0].Path))
	training := gnn.Defaults()
	training.Epochs, training.Weighted = 5, true
	plan := experiment.Evaluation{Models: []gnn.Model{gnn.SGC()}, Training: training, Trainings: 1, Seed: 4}
	scores := mattest.Must(plan.Run(t.Context(), small, synth.Demo()))
	for _, s := range []*tester{s, {T: t, Session: &session.Session{Outbox: s.Outbox}}} {
		ask := map[string]any{"model": "sgc", "epochs": 5, "seed": 4, "file": c.Files[0].Path}
		got := get[session.Trained](s, map[string]any{"do": "train", "graph": "demo", "training": ask})
		mattest.True(t, got.Test == scores[0].Test[0] && got.Validation == scores[0].Val[0] && got.Nodes == 70,
			"%+v, want test %v", got, scores[0].Test)
		last := (progress.Event{Stage: "train sgc", Done: 5, Total: 5})
		mattest.True(t, slices.Contains(s.events, last), "events %v do not hold %v", s.events, last)
	}
}

// TestTrainOnTheWhole checks that training on the full graph uses its training nodes, and gives a different result.
func TestTrainOnTheWhole(t *testing.T) {
	s := begin(t)
	c := s.demo(nil)
	var small, whole session.Trained
	for _, out := range []*session.Trained{&small, &small, &whole} { // the second score of small replaces the first
		ask := map[string]any{"model": "sgc", "epochs": 20, "file": c.Files[0].Path, "whole": out == &whole}
		*out = get[session.Trained](s, map[string]any{"do": "train", "graph": "demo", "training": ask})
	}
	mattest.Says(t, s.report(c), "trained on the full graph")
	ask := map[string]any{"model": "sgc", "epochs": 3, "file": c.Files[0].Path}
	get[session.Trained](s, map[string]any{"do": "train", "graph": "demo", "training": ask})
	mattest.True(t, !strings.Contains(s.report(c), "trained on the full graph"), "the report compares 3 epochs with 20")
	mattest.True(t, small.Nodes == 70 && whole.Nodes == 140 && whole.Test != small.Test,
		"small %+v, whole %+v", small, whole)
}

// TestOpen checks the description of a user's folder: notes, names of classes, and the range of the size.
func TestOpen(t *testing.T) {
	s := begin(t)
	s.put("mine/nodes.csv", "id,label,f\na,x,1\nb,y,0\nc,x,2\nd,y,1\ne,x,0\n")
	s.put("mine/edges.csv", "source,target\na,b\nb,a\nc,c\nc,d\n")
	o := get[session.Opened](s, map[string]any{"do": "open", "graph": filepath.Join(s.Inbox, "mine")})
	want := mattest.Must(dataset.Options{}.Open(t.Context(), filepath.Join(s.Inbox, "mine")))
	if o.Name != "mine" || o.Nodes != 5 || o.Edges != 2 || o.Isolated != 1 ||
		!slices.Equal(o.ClassNames, want.ClassNames) {
		t.Errorf("%+v", o)
	}
	if o.Most != len(want.Split.Train) || o.Least != 2 || o.Config.Nodes < 2 || len(o.Why) != 1 || o.Problem != "" {
		t.Errorf("%+v, want %d training nodes", o, len(want.Split.Train))
	}
	mattest.Says(t, strings.Join(o.Notes, " "), "split") // which was drawn
}

// TestPredict checks that opening a folder with a model and new nodes predicts them, and writes the same file as cgc
// predict --new. A model without a summary, an edge to an unknown node, and two models with a summary are errors.
func TestPredict(t *testing.T) {
	s, ctx := begin(t), t.Context()
	g := synth.Demo()
	config := cgc.Defaults()
	config.Nodes = 14
	small := mattest.Must(cgc.Condense(ctx, g, config))
	training := gnn.Defaults()
	training.Epochs, training.Hidden = 20, 8
	best := mattest.Must(experiment.Evaluation{
		Models: []gnn.Model{gnn.SGC()}, Training: training, Trainings: 1,
	}.Best(ctx, small, g))
	m := model.Of(small, best)
	known := mattest.Must(m.Summarize(ctx, g, 70, 0))

	nodes := "id"
	for k := range g.Features() {
		nodes += fmt.Sprintf(",f%d", k)
	}
	for i, id := range []string{"first", "second"} {
		nodes += "\n" + id
		for _, v := range g.X.(*mat.Dense).Row(i) {
			nodes += fmt.Sprintf(",%v", v)
		}
	}
	s.put("new/nodes.csv", nodes+"\n")
	s.put("new/edges.csv", "source,target\nfirst,0\nsecond,1\n")
	folder := filepath.Join(s.Inbox, "new")
	mattest.OK(t, m.Save(ctx, filepath.Join(folder, "model.safetensors")))
	open := map[string]any{"do": "open", "graph": folder}
	mattest.Says(t, s.ask(open, new(any)), "cgc summarize") // a model without a summary
	mattest.OK(t, known.Save(ctx, filepath.Join(folder, "model.safetensors")))
	mattest.OK(t, m.Save(ctx, filepath.Join(folder, "trained.safetensors"))) // ignored: it has no summary
	p := get[session.Predicted](s, open)
	table, _, err := predictions.OfNew(ctx, mattest.Must(model.Load(filepath.Join(folder, "model.safetensors"))),
		arrivals.Source{Path: folder})
	mattest.OK(t, err)
	var want bytes.Buffer
	mattest.OK(t, table.WriteCSV(&want))
	got := mattest.Must(os.ReadFile(p.Files[0].Path))
	mattest.True(t, bytes.Equal(got, want.Bytes()), "the file has\n%s, want\n%s", got, &want)
	total := 0
	for _, c := range p.Classes {
		total += c.Nodes
	}
	if p.Nodes != 2 || total != 2 || p.Model != "sgc" || p.First[1][0] != "second" ||
		p.First[1][1] != table.ClassName(table.Class(1)) {
		t.Errorf("%+v", p)
	}
	s.put("new/edges.csv", "source,target\nfirst,4000\n")
	mattest.Says(t, s.ask(open, new(any)), "new/edges.csv:2") // an edge to an unknown node
	mattest.OK(t, known.Save(ctx, filepath.Join(folder, "other.safetensors")))
	const two = "model.safetensors and other.safetensors are two models with a summary, must be one"
	mattest.Equal(t, s.ask(open, new(any)), two, "two models:")
}

// TestFailures checks that error messages use the user's terms, without the path of the inbox or names of packages.
func TestFailures(t *testing.T) {
	s := begin(t)
	s.put("bad/nodes.csv", "id,label,f\na,x,1\nb,y,oops\n")
	s.put("bad/edges.csv", "source,target\na,b\n")
	in := func(name string) string { return filepath.Join(s.Inbox, name) }
	s.put("notes.txt", "hello")
	for _, c := range []struct {
		request map[string]any
		want    []string
	}{
		{map[string]any{"do": "open", "graph": in("bad")}, []string{"bad/nodes.csv:3", "oops"}},
		{map[string]any{"do": "open", "graph": in("gone")}, []string{"gone", "no file or folder"}},
		{map[string]any{"do": "open", "graph": in("notes.txt")}, []string{"notes.txt", "not recognised"}},
		{map[string]any{"do": "dance"}, []string{"dance", "train or report"}},
		{map[string]any{"do": "condense", "graph": "demo", "config": map[string]any{"nodes": 3}}, []string{"3", "7", "140"}},
		{map[string]any{"do": "condense", "graph": "demo", "config": map[string]any{"node": 3}}, []string{"node"}},
		{map[string]any{"do": "train", "graph": "demo"}, []string{"training"}},
		{map[string]any{"do": "train", "graph": "demo", "training": map[string]any{"model": "gcm", "epochs": 1}},
			[]string{"gcm", "gcn"}},
		{map[string]any{"do": "train", "graph": "demo", "training": map[string]any{"model": "gcn"}},
			[]string{"epochs 0", "at least 1"}},
		{map[string]any{"do": "train", "graph": "demo",
			"training": map[string]any{"model": "gcn", "epochs": 1, "file": in("gone.safetensors")}}, []string{"gone"}},
	} {
		sentence := s.ask(c.request, new(any))
		mattest.Says(t, sentence, c.want...)
		if strings.Contains(sentence, s.Inbox) || strings.Contains(sentence, "\n") ||
			strings.HasPrefix(sentence, "dataset:") {
			t.Errorf("%v: %q", c.request, sentence)
		}
	}
}

// TestSeveral checks that opening a folder of several graphs asks which one to open, and that each choice opens.
func TestSeveral(t *testing.T) {
	s := begin(t)
	for _, name := range []string{"one", "two"} {
		mattest.OK(t, dataset.Write(t.Context(), filepath.Join(s.Inbox, name+".safetensors"), synth.Demo()))
	}
	request := mattest.Must(json.Marshal(map[string]any{"do": "open", "graph": s.Inbox}))
	var failed session.Failure
	mattest.OK(t, json.Unmarshal(s.Do(t.Context(), request), &failed))
	if len(failed.Choose) != 2 || failed.Error == "" {
		t.Fatalf("%+v", failed)
	}
	for _, choice := range failed.Choose {
		o := get[session.Opened](s, map[string]any{"do": "open", "graph": choice.Path})
		mattest.Equal(t, o.Nodes, 4000, "%+v: nodes", choice)
	}
}

// FuzzDo sends arbitrary bytes as a request. The answer must be JSON. A failure must be one line without the folders of
// the page, and must leave no file. The context is already cancelled, so requests are read and checked, but no work is
// done.
func FuzzDo(f *testing.F) {
	for _, seed := range []string{
		`{"do":"about"}`, `{"do":"open","graph":"demo"}`, `{"do":"dance"}`, `{`, `null`, `[]`, `{"do":1}`,
		`{"do":"condense","graph":"demo","config":{"nodes":35,"method":"cgc-x","partition":"spectral"}}`,
		`{"do":"condense","graph":"demo","config":{"nodes":-1,"hops":1e9,"temperature":"x"}}`,
		`{"do":"condense","graph":"demo","config":{"ratio":"2.6%","memory":99999999999999999999}}`,
		`{"do":"convert","conversion":{"file":"small.safetensors","format":"pt"}}`,
		`{"do":"convert","conversion":{"file":"../../etc/passwd","format":"../x"}}`,
		`{"do":"train","graph":"demo","training":{"model":"gcn","epochs":5,"file":"x"}}`,
		`{"do":"train","graph":"demo","training":{"model":"gat","epochs":1e6,"hidden":-5,"seeds":1e9}}`,
		`{"do":"report"}`, `{"do":"report","graph":"demo","file":"small.safetensors"}`,
	} {
		f.Add([]byte(seed))
	}
	ended := mattest.Cancelled(f)
	folder := f.TempDir()
	f.Fuzz(func(t *testing.T, request []byte) {
		var r session.Request
		if json.Unmarshal(request, &r) == nil && r.Graph != "demo" && strings.ContainsAny(r.Graph, `/\.~`) {
			t.Skip("files of this machine are not what the page has")
		}
		s := &session.Session{Inbox: "/the inbox of the page", Outbox: folder}
		answer := s.Do(ended, request)
		if !json.Valid(answer) || bytes.ContainsRune(answer, '\n') {
			t.Fatalf("the answer is not one line of JSON: %s", answer)
		}
		var failed session.Failure
		if json.Unmarshal(answer, &failed) == nil && failed.Error != "" {
			if strings.ContainsRune(failed.Error, '\n') || strings.Contains(failed.Error, s.Inbox) ||
				strings.Contains(failed.Error, folder) {
				t.Errorf("%q", failed.Error)
			}
			left, err := os.ReadDir(folder)
			mattest.True(t, err == nil && len(left) == 0, "%v, left %v", err, left)
		}
	})
}
