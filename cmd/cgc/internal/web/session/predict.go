package session

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/predictions"
	"github.com/graph-condensation/cgc/dataset/format/arrivals"
	"github.com/graph-condensation/cgc/experiment/model"
	"github.com/graph-condensation/cgc/internal/atomicfile"
	"github.com/graph-condensation/cgc/progress"
)

// Predicted is the answer to "open" for a folder with a model and new nodes.
type Predicted struct {
	// Predicted is the name of the folder. Model is the name of the GNN.
	Predicted string `json:"predicted"`
	Model     string `json:"model"`
	// Nodes is the number of new nodes. Classes has the number of nodes predicted for each class.
	Nodes   int          `json:"nodes"`
	Classes []ClassCount `json:"classes"`
	// First lists the id, the class and its probability in percent for the first nodes, at most mostFirst.
	First [][3]string `json:"first"`
	// Notes lists what reading left out, one sentence each. Seconds is the time spent predicting.
	Notes   []string `json:"notes"`
	Seconds float64  `json:"seconds"`
	Files   []File   `json:"files"`
}

// ClassCount is the number of nodes that are predicted to belong to a class.
type ClassCount struct {
	Name  string `json:"name"`
	Nodes int    `json:"nodes"`
}

// mostFirst is the maximum number of nodes in Predicted.First.
const mostFirst = 20

// arrived returns the model in the folder at path if the folder also has new nodes, in nodes.csv or nodes.csv.gz. It
// returns nil for anything else, such as a graph. A model with a summary precedes others, and two of them are an error.
func arrived(path string) (found *model.Model, err error) {
	entries, err := os.ReadDir(path)
	if err != nil || !slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return e.Name() == "nodes.csv" || e.Name() == "nodes.csv.gz"
	}) {
		return nil, nil
	}
	name := ""
	for _, e := range entries {
		if !strings.EqualFold(filepath.Ext(e.Name()), extension) {
			continue
		}
		m, err := model.Load(filepath.Join(path, e.Name()))
		switch {
		case err != nil || found != nil && m.Known == nil:
		case found != nil && found.Known != nil:
			return nil, fmt.Errorf("%s and %s are two models with a summary, must be one", name, e.Name())
		default:
			found, name = m, e.Name()
		}
	}
	return found, nil
}

// predict predicts the new nodes in the folder at path with a model that was written by cgc summarize.
func (s *Session) predict(ctx context.Context, m *model.Model, path string) (*Predicted, error) {
	s.graph, s.small = nil, nil // free memory
	progress.Report(ctx, progress.Event{Stage: "read"})
	p, notes, err := predictions.OfNew(ctx, m, arrivals.Source{Path: path})
	if err != nil {
		return nil, err
	}
	answer := &Predicted{
		Predicted: p.Graph, Model: m.Model.Name(), Nodes: len(p.Nodes), Notes: append([]string{}, notes...),
		First: [][3]string{}, Seconds: p.Seconds,
	}
	classes, _ := p.Counts()
	for c, n := range classes {
		answer.Classes = append(answer.Classes, ClassCount{p.ClassName(c), n})
	}
	for k, i := range p.Nodes[:min(len(p.Nodes), mostFirst)] {
		class := p.Class(k)
		probability := strconv.FormatFloat(100*float64(p.Probabilities.Row(k)[class]), 'f', 1, 64)
		answer.First = append(answer.First, [3]string{p.ID(i), p.ClassName(class), probability})
	}
	progress.Report(ctx, progress.Event{Stage: "write"})
	const name = "predictions.csv"
	if err := atomicfile.Write(filepath.Join(s.Outbox, name), p.WriteCSV); err != nil {
		return nil, err
	}
	file, err := s.made(name, "the class of each new node, with the probability of every class")
	answer.Files = []File{file}
	return answer, err
}
