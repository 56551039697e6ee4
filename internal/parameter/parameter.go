// Package parameter holds the error for a parameter that is out of its range. Its public name is condense.FieldError.
package parameter

import "fmt"

// Error says that a parameter has a value out of its range.
type Error struct {
	// Field is the parameter's name in words, as in "label ratio": its JSON key with spaces.
	Field string
	// Value is the value that was set.
	Value any
	// Want is the range.
	Want string
}

// Check returns nil if ok, and otherwise the error for a parameter that is out of its range.
func Check(ok bool, field string, value any, want string) error {
	if ok {
		return nil
	}
	return &Error{Field: field, Value: value, Want: want}
}

// Error returns "FIELD VALUE, must be RANGE".
func (e *Error) Error() string { return e.Field + " " + e.Rest() }

// Rest is the error without the field, for messages that name the field in another way: "VALUE, must be RANGE".
func (e *Error) Rest() string { return fmt.Sprintf("%v, must be %s", e.Value, e.Want) }
