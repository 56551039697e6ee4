package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestLinks checks that links within the repository lead to an existing file and, within a page, to an existing
// heading. It checks README, and links to the pages of results, only if these pages exist.
func TestLinks(t *testing.T) {
	pages, err := find(root)
	if err != nil {
		t.Fatal(err)
	}
	pages = append(pages, "CONTRIBUTING.md", "SECURITY.md")
	_, missing := os.Stat(filepath.Join(root, "docs", "results"))
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, page := range pages {
		if missing != nil && page == "README.md" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range link.FindAllStringSubmatch(string(text), -1) {
			path, heading, _ := strings.Cut(found[1], "#")
			if strings.Contains(path, "://") || missing != nil && strings.Contains(path, "results/") {
				continue
			}
			file := filepath.Join(root, filepath.Dir(page), path)
			if path == "" {
				file = filepath.Join(root, page)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s links to %s, which is not there", page, found[1])
			} else if heading != "" && !slices.Contains(headings(t, file), heading) {
				t.Errorf("%s links to %s, and there is no such heading", page, found[1])
			}
		}
	}
}

// headings returns the link anchors of the headings of a page.
func headings(t *testing.T, file string) (names []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	other := regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	for _, line := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(string(text), -1) {
		name := other.ReplaceAllString(strings.ToLower(line[1]), "")
		names = append(names, strings.ReplaceAll(name, " ", "-"))
	}
	return names
}
