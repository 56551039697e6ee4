package experiment

import (
	"encoding/json"
	"runtime"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/buildinfo"
	"github.com/graph-condensation/cgc/mat"
)

// RecordVersion is the version of the JSON of a Record. 1: first.
const RecordVersion = 1

// Record is one training: what it was of, what came of it, and everything that is needed to repeat it. Its JSON keys are a contract (docs/formats.md).
type Record struct {
	// Version is RecordVersion.
	Version int `json:"record"`
	// Graph says which graph was condensed, and tested on.
	Graph graph.Identity `json:"graph"`
	// Arm is the name of the Arm, or Whole.
	Arm string `json:"arm"`
	// Config is the configuration of the condensation, its seed included; nil if the model was trained on the whole graph.
	Config *cgc.Config `json:"config,omitempty"`
	// Standardize and Inductive say what of the graph the model was tested on, as in cgc.Config.
	Standardize bool `json:"standardize"`
	Inductive   bool `json:"inductive"`
	// Model is the name of the model, Training says how it was trained.
	Model    string     `json:"model"`
	Training gnn.Config `json:"training"`
	// Seed is that of the condensation; 0 of the whole graph. TrainingSeed decides weights and dropout.
	Seed         uint64 `json:"seed"`
	TrainingSeed uint64 `json:"training_seed"`

	// Nodes is N′, Edges the number of undirected edges of A′; for the whole graph, the nodes and edges that the model was trained on.
	Nodes int `json:"nodes"`
	Edges int `json:"edges"`
	// Val and Test are the accuracies in percent at the epoch of best validation accuracy, Epoch.
	Val   float64 `json:"val"`
	Test  float64 `json:"test"`
	Epoch int     `json:"epoch"`
	// Seconds is the time of each step of the condensation. Propagation and assessment are shared by condensations that agree in them, and counted in each; all are 0 of the whole graph.
	Seconds condense.Seconds `json:"seconds"`
	// TrainingSeconds is the time of the training with its validations and its test, beside others if several were trained at once.
	TrainingSeconds float64 `json:"training_seconds"`
	// Peak is the largest resident set of the process so far, in bytes; 0 where it is not known.
	Peak int64 `json:"peak_rss_bytes"`
	// Build says which program found this, and on what.
	Build Build `json:"build"`
}

// Whole is the Arm of trainings on the whole graph.
const Whole = "whole"

// IsWhole says whether the model was trained on the whole graph.
func (r Record) IsWhole() bool { return r.Config == nil }

// Method returns the method of the condensation, or Whole.
func (r Record) Method() string {
	if r.IsWhole() {
		return Whole
	}
	return string(r.Config.Variant)
}

// Build is what results depend on beside their parameters.
type Build struct {
	// Version is that of this module, Revision the commit it was built from ("+changes" if there were any); empty where the build does not know them.
	Version  string `json:"version"`
	Revision string `json:"revision"`
	// Kernels is the set of loops in use: mat.Kernels.
	Kernels string `json:"kernels"`
	// Go is the version of Go, Platform the system and the processor it was built for.
	Go       string `json:"go"`
	Platform string `json:"platform"`
	// Threads is the number of threads, on which times depend, and nothing else.
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

// key names what the numbers of r depend on: two records of one key are the same training. Sizes of a condensed graph enter as N′, however they were said.
func (r Record) key() string { return r.cell(r.Seed, r.TrainingSeed) }

// group names what trainings have in common that differ in their seeds alone.
func (r Record) group() string { return r.Arm + "\n" + r.cell(0, 0) }

func (r Record) cell(seed, trainingSeed uint64) string {
	var config *cgc.Config
	if r.Config != nil {
		c := *r.Config
		c.Nodes, c.Ratio, c.LabelRatio = r.Nodes, 0, 0
		c.Memory, c.Seed = 0, seed // results do not depend on memory
		config = &c
	}
	text, err := json.Marshal([]any{r.Graph.Fingerprint, r.Standardize, r.Inductive, config, r.Training, r.Model, seed, trainingSeed})
	if err != nil {
		panic("experiment: a record is not JSON: " + err.Error()) // validated numbers are finite
	}
	return string(text)
}
