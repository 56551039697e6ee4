// Package session handles the requests of the page in package web: it opens a graph, condenses it, and trains on the
// result, or predicts new nodes with a model.
//
// The page and the program run in different threads. Requests and answers are JSON. Progress is reported to the context
// (package progress). Files are read and written through package os; in a browser, the page provides a file system in
// memory.
package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/condense/auto"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/buildinfo"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/progress"
	"github.com/graph-condensation/cgc/propagate"
)

// Session keeps the graph opened last and the condensed graph made last. It handles one request at a time.
type Session struct {
	// Inbox is the folder with the user's files. Messages omit it, because the user does not know it.
	Inbox string
	// Outbox is the folder for files that requests write. It must exist.
	Outbox string

	path  string // the path of graph
	graph *graph.Graph
	notes []string

	file  string // the path of small
	name  string // the name of that file, without its extension
	small *condense.Condensed
	// The scores of models trained on small, and of models trained on the full graph.
	onSmall, onWhole []experiment.Score
}

// Request is a request of the page.
type Request struct {
	// Do is "about", "open", "condense", "convert", "train" or "report".
	Do string `json:"do"`
	// Graph is "demo", or the path of a file or a folder. It is opened if necessary.
	Graph string `json:"graph"`
	// Config holds, for condense, the parameters that differ from the defaults for the graph.
	Config json.RawMessage `json:"config"`
	// Training holds, for train, the parameters of the training.
	Training *Training `json:"training"`
	// Conversion holds, for convert, the condensed graph and the format.
	Conversion *Conversion `json:"conversion"`
	// File is, for report, the condensed graph, as in Condensed.Files.
	File string `json:"file"`
}

// Conversion requests a condensed graph in another format.
type Conversion struct {
	// File is the condensed graph, as in Condensed.Files. Format is the Name of one of Condensed.Formats.
	File   string `json:"file"`
	Format string `json:"format"`
}

// Failure is an error message for the user.
type Failure struct {
	Error string `json:"error"`
	// Choose lists the graphs of a folder with several graphs. The Path of a Choice can be used as Request.Graph.
	Choose []Choice `json:"choose,omitempty"`
}

// Choice is one of several graphs.
type Choice struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

// Do handles a JSON request and returns the answer as JSON: an About, Opened, Predicted, Condensed, Trained, or a
// Converted, also for a report; or a Failure if an error occurs. Apart from times, equal sequences of requests give
// equal answers.
func (s *Session) Do(ctx context.Context, request []byte) []byte {
	answer, err := s.do(ctx, request)
	if err == nil {
		var text []byte
		if text, err = json.Marshal(answer); err == nil {
			return text
		}
	}
	text, _ := json.Marshal(s.failure(err)) // cannot fail: a Failure contains only strings
	return text
}

func (s *Session) do(ctx context.Context, text []byte) (any, error) {
	var r Request
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("the request of the page: %w", err)
	}
	switch r.Do {
	case "about":
		return about(), nil
	case "open":
		switch m, err := arrived(r.Graph); {
		case err != nil:
			return nil, err
		case m != nil:
			return s.predict(ctx, m, r.Graph)
		}
		return s.open(ctx, r.Graph)
	case "condense":
		return s.condense(ctx, r.Graph, r.Config)
	case "convert":
		return s.convert(ctx, r.Conversion)
	case "train":
		return s.train(ctx, r.Graph, r.Training)
	case "report":
		return s.report(ctx, r.Graph, r.File)
	}
	return nil, fmt.Errorf("the page asks for %q, must be about, open, condense, convert, train or report", r.Do)
}

// sentence returns the message of err for the page. Paths in it begin at the folder or file that the user chose.
func (s *Session) sentence(err error) string {
	text := report.Sentence(err)
	if s.Inbox != "" {
		text = strings.ReplaceAll(text, strings.TrimSuffix(s.Inbox, "/")+"/", "")
	}
	return text
}

// About describes the program and what it supports.
type About struct {
	// Version, Revision and Go identify the build; each is empty if unknown.
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Go       string `json:"go"`
	// Methods, Partitions, Propagations and Models list the choices. The default, if any, comes first.
	Methods      []string         `json:"methods"`
	Partitions   []string         `json:"partitions"`
	Propagations []propagate.Rule `json:"propagations"`
	Models       []string         `json:"models"`
	// Formats describes the formats of graphs, one line each.
	Formats []Format `json:"formats"`
}

// Format describes the files of a format. Folder or File may be empty.
type Format struct {
	Title  string `json:"title"`
	Folder string `json:"folder,omitempty"`
	File   string `json:"file,omitempty"`
}

func about() About {
	build := buildinfo.This()
	a := About{
		Version: build.Version, Revision: build.Revision, Go: build.Go, Methods: []string{auto.New().Name()},
		Partitions: partition.Names(), Propagations: propagate.Rules(), Models: gnn.Names(),
	}
	for _, v := range cgc.Variants() {
		a.Methods = append(a.Methods, string(v))
	}
	for _, name := range format.Names() {
		if f, err := format.Find(name); err == nil {
			d := f.Describe()
			a.Formats = append(a.Formats, Format{d.Title, d.Folder, d.File})
		}
	}
	return a
}

// Opened describes a graph that was opened.
type Opened struct {
	dataset.Facts
	// ClassNames holds the name of each class; absent if classes are numbered.
	ClassNames []string `json:"class_names,omitempty"`
	// Notes lists what reading changed or added, one sentence each.
	Notes []string `json:"notes"`
	// Problem is the reason why the graph cannot be condensed; absent if it can.
	Problem string `json:"problem,omitempty"`
	// Config holds the defaults for the graph. Why lists the reasons for defaults that depend on the graph.
	Config cgc.Config `json:"config"`
	Why    []string   `json:"why"`
	// Least and Most bound the number of condensed nodes.
	Least int `json:"least"`
	Most  int `json:"most"`
}

// open opens and describes a graph.
func (s *Session) open(ctx context.Context, path string) (*Opened, error) {
	g, err := s.opened(ctx, path)
	if err != nil {
		return nil, err
	}
	progress.Report(ctx, progress.Event{Stage: "describe"})
	o := &Opened{ClassNames: g.ClassNames, Notes: s.notes, Why: []string{}}
	if o.Facts, err = dataset.Describe(g); err != nil {
		return nil, err
	}
	if err := condense.Trainable(g); err != nil {
		o.Problem = s.sentence(err)
	}
	config, why := cgc.DefaultsFor(g)
	o.Config = config
	for _, reason := range why {
		o.Why = append(o.Why, reason.Text)
	}
	o.Least, o.Most = g.TrainClasses(), len(g.Split.Train)
	return o, nil
}

// opened returns the graph at path, and caches the graph opened last.
func (s *Session) opened(ctx context.Context, path string) (*graph.Graph, error) {
	if s.graph != nil && s.path == path {
		return s.graph, nil
	}
	s.graph, s.small, s.notes = nil, nil, []string{} // free memory for the next graph
	progress.Report(ctx, progress.Event{Stage: "read"})
	options := dataset.Options{Note: func(sentence string) { s.notes = append(s.notes, sentence) }}
	g, err := options.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	s.path, s.graph = path, g
	return g, nil
}

func (s *Session) failure(err error) Failure {
	f := Failure{Error: s.sentence(err)}
	if several, is := errors.AsType[*format.SeveralError](err); is {
		for _, place := range several.Graphs {
			f.Choose = append(f.Choose, Choice{place.Name, place.Path})
		}
	}
	return f
}
