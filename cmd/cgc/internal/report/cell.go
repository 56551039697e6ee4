package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc/internal/digits"
)

// Cell is an entry of a table, both for people and for programs. The zero value is blank.
type Cell struct {
	// Text is rounded and has separators: "2,708", "82.0 ± 0.5".
	Text string
	// Values holds the unrounded values: none, one, or one for each of Column.Parts. Each is a string, a bool, an int, an
	// int64, a uint64 or a float64.
	Values []any
}

// Missing marks a missing number: a dash for people, blank for programs.
func Missing() Cell { return Cell{Text: "–"} }

// Word is a text cell.
func Word(text string) Cell { return Cell{text, []any{text}} }

// Integer is an integer, with commas as thousands separators.
func Integer(n int) Cell { return Cell{Count(n), []any{n}} }

// Decimal is a number with the given number of digits after the decimal point. A zero has no sign.
func Decimal(v float64, digits int) Cell { return Cell{decimal(v, digits), []any{v}} }

// Signed is a number with its sign, − or +, and the given number of digits after the decimal point. A zero has no sign.
func Signed(v float64, digits int) Cell {
	text := decimal(v, digits)
	switch {
	case strings.HasPrefix(text, "-"):
		text = "−" + text[1:]
	case strings.Trim(text, "0.") != "":
		text = "+" + text
	}
	return Cell{text, []any{v}}
}

// Significant is a number rounded to the given number of significant digits, but with all digits of its integer part.
func Significant(v float64, n int) Cell {
	rounded := digits.Rounded(v, n)
	text := strconv.FormatFloat(rounded, 'f', -1, 64)
	if whole := len(strconv.Itoa(int(min(math.Abs(rounded), 1e15)))); math.Abs(rounded) >= 1 {
		text = strconv.FormatFloat(v, 'f', max(0, n-whole), 64)
	}
	return Cell{text, []any{v}}
}

// Percent is a percentage with the given number of digits after the decimal point: Percent(97.8, 1) reads "97.8%".
func Percent(v float64, digits int) Cell { return Cell{decimal(v, digits) + "%", []any{v}} }

// MeanParts are the Column.Parts of means with a standard deviation. IntervalParts are the Column.Parts of intervals.
var (
	MeanParts     = []string{"mean", "std"}
	IntervalParts = []string{"low", "high"}
)

// PlusMinus is a mean and its standard deviation, in two parts: "82.0 ± 0.5".
func PlusMinus(mean, std float64, digits int) Cell {
	return Cell{decimal(mean, digits) + " ± " + decimal(std, digits), []any{mean, std}}
}

// Mean is like PlusMinus, but only the mean if n < 2.
func Mean(mean, std float64, n, digits int) Cell {
	if n < 2 {
		return Decimal(mean, digits)
	}
	return PlusMinus(mean, std, digits)
}

// Interval is an interval in two parts, its ends: "81.4 to 82.7".
func Interval(lo, hi float64, digits int) Cell {
	return Cell{decimal(lo, digits) + " to " + decimal(hi, digits), []any{lo, hi}}
}

// Full is a value that is shown without rounding or separators, even to people.
func Full(v any) Cell { return Cell{full(v), []any{v}} }

// decimal formats v with the given number of digits after the decimal point. A zero has no sign.
func decimal(v float64, digits int) string {
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return text
}

// full formats a value so that parsing the text returns the same value.
func full(v any) string {
	if f, is := v.(float64); is {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// Count formats n with commas as thousands separators.
func Count(n int) string { return digits.Group(n) }

// Plural writes n and word, in the plural unless n is 1: "1 training", "2,000 trainings", "2 classes".
func Plural(n int, word string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(word, "s"):
		word += "es"
	default:
		word += "s"
	}
	return Count(n) + " " + word
}

// Bytes writes a size in decimal kilobytes, in megabytes from 1 MB, or in gigabytes from 1 GB.
func Bytes(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.2f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.0f kB", float64(n)/1e3)
}

// PerClass returns the number of each class as a word, such as "fraud 2,". Without names, it is only the number.
func PerClass(names []string, numbers []int) (words []string) {
	for c, n := range numbers {
		word := strconv.Itoa(n)
		if names != nil {
			if word = names[c] + " " + word; c < len(numbers)-1 {
				word += ","
			}
		}
		words = append(words, word)
	}
	return words
}
