package gnn

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc/internal/registry"
)

// family is a model of this package with all its variants.
type family struct {
	name       string
	parameters []setting
	// model returns the variant with the given name and the given values of the parameters.
	model func(name string, values []float64) Model
}

// setting is a parameter that the name of a model may set. Its values are from least to most.
type setting struct {
	name                  string
	standard, least, most float64
	real                  bool // whether values need not be integers
}

// families holds the models of this package by name.
var families = map[string]family{"sgc": sgc, "gcn": gcn, "sage": sage, "appnp": appnp, "cheby": cheby, "gat": gats}

// layers is the number of layers. The papers have two.
var layers = setting{name: "layers", standard: 2, least: 1, most: 8}

// standard returns the model whose parameters have their default values.
func (f family) standard() Model { return f.variant(f.values()) }

// values returns the default values of the parameters.
func (f family) values() []float64 {
	values := make([]float64, len(f.parameters))
	for i, p := range f.parameters {
		values[i] = p.standard
	}
	return values
}

// variant returns the model with the given values. Its name lists those that differ from the default, so that equal
// models have equal names.
func (f family) variant(values []float64) Model {
	name := f.name
	for i, p := range f.parameters {
		if values[i] != p.standard {
			name += ":" + p.name + "=" + strconv.FormatFloat(values[i], 'g', -1, 64)
		}
	}
	return f.model(name, values)
}

// set sets values by a text such as "layers=3:order=1".
func (f family) set(values []float64, text string) error {
	names := make([]string, len(f.parameters))
	for i, p := range f.parameters {
		names[i] = p.name
	}
	seen := make([]bool, len(names))
	for one := range strings.SplitSeq(text, ":") {
		name, value, _ := strings.Cut(one, "=")
		i := slices.Index(names, name)
		switch {
		case i < 0:
			return &registry.Unknown{Kind: "parameter of " + f.name, Name: name, Names: names}
		case value == "":
			return fmt.Errorf("%s of %s has no value, must be as in %[1]s=%[3]v", name, f.name, f.parameters[i].standard)
		case seen[i]:
			return fmt.Errorf("%s of %s is set twice, must be set once", name, f.name)
		}
		v, err := f.parameters[i].parse(value)
		if err != nil {
			return fmt.Errorf("%s of %s is %w", name, f.name, err)
		}
		values[i], seen[i] = v, true
	}
	return nil
}

// parse returns the value of p in a text.
func (p setting) parse(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	kind := "an integer"
	if p.real {
		kind = "a number"
	}
	if err != nil || !(v >= p.least && v <= p.most) || !p.real && v != math.Trunc(v) {
		return 0, fmt.Errorf("%s, must be %s from %v to %v", text, kind, p.least, p.most)
	}
	return v + 0, nil // −0 becomes 0
}

// Parse returns the model with the given name, ignoring case. The name may be followed by parameters of the model:
//
//	gcn, sage    layers (2), 1 to 8
//	sgc          hops (2), 1 to 20
//	appnp        hops (10), 1 to 20; alpha (0.1), the teleport probability, 0 to 1
//	cheby        layers (2), 1 to 8; order (2), 1 to 5
//	gat          heads (8) of the hidden layer, 1 to 64
//
// The number in parentheses is the default. For example, gcn:layers=3 has three layers, and appnp:hops=5:alpha=0.2 has
// two other parameters. The Name of the result lists parameters in this order and leaves out defaults, so that equal
// models have equal names. The error for an unknown name lists all names.
func Parse(name string) (Model, error) {
	base, settings, varied := strings.Cut(strings.ToLower(name), ":")
	m, err := models.Find(base)
	if err != nil || !varied {
		return m, err
	}
	f, found := families[base]
	if !found {
		return nil, fmt.Errorf("model %s with parameters %q, must be without: it has none", base, settings)
	}
	values := f.values()
	if err := f.set(values, settings); err != nil {
		return nil, err
	}
	return f.variant(values), nil
}

// Structure returns the name of m without parameters, and the value of each of its parameters: see Parse. A model from
// another package has no parameters.
func Structure(m Model) (name string, parameters map[string]float64) {
	name, settings, varied := strings.Cut(m.Name(), ":")
	f := families[name]
	values := f.values()
	if varied && f.set(values, settings) != nil {
		return m.Name(), nil
	}
	parameters = map[string]float64{}
	for i, p := range f.parameters {
		parameters[p.name] = values[i]
	}
	return name, parameters
}

// Linear reports whether m is a model of this package without a hidden layer, such as sgc and gcn:layers=1.
// Config.Hidden and Config.Dropout have no effect on it.
func Linear(m Model) bool {
	p, is := m.(*polynomial)
	return is && len(p.layers) == 1
}
