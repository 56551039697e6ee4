package cli

import (
	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// storing holds the flags for writing a graph in parts.
type storing struct {
	storage mat.Storage
	panels  int
	memory  int64
}

// addTo adds the flags to cmd. An empty storage means that the flag was not given.
func (s *storing) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	addChoice(cmd, &s.storage, "store", mat.Storages(), "number type of dense features")
	flags.IntVar(&s.panels, "panels", 0, "store dense features in blocks of `W` columns; 0 stores one matrix")
	flags.Var(size(&s.memory), "memory", "memory to use, such as 2GiB or 500MB (default a quarter of the machine's)")
}

// check checks the flags, and sets the default memory if none was given.
func (s *storing) check() error {
	if s.panels < 0 {
		return usagef("--panels %d, must be 0 or the number of columns of a panel", s.panels)
	}
	if s.memory == 0 {
		if s.memory = memory.Machine() / 4 >> 20 << 20; s.memory == 0 { // whole MiB, for messages
			s.memory = 1 << 30
		}
	}
	return nil
}

// options returns the options for a format. All memory but the needed bytes is for sorting.
func (s *storing) options(needed int64) format.Storing {
	return format.Storing{Storage: s.storage, Width: s.panels, Memory: max(0, s.memory-needed)}
}

// leastSorting is the smallest useful amount of memory for sorting, in bytes.
const leastSorting = 64 << 20

// enough returns an error if the memory is less than needed plus leastSorting. what names the work in the error.
func (s *storing) enough(what string, needed int64) error {
	if needed += leastSorting; needed > s.memory {
		return usagef("%s takes at least %s of memory, and --memory allows %s", what, inUnitsOf(s.memory, needed),
			inUnitsOf(s.memory, s.memory))
	}
	return nil
}
