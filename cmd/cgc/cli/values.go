package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/internal/registry"
)

// value is a pflag.Value with a custom parser.
type value[T any] struct {
	at     *T
	parse  func(text string) (T, error)
	format func(T) string
	kind   string   // name of the type
	want   string   // completes "must be …" in errors
	among  []string // suggestions for mistyped words, if values are words
}

// Set parses text and stores the value.
func (v *value[T]) Set(text string) error {
	read, err := v.parse(text)
	if errors.As(err, new(ownSentence)) {
		return err
	}
	if err != nil {
		return errors.New(v.want)
	}
	*v.at = read
	return nil
}

// String formats the value in the syntax of Set.
func (v *value[T]) String() string { return v.format(*v.at) }

// Type names the value in help.
func (v *value[T]) Type() string    { return v.kind }
func (v *value[T]) must() string    { return v.want }
func (v *value[T]) words() []string { return v.among }

// ownSentence is an error about a flag value that says what is valid. It replaces the description of valid values.
type ownSentence struct{ error }

// errValue reports an invalid flag value. Users see a description of valid values instead.
var errValue = errors.New("not a value")

// accepted returns v, or errValue if it is out of range.
func accepted[T any](v T, err error, inRange bool) (T, error) {
	if err == nil && !inRange {
		err = errValue
	}
	return v, err
}

// share returns a flag whose value is a fraction above 0 and at most 1, or a percentage.
func share(at *float64) *value[float64] {
	return &value[float64]{
		at: at, parse: parseShare, kind: "fraction", want: "a fraction above 0 and at most 1, or a percentage as in 2.6%",
		format: func(v float64) string {
			if v == 0 {
				return ""
			}
			return formatFloat(v)
		},
	}
}

// parseShare reads a fraction above 0 and at most 1, such as 0.026 or 2.6%.
func parseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(number, 64)
	if percent {
		v /= 100
	}
	return accepted(v, err, v > 0 && v <= 1)
}

// factor returns a flag whose value is a positive number of at most 10⁶, also written as a fraction such as 1/4.
func factor(at *float64) *value[float64] {
	return &value[float64]{
		at: at, format: formatFloat, kind: "float",
		want: "a number above 0 and at most 1e+06, or a fraction as in 1/4",
		parse: func(text string) (float64, error) {
			above, below, fraction := strings.Cut(text, "/")
			v, err := strconv.ParseFloat(strings.TrimSpace(above), 64)
			if err == nil && fraction {
				var divisor float64
				divisor, err = strconv.ParseFloat(strings.TrimSpace(below), 64)
				v /= divisor
			}
			return accepted(v, err, v > 0 && v <= 1e6)
		},
	}
}

func formatFloat(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func temperature(at *cgc.Temperature) *value[cgc.Temperature] {
	return &value[cgc.Temperature]{
		at: at, parse: cgc.ParseTemperature, format: cgc.Temperature.String, kind: "float", want: "a number above 0 or inf",
	}
}

// among returns a parser that accepts the words of the given values.
func among[T any](values []T) func(word string) (T, error) {
	return func(word string) (v T, err error) {
		if i := slices.Index(wordsOf(values), word); i >= 0 {
			return values[i], nil
		}
		return v, errValue
	}
}

// addChoice adds a flag to cmd whose value is one of the given values, and completes their words.
func addChoice[T any](cmd *cobra.Command, at *T, name string, values []T, usage string) {
	words := wordsOf(values)
	list := strings.Join(words, ", ")
	cmd.Flags().Var(&value[T]{
		at: at, kind: "string", among: words, want: "one of " + list, parse: among(values), format: word[T],
	}, name, usage+": "+list)
	completion(cmd, name, oneOf(func() []string { return words }))
}

// addSome adds a flag to cmd whose value is a comma-separated list of the given values, and completes their words.
// Repeated words count once, and "all" stands for all words unless it is one of them.
func addSome[T any](cmd *cobra.Command, at *[]T, name string, values []T, usage string) {
	words := wordsOf(values)
	v := several(at, among(values), word[T], words)
	each := v.parse
	v.parse = func(text string) ([]T, error) {
		if strings.TrimSpace(text) == "all" && !slices.Contains(words, "all") {
			return slices.Clone(values), nil
		}
		return each(text)
	}
	cmd.Flags().Var(v, name, usage+": "+strings.Join(v.among, ", "))
	completion(cmd, name, listOf(v.words))
}

// models returns a flag whose value is a comma-separated list of models. Repeated models count once.
func models(at *[]gnn.Model) *value[[]gnn.Model] {
	parse := func(name string) (gnn.Model, error) {
		m, err := gnn.Parse(name)
		unknown, is := errors.AsType[*registry.Unknown](err)
		if err != nil && !(is && unknown.Kind == "model") { // then the model is known, and a parameter of it is wrong
			err = ownSentence{err}
		}
		return m, err
	}
	return several(at, parse, gnn.Model.Name, gnn.Names())
}

func modelNames(models []gnn.Model) []string { return mapped(models, gnn.Model.Name) }

// several returns a flag whose value is a comma-separated list of the words in among. Repeated words count once.
func several[T any](at *[]T, parse func(string) (T, error), format func(T) string, among []string) *value[[]T] {
	v := list(at, parse, format, false)
	v.kind, v.among = "strings", among
	v.want = "one or more of " + strings.Join(among, ",") + ", separated by commas"
	return v
}

// distinct returns a flag whose value is a comma-separated list of distinct values. kind is "ints", "floats" or
// "strings", and noun names the values in errors.
func distinct[T any](at *[]T, parse func(word string) (T, error), kind, noun string) *value[[]T] {
	v := list(at, parse, word[T], true)
	v.kind, v.want = kind, "different "+noun+", separated by commas"
	return v
}

// severalNodes makes --nodes accept a list. at receives the first number.
func severalNodes(flags *pflag.FlagSet, at *int, all *[]int) {
	v := distinct(all, nodesOf, "ints", "integers of at least 1")
	each := v.parse
	v.parse = func(text string) (sizes []int, err error) {
		if sizes, err = each(text); err == nil {
			*at = sizes[0]
		}
		return sizes, err
	}
	nodes := flags.Lookup("nodes")
	nodes.Value, nodes.DefValue = v, ""
	nodes.Usage = "numbers of condensed nodes, such as `70` or 35,70,140 " +
		"(default 10 per class, but at most half of the training nodes)"
}

// list returns a flag whose value is a comma-separated list. A flag that is given again adds to the list. A repeated
// value is a mistake if distinct is set, and is otherwise left out.
func list[T any](at *[]T, parse func(word string) (T, error), format func(T) string, distinct bool) *value[[]T] {
	given := ""
	join := func(values []T) string { return strings.Join(mapped(values, format), ",") }
	return &value[[]T]{
		at:     at,
		format: join,
		parse: func(text string) (read []T, err error) {
			var words []string
			if given == "" || text != join(*at) { // readFile sets the whole list again
				given += "," + text
			}
			for word := range strings.SplitSeq(given[1:], ",") {
				v, err := parse(strings.TrimSpace(word))
				if err != nil {
					return nil, err
				}
				again := slices.Contains(words, format(v))
				if again && distinct {
					return nil, errValue
				}
				if !again {
					words, read = append(words, format(v)), append(read, v)
				}
			}
			return read, nil
		},
	}
}

// size returns a flag whose value is a number of bytes. A unit is required, because 10 could be meant as megabytes.
func size(at *int64) *value[int64] {
	return &value[int64]{
		at: at, kind: "bytes", want: "a number of bytes above 0 with a unit, as 2GiB or 500MB",
		format: func(bytes int64) string {
			if bytes == 0 {
				return ""
			}
			return strconv.FormatInt(bytes, 10) + "B"
		},
		parse: func(text string) (int64, error) {
			number, unit := text, 0.0
			for _, u := range units {
				if n, has := strings.CutSuffix(text, u.name); has {
					number, unit = strings.TrimSpace(n), u.bytes
					break
				}
			}
			v, err := strconv.ParseFloat(number, 64)
			if err != nil || !(v*unit >= 1 && v*unit < math.MaxInt64) {
				return 0, errValue
			}
			return int64(v * unit), nil
		},
	}
}

// units lists the units of a size. A unit comes before the units that are its suffixes: KiB before B. The first eight
// are used in output, the largest first.
var units = []struct {
	name  string
	bytes float64
}{
	{"TiB", 1 << 40}, {"TB", 1e12}, {"GiB", 1 << 30}, {"GB", 1e9}, {"MiB", 1 << 20}, {"MB", 1e6}, {"KiB", 1 << 10},
	{"kB", 1e3}, {"KB", 1e3}, {"T", 1 << 40}, {"G", 1 << 30}, {"M", 1 << 20}, {"K", 1 << 10}, {"B", 1},
}

// inUnitsOf formats a number of bytes, rounded up, in the syntax of --memory. It uses the first unit that divides the
// argument like.
func inUnitsOf(like, bytes int64) string {
	for _, u := range units[:8] {
		if n := int64(u.bytes); like%n == 0 {
			return fmt.Sprintf("%d%s", (bytes+n-1)/n, u.name)
		}
	}
	return fmt.Sprintf("%dB", bytes)
}

func word[T any](v T) string { return fmt.Sprint(v) }

func wordsOf[T any](values []T) []string { return mapped(values, word[T]) }

func mapped[T, U any](values []T, f func(T) U) []U {
	all := make([]U, len(values))
	for i, v := range values {
		all[i] = f(v)
	}
	return all
}
