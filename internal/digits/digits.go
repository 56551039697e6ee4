// Package digits rounds and formats numbers for people.
package digits

import "strconv"

// Group formats n with commas as thousands separators: 153,932.
func Group(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Rounded rounds v to n significant digits.
func Rounded(v float64, n int) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', n, 64), 64) // no error: the text is a number
	return rounded
}

// Percent formats a share, at least 0, in percent: with three significant digits, and with more if it would read 100%
// although it is below.
func Percent(share float64) string {
	for digits := 3; ; digits++ {
		percent := Rounded(100*share, digits)
		if percent < 100 || !(share < 1) {
			return strconv.FormatFloat(percent, 'f', -1, 64) + "%"
		}
	}
}
