package bench

import (
	"fmt"
	"strings"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/partition"
)

// Forecast is the expected size and cost of a condensation. Its JSON keys are a contract (docs/reference/json.md).
type Forecast struct {
	classNames []string // nil means that classes are numbered
	// Graph is the name of the graph. Nodes, Edges (undirected), Features and Classes are its sizes. Train is its number
	// of training nodes.
	Graph    string `json:"graph"`
	Nodes    int    `json:"nodes"`
	Edges    int    `json:"edges"`
	Features int    `json:"features"`
	Classes  int    `json:"classes"`
	Train    int    `json:"train"`
	// Condensed is the number of condensed nodes, and Budget has the number for each class.
	Condensed int   `json:"condensed_nodes"`
	Budget    []int `json:"budget"`
	// Memory is the expected peak of the resident set, in bytes, excluding pages of mapped files if File is not 0. Read
	// is the part for the graph, and Held is the part for embeddings and working memory.
	Memory int64 `json:"memory_bytes"`
	Read   int64 `json:"read_bytes"`
	Held   int64 `json:"held_bytes"`
	// Passes is the number of blocks of columns that are propagated one after the other; 0 if unknown.
	Passes int `json:"passes"`
	// Columns is the number of columns of a block. File is the number of bytes read from the file of the graph. Scratch is
	// the number of bytes written to temporary files and read again. All three are 0 if the graph fits into memory.
	Columns int   `json:"columns,omitempty"`
	File    int64 `json:"file_bytes,omitempty"`
	Scratch int64 `json:"scratch_bytes,omitempty"`
	// Seconds is the sum over Steps. It does not include opening the graph.
	Seconds float64 `json:"seconds"`
	Steps   []Step  `json:"steps"`
	// Ceilings holds the peak rates of the machine, on all threads.
	Ceilings Ceilings `json:"ceilings"`
}

// usual is the typical share of its ceiling that each step reaches. cgc bench measures the shares on a machine.
var usual = map[string]float64{"propagate": 0.6, "assess": 0.5, "augment": 0.3, "partition": 0.3, "generate": 0.2}

// The typical work of a partition: rounds of k-means over all rows, and products with the kernel matrix.
const (
	usualRounds   = 10
	usualProducts = 40
)

// Predict estimates the cost of condensing g on a machine with these ceilings. Sizes and memory follow from the graph.
// The seconds are work / ceiling / typical share, accurate to within a factor of 2 or 3. Predict first checks its
// arguments like cgc.Condense.
func Predict(g *graph.Graph, config cgc.Config, ceilings Ceilings) (*Forecast, error) {
	e, err := cgc.Expect(g, config)
	if err != nil {
		return nil, err
	}
	f := &Forecast{
		classNames: g.ClassNames, Graph: g.Name, Nodes: g.Nodes(), Edges: g.Edges(), Features: g.Features(),
		Classes: g.Classes, Train: len(g.Split.Train), Condensed: e.Nodes, Budget: e.Budget, Memory: e.Memory,
		Read: e.Propagation.Input, Held: e.Propagation.Sum() + e.Rest, Passes: e.Propagation.Passes, Ceilings: ceilings,
	}
	if p := e.Propagation; p.Held > 0 {
		f.Columns, f.File, f.Scratch, f.Memory, f.Held = p.Columns, p.Read, p.Scratch, p.Held, p.Held
	}
	var adj *mat.CSR
	if config.Variant.Edges() {
		adj = edgeless(e.Nodes)
	}
	account := course(g.Counts(g.Split.Train), int(config.Augment*float64(f.Train)))
	for _, s := range steps(g, config, adj, e.Budget, account) {
		if s.Work == nil || s.Amount == 0 {
			continue
		}
		s.Share = usual[s.Name]
		if ceiling := ceilings.of(s.Ceiling); ceiling > 0 {
			s.Seconds = s.Amount / ceiling / s.Share
		}
		if rate := ceilings.File; s.Name == "propagate" && rate > 0 {
			s.Seconds += float64(f.File+f.Scratch) / rate / 1e9
		}
		f.Seconds += s.Seconds
		f.Steps = append(f.Steps, s)
	}
	return f, nil
}

// course returns the run metadata of a condensation whose partition does the typical amount of work.
func course(counts []int, picks int) cgc.Account {
	a := cgc.Account{Partitions: make([]partition.Stats, len(counts))}
	a.Assessed.Error = make([]float64, len(counts))
	a.Assessed.Augmented = picks
	for c, n := range counts {
		a.Partitions[c].Visits = usualRounds * n
		a.Partitions[c].Products = usualProducts
		a.Partitions[c].Objective = []float64{1}
	}
	return a
}

// Document returns f as a document.
func (f *Forecast) Document() *report.Document {
	sizes := &report.Table{Columns: report.Columns("graph", "nodes", "edges", "features", "classes", "training nodes")}
	sizes.Row(f.Graph, f.Nodes, f.Edges, f.Features, f.Classes, f.Train)
	sizes.Row("condensed", f.Condensed)
	memory := fmt.Sprintf("expected memory: %s, of which %s for the graph and %s for embeddings and working memory",
		report.Bytes(f.Memory), report.Bytes(f.Read), report.Bytes(f.Held))
	if f.File > 0 {
		memory = fmt.Sprintf("expected memory: %s, and %s to read from the file in blocks of %s, %d in all",
			report.Bytes(f.Memory), report.Bytes(f.File), report.Plural(f.Columns, "column"), f.Passes)
		if f.Scratch > 0 {
			memory += fmt.Sprintf(", and %s through temporary files", report.Bytes(f.Scratch))
		}
	} else if f.Passes > 1 {
		memory += fmt.Sprintf("; features are propagated in %d blocks of columns", f.Passes)
	}
	steps := &report.Table{Columns: report.Columns("step", "expected s", "work", "unit", "ceiling", "usual share")}
	for _, s := range f.Steps {
		steps.Row(s.Name, report.Significant(s.Seconds, 2), report.Significant(s.Amount, 3), s.Ceiling.Unit(),
			string(s.Ceiling), report.Percent(100*s.Share, 0))
	}
	steps.Row("condense", report.Significant(f.Seconds, 2))
	d := new(report.Document)
	budget := strings.Join(report.PerClass(f.classNames, f.Budget), " ")
	d.Add(sizes, report.Paragraph("condensed nodes of each class: "+budget), report.Paragraph(memory), steps,
		report.Notes{"seconds are accurate to a factor of 2 or 3: the work, divided by the ceiling measured just now and " +
			"by the usual share of it"})
	return d
}
