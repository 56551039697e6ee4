package plain

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
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
		"reading a: nothere.json: there is no such file or folder":        fmt.Errorf("cgc: reading a: %w", missing),
		"nothere.json: there is no such file or folder; b":                errors.Join(missing, errors.New("b")),
		"x.json: x.json is odd":                                           errors.New("x.json: x.json: x.json is odd"),
		"plain.go/x.json: a part of the path is a file, must be a folder": under,
		".: is a folder, must be a file":                                  folder,
		"c.json: not valid JSON at byte 2":                                fmt.Errorf("c.json: %w", decode("{nodes: 1}")),
		"nodes: a string, must be an integer":                             decode(`{"nodes": "x"}`),
		"ratio: true or false, must be a number":                          decode(`{"ratio": true}`),
		"soft: a number, must be true or false":                           decode(`{"soft": 1}`),
		"seed: -1, must be an integer of at least 0":                      decode(`{"seed": -1}`),
		"names: a string, must be a list":                                 decode(`{"names": "a"}`),
		"word: a number, must be a string":                                decode(`{"word": 1}`),
		"a list, must be an object":                                       decode(`[]`),
	} {
		if got := Sentence(err); !strings.EqualFold(got, want) {
			t.Errorf("%v becomes %q, want %q", err, got, want)
		}
	}
}

// TestSentence checks that only the names of packages are removed.
func TestSentence(t *testing.T) {
	for text, want := range map[string]string{
		"dataset: a.npz: graph: label 9 of node 3, must be 0 to 6": "a.npz: label 9 of node 3, must be 0 to 6",
		"cgc: first\ncgc: second":                                  "first; second",
		"dataset: reading graph: not there":                        "reading graph: not there",
		"dataset: graph: the training split is empty":              "graph: the training split is empty",
	} {
		if got := Sentence(errors.New(text)); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// TestPackages compares the names that Sentence knows with those that errors in the sources begin with: strings, and
// the Package of a parameter.Error or of parameter.Checks.
func TestPackages(t *testing.T) {
	clause := regexp.MustCompile(`(?m)^package (\w+)`)
	found := []string{"json"} // json is in the standard library
	err := filepath.WalkDir("../../../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name := string(clause.FindSubmatch(text)[1])
		for line := range strings.Lines(string(text)) {
			begins := strings.Contains(line, `"`+name+`: `) || strings.Contains(line, `Package: "`) ||
				strings.Contains(line, `parameter.Checks("`+name+`"`)
			if begins && name != "cli" && !strings.Contains(line, "panic(") {
				found = append(found, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	if found = slices.Compact(found); !slices.Equal(found, packages) {
		t.Errorf("errors begin with\n%v, and Sentence knows\n%v", found, packages)
	}
}
