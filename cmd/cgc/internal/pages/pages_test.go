package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../../../.."

// TestPagesAreFresh checks that the generated parts of all pages are up to date, and that each generator is used.
func TestPagesAreFresh(t *testing.T) {
	pages, err := find(root)
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		made, err := fill(root, string(text))
		if err != nil {
			t.Errorf("%s: %v", page, err)
		} else if made != string(text) {
			t.Errorf("%s is stale: %s", page, command)
		}
		for _, mark := range begin.FindAllStringSubmatch(string(text), -1) {
			name, _, _ := strings.Cut(mark[1], " ")
			used[name] = true
		}
	}
	for name, content := range files {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Error(err)
		}
		if made, err := content(root); err != nil || made != string(text) {
			t.Errorf("%s is stale (%v): %s", name, err, command)
		}
	}
	for name := range generators {
		if !used[name] {
			t.Errorf("no page has a part of the generator %s", name)
		}
	}
}

// TestFill checks that the text between the marks is replaced and the rest is kept.
func TestFill(t *testing.T) {
	generators["words"] = func(_ string, args []string) (string, error) { return strings.Join(args, " and "), nil }
	defer delete(generators, "words")
	got, err := fill(root, "one\n<!-- generated: words a b -->\nold\n<!-- end -->\ntwo\n")
	if want := "one\n<!-- generated: words a b -->\na and b\n<!-- end -->\ntwo\n"; got != want || err != nil {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	for _, page := range []string{"<!-- generated: nothing -->\n<!-- end -->\n", "<!-- generated: words a -->\n"} {
		if _, err := fill(root, page); err == nil {
			t.Errorf("%q was filled", page)
		}
	}
}
