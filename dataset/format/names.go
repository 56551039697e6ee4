package format

import (
	"encoding/json"
	"fmt"
)

// Keys of lists of names in the metadata of files.
const (
	ClassNames   = "class_names"
	FeatureNames = "feature_names"
)

// PutNames adds a list of names to the metadata, in JSON. It adds nothing if names is nil.
func PutNames(meta map[string]string, key string, names []string) {
	if names != nil {
		list, _ := json.Marshal(names) // marshalling strings cannot fail
		meta[key] = string(list)
	}
}

// NamesOf returns the list of names that PutNames added under key; nil if there is none. A list without n names is an
// error.
func NamesOf(meta map[string]string, key string, n int) (names []string, err error) {
	list, has := meta[key]
	if !has {
		return nil, nil
	}
	if json.Unmarshal([]byte(list), &names) != nil || len(names) != n {
		return nil, fmt.Errorf("metadata %s is %.50q, must be a JSON list of %d names", key, list, n)
	}
	return names, nil
}
