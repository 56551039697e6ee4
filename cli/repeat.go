package cli

import (
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/internal/commandline"
)

// commandLine writes words as a shell reads them.
func commandLine(words ...string) string { return commandline.Of(words...) }

// repeat returns the command that condenses graph as small was condensed, and writes it to file.
func repeat(graph, file string, small *condense.Condensed) string {
	return commandline.Condense(graph, file, small)
}
