package paper

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/graph-condensation/cgc"
)

// Publication is what the paper printed: published.json. Its "about" entries say how it was written down.
type Publication struct {
	Source     string   `json:"source"`
	DOI        string   `json:"doi"`
	About      []string `json:"about"`
	Statistics struct {
		Label  string       `json:"label"`
		About  string       `json:"about"`
		Graphs []Statistics `json:"graphs"`
	} `json:"statistics"`
	Sizes struct {
		About  string  `json:"about"`
		Graphs []Sizes `json:"graphs"`
	} `json:"sizes"`
	Settings struct {
		About    string            `json:"about"`
		Stated   map[string]any    `json:"stated"`
		Searched map[string]string `json:"searched"`
		// Sets holds the values that a search tries. Augment is a share of the K·n embeddings of all hops.
		Sets struct {
			Augment      []float64         `json:"augment"`
			Temperature  []cgc.Temperature `json:"temperature"`
			Threshold    []float64         `json:"threshold"`
			Alpha        []float64         `json:"alpha"`
			LearningRate []float64         `json:"learning_rate"`
			Dropout      []float64         `json:"dropout"`
			About        string            `json:"about"`
		} `json:"sets"`
		// Taken holds the values used for parameters that the paper searched and does not print.
		Taken struct {
			Augment     float64         `json:"augment"`
			Temperature cgc.Temperature `json:"temperature"`
			Threshold   float64         `json:"threshold"`
			Alpha       float64         `json:"alpha"`
			Source      string          `json:"source"`
		} `json:"taken"`
	} `json:"settings"`
	Tables []Table `json:"tables"`
}

// Statistics is a line of the paper's table of data sets. Edges count both directions where Publication says so.
type Statistics struct {
	Graph    string `json:"graph"`
	Nodes    int    `json:"nodes"`
	Edges    int    `json:"edges"`
	Classes  int    `json:"classes"`
	Features int    `json:"features"`
	Train    int    `json:"train"`
	Val      int    `json:"val"`
	Test     int    `json:"test"`
	// Task is "transductive" or "inductive".
	Task string `json:"task"`
}

// Sizes holds the condensation ratios of a data set, as printed. Ratios are shares of all nodes, or of the training
// nodes if the task is inductive. OfTrain are the same as shares of the training nodes.
type Sizes struct {
	Graph   string   `json:"graph"`
	Ratios  []string `json:"ratios"`
	OfTrain []string `json:"of_train"`
	// Middle is the ratio of all tables but table 3.
	Middle string `json:"middle"`
}

// Table is a table of the paper, a row for each data set, ratio and, where there are several, method.
type Table struct {
	// Name is the table's number, as in "table3"; Label its name in the source of the paper.
	Name    string   `json:"name"`
	Label   string   `json:"label"`
	Unit    string   `json:"unit"`
	Caption string   `json:"caption"`
	Columns []string `json:"columns"`
	Rows    []Row    `json:"rows"`
}

// Row is a line of a Table, a cell for each column.
type Row struct {
	Graph string `json:"graph"`
	Ratio string `json:"ratio"`
	// Method is empty where the columns are the methods.
	Method string  `json:"method,omitempty"`
	Cells  []Value `json:"cells"`
	// Speedup is the number that table 2 has in brackets.
	Speedup string `json:"speedup,omitempty"`
}

// Value is a printed number: mean and standard deviation, a mean alone, or that memory was exhausted.
type Value struct {
	Mean float64
	// Std is 0 where none is printed.
	Std float64
	// OutOfMemory says that "OOM" stands in place of a number.
	OutOfMemory bool
	// Text is the number as printed.
	Text string
}

// UnmarshalJSON reads "82.3±1.3", "64.4" or "OOM".
func (v *Value) UnmarshalJSON(text []byte) (err error) {
	if err := json.Unmarshal(text, &v.Text); err != nil {
		return err
	}
	if v.OutOfMemory = v.Text == "OOM"; v.OutOfMemory {
		return nil
	}
	mean, std, spread := strings.Cut(v.Text, "±")
	if v.Mean, err = strconv.ParseFloat(mean, 64); err == nil && spread {
		v.Std, err = strconv.ParseFloat(std, 64)
	}
	if err != nil {
		return fmt.Errorf("paper: cell %q, want a number, a number ± a number, or OOM", v.Text)
	}
	return nil
}

// MarshalJSON writes what UnmarshalJSON reads.
func (v Value) MarshalJSON() ([]byte, error) { return json.Marshal(v.Text) }

// String returns the value with spaces around ±.
func (v Value) String() string { return strings.ReplaceAll(v.Text, "±", " ± ") }

//go:embed published.json
var published []byte

// Published returns what the paper printed, read once. It must not be changed.
var Published = sync.OnceValue(func() *Publication {
	p := new(Publication)
	if err := json.Unmarshal(published, p); err != nil {
		panic("paper: published.json: " + err.Error()) // it is part of the program
	}
	return p
})

// Table returns the table of that name, or nil.
func (p *Publication) Table(name string) *Table {
	i := slices.IndexFunc(p.Tables, func(t Table) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return &p.Tables[i]
}

// Of returns the statistics of a data set, and whether the paper has it.
func (p *Publication) Of(graph string) (Statistics, bool) {
	for _, s := range p.Statistics.Graphs {
		if s.Graph == graph {
			return s, true
		}
	}
	return Statistics{}, false
}

// SizesOf returns the ratios of a data set, and whether the paper has it.
func (p *Publication) SizesOf(graph string) (Sizes, bool) {
	for _, s := range p.Sizes.Graphs {
		if s.Graph == graph {
			return s, true
		}
	}
	return Sizes{}, false
}

// Value returns the cell of a table, and whether there is one. Ratio and method are those of the row. In tables whose
// columns are methods, method is empty.
func (t *Table) Value(graph, ratio, method, column string) (Value, bool) {
	c := slices.Index(t.Columns, column)
	if c < 0 {
		return Value{}, false
	}
	for _, r := range t.Rows {
		if r.Graph == graph && r.Ratio == ratio && r.Method == method {
			return r.Cells[c], true
		}
	}
	return Value{}, false
}
