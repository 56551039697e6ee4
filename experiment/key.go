package experiment

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/graph-condensation/cgc/condense"
)

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
	text, err := json.Marshal(values)
	if err != nil {
		panic("experiment: a record is not JSON: " + err.Error()) // validated numbers are finite
	}
	return string(text)
}
