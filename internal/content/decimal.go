package content

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unsafe"
)

// Float returns the float32 nearest to the number in field, as strconv.ParseFloat does. The number may be surrounded by
// white space. Underscores between digits, as in 2020_01, are an error: such text is a code.
func Float(field []byte) (float32, error) {
	if v, ok := parseDecimal(field); ok {
		return v, nil
	}
	field = bytes.TrimSpace(field)
	if len(field) == 0 {
		return 0, errors.New("empty field")
	}
	if bytes.IndexByte(field, '_') >= 0 {
		return 0, strconv.ErrSyntax
	}
	v, err := strconv.ParseFloat(unsafe.String(&field[0], len(field)), 32) // ParseFloat does not retain the string
	return float32(v), err
}

// tens lists the powers of ten that parseDecimal divides by. float64 represents them exactly.
var tens = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// parseDecimal does what strconv does, in half the time, for the numbers in most tables: [−]digits[.digits] with at
// most 15 digits. ok is false for other numbers, and if float64 is not exact enough to round correctly.
//
// The digits and the power of ten are exact in float64, so their quotient v is rounded once. Rounding v to float32 then
// gives the float32 nearest to the number itself, unless v is halfway between two float32s: the number may be on either
// side of v.
func parseDecimal(text []byte) (value float32, ok bool) {
	number := bytes.TrimPrefix(text, []byte("-"))
	var digits uint64
	count, decimals, point := 0, 0, false
	for _, c := range number {
		d := c - '0' // a byte below '0' wraps round
		switch {
		case d <= 9:
			digits = 10*digits + uint64(d)
			count++
			if point {
				decimals++
			}
		case c == '.' && !point:
			point = true
		default:
			return 0, false
		}
	}
	if count == 0 || count >= len(tens) {
		return 0, false
	}
	v := float64(digits) / tens[decimals]
	const dropped = 29 // bits of a float64 that a float32 does not have
	if halfway := uint64(1) << (dropped - 1); math.Float64bits(v)&(1<<dropped-1) == halfway {
		return 0, false
	}
	if len(number) < len(text) {
		v = -v
	}
	return float32(v), true
}

// Int returns the integer in b, which has at most 18 digits and no surrounding space.
func Int(b []byte) (v int64, err error) {
	digits := bytes.TrimPrefix(b, []byte("-"))
	if len(digits) == 0 || len(digits) > 18 {
		return 0, notWhole(b)
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, notWhole(b)
		}
		v = 10*v + int64(c-'0')
	}
	if len(digits) < len(b) {
		v = -v
	}
	return v, nil
}

// Within returns the integer in field, which may be surrounded by white space. An error names it as what if it is not
// between 0 and most.
func Within(what string, field []byte, most int64) (int32, error) {
	v, err := Int(bytes.TrimSpace(field))
	if err != nil {
		return 0, fmt.Errorf("%s %w", what, err)
	}
	if v < 0 || v > most {
		return 0, fmt.Errorf("%s %d, must be 0 to %d", what, v, most)
	}
	return int32(v), nil
}

// notWhole returns an error with the beginning of b, which may be long. Sprintf would copy all of it.
func notWhole(b []byte) error { return fmt.Errorf("%.50q is not an integer", b[:min(len(b), 200)]) }
