package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
)

// TestReworded checks that users see no terms of system calls or of Go.
func TestReworded(t *testing.T) {
	_, missing := os.ReadFile("nothere.json")
	_, under := os.ReadFile("plain.go/x.json")
	_, folder := os.ReadFile(".")
	var into struct {
		Nodes int
		Ratio float64
		Soft  bool
		Seed  uint64
		Names []string
		Word  string
	}
	decode := func(text string) error { return json.Unmarshal([]byte(text), &into) }
	for want, err := range map[string]error{
		"reading a: nothere.json: there is no such file or folder": fmt.Errorf("reading a: %w", missing),
		"nothere.json: there is no such file or folder; b":         errors.Join(missing, errors.New("b")),
		"first; second":         errors.New("first\nsecond"),
		"\ufffd[31ma.npz: odd":  errors.New("\x1b[31ma.npz: odd"),
		"unknown field \"a\"":   errors.New(`json: unknown field "a"`),
		"x.json: x.json is odd": errors.New("x.json: x.json: x.json is odd"),
		"plain.go/x.json: a part of the path is a file, must be a folder":  under,
		".: is a folder, must be a file":                                   folder,
		"c.json: not valid JSON at byte 2":                                 fmt.Errorf("c.json: %w", decode("{nodes: 1}")),
		"nodes: a string, must be an integer":                              decode(`{"nodes": "x"}`),
		"ratio: true or false, must be a number":                           decode(`{"ratio": true}`),
		"soft: a number, must be true or false":                            decode(`{"soft": 1}`),
		"seed: -1, must be an integer of at least 0":                       decode(`{"seed": -1}`),
		"seed: 18446744073709551616, must be at most 18446744073709551615": decode(`{"seed": 18446744073709551616}`),
		"nodes: 9223372036854775808, must be at most 9223372036854775807":  decode(`{"nodes": 9223372036854775808}`),
		"names: a string, must be a list":                                  decode(`{"names": "a"}`),
		"word: a number, must be a string":                                 decode(`{"word": 1}`),
		"a list, must be an object":                                        decode(`[]`),
	} {
		got := Sentence(err)
		mattest.True(t, strings.EqualFold(got, want), "%v becomes %q, want %q", err, got, want)
	}
}

func TestWrap(t *testing.T) {
	const text = "note: the größte feature is 6.14e+03 times the median one"
	long := strings.Repeat("x", 99)
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{text, 0, text},
		{text, 57, text},
		{text, 56, "note: the größte feature is 6.14e+03 times the median\n      one"},
		{text, 16, "note: the größte\n      feature is\n      6.14e+03\n      times the\n      median one"},
		{text, 3, text},
		{"note: " + long + " end", 40, "note:\n      " + long + "\n      end"},
	} {
		mattest.Equal(t, Wrap(c.text, c.width, "      "), c.want, "%d columns", c.width)
	}
}
