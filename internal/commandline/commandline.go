// Package commandline writes command lines of cgc that users can type.
package commandline

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense"
)

// Of writes words as a POSIX shell reads them.
func Of(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		if quoted[i] = word; !regexp.MustCompile(`^[\w./=,:%+@-]+$`).MatchString(word) {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// Condense returns the command that condenses graph as small was condensed, and writes it to file. It names what
// differs from the defaults. The parameters of a method of another package are named all.
func Condense(graph, file string, small *condense.Condensed) string {
	words := []string{"cgc", "condense", graph}
	_, err := cgc.ConfigOf(small)
	own := err == nil
	if !own {
		words = append(words, "--method", small.Method)
	}
	usual := map[string]json.RawMessage{}
	if text, err := json.Marshal(cgc.Defaults()); own && err == nil {
		_ = json.Unmarshal(text, &usual) // it was marshalled here
	}
	common := []string{"nodes", "ratio", "label_ratio", "seed", "normalize_features", "standardize", "inductive"}
	for _, p := range condense.Parameters(small.Config) {
		value := strings.Trim(string(p.Value), `"[]`)
		flag := "--" + strings.ReplaceAll(p.Key, "_", "-")
		isCommon := slices.Contains(common, p.Key)
		switch {
		case p.Key == "method" && !own, bytes.Equal(p.Value, usual[p.Key]):
		case isCommon && (value == "0" || value == "false"):
		case value == "true" && (own || isCommon):
			words = append(words, flag)
		case value == "false" && own:
			words = append(words, flag+"=false")
		case own || isCommon:
			words = append(words, flag, value)
		default:
			words = append(words, "--param", p.Key+"="+string(p.Value))
		}
	}
	return Of(append(words, "-o", file)...)
}
