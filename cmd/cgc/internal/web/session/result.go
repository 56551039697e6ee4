package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/html"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/overview"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/internal/atomicfile"
	"github.com/graph-condensation/cgc/progress"
)

// Store is a format that stores a condensed graph as one file.
type Store struct {
	// Name is the value of Conversion.Format. Title is the name shown to the user, and Extension is the file extension.
	Name      string `json:"name"`
	Title     string `json:"title"`
	Extension string `json:"extension"`
}

// stores returns the formats, other than cgc's own, that store a condensed graph as one file.
func stores() []Store {
	all := []Store{}
	for _, name := range format.Stores() {
		f, _ := format.Find(name) // format.Stores lists it, so it exists
		d := f.Describe()
		if d.File != "" && len(d.Extensions) > 0 && d.Extensions[0] != extension { // only formats that write a single file
			all = append(all, Store{name, d.Title, d.Extensions[0]})
		}
	}
	return all
}

// Converted is a condensed graph in another format.
type Converted struct {
	Files []File `json:"files"`
}

// convert writes the requested condensed graph in another format.
func (s *Session) convert(ctx context.Context, c *Conversion) (*Converted, error) {
	if c == nil {
		return nil, errors.New("the page asks for another format, and does not say which")
	}
	for _, store := range stores() {
		if store.Name != c.Format {
			continue
		}
		small, err := s.condensed(c.File)
		if err != nil {
			return nil, err
		}
		name := s.name + store.Extension
		progress.Report(ctx, progress.Event{Stage: "write"})
		if err := small.SaveAs(progress.With(ctx, nil), filepath.Join(s.Outbox, name), c.Format); err != nil {
			return nil, err
		}
		file, err := s.made(name, "the condensed graph, for "+store.Title)
		return &Converted{Files: []File{file}}, err
	}
	return nil, fmt.Errorf("condensed graphs cannot be written in the format %q as one file", c.Format)
}

// report writes the report page about the condensation of the graph at path, and the training runs so far.
func (s *Session) report(ctx context.Context, path, file string) (*Converted, error) {
	g, err := s.opened(ctx, path)
	if err != nil {
		return nil, err
	}
	small, err := s.condensed(file)
	if err != nil {
		return nil, err
	}
	subject := overview.Subject{
		Graph: g, Condensed: small, Small: s.onSmall, Whole: s.onWhole, Over: "training seeds",
		Command: overview.Command(s.name+extension, small, s.argument(path)),
		Source:  s.argument(path), File: s.name + extension, Date: time.Now().Format(time.DateOnly),
	}
	document, err := subject.Document(progress.With(ctx, nil))
	if err != nil {
		return nil, err
	}
	name := s.name + ".html"
	write := func(w io.Writer) error { return html.Render(w, document) }
	if err := atomicfile.Write(filepath.Join(s.Outbox, name), write); err != nil {
		return nil, err
	}
	page, err := s.made(name, "the report")
	return &Converted{Files: []File{page}}, err
}

// keep stores the score of a training run for the report. It replaces an earlier score of the same model. A new score
// on the condensed graph discards the model's score on the full graph, which may have other epochs or another seed.
func (s *Session) keep(r *gnn.Result, whole bool) {
	scores := &s.onWhole
	if !whole {
		scores = &s.onSmall
		s.onWhole = slices.DeleteFunc(s.onWhole, func(e experiment.Score) bool { return e.Model == r.Model })
	}
	score := experiment.Score{
		Model: r.Model, Val: []float64{r.Validation}, Test: []float64{r.Test}, Seconds: r.Seconds, Predicted: r.Predicted,
	}
	for i, earlier := range *scores {
		if earlier.Model == score.Model {
			(*scores)[i] = score
			return
		}
	}
	*scores = append(*scores, score)
}
