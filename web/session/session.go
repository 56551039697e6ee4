// Package session does what the page of package web asks for: it opens a graph, condenses it, and trains on the result.
//
// The page is one thread, and the program another. A Request comes in as JSON, and its answer goes back as JSON. Work
// reports to the context (package progress). Files are read and written through package os: in a browser, the page
// provides a file system in memory.
package session

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/plain"
)

// Session keeps the last graph that was opened and the last one that was condensed. Do one request at a time.
type Session struct {
	// Inbox is the folder in which the files of the page stand. Sentences leave it out, as the user knows nothing of it.
	Inbox string
	// Outbox is the folder for files that requests write. It exists.
	Outbox string

	path  string // what graph was opened from
	graph *graph.Graph
	notes []string
	load  float64 // seconds

	file  string // what small was written to
	name  string // of that file, without its extension
	small *condense.Condensed
	// The scores of the models that were trained on small, and on the whole graph.
	onSmall, onWhole []experiment.Score
}

// Request is what the page asks for.
type Request struct {
	// Do is "about", "open", "condense", "convert" or "train".
	Do string `json:"do"`
	// Graph is "demo", or the path of a file or a folder. It is opened if it is not the last one.
	Graph string `json:"graph"`
	// Config holds the parameters that differ from the defaults for the graph, for condense.
	Config json.RawMessage `json:"config"`
	// Training says how to train.
	Training *Training `json:"training"`
	// Conversion says in which format to write a condensed graph.
	Conversion *Conversion `json:"conversion"`
}

// Conversion asks for a condensed graph in another format.
type Conversion struct {
	// File is the condensed graph, as Condensed.Files has it. Format is the Name of one of Condensed.Formats.
	File   string `json:"file"`
	Format string `json:"format"`
}

// Failure is what is wrong, in a sentence for the user.
type Failure struct {
	Error string `json:"error"`
	// Choose lists the graphs of a folder that holds several. Path is what Request.Graph takes.
	Choose []Choice `json:"choose,omitempty"`
}

// Choice is one of several graphs.
type Choice struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

// Do carries out a request, given as JSON, and returns the answer as JSON: an About, Opened, Condensed, Converted or
// Trained. If anything fails, the answer is a Failure. The same requests give the same answers, seconds aside.
func (s *Session) Do(ctx context.Context, request []byte) []byte {
	answer, err := s.do(ctx, request)
	if err == nil {
		var text []byte
		if text, err = json.Marshal(answer); err == nil {
			return text
		}
	}
	text, _ := json.Marshal(s.failure(err)) // strings alone
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
		return s.open(ctx, r.Graph)
	case "condense":
		return s.condense(ctx, r.Graph, r.Config)
	case "convert":
		return s.convert(ctx, r.Conversion)
	case "train":
		return s.train(ctx, r.Graph, r.Training)
	}
	return nil, fmt.Errorf("the page asks for %q, want about, open, condense, convert or train", r.Do)
}

// sentence returns err as the page shows it: paths begin at the folder or the file that the user chose.
func (s *Session) sentence(err error) string {
	text := plain.Sentence(err)
	if s.Inbox != "" {
		text = strings.ReplaceAll(text, strings.TrimSuffix(s.Inbox, "/")+"/", "")
	}
	return text
}
