package experiment

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strconv"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/buildinfo"
	"github.com/graph-condensation/cgc/internal/kernel"
)

// recordVersion is the version of the JSON format of a Record. Version 1 is the first.
const recordVersion = 1

// Record is one training run: its parameters, its outcome, and everything needed to repeat it. Its JSON keys are a
// contract (docs/reference/json.md).
type Record struct {
	// Version is the version of the format: 1.
	Version int `json:"record"`
	// Graph is the graph that was condensed, and that the model was tested on.
	Graph graph.Identity `json:"graph"`
	// Arm is the name of the method in tables; "whole" for training runs on the full graph.
	Arm string `json:"arm"`
	// Config is the configuration with its seed, which --config reads; absent for the full graph.
	//
	// condense.Configuration writes it.
	Config json.RawMessage `json:"config,omitempty"`
	// Setting is the setting in which the model was tested. Its fields are keys of the record.
	condense.Setting
	// Model is the name of the model, and Training says how it was trained.
	Model    string     `json:"model"`
	Training gnn.Config `json:"training"`
	// Seed is the seed of the condensation, 0 for the full graph. TrainingSeed is the seed of weights and dropout: Seed +
	// j·10⁶ for training run j, so that methods are compared with the same random numbers.
	Seed         uint64 `json:"seed"`
	TrainingSeed uint64 `json:"training_seed"`

	// Nodes is N′, and Edges is the number of undirected edges of A′. For the full graph, they are the nodes and edges
	// that the model was trained on.
	Nodes int `json:"nodes"`
	Edges int `json:"edges"`
	// Val and Test are the accuracies in percent at Epoch, the epoch of best validation accuracy.
	Val   float64 `json:"val"`
	Test  float64 `json:"test"`
	Epoch int     `json:"epoch"`
	// Metrics describes the predictions on the test nodes at Epoch in more detail than Test; absent in records of older
	// versions.
	Metrics gnn.Metrics `json:"metrics,omitzero"`
	// Seconds is the time of each step of the condensation. Steps that several condensations share are counted in each.
	// The full graph has no steps.
	Seconds condense.Seconds `json:"seconds"`
	// TrainingSeconds is the time of the training run, including validation and testing. Other runs may have been active
	// at the same time.
	TrainingSeconds float64 `json:"training_seconds"`
	// Peak is the largest resident set of the process so far, in bytes; 0 if it is not known.
	Peak int64 `json:"peak_rss_bytes"`
	// Processor is the processor time of the condensation in seconds; absent if it was not measured.
	Processor float64 `json:"processor_seconds,omitempty"`
	// Build is the program that made the record.
	Build Build `json:"build"`

	predicted []int32 // gnn.Result.Predicted of the first training run on the first graph of a Plan or an Evaluation
}

// Whole is the Arm of training runs on the full graph.
const Whole = "whole"

// isWhole reports whether the model was trained on the full graph.
func (r Record) isWhole() bool { return len(r.Config) == 0 }

// Method returns the name of the method, or Whole.
func (r Record) Method() string {
	if r.isWhole() {
		return Whole
	}
	_, method, _ := parse(r.Config) // logs and grids have checked it
	return method
}

// Build identifies the program. Results depend on the program as well as on their parameters.
type Build struct {
	// Version is the version of cgc. Revision is its commit, with "+changes" if files were changed. Both are empty if the
	// build does not record them.
	Version  string `json:"version"`
	Revision string `json:"revision"`
	// Kernels is the SIMD code path in use.
	Kernels string `json:"kernels"`
	// Go is the version of the compiler, and Platform is the operating system and the processor.
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
		Version: i.Version, Revision: i.Revision, Kernels: kernel.Name(), Go: i.Go, Platform: i.Platform,
		Threads: runtime.GOMAXPROCS(0),
	}
}

// parameters is the JSON object of a configuration.
type parameters map[string]json.RawMessage

// parse reads a configuration, which must name its method.
func parse(config json.RawMessage) (p parameters, method string, err error) {
	if err := json.Unmarshal(config, &p); err != nil {
		return nil, "", err
	}
	if err := json.Unmarshal(p["method"], &method); err != nil || method == "" {
		return nil, "", fmt.Errorf("configuration without the name of its method")
	}
	return p, method, nil
}

// complete adds the default of each parameter that config lacks. The parameter may have been added after the record was
// written.
func complete(config json.RawMessage) (json.RawMessage, error) {
	p, method, err := parse(config)
	if err != nil {
		return nil, err
	}
	prototype, err := condense.New(method, nil)
	if err != nil {
		return config, nil // written by a program with other methods
	}
	text, err := condense.Configuration(prototype, 0, 0)
	if err != nil {
		return nil, err
	}
	defaults, _, err := parse(text)
	if err != nil {
		return nil, err
	}
	lacks := false
	for key, value := range defaults {
		if _, has := p[key]; !has && key != "nodes" && key != "seed" {
			p[key], lacks = value, true
		}
	}
	if !lacks {
		return config, nil
	}
	return json.Marshal(p)
}

// key identifies the training run of r: two records with the same key describe the same run.
func (r Record) key() string { return r.cell(r.Seed, r.TrainingSeed) }

// group is the key without seeds: training runs of one group differ only in their seeds.
func (r Record) group() string { return r.Arm + "\n" + r.cell(0, 0) }

// cell returns a string that identifies a training run with the given seeds. Sizes count as N′, however they were
// given. The parameter memory is ignored, because it limits the memory of a method without changing its result.
func (r Record) cell(seed, trainingSeed uint64) string {
	var p parameters
	if !r.isWhole() {
		p, _, _ = parse(r.Config) // logs and grids have checked it
		for _, key := range []string{"ratio", "label_ratio", "seed", "memory"} {
			delete(p, key)
		}
		p["nodes"] = json.RawMessage(strconv.Itoa(r.Nodes))
	}
	values := []any{
		r.Graph.Fingerprint, r.Standardize, r.Inductive, p, r.Training, r.Model, seed, trainingSeed,
	}
	if r.NormalizeFeatures { // logs from before this setting existed keep their keys
		values = append(values, "normalize_features")
	}
	if r.Causal {
		values = append(values, "causal")
	}
	text, err := json.Marshal(values)
	if err != nil {
		panic("experiment: a record is not JSON: " + err.Error()) // validated numbers are finite
	}
	return string(text)
}
