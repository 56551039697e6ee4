// Package content holds what readers of graphs share: labels, the numbers of text files, the index that pandas writes,
// notes about edges, and the memory for the content of a file.
package content

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/memory"
)

// Label converts the label of a node to the form of graph.Graph.Y: 0 to graph.MaxClasses−1, or graph.Unlabelled. An
// error names the node, the label and the bound.
func Label(node, label int64) (int32, error) {
	if label < graph.Unlabelled || label >= graph.MaxClasses {
		hint := ""
		if label > 0 {
			hint = ": only labels in tables, such as nodes.csv, may be any numbers"
		}
		return 0, fmt.Errorf("label %d of node %d, must be 0 to %d, or %d for none%s",
			label, node, graph.MaxClasses-1, graph.Unlabelled, hint)
	}
	return int32(label), nil
}

// BOM is the byte order mark with which some programs begin text in UTF-8.
const BOM = "\xef\xbb\xbf"

// RefuseUTF16 returns an error if text begins with a byte order mark of UTF-16.
func RefuseUTF16(text []byte) error {
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return errors.New("the file is UTF-16 text, must be UTF-8: save it as UTF-8")
	}
	return nil
}

// missing holds the usual spellings of a missing value, in lower case.
var missing = []string{"", "nan", "na", "n/a", "null", "none", "<na>"}

// Missing reports whether text is a usual spelling of a missing value.
func Missing(text string) bool { return slices.Contains(missing, strings.ToLower(text)) }

// Labels converts labels to the form of graph.Graph.Y. An error names the first node whose label is out of range.
func Labels(labels []int64) ([]int32, error) {
	y := memory.Make[int32](len(labels))
	for i, c := range labels {
		var err error
		if y[i], err = Label(int64(i), c); err != nil {
			return nil, err
		}
	}
	return y, nil
}

// ShiftLabels lowers labels without a 0 by 1, since they count from 1, and returns the numbers from 1 as the names of
// the classes. Unlabelled nodes stay unlabelled. A class that no node of one file has, such as 1, keeps its name.
func ShiftLabels(y []int32) (names []string) {
	least, most := int32(graph.MaxClasses), int32(graph.Unlabelled)
	for _, c := range y {
		if c != graph.Unlabelled {
			least, most = min(least, c), max(most, c)
		}
	}
	if least < 1 || most < 1 {
		return nil
	}
	for i, c := range y {
		if c != graph.Unlabelled {
			y[i] = c - 1
		}
	}
	for c := int32(1); c <= most; c++ {
		names = append(names, strconv.Itoa(int(c)))
	}
	return names
}

// Column returns the index of the first column in header with one of the names, ignoring case, or −1. Earlier names
// take precedence.
func Column(header, names []string) int {
	for _, name := range names {
		if i := slices.IndexFunc(header, func(h string) bool { return strings.EqualFold(h, name) }); i >= 0 {
			return i
		}
	}
	return -1
}

// Usual names of columns, in any case.
var (
	IDNames     = []string{"id", "node_id", "node"}
	LabelNames  = []string{"label", "class", "y", "target"}
	SourceNames = []string{"source", "src_id", "src", "from", "id_1"}
	TargetNames = []string{"target", "dst_id", "dst", "to", "id_2"}
	WeightNames = []string{"weight"}
)

// partNames are names of features that may say which part of the split a node is in, or which fold.
var partNames = []string{"train", "is_train", "val", "is_val", "valid", "is_valid", "test", "is_test", "fold"}

// Repeats returns "id", "label" or "split" if the name of a feature suggests that it holds one of these, else "".
func Repeats(name string) string {
	switch {
	case Column([]string{name}, IDNames) == 0:
		return "id"
	case Column([]string{name}, LabelNames) == 0 && !strings.EqualFold(name, "y"): // often a coordinate
		return "label"
	case Column([]string{name}, partNames) == 0:
		return "split"
	}
	return ""
}

// indexName matches the names that pandas gives to an index without a name: in a Parquet file, and on reading a .csv
// file from to_csv. If a table is written and read several times, the name in a .csv file gets a second number.
var indexName = regexp.MustCompile(`^(Unnamed: \d+(\.\d+)?|__index_level_\d+__)$`)

// IsIndex reports whether column i of header is one in which pandas wrote the index, which holds row numbers and is not
// a feature: the first column if it has no name (to_csv) or the name "index" (to_sql), or a column named "Unnamed: 0"
// (a .csv file read and written again) or "__index_level_0__" (to_parquet).
func IsIndex(header []string, i int) bool {
	return i == 0 && (header[i] == "" || header[i] == "index") || indexName.MatchString(header[i])
}

// Unread returns a sentence that lists the columns of a file that are neither used nor an index (IsIndex), or nothing
// if there are none.
func Unread(file string, header []string, used ...int) string {
	var left []string
	for i, name := range header {
		if !slices.Contains(used, i) && !IsIndex(header, i) {
			left = append(left, name)
		}
	}
	if left == nil {
		return ""
	}
	return fmt.Sprintf("%s: columns that are not read: %.200s", file, strings.Join(left, ", "))
}

// EdgeNotes returns the notes of format.Format.Read about the edges of the graph of that name. There are none if the
// file lists each edge once, or each in both directions.
func EdgeNotes(name string, changes graph.Changes) []string {
	both := changes.Entries == 2*(changes.Entries-changes.Loops-changes.Merged) // each in both directions
	if changes.Loops == 0 && both || !changes.Any() {
		return nil
	}
	return []string{fmt.Sprintf("%s: %v", name, changes)}
}

// heldByNode is the memory of a stream for each node, in bytes: the label, the part of the split as a number and as a
// mark, and the position in the sorted split.
const heldByNode = 4 + 4 + 1 + 4

// SizeOf returns the total size of files in bytes. A missing file counts as empty.
func SizeOf(paths ...string) (size int64) {
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
	}
	return size
}

// Hold returns the memory for the labels and the split of n nodes in bytes. It is an error if that exceeds memory.
func Hold(n, memory int64) (int64, error) {
	if held := heldByNode * n; held > memory {
		return held, fmt.Errorf("labels and split of %d nodes take %d MB of memory, must be at most %d MB",
			n, held/1e6+1, memory/1e6)
	}
	return heldByNode * n, nil
}
