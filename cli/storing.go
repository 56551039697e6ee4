package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// storing holds the flags that say how a graph is written in parts.
type storing struct {
	storage mat.Storage
	panels  int
	memory  int64
}

// addTo gives cmd the flags. An empty storage means that it was not given.
func (s *storing) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	addChoice(cmd, &s.storage, "store", mat.Storages(), "keep dense features in this type of number")
	flags.IntVar(&s.panels, "panels", 0, "keep dense features in panels of `W` columns; 0 for one matrix")
	flags.Var((*size)(&s.memory), "memory", "take about so much memory (default a quarter of the machine's)")
}

// asked reports whether a flag was given.
func (s *storing) asked() bool { return s.storage != "" || s.panels != 0 || s.memory != 0 }

// check returns what is wrong with the flags, and sets the memory that was not given.
func (s *storing) check() error {
	if s.panels < 0 {
		return usagef("--panels %d, want 0 or the number of columns of a panel", s.panels)
	}
	if s.memory == 0 {
		if s.memory = memory.Machine() / 4; s.memory == 0 {
			s.memory = 1 << 30
		}
	}
	return nil
}

// options returns what a format is told, if so many bytes are needed beside sorting.
func (s *storing) options(needed int64) format.Storing {
	return format.Storing{Storage: s.storage, Width: s.panels, Memory: max(0, s.memory-needed)}
}

// leastSorting is the memory for sorting that is worth beginning with.
const leastSorting = 64 << 20

// enough returns an error if the memory does not hold what is needed for what.
func (s *storing) enough(what string, needed int64) error {
	if needed += leastSorting; needed > s.memory {
		return usagef("%s takes at least %s of memory, and --memory allows %s", what, bytesText(needed), bytesText(s.memory))
	}
	return nil
}

// bytesText writes a number of bytes as --memory reads it.
func bytesText(n int64) string {
	for _, u := range []struct {
		name  string
		bytes int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}} {
		if n >= u.bytes {
			return fmt.Sprintf("%.1f%s", float64(n)/float64(u.bytes), u.name)
		}
	}
	return fmt.Sprintf("%dB", n)
}

// factor is a flag of a positive number, which may be written as a fraction.
type factor float64

// Set reads the value from the command line.
func (f *factor) Set(text string) error {
	above, below, fraction := strings.Cut(text, "/")
	v, err := strconv.ParseFloat(strings.TrimSpace(above), 64)
	if err == nil && fraction {
		var divisor float64
		divisor, err = strconv.ParseFloat(strings.TrimSpace(below), 64)
		v /= divisor
	}
	if err != nil || !(v > 0 && v <= 1e6) {
		return fmt.Errorf("want a number above 0 and at most 1e+06, or a fraction as in 1/4")
	}
	*f = factor(v)
	return nil
}

// String writes the value as Set reads it.
func (f *factor) String() string { return strconv.FormatFloat(float64(*f), 'g', -1, 64) }

// Type is the word for the value in the help.
func (f *factor) Type() string { return "factor" }
