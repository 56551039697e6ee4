// Package condense defines what a condensation method is and what it returns.
//
// A Method turns a graph with N nodes into a Condensed graph with N′ nodes. Package cgc contains the methods of the
// paper. Any type with the methods Name and Condense, in any module, is a Method. Its exported fields are its
// parameters:
//
//	type Herding struct{ Hops int }
//
//	func (Herding) Name() string { return "herding" }
//	func (h Herding) Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*condense.Condensed, error)
//
// Experiments, tables and files accept any Method. Register makes a method available to the command under its name.
// Package condensetest checks that a Method keeps its contract.
package condense

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/object"
	"github.com/graph-condensation/cgc/internal/registry"
)

// Method is a way to condense a graph. A value of the type holds the parameters, which its JSON lists.
type Method interface {
	// Name returns the name of the method in flags, tables and files: lower-case letters, digits and hyphens.
	Name() string
	// Condense condenses g to the given number of nodes. g is valid and must not be modified.
	//
	// The same graph, parameters, nodes and seed give the same result for any number of threads, Seconds aside. Labels of
	// test nodes are never read. Labels of validation nodes may be read only to choose between candidates. Condense
	// returns ctx's error within a second of its cancellation. It is an error if a parameter is out of range, or if nodes
	// is below the number of classes with training nodes or above the number of training nodes.
	Condense(ctx context.Context, g *graph.Graph, nodes int, seed uint64) (*Condensed, error)
}

// Preparer is a Method whose first steps depend on neither size nor seed. Experiments run these steps once for all
// sizes, all seeds and all methods that share them.
type Preparer interface {
	Method
	// Prepare runs the shared steps.
	Prepare(ctx context.Context, g *graph.Graph) (Prepared, error)
	// SharesPreparation reports whether other can condense from what Prepare returns.
	SharesPreparation(other Method) bool
}

// Prepared is a graph after the shared steps. It is safe for concurrent use. It may read the graph, which must not
// change.
type Prepared interface {
	// Condense runs the remaining steps of m and returns what m.Condense would. Its Seconds include the shared steps.
	Condense(ctx context.Context, m Method, nodes int, seed uint64) (*Condensed, error)
}

// Checker is a Method that can check its input before any work is done. Experiments call Check before the first
// condensation.
type Checker interface {
	Method
	// Check returns an error if the parameters are invalid, or if g or the number of nodes does not fit them.
	Check(g *graph.Graph, nodes int) error
}

// Altered is a Method that differs on purpose from the published method of its source. Its name says so. Tables list
// it, but comparisons with it do not count.
type Altered interface {
	Method
	// Altered says what differs: a phrase without a verb, such as "no dropout".
	Altered() string
}

// CheckResult returns an error that names m unless small is valid and what m promises for g and nodes: the number of
// nodes, the features and classes of g, and the setting of m.
func CheckResult(m Method, g *graph.Graph, nodes int, small *Condensed) error {
	if small == nil {
		return fmt.Errorf("method %s returned no condensed graph (nil) and no error", m.Name())
	}
	if err := small.Validate(); err != nil {
		return fmt.Errorf("method %s returned an invalid condensed graph: %w", m.Name(), err)
	}
	if small.Nodes() != nodes {
		return fmt.Errorf("method %s returned %d nodes, expected %d", m.Name(), small.Nodes(), nodes)
	}
	if is, want := small.Setting(), SettingOf(m); is != want {
		return fmt.Errorf("method %s returned the setting %+v, expected %+v", m.Name(), is, want)
	}
	if small.X.Cols != g.Features() || small.Classes != g.Classes {
		return fmt.Errorf("method %s returned %d features and %d classes, expected %d and %d",
			m.Name(), small.X.Cols, small.Classes, g.Features(), g.Classes)
	}
	return nil
}

// methods holds a prototype of each method: its value with default parameters.
var methods = registry.New[Method]("method")

// Register registers a method under its name. The prototype holds the default parameters. Register panics if the name
// is taken.
func Register(prototype Method) { methods.Register(prototype.Name(), prototype) }

// Names returns the names of the registered methods, in the order of registration.
func Names() []string { return methods.Names() }

// New returns the method with the given name, a copy of its prototype. parameters is a JSON object that overrides
// defaults; it may be empty. The error for a name that is not registered lists the names. A key that the method does
// not have is an error.
func New(name string, parameters json.RawMessage) (Method, error) {
	prototype, err := methods.Find(name)
	if err != nil {
		return nil, err
	}
	method, err := decode(prototype, parameters)
	if err != nil {
		return nil, fmt.Errorf("parameters of %s: %w", name, err)
	}
	return method, nil
}

// decode returns a copy of prototype with the fields that parameters sets. parameters may be empty.
func decode(prototype Method, parameters json.RawMessage) (Method, error) {
	value := reflect.ValueOf(prototype)
	pointer := value.Kind() == reflect.Pointer
	if pointer {
		value = value.Elem()
	}
	copied := reflect.New(value.Type())
	copied.Elem().Set(value)
	unshare(copied.Elem())
	if len(parameters) > 0 {
		decoder := json.NewDecoder(bytes.NewReader(parameters))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(copied.Interface()); err != nil {
			return nil, err
		}
		if decoder.More() {
			return nil, errors.New("more than one JSON object")
		}
	}
	if pointer {
		return copied.Interface().(Method), nil
	}
	return copied.Elem().Interface().(Method), nil
}

// unshare copies the slices and maps in the exported fields of v, because JSON is decoded into their memory.
func unshare(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			if field.CanSet() {
				unshare(field)
			}
		}
	case reflect.Slice:
		if !v.IsNil() {
			v.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v))
		}
	case reflect.Map:
		if !v.IsNil() {
			copied := reflect.MakeMapWithSize(v.Type(), v.Len())
			for key, value := range v.Seq2() {
				copied.SetMapIndex(key, value)
			}
			v.Set(copied)
		}
	}
}

// Configuration returns the configuration that files and records store: the JSON object of m's parameters, with the
// keys method, nodes and seed. These three keys override m's own. The keys ratio and label_ratio are left out.
func Configuration(m Method, nodes int, seed uint64) (json.RawMessage, error) {
	parameters, err := object.Of(m)
	if err != nil {
		return nil, fmt.Errorf("parameters of %s: %w", m.Name(), err)
	}
	parameters = parameters.Without("method", "nodes", "ratio", "label_ratio")
	own := object.Object{
		{Key: "method", Value: json.RawMessage(strconv.Quote(m.Name()))},
		{Key: "nodes", Value: json.RawMessage(strconv.Itoa(nodes))},
	}
	s := object.Field{Key: "seed", Value: json.RawMessage(strconv.FormatUint(seed, 10))}
	if at := slices.IndexFunc(parameters, func(f object.Field) bool { return f.Key == s.Key }); at >= 0 {
		parameters[at] = s
	} else {
		own = append(own, s)
	}
	return append(own, parameters...).Bytes(), nil
}
