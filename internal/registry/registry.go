// Package registry keeps named values: the methods, models, partitions and formats that flags, help and errors list. It
// suggests names for a mistyped one.
package registry

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Registry maps names to values, in the order in which they were registered. The zero value is not ready: use New.
// It is safe for concurrent use.
type Registry[T any] struct {
	kind   string
	mu     sync.RWMutex
	names  []string
	values map[string]T
}

// New returns an empty registry. kind names an entry in error messages: "model", "file format".
func New[T any](kind string) *Registry[T] {
	return &Registry[T]{kind: kind, values: map[string]T{}}
}

// With registers value and returns r, so that a package can list its own entries in the declaration of the registry.
func (r *Registry[T]) With(name string, value T) *Registry[T] {
	r.Register(name, value)
	return r
}

// Register adds value under name: lower-case letters, digits and hyphens. It panics if the name has other characters or
// is taken, because both are bugs in the program, not errors in its input.
func (r *Registry[T]) Register(name string, value T) {
	valid := func(c rune) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' }
	if name == "" || strings.ContainsFunc(name, func(c rune) bool { return !valid(c) }) {
		panic(fmt.Sprintf("registering %s %q, must be a name of lower-case letters, digits and hyphens", r.kind, name))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, taken := r.values[name]; taken {
		panic(fmt.Sprintf("registering %s %q, which is registered already", r.kind, name))
	}
	r.names = append(r.names, name)
	r.values[name] = value
}

// Names returns a new slice of the names in the order of registration.
func (r *Registry[T]) Names() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Clone(r.names)
}

// Find returns the value of a name, ignoring case. The error lists the names.
func (r *Registry[T]) Find(name string) (T, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	value, found := r.values[strings.ToLower(name)]
	if !found {
		return value, &Unknown{Kind: r.kind, Name: name, Names: slices.Clone(r.names)}
	}
	return value, nil
}

// Unknown is the error for a name that is not registered.
type Unknown struct {
	// Kind is the word for an entry, Name is the unknown name, and Names lists the registered names.
	Kind, Name string
	Names      []string
}

// Error returns `KIND "NAME", must be one of NAMES`, and suggests similar names.
func (u *Unknown) Error() string {
	return fmt.Sprintf("%s %q, must be one of %s%s", u.Kind, u.Name, strings.Join(u.Names, ", "),
		Hint("", u.Name, u.Names))
}
