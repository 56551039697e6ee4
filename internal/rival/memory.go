package rival

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc/internal/digits"
)

// Memory is a memory limit in bytes. Its JSON form is a number of bytes, or a string such as "8GiB" or "500MB". 0 means
// DefaultMemory.
type Memory int64

// DefaultMemory is the memory limit of a method that sets none.
const DefaultMemory Memory = 8 << 30

// units are the units in the JSON of a Memory, longest first.
var units = []struct {
	ending string
	bytes  float64
}{
	{"gib", 1 << 30}, {"mib", 1 << 20}, {"kib", 1 << 10}, {"gb", 1e9}, {"mb", 1e6}, {"kb", 1e3}, {"b", 1}, {"", 1},
}

// UnmarshalJSON reads a number of bytes, or a string with a unit.
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
	return fmt.Errorf("memory %s, must be a size such as 8GiB or 500MB", text)
}

// String returns the limit with a unit, such as "8.6 GB".
func (m Memory) String() string { return words(float64(m)) }

// Fits returns an error if bytes exceed the limit. what names the work that needs them, as in "sntk on 153,932 training
// nodes".
func (m Memory) Fits(what string, bytes float64) error { return m.FitsAs("memory", what, bytes) }

// FitsAs is like Fits, for a limit set by a parameter other than memory.
func (m Memory) FitsAs(parameter, what string, bytes float64) error {
	m = cmp.Or(m, DefaultMemory)
	if bytes <= float64(m) {
		return nil
	}
	return fmt.Errorf("%s needs %s, must be at most %s (parameter %s)", what, words(bytes), m, parameter)
}

// words returns a number of bytes with a unit, and with one decimal if the number is below 10.
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
	return digits.Group(int(math.Round(bytes))) + " " + unit
}
