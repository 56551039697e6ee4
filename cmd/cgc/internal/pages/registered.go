package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/internal/object"
	"github.com/graph-condensation/cgc/internal/rival"
)

// methodTable generates a table of the methods: what each computes, and its source. Both come from the first paragraph
// of the doc comment of the method's type or, if several methods share a type, of the constant with the method's name.
// The last sentence of the paragraph must begin with "Source:".
func methodTable(root string, _ []string) string {
	s := newSource(root)
	var text strings.Builder
	text.WriteString("| method | what it computes | source |\n|---|---|---|\n")
	for _, name := range condense.Names() {
		t := prototype(name)
		about := paragraph(s.load(t.PkgPath()).values[name])
		if about == "" {
			about = s.typeDoc(t.PkgPath(), t.Name())
		}
		what, from, stated := strings.Cut(about, " Source: ")
		if !stated {
			check(fmt.Errorf("%s: the first paragraph of the comment of %s.%s must end with Source: …", name, t.PkgPath(),
				t.Name()))
		}
		_, what, _ = strings.Cut(what, " ") // without the leading Go name
		what = strings.ToUpper(what[:1]) + what[1:]
		fmt.Fprintf(&text, "| `%s` | %s | %s |\n", name, cell(what), cell(strings.TrimSuffix(from, ".")))
	}
	return text.String()
}

// prototype returns the Go type of a method.
func prototype(name string) reflect.Type {
	m := must(condense.New(name, nil))
	t := reflect.TypeOf(m)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// parameterTable generates a table of the parameters of the named methods, with each method's default. Fields that
// share a comment share a row, and so do equal parameters of several methods, each with its meaning. It omits the
// memory limit, which nearly all methods have.
func parameterTable(root string, names []string) string {
	s := newSource(root)
	type row struct {
		keys     []string
		docs     []string            // the meanings
		of       [][]string          // the methods of each meaning
		defaults map[string][]string // defaults of each method
	}
	var rows []*row
	for _, name := range names {
		t := prototype(name)
		fields := s.fields(t.PkgPath(), t.Name())
		values := defaultsOf(name)
		for _, group := range groups(fields) {
			if len(group) == 1 && group[0].of == "Memory" {
				continue // the page describes this parameter for all methods
			}
			one := &row{defaults: map[string][]string{}}
			for _, f := range group {
				one.keys = append(one.keys, f.key)
			}
			at := slices.IndexFunc(rows, func(r *row) bool { return slices.Equal(r.keys, one.keys) })
			if at < 0 {
				at, rows = len(rows), append(rows, one)
			}
			doc := meaning(group, fields)
			r := rows[at]
			which := slices.Index(r.docs, doc)
			if which < 0 {
				which, r.docs, r.of = len(r.docs), append(r.docs, doc), append(r.of, nil)
			}
			r.of[which] = append(r.of[which], name)
			for _, f := range group {
				value := values[f.key]
				if f.path == module+"/internal/rival" && f.of == "Memory" && value == "0" {
					value = strconv.Itoa(int(rival.DefaultMemory))
				}
				if bytes, err := strconv.ParseFloat(value, 64); err == nil && f.of == "Memory" {
					value = strconv.FormatFloat(bytes/(1<<30), 'g', -1, 64) + "GiB"
				}
				rows[at].defaults[name] = append(rows[at].defaults[name], value)
			}
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text, "| parameter | `%s` | meaning |\n|---|%s---|\n", strings.Join(names, "` | `"),
		strings.Repeat("---|", len(names)))
	for _, r := range rows {
		fmt.Fprintf(&text, "| %s |", codes(r.keys))
		for _, name := range names {
			fmt.Fprintf(&text, " %s |", strings.Join(r.defaults[name], ", "))
		}
		meanings := []string{cell(r.docs[0])}
		if len(r.docs) > 1 {
			meanings = nil
			for i, doc := range r.docs {
				meanings = append(meanings, codes(r.of[i])+": "+cell(doc))
			}
		}
		fmt.Fprintf(&text, " %s |\n", strings.Join(meanings, "<br>"))
	}
	return text.String()
}

// defaultsOf returns the default parameters of a method in JSON.
func defaultsOf(name string) map[string]string {
	values := map[string]string{}
	for _, f := range must(object.Of(must(condense.New(name, nil)))) {
		values[f.Key] = strings.Trim(string(f.Value), `"`)
	}
	return values
}

// formatTable generates a table of the formats: how each is recognised, and what it supports.
func formatTable(string, []string) string {
	var text strings.Builder
	text.WriteString("| name | format | a path holds | written | read in parts | condensed graphs |\n")
	text.WriteString("|---|---|---|---|---|---|\n")
	for _, name := range format.Names() {
		f := must(format.Find(name))
		d := f.Describe()
		var holds []string
		if d.File != "" {
			holds = append(holds, d.File)
		}
		if d.Folder != "" {
			holds = append(holds, "a folder with "+d.Folder)
		}
		if len(d.Schemes) > 0 { // the other schemes are synonyms
			holds = append(holds, "an address "+d.Schemes[0]+"://…")
		}
		_, writes := f.(format.Writer)
		_, streams := f.(format.Streamer)
		_, maps := f.(format.StreamWriter)
		_, arrays := f.(format.ArrayStore)
		_, tables := f.(format.TableStore)
		fmt.Fprintf(&text, "| [%s](#%s) | %s | %s | %s | %s | %s |\n", name, name, d.Title,
			cell(strings.Join(holds, ", or ")), yes(writes), yes(streams || maps), yes(arrays || tables))
	}
	return text.String()
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return ""
}

// formatDetails generates a section for each format from the file format.md next to its code.
func formatDetails(root string, _ []string) string {
	var text strings.Builder
	for _, name := range format.Names() {
		folder := strings.TrimPrefix(reflect.TypeOf(must(format.Find(name))).PkgPath(), module)
		details := must(os.ReadFile(filepath.Join(root, folder, "format.md")))
		fmt.Fprintf(&text, "### %s\n%s\n\n", name, bytes.Trim(details, "\n"))
	}
	return text.String()
}
