// Package predictions computes a trained model's predictions for nodes, and writes them as a table or as arrays.
package predictions

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/arrivals"
	"github.com/graph-condensation/cgc/experiment/model"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/safetensors"
	"github.com/graph-condensation/cgc/mat"
)

// Predictions are the predictions of a model for some nodes of a graph, or for new nodes.
type Predictions struct {
	// Graph is the name of the graph, or of the folder of new nodes.
	Graph string
	// IDs holds the ids of all nodes; if nil, the ids are the node numbers. Labels holds the labels of all nodes, or is
	// nil.
	IDs    []string
	Labels []int32
	// UnknownClasses lists the classes of the graph that the model does not have, by name. Labels leaves them out.
	UnknownClasses []string
	// Numbers holds the number of each node before nodes were left out; nil if none were.
	Numbers []int32
	Model   *model.Model
	// Nodes lists the predicted nodes, ascending. Probabilities has a row for each of them.
	Nodes         []int32
	Probabilities *mat.Dense
	// Seconds is the time spent predicting, without reading.
	Seconds float64

	training []int32 // the training nodes of the graph, ascending
}

// Of predicts some nodes of g, in ascending order. bound limits the memory, as in model.Model.Probabilities.
func Of(ctx context.Context, m *model.Model, g *graph.Graph, nodes []int32, bound int64) (*Predictions, error) {
	known, unknown := g.WithClasses(m.Classes, m.ClassNames)
	p := &Predictions{
		Graph: g.Name, IDs: g.IDs, Labels: known.Y, UnknownClasses: unknown, Numbers: g.Numbers, Model: m, Nodes: nodes,
		training: g.Split.Train,
	}
	begun := time.Now()
	var err error
	p.Probabilities, err = m.Probabilities(ctx, g, nodes, bound)
	p.Seconds = time.Since(begun).Seconds()
	return p, err
}

// OfNew predicts new nodes, which edges connect to known nodes and to each other. m must have a summary of the known
// nodes. notes lists what was left out when reading.
func OfNew(ctx context.Context, m *model.Model, from arrivals.Source) (p *Predictions, notes []string, err error) {
	if m.Known == nil {
		return nil, nil, errors.New(
			"the model has no summary of the known nodes: cgc summarize MODEL --on GRAPH -o FILE adds it")
	}
	a, notes, err := from.Read(ctx, m.IDs, len(m.Known.Group))
	if err != nil {
		return nil, nil, err
	}
	p = &Predictions{Graph: filepath.Base(format.Shown(from.Path)), IDs: a.IDs, Model: m, Nodes: memory.Range(0, a.X.Rows)}
	begun := time.Now()
	p.Probabilities, err = m.New(ctx, a.X, a.FeatureNames, a.Edges)
	p.Seconds = time.Since(begun).Seconds()
	return p, notes, err
}

// Class returns the class that is predicted for node k of Nodes.
func (p *Predictions) Class(k int) int { return kernel.ArgMax(p.Probabilities.Row(k)) }

// ClassName returns the name of a class, or its number if classes have no names.
func (p *Predictions) ClassName(c int) string {
	if p.Model.ClassNames == nil {
		return strconv.Itoa(c)
	}
	return p.Model.ClassNames[c]
}

// ID returns the id of a node, or its number if nodes have no ids.
func (p *Predictions) ID(node int32) string {
	if p.IDs == nil {
		return strconv.Itoa(int(node))
	}
	return p.IDs[node]
}

// Counts returns the number of nodes that are predicted to belong to each class, and how many of the nodes with a label
// that the model knows are predicted correctly.
func (p *Predictions) Counts() (classes []int, s Score) {
	classes = make([]int, p.Model.Classes)
	var labelled, labels []int32
	for k, i := range p.Nodes {
		classes[p.Class(k)]++
		if p.Labels == nil || p.Labels[i] == graph.Unlabelled {
			continue
		}
		labelled, labels = append(labelled, int32(k)), append(labels, p.Labels[i])
		if _, trained := slices.BinarySearch(p.training, i); trained {
			s.Training++
		}
	}
	if s.Labelled = len(labels); s.Labelled > 0 {
		rows := new(mat.Dense)
		p.Probabilities.Gather(rows, labelled)
		s.Accuracy, s.Metrics = gnn.Accuracy(rows, labels), gnn.MetricsOf(rows, labels)
	}
	return classes, s
}

// Score compares predictions with labels.
type Score struct {
	// Labelled is the number of predicted nodes with a label that the model knows, and Training the number of training
	// nodes among them, on which a model is usually more accurate than on others. Accuracy is the percentage of all of
	// them predicted correctly. Metrics describes their predictions in more detail; absent without such nodes.
	Labelled int         `json:"labelled"`
	Training int         `json:"training"`
	Accuracy float64     `json:"accuracy"`
	Metrics  gnn.Metrics `json:"metrics,omitzero"`
}

// header returns the names of the columns: id, class and the classes. The column of a class whose name is taken, such
// as id, is called p(id).
func (p *Predictions) header() []string {
	names := []string{"id", "class"}
	for c := range p.Model.Classes {
		name := p.ClassName(c)
		for slices.Contains(names, name) {
			name = "p(" + name + ")"
		}
		names = append(names, name)
	}
	return names
}

// WriteCSV writes a table with the columns id, class and, for each class, its probability.
func (p *Predictions) WriteCSV(to io.Writer) error {
	w, row := csv.NewWriter(to), p.header()
	if err := w.Write(row); err != nil {
		return err
	}
	for k, i := range p.Nodes {
		row = append(row[:0], p.ID(i), p.ClassName(p.Class(k)))
		for _, v := range p.Probabilities.Row(k) {
			row = append(row, strconv.FormatFloat(float64(v), 'g', 6, 32))
		}
		if err := w.Write(row); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// classes returns the predicted class of each node.
func (p *Predictions) classes() []int32 {
	class := make([]int32, len(p.Nodes))
	for k := range class {
		class[k] = int32(p.Class(k))
	}
	return class
}

// SaveTensors writes the tensors nodes, class, and probabilities with a row for each of the nodes. Nodes have their
// numbers in the full graph, even if some were left out.
func (p *Predictions) SaveTensors(ctx context.Context, path string) error {
	rows, nodes := p.Probabilities, p.Nodes
	if p.Numbers != nil {
		nodes = make([]int32, len(p.Nodes))
		for k, i := range p.Nodes {
			nodes[k] = p.Numbers[i]
		}
	}
	return safetensors.Write(ctx, path, map[string]string{"graph": p.Graph}, []safetensors.Tensor{
		{Name: "nodes", Data: nodes}, {Name: "class", Data: p.classes()},
		{Name: "probabilities", Shape: []int{rows.Rows, rows.Cols}, Data: rows.Data},
	})
}

// SaveParquet writes the table of WriteCSV. Ids are integers if all of them are.
func (p *Predictions) SaveParquet(ctx context.Context, path string) error {
	f, err := format.Find("parquet")
	if err != nil {
		return err
	}
	w, is := f.(format.TableWriter)
	if !is {
		return fmt.Errorf("%s: this build writes no Parquet files", path)
	}
	id := format.Column{Name: "id", Data: p.Nodes}
	if p.IDs != nil {
		names, numbers, whole := make([]string, len(p.Nodes)), make([]int64, len(p.Nodes)), true
		for k, i := range p.Nodes {
			names[k] = p.IDs[i]
			number, err := strconv.ParseInt(names[k], 10, 64)
			numbers[k], whole = number, whole && err == nil && strconv.FormatInt(number, 10) == names[k]
		}
		if id.Data = names; whole {
			id.Data = numbers
		}
	}
	columns := []format.Column{id, {Name: "class", Data: p.classes(), Dictionary: p.Model.ClassNames}}
	for c, name := range p.header()[len(columns):] {
		of := make([]float32, len(p.Nodes))
		for k := range of {
			of[k] = p.Probabilities.Row(k)[c]
		}
		columns = append(columns, format.Column{Name: name, Data: of})
	}
	return w.WriteTable(ctx, path, &format.Table{Rows: len(p.Nodes), Columns: columns})
}
