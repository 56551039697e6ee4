package parquet

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/table"
	"github.com/graph-condensation/cgc/graph"
)

// metadata returns the key-value metadata of the first file of the table.
func (t *parts) metadata() map[string]string {
	meta := map[string]string{}
	for _, entry := range t.files[0].content.Metadata().KeyValueMetadata {
		meta[entry.Key] = entry.Value
	}
	return meta
}

// known returns the classes of a graph that Write wrote. The label of a node is the name of its class if the names are
// distinct, else its number.
func known(meta map[string]string, header []string) (*table.Known, error) {
	n, err := strconv.Atoi(meta["classes"])
	if err != nil || n < 0 || n > graph.MaxClasses {
		return nil, fmt.Errorf("classes in the metadata: %.20q, must be 0 to %d", meta["classes"], graph.MaxClasses)
	}
	if !slices.Contains(header, "label") {
		return nil, errors.New("column label is missing")
	}
	names, err := format.NamesOf(meta, format.ClassNames, n)
	if err != nil {
		return nil, err
	}
	place := map[string]int32{}
	for k, name := range names {
		place[name] = int32(k)
	}
	distinct := len(names) > 0 && len(place) == n
	return &table.Known{Count: n, Names: names, Class: func(label string) (int32, error) {
		if k, known := place[label]; distinct && known {
			return k, nil
		}
		v, err := strconv.ParseInt(label, 10, 64)
		switch {
		case err != nil:
			return 0, fmt.Errorf("column label: %.50q is not among the class_names in the metadata of the file", label)
		case v < graph.Unlabelled || v >= int64(n):
			return 0, fmt.Errorf("column label: %d, must be 0 to %d, or %d for none", v, n-1, graph.Unlabelled)
		}
		return int32(v), nil
	}}, nil
}
