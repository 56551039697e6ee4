// Command pages updates the generated parts of README and of the pages in docs, and the generated files.
//
// A page marks such a part with two comments. The first names the generator and its arguments:
//
//	<!-- generated: keys cli.outcome -->
//	…
//	<!-- end -->
//
// Everything between the comments is replaced. New generators are added to the variable generators. To update the
// pages, run this anywhere in the checkout:
//
//	go generate ./cmd/cgc
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/cmd/cgc/cli"
	_ "github.com/graph-condensation/cgc/tables" // so that the pages list Parquet and databases too
)

// A generator returns the text of a generated part. root is the root folder of the repository, and args are the words
// after the generator's name. The text depends only on the checkout, not on the machine. A generator fails by calling
// check or must, and attempt returns the error.
type generator func(root string, args []string) string

// attempt returns the text of a generator, or the error with which it panics.
func attempt(generate func() string) (text string, err error) {
	defer func() {
		switch raised := recover().(type) {
		case nil:
		case failure:
			err = raised.error
		default:
			panic(raised)
		}
	}()
	return generate(), nil
}

// failure is what a generator panics with.
type failure struct{ error }

// check ends a generator if err is not nil.
func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// must returns v. If err is not nil, it ends the generator instead.
func must[T any](v T, err error) T {
	check(err)
	return v
}

// generators maps the names that a page may use to generators.
var generators = map[string]generator{
	"commands":   func(string, []string) string { return cli.Reference() },
	"columns":    columns,
	"formats":    formatTable,
	"details":    formatDetails,
	"keylist":    keyList,
	"keys":       keyTable,
	"methods":    methodTable,
	"parameters": parameterTable,
	"results":    results,
}

// files maps the paths, relative to root, of completely generated files to the functions that generate them.
var files = map[string]func(root string) string{
	"docs/figures/accuracy.svg": accuracyFigure,
	"docs/figures/sizes.svg":    sizesFigure,
	"docs/reference/api.txt":    publicNames,
	"results/board.csv":         boardCSV,
	"python/cgc/_parameters.py": func(string) string { return must(cli.PythonParameters()) },
}

// command is the command line that updates the pages.
const command = "go generate ./cmd/cgc"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "pages: expected one argument: the folder of the repository")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "pages: %v\n", err)
		os.Exit(1)
	}
}

// write updates the stale pages and files below root, and prints their names.
func write(root string) error {
	pages, err := find(root)
	if err != nil {
		return err
	}
	for _, name := range slices.AppendSeq(pages, maps.Keys(files)) {
		old, err := os.ReadFile(filepath.Join(root, name))
		if err != nil && (files[name] == nil || !errors.Is(err, fs.ErrNotExist)) {
			return err
		}
		text, err := fresh(root, name, string(old))
		if err != nil {
			return err
		}
		if text == string(old) {
			continue
		}
		fmt.Println(name)
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// fresh returns the new text of a page or a file.
func fresh(root, name, old string) (text string, err error) {
	if generate := files[name]; generate != nil {
		text, err = attempt(func() string { return generate(root) })
	} else {
		text, err = fill(root, old)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return text, nil
}

// find returns README and all pages of docs, as paths relative to root.
func find(root string) ([]string, error) {
	pages := []string{"README.md"}
	err := fs.WalkDir(os.DirFS(root), "docs", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.HasSuffix(path, ".md") {
			pages = append(pages, path)
		}
		return err
	})
	return pages, err
}

// Each comment that marks a generated part has its own line.
var (
	begin = regexp.MustCompile(`(?m)^<!-- generated: ([^>]*) -->\n`)
	end   = "<!-- end -->\n"
)

// fill returns a page with newly generated parts.
func fill(root, page string) (string, error) {
	var text bytes.Buffer
	for {
		mark := begin.FindStringSubmatchIndex(page)
		if mark == nil {
			text.WriteString(page)
			return text.String(), nil
		}
		words := strings.Fields(page[mark[2]:mark[3]])
		if len(words) == 0 || generators[words[0]] == nil {
			return "", fmt.Errorf("generated: %q: no such generator", strings.Join(words, " "))
		}
		_, rest, closed := strings.Cut(page[mark[1]:], end)
		if !closed {
			return "", fmt.Errorf("generated: %s: no %q follows", strings.Join(words, " "), strings.TrimSpace(end))
		}
		part, err := attempt(func() string { return generators[words[0]](root, words[1:]) })
		if err != nil {
			return "", fmt.Errorf("generated: %s: %w", strings.Join(words, " "), err)
		}
		fmt.Fprintf(&text, "%s%s\n%s", page[:mark[1]], strings.Trim(part, "\n"), end)
		page = rest
	}
}

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
