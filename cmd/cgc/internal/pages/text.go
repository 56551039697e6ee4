package main

import (
	"regexp"
	"slices"
	"strings"
)

// meaning rewords the comment of a group's first field, which describes the whole group, for readers of JSON. Names of
// fields become keys. For a group of one field X, "X is …" becomes "…".
func meaning(group, all []field) string {
	text := group[0].doc
	if len(group) == 1 {
		if rest, is := strings.CutPrefix(text, group[0].name+" "); is {
			for _, verb := range []string{"is ", "are ", "has ", "holds ", "lists "} {
				rest = strings.TrimPrefix(rest, verb)
			}
			text = rest
		}
	}
	for i, f := range append(slices.Clone(group), all...) {
		// A name such as Hidden can also be an ordinary word at the beginning of a sentence.
		before := `^|[^.\w` + "`" + `]`
		if i >= len(group) && strings.ToLower(f.name[1:]) == f.name[1:] {
			before = `[^.] `
		}
		text = regexp.MustCompile(`(`+before+`)`+f.name+`\b`).ReplaceAllString(text, "$1`"+f.key+"`")
	}
	return strings.TrimSuffix(text, ".")
}

// flag matches a flag in a sentence.
var flag = regexp.MustCompile(`--[a-z][a-z-]*`)

// cell escapes a text for a table cell, and formats flags as code.
func cell(text string) string {
	return flag.ReplaceAllString(strings.NewReplacer("|", `\|`, "\n", " ").Replace(text), "`$0`")
}

// codes formats words as code.
func codes(words []string) string { return "`" + strings.Join(words, "`, `") + "`" }

// join concatenates two texts, with a separator if neither is empty.
func join(a, separator, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + separator + b
}
