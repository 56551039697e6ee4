package table

import "strings"

// numbered reports whether each name is the number of its node, counted from 0.
func numbered(names []string) bool {
	for i, name := range names {
		if node, ok := number(name); !ok || node != i {
			return false
		}
	}
	return true
}

// isWhole reports whether a name is an integer: digits, possibly after a minus sign.
func isWhole(name string) bool {
	digits := strings.TrimPrefix(name, "-")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

// plainForm returns the usual form of a name that is a number, which programs write in several forms: "7" for "007",
// "+7", "7.0" and "7.". It trims space around any name.
func plainForm(name string) string {
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

// alike reports whether two names differ only in the form of a number, in surrounding white space, or in the case of
// letters.
func alike(a, b string) bool { return strings.EqualFold(plainForm(a), plainForm(b)) }
