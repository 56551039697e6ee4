// Package digits formats integers for people.
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
