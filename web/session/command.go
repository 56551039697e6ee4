package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/dataset/synth"
)

// command returns the command line that makes the file of a condensation. It names the parameters that are not the
// command's defaults. A flag has the name of the parameter in JSON, with hyphens.
func (s *Session) command(path, file string, config cgc.Config, nodes int) (string, error) {
	given, err := parameters(config)
	if err != nil {
		return "", err
	}
	usual, err := parameters(cgc.Defaults())
	if err != nil {
		return "", err
	}
	words := []string{"cgc", "condense", s.argument(path), "--nodes", fmt.Sprint(nodes)}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		switch value := given[key]; {
		case key == "nodes" || key == "ratio" || key == "label_ratio" || bytes.Equal(value, usual[key]):
		case string(value) == "true":
			words = append(words, flag(key))
		default:
			words = append(words, flag(key), strings.Trim(string(value), `"[]`))
		}
	}
	return strings.Join(append(words, "-o", file), " "), nil
}

func flag(key string) string { return "--" + strings.ReplaceAll(key, "_", "-") }

// argument returns what the command calls the graph: ./NAME, since a name alone may be that of a known graph. A name
// that a shell would take apart is quoted.
func (s *Session) argument(path string) string {
	if path == synth.DemoName {
		return path
	}
	inside, is := strings.CutPrefix(path, strings.TrimSuffix(s.Inbox, "/")+"/")
	if !is || inside == "" {
		return "FOLDER" // files that were chosen one by one
	}
	name := "./" + inside
	if strings.ContainsAny(name, " \t\n'\"\\$&|;<>()*?[]{}!#~`") {
		name = "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	return name
}

// parameters returns the JSON of each parameter.
func parameters(config cgc.Config) (map[string]json.RawMessage, error) {
	text, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("the parameters: %w", err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("the parameters: %w", err)
	}
	return all, nil
}
