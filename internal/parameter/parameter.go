// Package parameter holds the error for a parameter that is out of its range. Packages with parameters export it under
// their own name: condense.FieldError, gnn.FieldError.
package parameter

import "fmt"

// Error says that a parameter has a value out of its range.
type Error struct {
	// Package is the package of the parameter. Unless it is empty, Error begins with it.
	Package string
	// Field is the parameter's name in words, as in "label ratio": its JSON key with spaces.
	Field string
	// Value is the value that was set.
	Value any
	// Want is the range.
	Want string
}

// Checks returns a function for the parameters of a package. It returns nil if ok, and otherwise the error for a
// parameter that is out of its range.
func Checks(pkg string) func(ok bool, field string, value any, want string) error {
	return func(ok bool, field string, value any, want string) error {
		if ok {
			return nil
		}
		return &Error{Package: pkg, Field: field, Value: value, Want: want}
	}
}

// Error returns "PACKAGE: FIELD VALUE, must be RANGE".
func (e *Error) Error() string {
	if e.Package == "" {
		return e.Sentence()
	}
	return e.Package + ": " + e.Sentence()
}

// Sentence is the error without the package: "FIELD VALUE, must be RANGE".
func (e *Error) Sentence() string { return e.Field + " " + e.Rest() }

// Rest is the sentence without the field, for messages that name the field in another way: "VALUE, must be RANGE".
func (e *Error) Rest() string { return fmt.Sprintf("%v, must be %s", e.Value, e.Want) }
