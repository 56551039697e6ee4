package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// size is a flag of a number of bytes, with a unit or plain.
type size int64

// units are the units of a size, longer names before their endings.
var units = []struct {
	name  string
	bytes float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12},
	{"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"T", 1 << 40}, {"B", 1},
}

// Set reads the value from the command line.
func (s *size) Set(text string) error {
	number, unit := text, 1.0
	for _, u := range units {
		if n, has := strings.CutSuffix(text, u.name); has {
			number, unit = strings.TrimSpace(n), u.bytes
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v*unit >= 1 && v*unit < math.MaxInt64) {
		return fmt.Errorf("want a number of bytes above 0, as 2GiB or 500MB")
	}
	*s = size(v * unit)
	return nil
}

// String writes the value as Set reads it.
func (s *size) String() string {
	if *s == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*s), 10)
}

// Type is the word for the value in the help.
func (s *size) Type() string { return "size" }
