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

// Publication holds the numbers of the paper, from published.json. The other entries there describe the transcription.
type Publication struct {
	Source     string `json:"source"`
	DOI        string `json:"doi"`
	Statistics struct {
		Graphs []Statistics `json:"graphs"`
	} `json:"statistics"`
	Sizes struct {
		Graphs []Sizes `json:"graphs"`
	} `json:"sizes"`
	Settings struct {
		// Sets holds the values that a search tries. Augment is a share of the K·n embeddings of all hops.
		Sets struct {
			Augment      []float64         `json:"augment"`
			Temperature  []cgc.Temperature `json:"temperature"`
			Threshold    []float64         `json:"threshold"`
			Alpha        []float64         `json:"alpha"`
			LearningRate []float64         `json:"learning_rate"`
			Dropout      []float64         `json:"dropout"`
		} `json:"sets"`
		// Taken holds our values for parameters that the paper searched but does not print.
		Taken struct {
			Augment     float64         `json:"augment"`
			Temperature cgc.Temperature `json:"temperature"`
			Threshold   float64         `json:"threshold"`
			Alpha       float64         `json:"alpha"`
		} `json:"taken"`
		// Program holds the values that the authors' program sets.
		Program struct {
			Cells []ProgramCell `json:"cells"`
		} `json:"program"`
	} `json:"settings"`
	Tables []Table `json:"tables"`
}

// ProgramCell holds the parameters that the authors' program sets for a method of the paper at one ratio of a data set.
// CGC-X has no Threshold and no Alpha.
type ProgramCell struct {
	Graph        string          `json:"graph"`
	Ratio        string          `json:"ratio"`
	Method       string          `json:"method"`
	Threshold    float64         `json:"threshold"`
	Alpha        float64         `json:"alpha"`
	Temperature  cgc.Temperature `json:"temperature"`
	Augment      float64         `json:"augment"`
	Dropout      float64         `json:"dropout"`
	Epochs       int             `json:"epochs"`
	LearningRate float64         `json:"learning_rate"`
	WeightDecay  float64         `json:"weight_decay"`
}

// Statistics is a row of the paper's table of data sets. Edges count both directions if Publication says so.
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

// Sizes holds the condensation ratios of a data set, as printed. Ratios are fractions of all nodes, or of the training
// nodes if the task is inductive. OfTrain holds the same sizes as fractions of the training nodes.
type Sizes struct {
	Graph   string   `json:"graph"`
	Ratios  []string `json:"ratios"`
	OfTrain []string `json:"of_train"`
	// Middle is the ratio used in all tables but table 3.
	Middle string `json:"middle"`
}

// Table is a table of the paper. It has a row for each combination of data set, ratio and, in some tables, method.
type Table struct {
	// Name is the number of the table, as in "table3".
	Name    string   `json:"name"`
	Unit    string   `json:"unit"`
	Columns []string `json:"columns"`
	Rows    []Row    `json:"rows"`
}

// Row is a row of a Table, with a cell for each column.
type Row struct {
	Graph string `json:"graph"`
	Ratio string `json:"ratio"`
	// Method is empty if the columns are the methods.
	Method string  `json:"method,omitempty"`
	Cells  []Value `json:"cells"`
	// Speedup is the number in brackets in table 2.
	Speedup string `json:"speedup,omitempty"`
}

// Value is a number printed in the paper: a mean with its standard deviation, only a mean, or "OOM".
type Value struct {
	Mean float64
	// Std is 0 if none is printed.
	Std float64
	// OutOfMemory says that "OOM" is printed instead of a number.
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
		return fmt.Errorf("cell %q, must be a number, a number ± a number, or OOM", v.Text)
	}
	return nil
}

// MarshalJSON writes the format that UnmarshalJSON reads.
func (v Value) MarshalJSON() ([]byte, error) { return json.Marshal(v.Text) }

// String returns the value as printed, with spaces around ±.
func (v Value) String() string { return strings.ReplaceAll(v.Text, "±", " ± ") }

//go:embed published.json
var published []byte

// Published returns the numbers of the paper. Callers must not modify them.
var Published = sync.OnceValue(func() *Publication {
	p := new(Publication)
	if err := json.Unmarshal(published, p); err != nil {
		panic("paper: published.json: " + err.Error()) // the file is embedded in the program
	}
	return p
})

// Table returns the table with the given name, or nil if there is none.
func (p *Publication) Table(name string) *Table {
	return first(p.Tables, func(t *Table) bool { return t.Name == name })
}

// Of returns the statistics of a data set, and whether the paper uses it.
func (p *Publication) Of(graph string) (Statistics, bool) {
	return found(p.Statistics.Graphs, func(s Statistics) bool { return s.Graph == graph })
}

// SizesOf returns the ratios of a data set, and whether the paper uses it.
func (p *Publication) SizesOf(graph string) (Sizes, bool) {
	return found(p.Sizes.Graphs, func(s Sizes) bool { return s.Graph == graph })
}

// Value returns the cell of a table, and whether there is one. Ratio and method identify the row. If the columns are
// methods, method is empty.
func (t *Table) Value(graph, ratio, method, column string) (Value, bool) {
	c := slices.Index(t.Columns, column)
	r, is := found(t.Rows, func(r Row) bool { return r.Graph == graph && r.Ratio == ratio && r.Method == method })
	if c < 0 || !is {
		return Value{}, false
	}
	return r.Cells[c], true
}

// found returns the first element v of a list with is(v), and whether there is one.
func found[T any](list []T, is func(T) bool) (one T, ok bool) {
	if p := first(list, func(v *T) bool { return is(*v) }); p != nil {
		return *p, true
	}
	return one, false
}

// first returns a pointer to the first element p of a list with is(p), or nil.
func first[T any](list []T, is func(*T) bool) *T {
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
}
