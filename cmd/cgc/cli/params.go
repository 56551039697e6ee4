package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/condense/auto"
	"github.com/graph-condensation/cgc/internal/object"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// params holds the parameters of other packages' methods, from --param and from the file of --params.
type params struct {
	list []param
	file string
}

type param struct {
	// method is the method that has the parameter; "" stands for every method that is not cgc's own.
	method, key string
	value       json.RawMessage
	fromConfig  bool // from the file of --config
}

// Set parses KEY=VALUE or METHOD.KEY=VALUE. VALUE is JSON, or else a string without quotes.
func (p *params) Set(text string) error {
	key, word, found := strings.Cut(text, "=")
	if !found || key == "" {
		return errors.New(p.must())
	}
	value := json.RawMessage(word)
	if !json.Valid(value) {
		var err error
		if value, err = json.Marshal(word); err != nil {
			return err
		}
	}
	one, err := newParam(key, value)
	if err != nil {
		return ownSentence{err}
	}
	p.add(one)
	return nil
}

// add adds a parameter with the precedence of the existing ones. A parameter of one method overrides one of all
// methods, in any order.
func (p *params) add(one param) {
	at := slices.IndexFunc(p.list, func(other param) bool { return one.method == "" && other.method != "" })
	if at < 0 {
		at = len(p.list)
	}
	p.list = slices.Insert(p.list, at, one)
}

// newParam returns a parameter. key may begin with the name of a method and a dot.
func newParam(key string, value json.RawMessage) (param, error) {
	method, rest, dotted := strings.Cut(key, ".")
	if !dotted {
		return param{key: key, value: value}, nil
	}
	m, err := condense.New(method, nil)
	if err != nil {
		return param{}, err
	}
	return param{method: m.Name(), key: rest, value: value}, nil
}

// String formats the parameters in the syntax of Set, separated by spaces.
func (p *params) String() string { return strings.Join(mapped(p.list, param.String), " ") }

// String formats the parameter in the syntax of Set.
func (p param) String() string {
	key := p.key
	if p.method != "" {
		key = p.method + "." + key
	}
	return key + "=" + string(p.value)
}

// Type names the value in help.
func (p *params) Type() string { return "KEY=VALUE" }
func (p *params) must() string { return "KEY=VALUE or METHOD.KEY=VALUE" }

// readFile reads the file of --params and inserts its parameters before those of --param, which override them.
func (p *params) readFile() error {
	if p.file == "" {
		return nil
	}
	text, err := os.ReadFile(p.file)
	if err != nil {
		return fmt.Errorf("--params %w", err)
	}
	var object map[string]json.RawMessage
	if err := strictly(text, &object); err != nil {
		return fmt.Errorf("--params %s: %w", p.file, err)
	}
	var below params
	for key, value := range object {
		one, err := newParam(key, value)
		if err != nil {
			return fmt.Errorf("--params %s: %w", p.file, err)
		}
		below.add(one)
	}
	p.list = append(below.list, p.list...)
	return nil
}

// of returns the parameters of a method as a JSON object, or nil if none are set.
func (p *params) of(method string) (json.RawMessage, error) {
	object := map[string]json.RawMessage{}
	for _, one := range p.list {
		if one.method == "" || one.method == method {
			object[one.key] = one.value
		}
	}
	if len(object) == 0 {
		return nil, nil
	}
	return json.Marshal(object)
}

// isCGC reports whether name is one of the methods whose parameters are flags.
func isCGC(name string) bool {
	m, err := condense.New(name, nil)
	_, is := m.(cgc.Config)
	return err == nil && is
}

// ofCGC reports whether one of the chosen methods is cgc's own.
func (f *configFlags) ofCGC() bool { return slices.ContainsFunc(f.names, isCGC) }

// reads reports whether a chosen method accepts the parameters of the named method. It is true for an empty name.
func (f *configFlags) reads(name string) bool {
	return name == "" || isCGC(name) && f.ofCGC() || slices.Contains(f.names, name)
}

// build makes the chosen methods with their parameters from the command line and the files. It returns an error for
// flags and parameters that no chosen method reads.
func (f *configFlags) build() error {
	if err := f.unread(); err != nil {
		return err
	}
	f.built = nil
	for _, name := range f.names {
		m, err := f.buildOne(name)
		if err != nil {
			return err
		}
		f.built = append(f.built, m)
	}
	return nil
}

func (f *configFlags) buildOne(name string) (condense.Method, error) {
	if isCGC(name) { // its parameters are flags
		return condense.New(name, nil)
	}
	object, err := f.params.of(name)
	if err != nil {
		return nil, err
	}
	m, err := condense.New(name, object)
	if err != nil {
		keys := keysOf(name)
		if err := f.wrongInFile(name); err != nil {
			return nil, fmt.Errorf("--config %s: %w", f.file, withHint(err, keys))
		}
		return nil, usagef("--param: %s (%s)", sentence(withHint(err, keys)), listOfKeys(keys))
	}
	_, chooses := m.(auto.Method)
	if _, own := m.(condense.InSetting); own && !chooses && f.config.Setting() != (condense.Setting{}) {
		return nil, usagef("--normalize-features, --standardize, --inductive and --causal: %s has a setting of its own, "+
			"use --param", name)
	}
	return m, nil
}

// wrongInFile returns an error if the file of --config gives a method invalid parameters.
func (f *configFlags) wrongInFile(name string) error {
	file := params{list: slices.Clone(f.params.list)}
	file.list = slices.DeleteFunc(file.list, func(one param) bool { return !one.fromConfig })
	object, err := file.of(name)
	if err == nil {
		_, err = condense.New(name, object)
	}
	return err
}

// methods returns the methods that build has made, with the setting, the limits and the parameters of the flags.
func (f *configFlags) methods() []condense.Method {
	var methods []condense.Method
	for _, m := range f.built {
		switch method := m.(type) {
		case cgc.Config:
			config := f.config
			config.Variant = method.Variant
			m = config
		case auto.Method:
			method.NormalizeFeatures, method.Standardize = f.config.NormalizeFeatures, f.config.Standardize
			method.Inductive, method.Causal, method.Lossless = f.config.Inductive, f.config.Causal, f.lossless
			method.Memory, method.Precision = f.config.Memory, f.config.Precision
			if engine, is := f.config.Engine.(blocked.Engine); is { // the limit comes from the system
				method.Memory = engine.Memory
			}
			m = method
		default:
			if setting := f.config.Setting(); setting != (condense.Setting{}) {
				m = condense.Under(setting, m)
			}
		}
		methods = append(methods, m)
	}
	return methods
}

// keysOf returns the names of a method's parameters, for auto those that are not flags.
func keysOf(method string) []string {
	m, err := condense.New(method, nil)
	if err != nil {
		return nil
	}
	if _, chooses := m.(auto.Method); chooses {
		return slices.DeleteFunc(keysOfType(reflect.TypeOf(m)), setsAuto)
	}
	parameters, err := object.Of(m)
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(parameters.Map()))
}

// listOfKeys formats the names of a method's parameters as a clause.
func listOfKeys(keys []string) string {
	if len(keys) == 0 {
		return "it has no parameters"
	}
	return "its parameters are " + strings.Join(keys, ", ")
}

// insteadOf says what to use instead of a flag that has no effect on a method.
func insteadOf(flag, method string) string {
	keys, key := keysOf(method), strings.ReplaceAll(flag, "-", "_")
	if slices.Contains(keys, key) {
		return "use --param " + key + "=VALUE"
	}
	return listOfKeys(keys)
}

// unread returns a usage error that lists the flags and parameters that no chosen method reads.
func (f *configFlags) unread() error {
	var own, other []string // the chosen methods of cgc and of other packages
	for _, name := range f.names {
		if isCGC(name) {
			own = append(own, name)
		} else {
			other = append(other, name)
		}
	}
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	chooser, keysOfAuto := auto.New().Name(), keysOfType(reflect.TypeFor[auto.Method]())
	for _, one := range f.params.list {
		switch {
		case one.method == "" && (len(other) == 0 || f.unasked() && !slices.Contains(keysOfAuto, one.key)):
			add("--param %s: the parameters of %s are flags, as --hops", one, cmp.Or(strings.Join(own, ", "), "cgc"))
		case one.method != "" && slices.Contains(own, one.method):
			add("--param %s: the parameters of %s are flags, as --hops", one, one.method)
		case one.method != "" && !slices.Contains(other, one.method):
			add("--param %s: %s is not among the methods %s", one, one.method, strings.Join(f.names, ", "))
		case f.chooses() && (one.method == "" || one.method == chooser) && setsAuto(one.key):
			add("--param %s: this parameter of %s is a flag, --%s", one, chooser, strings.ReplaceAll(one.key, "_", "-"))
		}
	}
	for _, name := range f.own {
		flag := f.flags.Lookup(name) // skipped if auto reads it, or if it has its default, like auto's candidates
		if f.chooses() && (slices.Contains(common, name) || flag.Value.String() == flag.DefValue) {
			continue
		}
		if len(own) == 0 && f.flags.Changed(name) {
			add("--%s has no effect on %s: %s", name, strings.Join(other, ", "), insteadOf(name, other[0]))
		}
	}
	if len(lines) > 0 {
		return usage{strings.Join(lines, "; ")}
	}
	return nil
}
