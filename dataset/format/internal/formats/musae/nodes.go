package musae

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unique"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/classes"
	"github.com/graph-condensation/cgc/dataset/format/internal/csvfile"
	"github.com/graph-condensation/cgc/dataset/format/table"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/content"
	"github.com/graph-condensation/cgc/internal/memory"
)

// The usual names of the columns, in order of preference.
var (
	idNames      = []string{"new_id", "id", "node_id"}
	labelNames   = []string{"target", "label", "page_type", "ml_target", "mature"}
	nodeNames    = []string{"node_id", "id", "node"}
	featureNames = []string{"feature_id", "feature"}
	valueNames   = []string{"value"}
)

// If the name of a feature column contains amount, the column lists the indices of the features that are 1.
const amount = "feature_amount:"

// nodes is the content of the files of nodes and features.
type nodes struct {
	y          []int32
	classNames []string

	row, col []int32 // positions of the non-zero features
	value    []float32
	columns  int // the number of features
	width    int // the number of features in the first row, if rows list all features
}

// readNodes reads the label of each node, and in a file of Geom-GCN also the features. Ids are the numbers 0 to n−1, in
// any order. Without a column of ids, row i is node i.
func readNodes(ctx context.Context, f files) (*nodes, []string, error) {
	t, err := csvfile.OpenTable(f.nodes)
	if err != nil {
		return nil, nil, err
	}
	header, n := t.Header(), &nodes{}
	id, label, own := t.Column(idNames...), t.Column(labelNames...), -1
	names, places := [][]string{labelNames}, []int{label}
	if f.features == "" {
		own = slices.IndexFunc(header, func(h string) bool { return strings.HasPrefix(h, "feature") })
		names, places = append(names, featureNames[1:]), append(places, own)
	}
	if err := table.Missing(header, names, places...); err != nil {
		return nil, nil, t.FailAt(1, err)
	}
	var ids []int32
	var lines []int
	var labels []string
	err = t.Each(ctx, func(fields [][]byte, line int) (err error) {
		node := int32(len(ids))
		if id >= 0 {
			node, err = content.Within("node", fields[id], graph.MaxNodes-1)
		}
		if err == nil && len(ids) == graph.MaxNodes {
			err = fmt.Errorf("more than %d nodes", graph.MaxNodes)
		}
		if err == nil && own >= 0 {
			err = n.addList(node, fields[own], header[own])
		}
		if err != nil {
			return err
		}
		name := unique.Make(string(fields[label])) // equal labels share their memory
		ids, lines, labels = append(ids, node), append(lines, line), append(labels, name.Value())
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if len(ids) == 0 {
		return nil, nil, format.Wrong(f.nodes, "the file has no rows, must have at least 1 node")
	}
	seen := memory.Make[bool](len(ids))
	for i, node := range ids {
		if int(node) >= len(ids) {
			return nil, nil, t.FailAt(lines[i], fmt.Errorf("node %d, must be 0 to %d (there are %d rows)",
				node, len(ids)-1, len(ids)))
		}
		if seen[node] {
			return nil, nil, t.FailAt(lines[i], fmt.Errorf("node %d appears twice, must appear once", node))
		}
		seen[node] = true
	}
	y, note, line, err := n.classes(labels, lines)
	if err != nil {
		return nil, nil, t.FailAt(line, err)
	}
	n.y = memory.Make[int32](len(y))
	for i, c := range y {
		n.y[ids[i]] = c
	}
	if note != "" {
		return n, []string{fmt.Sprintf("%s: the column %s %s", f.nodes, header[label], note)}, nil
	}
	return n, nil, nil
}

// quantiles is the number of classes of a quantity. Geom-GCN uses the same number for the articles of Wikipedia.
const quantiles = 5

// classes returns the class of each label. If there are too many different numbers to be classes, such as visits to an
// article, the classes are quantiles. A note says so.
func (n *nodes) classes(labels []string, lines []int) (y []int32, note string, line int, err error) {
	values, different := make([]int64, len(labels)), map[string]bool{}
	quantity := true
	for i, text := range labels {
		values[i], err = content.Int([]byte(text))
		quantity = quantity && err == nil
		different[text] = true
	}
	if quantity && len(different) > max(100, len(labels)/10) {
		return split(values), fmt.Sprintf("holds %d different numbers: they were divided into %d classes of about equal size",
			len(different), quantiles), 0, nil
	}
	l := classes.Labels{Loose: true}
	for i, text := range labels {
		l.Add([]byte(text), lines[i])
	}
	y, n.classNames, line, err = l.Classes(classes.Line)
	return y, "", line, err
}

// split returns the quantile of each value. Equal values are in one class.
func split(values []int64) []int32 {
	order := memory.Range(0, len(values))
	slices.SortStableFunc(order, func(i, j int32) int { return cmp.Compare(values[i], values[j]) })
	y := memory.Make[int32](len(values))
	for rank, i := range order {
		y[i] = int32(quantiles * rank / len(values))
		if rank > 0 && values[i] == values[order[rank-1]] {
			y[i] = y[order[rank-1]]
		}
	}
	return y
}

// add sets a feature of a node. A feature may be set more than once: matrix adds up the values.
func (n *nodes) add(node, column int32, value float32) {
	n.row, n.col, n.value = append(n.row, node), append(n.col, column), append(n.value, value)
	n.columns = max(n.columns, int(column)+1)
}

// addList adds the features of a node of Geom-GCN. Depending on the name of the column, the list has a number for each
// feature, or the indices of the features that are 1.
func (n *nodes) addList(node int32, list []byte, name string) error {
	_, most, listed := strings.Cut(name, amount)
	if listed {
		last, err := strconv.ParseInt(strings.TrimRight(most, ") "), 10, 32)
		if err != nil || last < 0 {
			return fmt.Errorf("the column %.50q, must end with the largest number of a feature", name)
		}
		n.columns = int(last) + 1
		if len(list) == 0 {
			return nil
		}
	}
	count := 0
	for field := range bytes.SplitSeq(list, []byte(",")) {
		if listed {
			column, err := content.Within("feature", field, int64(n.columns)-1)
			if err != nil {
				return err
			}
			n.add(node, column, 1)
			continue
		}
		v, err := content.Float(bytes.TrimSpace(field))
		if err != nil {
			return fmt.Errorf("feature %.50q, must be a number", field)
		}
		if v != 0 {
			n.add(node, int32(count), v)
		}
		count++
	}
	if listed {
		return nil
	}
	if n.width == 0 {
		n.width = count
	}
	if n.columns = count; count != n.width {
		return fmt.Errorf("%d features, must be %d as in the first row", count, n.width)
	}
	return nil
}
