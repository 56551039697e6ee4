package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strings"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/experiment"
)

// sections holds links to the sections of types that many objects contain.
var sections = map[string]string{
	"cgc.Config":          "[configurations](#configurations)",
	"gnn.Config":          "[configurations](#configurations)",
	"graph.Identity":      "[graphs](#shared-objects)",
	"experiment.Estimate": "[estimates](#shared-objects)",
	"condense.Seconds":    "[seconds](#shared-objects)",
}

// keyList generates a table of commands with the keys of the object that each command prints and of nested objects,
// without their meaning. An argument is COMMAND=FOLDER.Type, with _ for each space of the command.
func keyList(root string, commands []string) string {
	var text strings.Builder
	text.WriteString("| command | keys |\n|---|---|\n")
	for _, c := range commands {
		call, of, _ := strings.Cut(c, "=")
		k := &keys{newSource(root), map[string]string{}}
		var parts []string
		for _, f := range k.fields(typeOf(of)) {
			about := k.about([]field{f}, nil, 2)
			if strings.HasPrefix(about, "See ") {
				about = ""
			}
			parts = append(parts, join(codes([]string{f.key}), " ", about))
		}
		fmt.Fprintf(&text, "| `%s` | %s |\n", strings.ReplaceAll(call, "_", " "), strings.Join(parts, ", "))
	}
	return text.String()
}

// typeOf splits FOLDER.Type into the import path and the name of the type.
func typeOf(text string) (path, name string) {
	folder, name, _ := strings.Cut(text, ".")
	if folder == "cgc" {
		return module, name
	}
	return module + "/" + folder, name
}

// keyTable generates a table of the keys of types, given as FOLDER.Type, from their tags and comments. The keys of a
// nested object are in the cell of the key that contains it.
func keyTable(root string, types []string) string {
	s := &keys{newSource(root), map[string]string{}}
	var text strings.Builder
	text.WriteString("| key | meaning |\n|---|---|\n")
	for _, t := range types {
		path, name := typeOf(t)
		fields := s.fields(path, name)
		for _, group := range groups(fields) {
			fmt.Fprintf(&text, "| %s | %s |\n", keysOf(group), cell(s.about(group, fields, 0)))
		}
	}
	return text.String()
}

func keysOf(group []field) string {
	var keys []string
	for _, f := range group {
		keys = append(keys, f.key)
	}
	return codes(keys)
}

// keys generates the tables of keys.
type keys struct {
	*source
	told map[string]string // maps a type to the key whose row lists the type's keys
}

// about describes the fields of a group and, on separate lines, the keys of the objects that they contain. For deeper
// objects, it lists only the keys.
func (k *keys) about(group, all []field, depth int) string {
	said := ""
	if depth < 2 {
		said = meaning(group, all)
	}
	for _, f := range group {
		link := sections[f.path[strings.LastIndex(f.path, "/")+1:]+"."+f.of]
		if link != "" {
			if depth < 2 && !strings.Contains(said, link) {
				said = join(said, ". ", "See "+link)
			}
			continue
		}
		inner := k.below(f)
		if inner == nil {
			continue
		}
		full := f.path + "." + f.of
		if of := k.told[full]; of != "" && depth == 0 {
			said = join(said, ". ", "Keys as those of `"+of+"`")
			continue
		}
		var parts []string
		for _, below := range groups(inner) {
			part := k.about(below, inner, depth+1)
			separator := ": "
			if depth > 0 {
				separator = " "
			}
			parts = append(parts, join(keysOf(below), separator, part))
		}
		switch {
		case depth == 1 && said != "":
			if list := ": " + strings.Join(parts, ", "); !strings.HasSuffix(said, list) {
				if said = join(said, ". ", "Keys"); len(group) > 1 {
					said += " of " + keysOf(alike(f, group))
				}
				said += list
			}
		case depth > 0:
			if list := "(" + strings.Join(parts, ", ") + ")"; !strings.HasSuffix(said, list) {
				said = join(said, " ", list)
			}
		default:
			k.told[full] = f.key
			if said = join(said, ". ", "Keys"); len(group) > 1 {
				said += " of `" + f.key + "`"
			}
			said += ":<br>" + strings.Join(parts, "<br>")
		}
	}
	return said
}

// alike returns the fields of group that have the type of f.
func alike(f field, group []field) (same []field) {
	for _, other := range group {
		if other.path == f.path && other.of == f.of {
			same = append(same, other)
		}
	}
	return same
}

// columns generates a list of the columns of a CSV file.
func columns(_ string, of []string) string {
	if strings.Join(of, " ") != "summary.csv" {
		check(fmt.Errorf("no such file"))
	}
	var text bytes.Buffer
	check(experiment.WriteSummaryCSV(&text, nil))
	header := must(csv.NewReader(&text).Read())
	return report.Wrap(codes(header), 120, "")
}
