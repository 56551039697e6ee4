package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/condense/auto"
	"github.com/graph-condensation/cgc/internal/registry"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

const configExtension = ".json"

// configFile is what --config reads and cgc tune writes: a cgc.Config and the training settings that belong to it.
type configFile struct {
	cgc.Config
	// Training is used by the commands that train. Other commands only check it.
	Training *trainingFile `json:"training,omitempty"`

	// method is the method named in the file, or "" if there is none.
	method string
	// parameters holds the parameters of a method that is not cgc's own.
	parameters map[string]json.RawMessage
}

// trainingFile is the part of a gnn.Config that cgc tune chooses.
type trainingFile struct {
	Weighted *bool `json:"weighted,omitempty"`
}

// configText returns a configuration as JSON: the contents of a .json file or a pipe, or the configuration of a
// condensed graph.
func configText(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if strings.EqualFold(filepath.Ext(path), configExtension) || err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return os.ReadFile(path) // a pipe can be read only once
	}
	small, err := cgc.Load(path)
	switch {
	case err != nil:
		return os.ReadFile(path)
	case len(small.Config) == 0:
		return nil, fmt.Errorf("%s: the condensed graph does not say with which configuration it was made", path)
	case small.CutFrom() > 0:
		return nil, fmt.Errorf("%s: the condensed graph was cut from one with %d nodes: condense with that one's "+
			"configuration, and cut again", path, small.CutFrom())
	}
	return small.Config, nil
}

// decodeConfig reads a configFile over base, except its size. Text after the object is an error. A file that names no
// method is read as a configuration of the given method.
func decodeConfig(text []byte, base cgc.Config, method string) (file configFile, err error) {
	base.Size = condense.Size{}
	file = configFile{Config: base}
	var named struct {
		Method string          `json:"method"`
		Config json.RawMessage `json:"config"`
	}
	// Mistakes are reported below, where all keys are known.
	if json.Unmarshal(text, &named) == nil && named.Method != "" {
		file.method, method = named.Method, named.Method
	}
	if named.Config != nil {
		return file, errors.New("an output of --json or a record, must be the value of its key config")
	}
	m, err := condense.New(method, nil)
	if err != nil {
		return file, err
	}
	if _, own := m.(cgc.Config); !own {
		file.method = method
		return file, file.decodeOther(text)
	}
	return file, strictly(text, &file)
}

// decodeOther reads the configuration of another package's method, as written by condense.Configuration. It may contain
// a condense.Setting, and any size that cgc's methods accept. For auto, it may also contain a memory limit and a
// precision.
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
	types := []reflect.Type{reflect.TypeOf(common)}
	if c.method == auto.New().Name() { // it has these flags too
		limits := struct {
			Memory    *int64             `json:"memory"`
			Precision *blocked.Precision `json:"precision"`
		}{&c.Memory, &c.Precision}
		if err := json.Unmarshal(text, &limits); err != nil {
			return err
		}
		types = append(types, reflect.TypeOf(limits))
	}
	for _, t := range types {
		for _, key := range keysOfType(t) {
			delete(c.parameters, key)
		}
	}
	c.Size, c.Seed, c.Training = common.Size, common.Seed, common.Training
	c.NormalizeFeatures, c.Standardize = common.NormalizeFeatures, common.Standardize
	c.Inductive, c.Causal = common.Inductive, common.Causal
	return nil
}

// strictly decodes one JSON value. Unknown keys and text after the value are errors.
func strictly(text []byte, value any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(value)
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("the file is empty, must be a JSON object")
	case errors.As(err, &syntax):
		line, column := place(text, syntax.Offset)
		return fmt.Errorf("line %d, column %d: not valid JSON", line, column)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("not valid JSON: the file ends within a value")
	case err != nil:
		return withHint(err, keysOfType(reflect.TypeOf(value)))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON object")
	}
	return nil
}

// place returns the line and column, counted from 1, of the byte before an offset.
func place(text []byte, offset int64) (line, column int) {
	before := text[:max(0, min(offset, int64(len(text)))-1)]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}

// unknownField matches the decoder's message about an unknown key.
var unknownField = regexp.MustCompile(`unknown field "([^"]*)"`)

// withHint adds similarly named keys to an error about an unknown key.
func withHint(err error, keys []string) error {
	if found := unknownField.FindStringSubmatch(err.Error()); found != nil {
		if hint := registry.Hint("", found[1], keys); hint != "" {
			return fmt.Errorf("%w%s", err, hint)
		}
	}
	return err
}

// keysOfType returns the JSON keys of a struct or of a pointer to one, and nil for other types.
func keysOfType(t reflect.Type) (keys []string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.IsExported() && name != "" && name != "-" {
			keys = append(keys, name)
		}
	}
	return keys
}

// isConfig reports whether the file at path is a configuration, which may be replaced without asking.
func isConfig(path string) bool {
	text, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	_, err = decodeConfig(text, cgc.Defaults(), string(cgc.CGC))
	return err == nil
}
