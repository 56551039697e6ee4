package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// share is a flag of a part of a whole, in percent or plain.
type share float64

// Set reads the value from the command line.
func (s *share) Set(text string) error {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(number, 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v > 0 && v <= 1) {
		return errors.New(s.want())
	}
	*s = share(v)
	return nil
}

// String writes the value as Set reads it.
func (s *share) String() string {
	if *s == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(*s), 'g', -1, 64)
}

// Type is the word for the value in the command's help.
func (s *share) Type() string { return "share" }
func (s *share) want() string { return "a share above 0 and at most 1, or a percentage as in 2.6%" }

// hopWeights is the flag of cgc.HopWeights: numbers between commas. Nothing between them is no weights.
type hopWeights cgc.HopWeights

// Set reads the value from the command line.
func (w *hopWeights) Set(text string) error {
	var read hopWeights
	for field := range strings.SplitSeq(text, ",") {
		if text == "" {
			break
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
		if err != nil {
			return errors.New(w.want())
		}
		read = append(read, v)
	}
	*w = read
	return nil
}

// String writes the value as Set reads it.
func (w *hopWeights) String() string { return cgc.HopWeights(*w).String() }

// Type is the word for the value in the command's help.
func (w *hopWeights) Type() string { return "numbers" }
func (w *hopWeights) want() string { return "numbers as in 0.2,0.3,0.5" }

// temperature is the flag of a cgc.Temperature.
type temperature cgc.Temperature

// Set reads the value from the command line.
func (t *temperature) Set(text string) error {
	v, err := cgc.ParseTemperature(text)
	if err != nil {
		return errors.New(t.want())
	}
	*t = temperature(v)
	return nil
}

// String writes the value as Set reads it.
func (t *temperature) String() string { return cgc.Temperature(*t).String() }

// Type is the word for the value in the command's help.
func (t *temperature) Type() string { return "number|inf" }
func (t *temperature) want() string { return "a number above 0 or inf" }

// precision is the flag of a blocked.Precision.
type precision blocked.Precision

// Set reads the value from the command line.
func (p *precision) Set(text string) error {
	if (*blocked.Precision)(p).UnmarshalText([]byte(text)) != nil {
		return errors.New(p.want())
	}
	return nil
}

// String writes the value as Set reads it.
func (p *precision) String() string { return blocked.Precision(*p).String() }

// Type is the word for the value in the command's help.
func (p *precision) Type() string { return "word" }
func (p *precision) want() string { return "one of " + joinWords(precisions(), ", ") }

// precisions returns the words of --precision.
func precisions() (words []string) {
	for _, p := range blocked.Precisions() {
		words = append(words, p.String())
	}
	return words
}

// choice is a flag of one word of a few possible ones.
type choice[T ~string] struct {
	value *T
	among []T
}

// addChoice gives cmd a flag of one word. The words, and their completion, are those of among.
func addChoice[T ~string](cmd *cobra.Command, value *T, name string, among []T, usage string) {
	c := choice[T]{value, among}
	cmd.Flags().Var(c, name, usage+": "+joinWords(among, ", "))
	completion(cmd, name, among)
}

// Set reads the value from the command line.
func (c choice[T]) Set(text string) error {
	if !slices.Contains(c.among, T(text)) {
		return errors.New(c.want())
	}
	*c.value = T(text)
	return nil
}

// String writes the value as Set reads it.
func (c choice[T]) String() string { return string(*c.value) }

// Type is the word for the value in the command's help.
func (c choice[T]) Type() string { return "word" }
func (c choice[T]) want() string { return "one of " + joinWords(c.among, ", ") }

// size is a flag of a number of bytes, with a unit or plain.
type size int64

// units are the units of a size, longer names before their endings.
var units = []struct {
	name  string
	bytes float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12},
	{"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"T", 1 << 40}, {"B", 1},
}

// Set reads the value from the command line.
func (s *size) Set(text string) error {
	number, unit := text, 1.0
	for _, u := range units {
		if n, has := strings.CutSuffix(text, u.name); has {
			number, unit = strings.TrimSpace(n), u.bytes
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v*unit >= 1 && v*unit < math.MaxInt64) {
		return fmt.Errorf("want a number of bytes above 0, as 2GiB or 500MB")
	}
	*s = size(v * unit)
	return nil
}

// String writes the value as Set reads it.
func (s *size) String() string {
	if *s == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*s), 10)
}

// Type is the word for the value in the help.
func (s *size) Type() string { return "size" }
