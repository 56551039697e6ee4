package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
)

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
