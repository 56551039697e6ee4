package condense

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// object is a JSON object whose keys keep their order and whose values keep their bytes.
type object []field

type field struct {
	key   string
	value json.RawMessage
}

// parseObject reads a JSON object.
func parseObject(text []byte) (object, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.Join(err, errors.New("not a JSON object"))
	}
	var o object
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, err
		}
		o = append(o, field{key.(string), value})
	}
	_, err := decoder.Token() // the closing brace
	return o, err
}

// without returns o without the given keys.
func (o object) without(keys ...string) object {
	return slices.DeleteFunc(slices.Clone(o), func(f field) bool { return slices.Contains(keys, f.key) })
}

// bytes returns o as JSON.
func (o object) bytes() json.RawMessage {
	text := []byte("{")
	for i, f := range o {
		if i > 0 {
			text = append(text, ',')
		}
		text = fmt.Appendf(text, "%q:%s", f.key, f.value)
	}
	return append(text, '}')
}

// objectOf returns the JSON of v, which must be an object.
func objectOf(v any) (object, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return parseObject(text)
}

// Parameter is a key of a configuration and its value, in JSON.
type Parameter struct {
	Key   string
	Value json.RawMessage
}

// Parameters returns the keys and values of a configuration, such as Condensed.Config, in their order. It returns nil
// if config is not a JSON object.
func Parameters(config json.RawMessage) (list []Parameter) {
	o, err := parseObject(config)
	if err != nil {
		return nil
	}
	for _, f := range o {
		list = append(list, Parameter{f.key, f.value})
	}
	return list
}
