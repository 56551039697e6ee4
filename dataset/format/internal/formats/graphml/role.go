package graphml

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc/internal/content"
)

type role byte

const (
	ignored role = iota
	labels
	split
	trainMask
	valMask
	testMask
	names   // of nodes
	list    // of features
	feature // a number
	weights // of edges
)

// drawing lists the attributes in which Gephi stores the drawing of a graph.
var drawing = []string{"r", "g", "b", "x", "y"}

// roles assigns a role to each key. It returns the names of the feature columns, and notes. If an attribute is missing,
// the error lists the existing ones.
func roles(file string, keys []*key) (columns, notes []string, err error) {
	keys = inOrder(keys)
	byName := map[string][]*key{} // several keys may share a name, with different types
	var order []string
	for _, k := range keys {
		name := strings.ToLower(k.name)
		if name == "weight" && (k.of == "edge" || k.of == "all") {
			k.role = weights
		}
		if k.of != "node" && k.of != "all" || k.kind == "" || k.role == weights {
			continue
		}
		if byName[name] == nil {
			order = append(order, name)
		}
		byName[name] = append(byName[name], k)
	}
	all := strings.Join(order, ", ")
	var left []string
	// take gives the role to all attributes with the first of the names that exists, and reports whether one exists.
	take := func(r role, names ...string) bool {
		for _, name := range names {
			found := byName[name]
			for _, k := range found {
				k.role = r
			}
			if found != nil {
				delete(byName, name)
				order = slices.DeleteFunc(order, func(n string) bool { return n == name })
				return true
			}
		}
		return false
	}
	// only is like take, but ignores a name unless exactly one attribute has it, and that attribute is a string.
	only := func(r role, names ...string) bool {
		return take(r, slices.DeleteFunc(names, func(name string) bool {
			return len(byName[name]) != 1 || byName[name][0].kind != "string"
		})...)
	}
	drawn := !slices.ContainsFunc(drawing, func(name string) bool { return byName[name] == nil })
	if drawn {
		for _, name := range append([]string{"size"}, drawing...) {
			take(ignored, name)
		}
		notes = append(notes, fmt.Sprintf("%s: the attributes r, g, b, x, y and size are not features: "+
			"they say how Gephi draws nodes", file))
	}
	if !take(labels, "class", "label", "y") {
		return nil, nil, fmt.Errorf("no attribute of nodes is called class, label or y (there are: %.200s)",
			cmp.Or(all, "none"))
	}
	for _, name := range []string{"label", "y"} {
		if take(ignored, name) {
			left = append(left, name)
		}
	}
	take(split, "split", "part")
	take(trainMask, "train_mask")
	take(valMask, "val_mask", "valid_mask")
	take(testMask, "test_mask")
	only(names, "id", "name")
	listed := only(list, "x", "features", "feat")
	for _, name := range order {
		found := byName[name]
		text := slices.IndexFunc(found, func(k *key) bool { return !numeric(k.kind) })
		number := slices.IndexFunc(found, func(k *key) bool { return numeric(k.kind) })
		switch {
		case text >= 0 && number >= 0:
			return nil, nil, fmt.Errorf("the attribute %.50q of nodes is declared as %s and as %s, must be numbers or text",
				found[0].name, found[number].kind, found[text].kind)
		case text >= 0 || listed:
			left = append(left, found[0].name)
			continue
		}
		for _, k := range found {
			k.role, k.column = feature, len(columns)
		}
		columns = append(columns, found[0].name)
		if what := content.Repeats(found[0].name); what == "id" || what == "label" {
			notes = append(notes, fmt.Sprintf("%s: the attribute %s is a feature: leave it out if it holds the %s", file,
				found[0].name, what))
		}
	}
	if len(columns) == 0 && !listed {
		return nil, nil, fmt.Errorf("no attribute of nodes is a feature, must be at least one number (there are: %.200s)",
			all)
	}
	if len(left) > 0 {
		notes = append(notes, fmt.Sprintf("%s: attributes of nodes that are not read: %.200s",
			file, strings.Join(left, ", ")))
	}
	return columns, notes, nil
}

// numeric says whether values of the type are numbers.
func numeric(kind string) bool {
	return slices.Contains([]string{"boolean", "int", "integer", "long", "float", "double"}, kind)
}

// inOrder returns keys in the order of their creation: networkx numbers them d0, d1, … and writes them in reverse
// order.
func inOrder(keys []*key) []*key {
	numbers := map[*key]int{}
	for _, k := range keys {
		number, is := strings.CutPrefix(k.id, "d")
		v, err := strconv.Atoi(number)
		if !is || err != nil {
			return keys
		}
		numbers[k] = v
	}
	sorted := slices.Clone(keys)
	slices.SortStableFunc(sorted, func(a, b *key) int { return cmp.Compare(numbers[a], numbers[b]) })
	return sorted
}
