package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"
)

// Printable replaces each control character of text except line breaks, such as one in a class name or a path, by "�":
// it could colour or reverse the text of a terminal, or overwrite it.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && unicode.In(r, unicode.Cc, unicode.Bidi_Control) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// Sentence returns err as one printable line. It rewords the system's errors about files and the errors of the JSON
// decoder. A cancelled context becomes "interrupted".
func Sentence(err error) string {
	if errors.Is(err, context.Canceled) {
		return "interrupted"
	}
	text := strings.ReplaceAll(reworded(err, err.Error()), "json: unknown field", "unknown field")
	return once(Printable(strings.ReplaceAll(strings.TrimSpace(text), "\n", "; ")))
}

// reworded replaces messages of the system and of the JSON decoder in text, if err is or wraps such an error.
func reworded(err error, text string) string {
	switch e := err.(type) {
	case *fs.PathError:
		return strings.ReplaceAll(text, e.Error(), e.Path+": "+file(e.Err))
	case *os.LinkError:
		return strings.ReplaceAll(text, e.Error(), e.New+": "+file(e.Err))
	case *json.SyntaxError:
		return strings.ReplaceAll(text, e.Error(), fmt.Sprintf("not valid JSON at byte %d", e.Offset))
	case *json.UnmarshalTypeError:
		return strings.ReplaceAll(text, e.Error(), value(e))
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return reworded(inner, text)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			text = reworded(inner, text)
		}
	}
	return text
}

// file describes an error about a file.
func file(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file or folder"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	case errors.Is(err, syscall.ENOTDIR):
		return "a part of the path is a file, must be a folder"
	case errors.Is(err, syscall.EISDIR):
		return "is a folder, must be a file"
	}
	return err.Error()
}

// value describes an error about a JSON value: the key, the type found and the type expected.
func value(e *json.UnmarshalTypeError) string {
	text, kind := "", reflect.Invalid
	if e.Field != "" { // a path; users know only its last part
		text = e.Field[strings.LastIndexByte(e.Field, '.')+1:] + ": "
	}
	if e.Type != nil {
		kind = e.Type.Kind()
	}
	is := strings.NewReplacer("number ", "", "number", "a number", "string", "a string", "bool", "true or false",
		"array", "a list", "object", "an object").Replace(e.Value)
	large := strings.Trim(is, "0123456789") == "" // an integer that does not fit
	must := "an object"
	switch kind {
	case reflect.Bool:
		must = "true or false"
	case reflect.String:
		must = "a string"
	case reflect.Slice, reflect.Array:
		must = "a list"
	case reflect.Float32, reflect.Float64:
		must = "a number"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		must = "an integer"
		if large {
			must = fmt.Sprintf("at most %d", int64(math.MaxInt64)>>(64-e.Type.Bits()))
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		must = "an integer of at least 0"
		if large {
			must = fmt.Sprintf("at most %d", uint64(math.MaxUint64)>>(64-e.Type.Bits()))
		}
	}
	return text + is + ", must be " + must
}

// once removes each part of a sentence that repeats the previous part, such as the path of a file.
func once(text string) string {
	return strings.Join(slices.Compact(strings.Split(text, ": ")), ": ")
}

// Wrap breaks a text between words into lines of at most width columns. Lines after the first are indented. A word that
// is too long gets its own line. A width of 0 means no limit.
func Wrap(text string, width int, indent string) string {
	var lines strings.Builder
	used := 0
	for i, word := range strings.Split(text, " ") {
		letters := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case width > len(indent) && used+1+letters > width:
			lines.WriteString("\n" + indent)
			used = len(indent)
		default:
			lines.WriteByte(' ')
			used++
		}
		lines.WriteString(word)
		used += letters
	}
	return lines.String()
}
