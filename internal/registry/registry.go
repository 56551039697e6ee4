// Package registry keeps named things: the methods, models, partitions and formats that flags, help and errors list.
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

// New returns an empty registry. kind is the word for an entry in errors: "model", "file format".
func New[T any](kind string) *Registry[T] {
	return &Registry[T]{kind: kind, values: map[string]T{}}
}

// With registers value and returns r, so that a package can list its own entries where it makes the registry.
func (r *Registry[T]) With(name string, value T) *Registry[T] {
	r.Register(name, value)
	return r
}

// Register adds value under name: lower-case letters, digits and hyphens. It panics if the name has other characters or
// is taken, because both are mistakes of the program and not of its input.
func (r *Registry[T]) Register(name string, value T) {
	valid := func(c rune) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' }
	if name == "" || strings.ContainsFunc(name, func(c rune) bool { return !valid(c) }) {
		panic(fmt.Sprintf("registering %s %q, want a name of lower-case letters, digits and hyphens", r.kind, name))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, taken := r.values[name]; taken {
		panic(fmt.Sprintf("registering %s %q, which is registered already", r.kind, name))
	}
	r.names = append(r.names, name)
	r.values[name] = value
}

// Names returns the names in the order of registration, as a slice of the caller's own.
func (r *Registry[T]) Names() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Clone(r.names)
}

// Find returns the value of a name, in any case of letters. The error lists the names.
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
	// Kind is the word for what was looked for, Name what was asked for, Names what there is.
	Kind, Name string
	Names      []string
}

// Error returns `KIND "NAME", want one of NAMES`.
func (u *Unknown) Error() string {
	return fmt.Sprintf("%s %q, want one of %s", u.Kind, u.Name, strings.Join(u.Names, ", "))
}
