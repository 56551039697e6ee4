package graphml

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/classes"
	"github.com/graph-condensation/cgc/dataset/format/internal/csr"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/content"
	"github.com/graph-condensation/cgc/mat"
)

// reader builds a graph from a document.
type reader struct {
	document
	b       graph.Builder
	notes   []string
	columns []string // the names of the features
	listed  *key     // the attribute with all features as a list, or nil
	presets []*key   // node attributes with a default, features excluded
	weight  bool     // edges have weights
	usual   string   // the default weight of an edge

	meta   map[string]string
	at     map[string]int32 // maps ids to nodes
	ids    []string
	names  []string // the values of the name attribute, for nodes that have one
	labels classes.Labels
	x      mat.CSR // the features in the file, by node; columns in any order
	later  []pending
}

// pending is an edge that precedes its nodes.
type pending struct {
	line, edge     int
	source, target string
}

// begin assigns roles to the keys.
func (r *reader) begin(keys []*key) (err error) {
	if r.meta = r.metadata(); r.meta["format"] == format.CondensedKind {
		return format.ErrCondensed
	}
	if r.columns, r.notes, err = roles(r.in.Path, keys); err != nil {
		return err
	}
	for _, k := range keys {
		switch k.role {
		case list:
			r.listed = k
		case weights:
			r.weight, r.usual = true, cmp.Or(k.preset, r.usual)
		}
		if k.preset != "" && k.role != ignored && k.role != feature && k.role != weights {
			r.presets = append(r.presets, k)
		}
	}
	r.x.Indptr = []int64{0}
	return nil
}

// node adds a node with its label, its part of the split and its features.
func (r *reader) node(e *element) error {
	node := int32(len(r.ids))
	if e.id == "" {
		return errors.New("a node without an id")
	}
	if _, repeated := r.at[e.id]; repeated {
		return fmt.Errorf("the node %.50q appears twice", e.id)
	}
	if len(r.ids) == graph.MaxNodes {
		return fmt.Errorf("more than %d nodes", graph.MaxNodes)
	}
	r.at[e.id], r.ids = node, append(r.ids, e.id)
	label := ""
	for _, k := range r.presets { // omitted values have the default
		if k.last != e {
			e.data = append(e.data, datum{k, k.preset})
		}
	}
	for _, d := range e.data {
		text := strings.TrimSpace(d.text)
		var err error
		switch d.key.role {
		case labels:
			label = text
		case names:
			r.names = append(r.names, text)
		case split:
			err = classes.Part(&r.b.Split, node, text)
		case trainMask:
			err = mask(&r.b.Split.Train, node, text)
		case valMask:
			err = mask(&r.b.Split.Val, node, text)
		case testMask:
			err = mask(&r.b.Split.Test, node, text)
		case feature:
			err = r.feature(d.key, text)
		case list:
			err = r.list(text)
		}
		if err != nil {
			return fmt.Errorf("node %.50q: attribute %.50s: %w", e.id, d.key.name, err)
		}
	}
	r.x.Indptr = append(r.x.Indptr, int64(len(r.x.Indices)))
	r.labels.Add([]byte(label), e.line)
	return nil
}

// mask adds node to nodes if text is true.
func mask(nodes *[]int32, node int32, text string) error {
	in, err := strconv.ParseBool(strings.ToLower(text))
	if err != nil {
		return fmt.Errorf("%.50q, must be true or false", text)
	}
	if in {
		*nodes = append(*nodes, node)
	}
	return nil
}

// number parses a number or a boolean.
func number(text string) (float32, error) {
	v, err := content.Float([]byte(text))
	if err != nil {
		if is, noBool := strconv.ParseBool(strings.ToLower(text)); noBool == nil {
			if is {
				return 1, nil
			}
			return 0, nil
		}
	}
	if err != nil || math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
		return 0, fmt.Errorf("%.50q, must be a finite number", text)
	}
	return v, nil
}

// feature adds a feature of the last node.
func (r *reader) feature(k *key, text string) error {
	v, err := number(text)
	if err == nil {
		r.x.Indices, r.x.Data = append(r.x.Indices, int32(k.column)), append(r.x.Data, v)
	}
	return err
}

// list adds the features of the last node: numbers separated by commas or spaces, possibly in brackets.
func (r *reader) list(text string) error {
	fields := strings.FieldsFunc(strings.Trim(text, "[]() "), func(c rune) bool {
		return c == ',' || c == ' ' || c == ';' || c == '\n' || c == '\t'
	})
	if len(r.ids) == 1 {
		if len(fields) == 0 {
			return errors.New("an empty list, must be numbers")
		}
		r.columns = make([]string, len(fields))
	}
	if len(fields) != len(r.columns) {
		return fmt.Errorf("%d numbers, and the first node has %d", len(fields), len(r.columns))
	}
	for j, field := range fields {
		v, err := number(field)
		if err != nil {
			return err
		}
		r.x.Indices, r.x.Data = append(r.x.Indices, int32(j)), append(r.x.Data, v)
	}
	return nil
}

// edge adds an edge. If one of its nodes comes later in the file, finish corrects the edge.
func (r *reader) edge(e *element) error {
	edges := &r.b.Edges
	u, source := r.at[e.source]
	v, target := r.at[e.target]
	if !source || !target {
		r.later = append(r.later, pending{e.line, len(edges.From), e.source, e.target})
	}
	edges.From, edges.To = append(edges.From, u), append(edges.To, v)
	if !r.weight {
		return nil
	}
	text := r.usual
	for _, d := range e.data {
		if d.key.role == weights {
			text = strings.TrimSpace(d.text)
		}
	}
	w, err := number(text)
	if err != nil || w <= 0 {
		return fmt.Errorf("weight %.50q of the edge %.50q–%.50q, must be a positive finite number", text, e.source, e.target)
	}
	edges.Weight = append(edges.Weight, w)
	return nil
}

// finish sets the parts of the graph that depend on the complete file.
func (r *reader) finish(ctx context.Context) (err error) {
	b := &r.b
	for _, p := range r.later {
		for _, end := range []struct {
			id   string
			node *int32
		}{{p.source, &b.Edges.From[p.edge]}, {p.target, &b.Edges.To[p.edge]}} {
			node, found := r.at[end.id]
			if !found {
				return r.in.Fail(p.line, "an edge %.50q–%.50q: there is no node %.50q", p.source, p.target, end.id)
			}
			*end.node = node
		}
	}
	b.Nodes = len(r.ids)
	if b.Nodes == 0 {
		return r.in.Fail(0, "the graph has no nodes")
	}
	r.name()
	if err := r.classes(); err != nil {
		return err
	}
	b.X, err = r.features(ctx)
	return err
}

// classes sets the labels, the classes and the names of features, from the metadata or, without it, from the labels and
// the attributes themselves.
func (r *reader) classes() (err error) {
	b := &r.b
	if n, names, err := classes.Described(r.meta); err == nil && r.meta["format"] == format.GraphKind {
		if b.Y, _, err = r.labels.Known(classes.Named(n, names)); err == nil {
			b.Name, b.Classes, b.ClassNames = r.meta["name"], n, names
			if b.FeatureNames, err = format.NamesOf(r.meta, format.FeatureNames, len(r.columns)); err != nil {
				return r.in.Fail(0, "%w", err)
			}
			return nil
		}
	}
	if len(r.columns) > 0 && r.columns[0] != "" { // each feature has its own attribute
		b.FeatureNames = r.columns
	}
	line := 0
	if b.Y, b.ClassNames, line, err = r.labels.Classes(classes.Line); err != nil {
		return r.in.Fail(line, "%w", err)
	}
	return nil
}

// name sets the names of nodes: an attribute if its values are distinct, else the ids. Ids that only number the nodes
// are not names: 0, 1, … and, if another program wrote the file, n0, n1, ….
func (r *reader) name() {
	prefix := "n"
	if r.meta["format"] == format.GraphKind {
		prefix = ""
	}
	distinct := map[string]bool{}
	for _, name := range r.names {
		distinct[name] = true
	}
	switch {
	case len(distinct) == len(r.ids):
		r.ids, prefix = r.names, ""
	case len(r.names) > 0:
		r.notes = append(r.notes, r.in.Path+": some names of nodes are missing or repeated: the ids replace all of them")
	}
	for i, id := range r.ids {
		if strings.TrimPrefix(id, prefix) != strconv.Itoa(i) {
			r.b.IDs = r.ids
			return
		}
	}
}

// features returns the features of all nodes. Omitted values have the default of their attribute. If all defaults are 0
// and most values are omitted, the features stay sparse.
func (r *reader) features(ctx context.Context) (mat.Matrix, error) {
	const few = 1 << 22 // matrices of up to this many cells may always be dense
	n, d := len(r.ids), len(r.columns)
	presets, zeros, err := r.defaults()
	if err != nil {
		return nil, err
	}
	r.x.Rows, r.x.Cols = n, d
	if zeros && int64(len(r.x.Data)) < int64(n)*int64(d)/2 {
		return r.sparse(ctx)
	}
	if int64(n)*int64(d) > max(few, 64*int64(len(r.x.Data))) {
		return nil, r.in.Fail(0, "%d values of attributes for %d nodes with %d features: most are left out, "+
			"and have a default other than 0", len(r.x.Data), n, d)
	}
	x := mat.NewDense(n, d)
	for i := range n {
		row := x.Row(i)
		copy(row, presets)
		for e := r.x.Indptr[i]; e < r.x.Indptr[i+1]; e++ {
			row[r.x.Indices[e]] = r.x.Data[e]
		}
	}
	return x, nil
}

// defaults returns the default of each feature, and whether all defaults are 0. It is an error if a value without a
// default is omitted, or if a node has a value twice.
func (r *reader) defaults() (presets []float32, zeros bool, err error) {
	d := len(r.columns)
	presets, given := make([]float32, d), make([]bool, d)
	for _, k := range r.keys {
		if k.role != feature || k.preset == "" {
			continue
		}
		if presets[k.column], err = number(k.preset); err != nil {
			return nil, false, r.in.Fail(0, "the default of the attribute %.50q is %w", k.name, err)
		}
		given[k.column] = true
	}
	var required []int // the features without a default
	for j, has := range given {
		if !has {
			required = append(required, j)
		}
	}
	last := make([]int, d) // the last node with each feature, counted from 1
	for i := range r.ids {
		for _, j := range r.x.Indices[r.x.Indptr[i]:r.x.Indptr[i+1]] {
			if last[j] == i+1 {
				return nil, false, r.in.Fail(0, "node %.50q has the attribute %.50q twice", r.ids[i], r.columns[j])
			}
			last[j] = i + 1
		}
		for _, j := range required {
			if last[j] == i+1 {
				continue
			}
			name := r.columns[j]
			if r.listed != nil {
				name = r.listed.name
			}
			return nil, false, r.in.Fail(0, "node %.50q has no attribute %.50q, "+
				"must be a number for each node, or a default", r.ids[i], name)
		}
	}
	return presets, required == nil && !slices.ContainsFunc(presets, func(v float32) bool { return v != 0 }), nil
}

// sparse returns the values that are not 0, with ascending columns.
func (r *reader) sparse(ctx context.Context) (*mat.CSR, error) {
	x := &mat.CSR{Rows: r.x.Rows, Cols: r.x.Cols, Indptr: make([]int64, 1, r.x.Rows+1), Data: []float32{}}
	for i := range r.x.Rows {
		for e := r.x.Indptr[i]; e < r.x.Indptr[i+1]; e++ {
			if v := r.x.Data[e]; v != 0 {
				x.Indices, x.Data = append(x.Indices, r.x.Indices[e]), append(x.Data, v)
			}
		}
		x.Indptr = append(x.Indptr, int64(len(x.Indices)))
	}
	if err := csr.SortRows(ctx, x); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(x.Data, func(v float32) bool { return v != 1 }) {
		x.Data = nil
	}
	return x, nil
}
