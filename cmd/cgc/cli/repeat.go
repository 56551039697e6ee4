package cli

import (
	"github.com/graph-condensation/cgc/cmd/cgc/internal/commandline"
	"github.com/graph-condensation/cgc/condense"
)

// commandLine quotes words for a shell.
func commandLine(words ...string) string { return commandline.Of(words...) }

// repeat returns the command line that repeats the condensation small of graph and writes the result to file.
func repeat(graph, file string, small *condense.Condensed) string {
	return commandline.Condense(graph, file, small)
}
