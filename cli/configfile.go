package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/internal/atomicfile"
	"github.com/graph-condensation/cgc/tune"
)

const configExtension = ".json"

// configFile is what --config reads and cgc tune writes: a cgc.Config, and what of training belongs to it.
type configFile struct {
	cgc.Config
	// Training is read by the commands that train, and checked by the others.
	Training *trainingFile `json:"training,omitempty"`

	// method is the method of the file, "" if it names none.
	method string
	// parameters are those of a method of another package, by their keys.
	parameters map[string]json.RawMessage
}

// trainingFile is the part of a gnn.Config that cgc tune chooses.
type trainingFile struct {
	Weighted *bool `json:"weighted,omitempty"`
}

// decodeConfig reads a configFile over base, and wants nothing after it. A file that names no method is read as one of
// the given method. A size of base is kept if the file has none.
func decodeConfig(text []byte, base cgc.Config, method string) (file configFile, err error) {
	size := base.Size
	base.Size = condense.Size{}
	file = configFile{Config: base}
	defer func() {
		if file.Size.IsZero() {
			file.Size = size
		}
	}()
	var named struct {
		Method string `json:"method"`
	}
	// Mistakes show up below, where all keys are known.
	if json.Unmarshal(text, &named) == nil && named.Method != "" {
		file.method, method = named.Method, named.Method
	}
	m, err := condense.New(method, nil)
	if err != nil {
		return file, err
	}
	if !isCGC(m) {
		file.method = method
		return file, file.decodeOther(text)
	}
	return file, strictly(text, &file)
}

// decodeOther reads the configuration of a method of another package, as condense.Configuration writes it. It may have
// a setting, and any size that cgc's methods have.
func (c *configFile) decodeOther(text []byte) error {
	common := struct {
		Method string `json:"method"`
		condense.Size
		condense.Setting
		Seed     uint64        `json:"seed"`
		Training *trainingFile `json:"training"`
	}{Setting: c.Setting(), Seed: c.Seed}
	if err := json.Unmarshal(text, &common); err != nil {
		return err
	}
	if err := strictly(text, &c.parameters); err != nil {
		return err
	}
	for _, key := range []string{
		"method", "nodes", "ratio", "label_ratio", "normalize_features", "standardize", "inductive", "seed", "training",
	} {
		delete(c.parameters, key)
	}
	c.Size, c.Seed, c.Training = common.Size, common.Seed, common.Training
	c.NormalizeFeatures, c.Standardize, c.Inductive = common.NormalizeFeatures, common.Standardize, common.Inductive
	return nil
}

// strictly reads one JSON value whose keys are all known, and wants nothing after it.
func strictly(text []byte, value any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(value); errors.Is(err, io.EOF) {
		return errors.New("nothing is in it, want a JSON object")
	} else if err != nil {
		return err
	}
	if decoder.More() {
		return errors.New("more than one JSON object")
	}
	return nil
}

// writeConfig writes c as decodeConfig reads it, whole or not at all.
func writeConfig(path string, c tune.Candidate) error {
	text, err := json.MarshalIndent(configFile{Config: c.Config, Training: &trainingFile{&c.Weighted}}, "", "  ")
	if err != nil {
		return err
	}
	err = atomicfile.Write(path, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
	if err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	return nil
}

// isConfig says whether the file at path is a configuration: those may be replaced without asking.
func isConfig(path string) bool {
	text, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	_, err = decodeConfig(text, cgc.Defaults(), string(cgc.CGC))
	return err == nil
}
