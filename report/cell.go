package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Cell is an entry of a table, as people read it and as programs do. The zero value is blank.
type Cell struct {
	// Text is rounded and has separators: "2,708", "82.0 ± 0.5".
	Text string
	// Values holds the same in full: none, one, or one for each of Column.Parts. Each is a string, a bool, an int, an
	// int64, a uint64 or a float64.
	Values []any
}

// Missing stands for a number that there is none of: a dash to people, nothing to programs.
func Missing() Cell { return Cell{Text: "–"} }

// Word is a cell of text.
func Word(text string) Cell { return Cell{text, []any{text}} }

// Integer is a whole number, with commas between thousands.
func Integer(n int) Cell { return Cell{Count(n), []any{n}} }

// Decimal is a number with the given digits after the point, and no sign before a zero.
func Decimal(v float64, digits int) Cell { return Cell{decimal(v, digits), []any{v}} }

// Signed is a number with its sign, − or +, and the given digits after the point. A zero has no sign.
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

// Significant is a number with the given significant digits at least, and all digits before the point.
func Significant(v float64, digits int) Cell {
	text := strconv.FormatFloat(v, 'g', digits, 64)
	if whole := len(strconv.Itoa(int(min(math.Abs(v), 1e15)))); math.Abs(v) >= 1 {
		text = strconv.FormatFloat(v, 'f', max(0, digits-whole), 64)
	}
	return Cell{text, []any{v}}
}

// Percent is a number of percents with the given digits after the point: Percent(97.8, 1) reads "97.8%".
func Percent(v float64, digits int) Cell { return Cell{decimal(v, digits) + "%", []any{v}} }

// PlusMinus is a mean and its standard deviation, two parts: "82.0 ± 0.5".
func PlusMinus(mean, std float64, digits int) Cell {
	return Cell{decimal(mean, digits) + " ± " + decimal(std, digits), []any{mean, std}}
}

// Interval is the ends of an interval, two parts: "81.4 to 82.7".
func Interval(lo, hi float64, digits int) Cell {
	return Cell{decimal(lo, digits) + " to " + decimal(hi, digits), []any{lo, hi}}
}

// Full is a value that people read as programs do, without rounding or separators.
func Full(v any) Cell { return Cell{full(v), []any{v}} }

// decimal writes v with the given digits after the point, and no sign before a zero.
func decimal(v float64, digits int) string {
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return text
}

// full writes a value such that reading it gives the same value.
func full(v any) string {
	if f, is := v.(float64); is {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// Count writes n with commas between thousands.
func Count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Plural writes n and the word for it: "1 training", "2,000 trainings".
func Plural(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return Count(n) + " " + word
}

// Bytes writes a size in decimal megabytes, or gigabytes from a thousand of them.
func Bytes(n int64) string {
	if n >= 1e9 {
		return fmt.Sprintf("%.2f GB", float64(n)/1e9)
	}
	return fmt.Sprintf("%.0f MB", float64(n)/1e6)
}
