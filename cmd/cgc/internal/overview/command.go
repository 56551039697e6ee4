package overview

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/condense/auto"
	"github.com/graph-condensation/cgc/internal/object"
)

// unquoted matches words that a shell leaves as they are.
var unquoted = regexp.MustCompile(`^[\w./=,:%+@-]+$`)

// CommandLine joins words to a command line, quoted for a POSIX shell.
func CommandLine(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		if quoted[i] = word; !unquoted.MatchString(word) {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// Command returns the command line that condenses a graph with the settings of small and writes the result to file.
// graph is the argument GRAPH, followed by the flags that select what is read from it. The command line includes the
// parameters that differ from the defaults, or all parameters if the method is neither cgc's own nor auto.
func Command(file string, small *condense.Condensed, graph ...string) string {
	words := append([]string{"cgc", "condense"}, graph...)
	_, err := cgc.ConfigOf(small)
	own := err == nil
	var defaults object.Object
	switch { // their parameters are finite, so they can be written as JSON
	case own:
		defaults, _ = object.Of(cgc.Defaults())
	case small.Method == auto.New().Name():
		defaults, _ = object.Of(auto.New())
	}
	usual := defaults.Map()
	if small.Method != auto.New().Name() {
		words = append(words, "--method", small.Method)
	}
	common := []string{"nodes", "ratio", "label_ratio", "seed", "normalize_features", "standardize", "inductive"}
	for _, p := range object.Fields(small.Config) {
		value := strings.Trim(string(p.Value), `"[]`)
		flag := "--" + strings.ReplaceAll(p.Key, "_", "-")
		isCommon := slices.Contains(common, p.Key)
		switch {
		case p.Key == "method", bytes.Equal(p.Value, usual[p.Key]):
		case isCommon && (value == "0" || value == "false"):
		case value == "true" && (own || isCommon):
			words = append(words, flag)
		case own || isCommon:
			words = append(words, flag, value)
		default:
			words = append(words, "--param", p.Key+"="+string(p.Value))
		}
	}
	return CommandLine(append(words, "-o", file)...)
}

// FileName returns a file name for a condensed graph with the given number of nodes, without extension: GRAPH-NODES.
// Characters of the graph's name other than letters, digits, _ and . become hyphens. Without a name, GRAPH is "graph",
// because a file name that begins with a hyphen looks like a flag.
func FileName(graph string, nodes int) string {
	allowed := func(r rune) rune {
		if r == '_' || r == '.' || unicode.In(r, unicode.L, unicode.M, unicode.N) {
			return r
		}
		return '-'
	}
	name := strings.TrimLeft(strings.Map(allowed, graph), ".-")
	return fmt.Sprintf("%s-%d", cmp.Or(name, "graph"), nodes)
}
