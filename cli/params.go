package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
)

// params are the parameters of methods of other packages: the flag --param and the file of --params.
type params struct {
	list []param
	file string
}

// param is one parameter.
type param struct {
	// method is the method that it is for; "" for each method that is not cgc's own.
	method, key string
	value       json.RawMessage
}

// Set reads KEY=VALUE or METHOD.KEY=VALUE from the command line. VALUE is JSON; any other text is a word.
func (p *params) Set(text string) error {
	key, word, found := strings.Cut(text, "=")
	if !found || key == "" {
		return errors.New(p.want())
	}
	value := json.RawMessage(word)
	if !json.Valid(value) {
		var err error
		if value, err = json.Marshal(word); err != nil {
			return err
		}
	}
	p.list = append(p.list, newParam(key, value))
	return nil
}

// newParam returns a parameter. The name of a method, and a dot, may stand before its key.
func newParam(key string, value json.RawMessage) param {
	if method, rest, dotted := strings.Cut(key, "."); dotted && slices.Contains(condense.Names(), method) {
		return param{method, rest, value}
	}
	return param{"", key, value}
}

// String writes the flags, as the parser shows them.
func (p *params) String() string {
	words := make([]string, len(p.list))
	for i, one := range p.list {
		words[i] = one.String()
	}
	return strings.Join(words, " ")
}

// String writes the parameter as Set reads it.
func (p param) String() string {
	key := p.key
	if p.method != "" {
		key = p.method + "." + key
	}
	return key + "=" + string(p.value)
}

// Type is the word for the value in the command's help.
func (p *params) Type() string { return "parameter" }
func (p *params) want() string { return "KEY=VALUE or METHOD.KEY=VALUE" }

// readFile puts the parameters of the file of --params before those of --param.
func (p *params) readFile() error {
	if p.file == "" {
		return nil
	}
	text, err := os.ReadFile(p.file)
	if err != nil {
		return fmt.Errorf("--params: %w", err)
	}
	var object map[string]json.RawMessage
	if err := strictly(text, &object); err != nil {
		return fmt.Errorf("--params %s: %w", p.file, err)
	}
	for key, value := range object {
		p.underlie("", key, value)
	}
	return nil
}

// underlie adds a parameter that those given so far overrule.
func (p *params) underlie(method, key string, value json.RawMessage) {
	one := newParam(key, value)
	if method != "" {
		one = param{method, key, value}
	}
	p.list = slices.Insert(p.list, 0, one)
}

// has says whether a parameter of that key is given.
func (p *params) has(key string) bool {
	return slices.ContainsFunc(p.list, func(one param) bool { return one.key == key })
}

// of returns the JSON object of the parameters of a method; nil if there are none.
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

// isCGC says whether m is one of the methods whose parameters are flags.
func isCGC(m condense.Method) bool {
	_, is := m.(cgc.Config)
	return is
}

// ofCGC says whether one of the methods that are asked for is cgc's own.
func (f *configFlags) ofCGC() bool {
	return slices.ContainsFunc(f.asked(), func(name string) bool {
		m, err := condense.New(name, nil)
		return err == nil && isCGC(m)
	})
}

// reads says whether a method that is asked for takes the parameters of a method, "" for none.
func (f *configFlags) reads(name string) bool {
	m, err := condense.New(name, nil)
	return name == "" || err == nil && isCGC(m) && f.ofCGC() || slices.Contains(f.asked(), name)
}

// asked returns the names of the methods that are asked for.
func (f *configFlags) asked() []string {
	if len(f.names) == 0 {
		return []string{f.config.Name()}
	}
	return f.names
}

// methods returns the methods that are asked for, with their parameters.
// It is a mistake to give flags or parameters that none of them reads.
func (f *configFlags) methods() (methods []condense.Method, err error) {
	if err := f.unread(); err != nil {
		return nil, err
	}
	for _, name := range f.asked() {
		m, err := f.method(name)
		if err != nil {
			return nil, err
		}
		methods = append(methods, m)
	}
	return methods, nil
}

// method returns the method of a name, with the parameters that the command line and the files give it.
func (f *configFlags) method(name string) (condense.Method, error) {
	plain, err := condense.New(name, nil)
	if err != nil {
		return nil, usage{sentence(err)}
	}
	if isCGC(plain) {
		config := f.config
		config.Variant = cgc.Variant(name)
		return config, nil
	}
	object, err := f.params.of(name)
	if err != nil {
		return nil, err
	}
	m, err := condense.New(name, object)
	if err != nil {
		return nil, usagef("--param: %s%s", sentence(err), keysOf(plain))
	}
	setting := f.config.Setting()
	if setting == (condense.Setting{}) {
		return m, nil
	}
	if _, own := m.(condense.InSetting); own {
		return nil, usagef("--normalize-features, --standardize and --inductive: %s has a setting of its own, "+
			"want it by --param", name)
	}
	return condense.Under(setting, m), nil
}

// keysOf says which parameters a method has.
func keysOf(m condense.Method) string {
	var object map[string]json.RawMessage
	text, err := json.Marshal(m)
	if err != nil || json.Unmarshal(text, &object) != nil {
		return ""
	}
	if len(object) == 0 {
		return " (it has no parameters)"
	}
	keys := make([]string, 0, len(object))
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return " (it has " + strings.Join(keys, ", ") + ")"
}

// unread returns a mistake for what the command line gives and no method reads.
func (f *configFlags) unread() error {
	var own, other []string // cgc's methods, and the others
	for _, name := range f.asked() {
		m, err := condense.New(name, nil)
		switch {
		case err != nil:
			return usage{sentence(err)}
		case isCGC(m):
			own = append(own, name)
		default:
			other = append(other, name)
		}
	}
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, one := range f.params.list {
		switch {
		case one.method == "" && len(other) == 0:
			add("--param %s: the parameters of %s are flags, as --hops", one, strings.Join(own, ", "))
		case one.method != "" && slices.Contains(own, one.method):
			add("--param %s: the parameters of %s are flags, as --hops", one, one.method)
		case one.method != "" && !slices.Contains(other, one.method):
			add("--param %s: %s is not among the methods %s", one, one.method, strings.Join(f.asked(), ", "))
		}
	}
	for _, name := range f.own {
		if len(own) == 0 && f.flags.Changed(name) {
			add("--%s: %s does not read it, want --param", name, strings.Join(other, ", "))
		}
	}
	if len(lines) > 0 {
		return usage{strings.Join(lines, "; ")}
	}
	return nil
}
