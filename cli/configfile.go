package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/experiment"
	"github.com/graph-condensation/cgc/internal/atomicfile"
)

const configExtension = ".json"

// configFile is what --config reads and cgc tune writes: a cgc.Config, and what of training belongs to it.
type configFile struct {
	cgc.Config
	// Training is read by the commands that train, and checked by the others.
	Training *trainingFile `json:"training,omitempty"`
}

// trainingFile is the part of a gnn.Config that cgc tune chooses.
type trainingFile struct {
	Weighted *bool `json:"weighted,omitempty"`
}

// decodeConfig reads a configFile over the defaults, and wants nothing after it.
func decodeConfig(text []byte) (configFile, error) {
	file := configFile{Config: cgc.Defaults()}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		return file, err
	}
	if decoder.More() {
		return file, errors.New("more than one JSON object")
	}
	return file, nil
}

// writeConfig writes c as decodeConfig reads it, whole or not at all.
func writeConfig(path string, c experiment.Candidate) error {
	text, err := json.MarshalIndent(configFile{c.Config, &trainingFile{&c.Weighted}}, "", "  ")
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
	_, err = decodeConfig(text)
	return err == nil
}
