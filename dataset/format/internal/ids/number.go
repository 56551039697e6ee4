package ids

import "strings"

// Numbered reports whether each name is the number of its node, counted from 0.
func Numbered(names []string) bool {
	for i, name := range names {
		if node, ok := number(name); !ok || node != i {
			return false
		}
	}
	return true
}

// Whole reports whether a name is an integer: digits, possibly after a minus sign.
func Whole(name string) bool {
	digits := strings.TrimPrefix(name, "-")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

// Plain returns the usual form of a name that is a number, which programs write in several forms: "7" for "007", "+7",
// "7.0" and "7.". It trims space around any name.
func Plain(name string) string {
	name = strings.TrimSpace(name)
	whole, fraction, _ := strings.Cut(name, ".")
	digits := strings.TrimLeft(whole, "+-")
	if digits == "" || len(whole)-len(digits) > 1 || strings.Trim(digits, "0123456789") != "" ||
		strings.Trim(fraction, "0") != "" {
		return name
	}
	if digits = strings.TrimLeft(digits, "0"); digits == "" {
		return "0"
	}
	if whole[0] == '-' {
		return "-" + digits
	}
	return digits
}

// Alike reports whether two names differ only in the form of a number, in surrounding white space, or in the case of
// letters.
func Alike(a, b string) bool { return strings.EqualFold(Plain(a), Plain(b)) }
