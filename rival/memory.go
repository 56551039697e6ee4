package rival

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Memory is a bound on memory in bytes. Its JSON is a number of bytes, or a word such as "8GiB" or "500MB". 0 stands
// for DefaultMemory.
type Memory int64

// DefaultMemory is the bound of methods that are given none.
const DefaultMemory Memory = 8 << 30

// units are the endings of a Memory in words, the longest first.
var units = []struct {
	ending string
	bytes  float64
}{
	{"gib", 1 << 30}, {"mib", 1 << 20}, {"kib", 1 << 10}, {"gb", 1e9}, {"mb", 1e6}, {"kb", 1e3}, {"b", 1}, {"", 1},
}

// UnmarshalJSON reads a number of bytes, or a word.
func (m *Memory) UnmarshalJSON(text []byte) error {
	var word string
	if json.Unmarshal(text, &word) != nil {
		word = string(text)
	}
	word = strings.ToLower(strings.TrimSpace(word))
	for _, u := range units {
		number, has := strings.CutSuffix(word, u.ending)
		if !has {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if v *= u.bytes; err != nil || !(v >= 0 && v < math.MaxInt64) {
			break
		}
		*m = Memory(v)
		return nil
	}
	return fmt.Errorf("rival: memory %s, want a size as 8GiB or 500MB", text)
}

// String writes the bound with its unit.
func (m Memory) String() string { return words(float64(m)) }

// Fits returns an error if the bytes that a method needs exceed the bound. what says what needs them, as in "sntk on
// 153,932 training nodes".
func (m Memory) Fits(what string, bytes float64) error { return m.FitsAs("memory", what, bytes) }

// FitsAs is Fits for a bound that is the parameter of another name.
func (m Memory) FitsAs(parameter, what string, bytes float64) error {
	if m == 0 {
		m = DefaultMemory
	}
	if bytes <= float64(m) {
		return nil
	}
	return fmt.Errorf("rival: %s needs %s, bound %s (parameter %s)", what, words(bytes), m, parameter)
}

// words writes a number of bytes with its unit, below 10 with one digit after the point.
func words(bytes float64) string {
	unit := "bytes"
	for _, next := range []string{"kB", "MB", "GB"} {
		if bytes < 1000 {
			break
		}
		bytes, unit = bytes/1000, next
	}
	if bytes < 9.95 && unit != "bytes" {
		return strconv.FormatFloat(bytes, 'f', 1, 64) + " " + unit
	}
	return Count(int(math.Round(bytes))) + " " + unit
}

// Count writes a whole number of at least 0 with commas between thousands: 153,932.
func Count(n int) string {
	s := strconv.Itoa(n)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}
