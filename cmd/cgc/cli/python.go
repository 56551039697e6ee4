package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/experiment/search"
	"github.com/graph-condensation/cgc/gnn"
)

// pythonFunctions lists the functions of the Python package that accept the flags of the command with the same name.
var pythonFunctions = []string{
	"condense", "cut", "tune", "search", "evaluate", "train", "predict", "summarize", "propagate", "report",
}

// notInPython lists the flags that are not keyword arguments, because the functions have other ways to express them.
var notInPython = []string{
	"columns", "condensed", "config", "dry-run", "force", "format", "help", "json", "merge", "new", "on", "output",
	"params", "quiet", "report", "space",
}

// pythonTypes maps types of flags to types of keyword arguments.
var pythonTypes = map[string]string{
	"bool": "bool", "int": "int", "uint64": "int", "float64": "float", "float": "float", "ints": "int",
	"string": "str", "fraction": "Union[float, str]", "bytes": "Union[int, str]", "floats": "Sequence[float]",
	"strings": "Union[str, Sequence[str]]", "KEY=VALUE": "Mapping[str, Any]",
}

const pythonHead = `"""The keyword arguments that are flags of the command. "go generate ./cmd/cgc" writes this file."""
# fmt: off

import os
from collections.abc import Mapping, Sequence
from typing import Any, Optional, TypedDict, Union

__all__ = [
%s]
`

// pythonLiteral turns a JSON object of lists into a Python literal, with one list of numbers or one string per line.
var pythonLiteral = strings.NewReplacer("{", "{\n    ", "}", ",\n}", `["`, "[\n        \"", `"],`, "\",\n    ],\n    ",
	"],", "],\n    ", `":`, `": `, `,"`, ",\n        \"", ",", ", ", "true", "True", "false", "False")

// PythonParameters returns the source of the Python module that defines the flags of the command as keyword arguments.
// For each function it contains a class with the types, and a table with the names, defaults, groups and help texts.
func PythonParameters() (string, error) {
	root := (&command{stdout: io.Discard, stderr: io.Discard}).root()
	var classes, tables strings.Builder
	names := []string{`"FLAGS"`, `"MODELS"`, `"SPACE"`} // constants come first, then classes in order of name
	for _, function := range pythonFunctions {
		cmd, _, err := root.Find([]string{function})
		if err != nil {
			return "", err
		}
		var flags []*pflag.Flag
		cmd.InheritedFlags() // adds the parents' flags to Flags
		for _, group := range flagGroups {
			cmd.Flags().VisitAll(func(flag *pflag.Flag) {
				if !flag.Hidden && !slices.Contains(notInPython, flag.Name) && groupOf(cmd, flag.Name) == group.name {
					flags = append(flags, flag)
				}
			})
		}
		class := strings.ToUpper(function[:1]) + function[1:] + "Options"
		names = append(names, strconv.Quote(class))
		fmt.Fprintf(&classes, "\n\nclass %s(TypedDict, total=False):\n    \"\"\"The flags of `cgc %s`.\"\"\"\n\n",
			class, function)
		fmt.Fprintf(&tables, "    %q: [\n", function)
		for _, flag := range flags {
			p, err := pythonOf(flag)
			if err != nil {
				return "", fmt.Errorf("cgc %s: %w", function, err)
			}
			// Other functions accept models as a positional argument.
			if p.name != "models" || function == "search" || function == "tune" {
				fmt.Fprintf(&classes, "    %s: %s\n", p.name, p.kind)
			}
			fmt.Fprintf(&tables, "        (%q, %s, %q,\n%s),\n", p.name, p.value, groupOf(cmd, flag.Name), pythonText(p.help))
		}
		tables.WriteString("    ],\n")
	}
	slices.Sort(names[3:])
	space, err := json.Marshal(search.DefaultSpace())
	if err != nil {
		return "", err
	}
	var models strings.Builder
	for _, m := range gnn.All() {
		name, own := gnn.Structure(m)
		text, err := json.Marshal(own)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&models, "    %q: %s,\n", name, strings.NewReplacer(":", ": ", ",", ", ").Replace(string(text)))
	}
	const about = "\n# By function: the name, default (None if the help says it), group and help of each argument.\n"
	return fmt.Sprintf(pythonHead, "    "+strings.Join(names, ",\n    ")+",\n") + classes.String() + "\n" + about +
		"FLAGS: dict[str, list[tuple[str, Any, str, str]]] = {\n" + tables.String() + "}\n" +
		"\n# The parameters that the name of a model may set, with their defaults.\n" +
		"MODELS: dict[str, dict[str, float]] = {\n" + models.String() + "}\n" +
		"\n# The values that search chooses from by default.\nSPACE: dict[str, list[Any]] = " +
		pythonLiteral.Replace(string(space)) + "\n", nil
}

// pythonFlag is a flag as a keyword argument: the source text of its name, type and default, and its help.
type pythonFlag struct{ name, kind, value, help string }

func pythonOf(flag *pflag.Flag) (p pythonFlag, err error) {
	place, help := pflag.UnquoteUsage(flag)
	p.name, p.help = pythonName(flag.Name), pythonHelp(help)
	p.kind = pythonTypes[flag.Value.Type()]
	switch {
	case p.kind == "":
		return p, fmt.Errorf("--%s has the type %s, which Python has no type for", flag.Name, flag.Value.Type())
	case flag.Name == "param": // --param and --params become one dictionary
		p.name, p.help = "params", "parameters of a method that is not cgc's own, by name"
	case flag.Value.Type() == "ints": // a keyword argument is one number
		_, rest, _ := strings.Cut(help, "(")
		p.help = "number of condensed nodes (" + rest
	case p.kind == "str" && (place == "FILE" || place == "FOLDER"):
		p.kind = "Union[str, os.PathLike[str]]"
	}
	text := flag.DefValue
	switch {
	case text == "", text == "[]", statedDefault.MatchString(help):
		p.kind, p.value = "Optional["+p.kind+"]", "None"
	case p.kind == "bool":
		p.value = strings.ToUpper(text[:1]) + text[1:]
	case p.kind == "int":
		p.value = text
	case p.kind == "float":
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return p, fmt.Errorf("--%s: %w", flag.Name, err)
		}
		p.value = strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(p.value, ".e") {
			p.value += ".0"
		}
	default:
		p.value = strconv.Quote(text)
	}
	return p, nil
}

func pythonName(flag string) string { return strings.ReplaceAll(flag, "-", "_") }

// pythonWords replaces the placeholders of the command in a help text.
var pythonWords = strings.NewReplacer(
	"if a flag sets", "if an argument sets", "the one FILE was", "the one small was",
	"FILE", "this file", "FOLDER", "this folder", "as if GRAPH", "as if the graph", "GRAPH", "data",
	"QUERY", "query", "POINTS", "this many points", "=false", "False",
)

// pythonHelp replaces flags and placeholders in a help text with keyword arguments.
func pythonHelp(help string) string {
	help = flagWord.ReplaceAllStringFunc(help, func(flag string) string { return pythonName(flag[2:]) })
	return pythonWords.Replace(help)
}

// pythonText formats a text as string literals, one per line, which Python concatenates.
func pythonText(text string) string {
	lines := strings.Split(report.Wrap(text, 96, ""), "\n")
	for i, line := range lines {
		if i < len(lines)-1 {
			line += " "
		}
		lines[i] = "         " + strconv.Quote(line)
	}
	return strings.Join(lines, "\n")
}
