package ids

import (
	"context"
	"strconv"
	"strings"
)

// Numbered reports whether each name is the number of its node, from 0.
func Numbered(names []string) bool {
	var number [20]byte
	for i, name := range names {
		if name != string(strconv.AppendInt(number[:0], int64(i), 10)) {
			return false
		}
	}
	return true
}

// Whole reports whether a name is a whole number: digits, perhaps after a minus sign.
func Whole(name string) bool {
	digits := strings.TrimPrefix(name, "-")
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	return digits != ""
}

// plain returns the usual form of a name that is a number, as other programs write it in several forms: "7" for "007",
// "+7", "7.0" and "7.". It cuts space from around any name.
func plain(name string) string {
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

// SameNumber returns the first node whose name is the number of another node in another form, as 7.0 and 7 are, and
// that other node. It returns −1 and −1 if there is none, or if ctx is done first.
func (x *Index) SameNumber(ctx context.Context) (node, other int) {
	var forms []string // of the names that are not in the usual form
	var of []int
	for i, name := range x.names {
		if i&0xffff == 0 && ctx.Err() != nil {
			break
		}
		form := plain(name)
		if form == name {
			continue
		}
		if _, other := x.find(x.key(form), form); other >= 0 {
			return i, int(other)
		}
		forms, of = append(forms, form), append(of, i)
	}
	if _, again, first := New(ctx, forms); again >= 0 {
		return of[again], of[first]
	}
	return -1, -1
}

// Like returns the first node whose name is the given one but for the form of a number, for space around it, or for the
// case of letters; −1 if there is none. It looks at all names.
func (x *Index) Like(name string) (node int) {
	name = plain(name)
	for i, other := range x.names {
		if strings.EqualFold(plain(other), name) {
			return i
		}
	}
	return -1
}
