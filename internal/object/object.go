// Package object reads and writes JSON objects whose keys keep their order and whose values keep their bytes.
package object

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Object is a JSON object.
type Object []Field

// Field is a key of an object and its value.
type Field struct {
	Key   string
	Value json.RawMessage
}

// Parse reads a JSON object.
func Parse(text []byte) (Object, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.Join(err, errors.New("not a JSON object"))
	}
	var o Object
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, err
		}
		o = append(o, Field{key.(string), value})
	}
	_, err := decoder.Token() // the closing brace
	return o, err
}

// Without returns o without the given keys.
func (o Object) Without(keys ...string) Object {
	return slices.DeleteFunc(slices.Clone(o), func(f Field) bool { return slices.Contains(keys, f.Key) })
}

// Bytes returns o as JSON.
func (o Object) Bytes() json.RawMessage {
	text := []byte("{")
	for i, f := range o {
		if i > 0 {
			text = append(text, ',')
		}
		text = fmt.Appendf(text, "%q:%s", f.Key, f.Value)
	}
	return append(text, '}')
}

// Of returns the JSON of v, which must be an object.
func Of(v any) (Object, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return Parse(text)
}

// Map returns the values of o by key.
func (o Object) Map() map[string]json.RawMessage {
	values := map[string]json.RawMessage{}
	for _, f := range o {
		values[f.Key] = f.Value
	}
	return values
}

// Fields returns the fields of a JSON object in their order. It returns none if text is not an object.
func Fields(text json.RawMessage) []Field {
	o, err := Parse(text)
	if err != nil {
		return nil
	}
	return o
}
