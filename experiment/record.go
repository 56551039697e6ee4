package experiment

import (
	"encoding/json"
	"runtime"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/buildinfo"
	"github.com/graph-condensation/cgc/mat"
)

// RecordVersion is the version of the JSON of a Record. 1: first.
const RecordVersion = 1

// Record is one training: what was trained, the outcome, and everything that is needed to repeat it. Its JSON keys are
// a contract (docs/formats.md).
type Record struct {
	// Version is RecordVersion.
	Version int `json:"record"`
	// Graph is the graph that was condensed, and that the model was tested on.
	Graph graph.Identity `json:"graph"`
	// Arm is the name of the Arm, or Whole.
	Arm string `json:"arm"`
	// Config is a JSON object with the method, its parameters, the number of nodes and the seed: condense.Configuration.
	// It is empty if the model was trained on the whole graph.
	Config json.RawMessage `json:"config,omitempty"`
	// Setting is what the model was tested in. Its fields are keys of the record.
	condense.Setting
	// Model is the name of the model, Training says how it was trained.
	Model    string     `json:"model"`
	Training gnn.Config `json:"training"`
	// Seed is the seed of the condensation, 0 for the whole graph. TrainingSeed decides weights and dropout.
	Seed         uint64 `json:"seed"`
	TrainingSeed uint64 `json:"training_seed"`

	// Nodes is N′, Edges the number of undirected edges of A′. For the whole graph, they are the nodes and edges that the
	// model was trained on.
	Nodes int `json:"nodes"`
	Edges int `json:"edges"`
	// Val and Test are the accuracies in percent at Epoch, the epoch of best validation accuracy.
	Val   float64 `json:"val"`
	Test  float64 `json:"test"`
	Epoch int     `json:"epoch"`
	// Seconds is the time of each step of the condensation. Steps that several condensations share are counted in each.
	// The whole graph has no steps.
	Seconds condense.Seconds `json:"seconds"`
	// TrainingSeconds is the time of the training with its validations and its test. Others may have run beside it.
	TrainingSeconds float64 `json:"training_seconds"`
	// Peak is the largest resident set of the process so far, in bytes; 0 where it is not known.
	Peak int64 `json:"peak_rss_bytes"`
	// Build is the program that made the record.
	Build Build `json:"build"`

	predicted []int32 // gnn.Result.Predicted, of the first training on the first graph of a Plan or an Evaluation
}

// Whole is the Arm of trainings on the whole graph.
const Whole = "whole"

// IsWhole says whether the model was trained on the whole graph.
func (r Record) IsWhole() bool { return len(r.Config) == 0 }

// Method returns the name of the method, or Whole.
func (r Record) Method() string {
	if r.IsWhole() {
		return Whole
	}
	var config struct {
		Method string `json:"method"`
	}
	if json.Unmarshal(r.Config, &config) != nil {
		return "" // not of a log or a grid, which check
	}
	return config.Method
}

// Build is what results depend on besides their parameters.
type Build struct {
	// Version is that of this module. Revision is the commit it was built from, with "+changes" if files differed. Both
	// are empty where the build does not know them.
	Version  string `json:"version"`
	Revision string `json:"revision"`
	// Kernels is the set of loops in use: mat.Kernels.
	Kernels string `json:"kernels"`
	// Go is the version of Go, Platform the system and the processor.
	Go       string `json:"go"`
	Platform string `json:"platform"`
	// Threads is the number of threads. Only times depend on it.
	Threads int `json:"threads"`
}

// ThisBuild returns the Build of this program.
func ThisBuild() Build {
	i := buildinfo.This()
	if i.Modified {
		i.Revision += "+changes"
	}
	return Build{
		Version: i.Version, Revision: i.Revision, Kernels: mat.Kernels(), Go: i.Go, Platform: i.Platform,
		Threads: runtime.GOMAXPROCS(0),
	}
}
