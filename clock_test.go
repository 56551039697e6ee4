package cgc_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// wallClock finds what reads the wall clock as a number, or the time of a file. Differences of two time.Now are of the
// monotonic clock, unless Round strips it.
var wallClock = regexp.MustCompile(`\.(ModTime|Unix|UnixNano|UnixMilli|UnixMicro)\(\)|\.Round\(0\)|os\.Chtimes`)

// A clock that jumps changes nothing: no code compares the wall clock with that of another run, or with the time of a
// file. Progress, intervals of checkpoints and bounds in seconds are differences of the monotonic clock.
func TestNoWallClock(t *testing.T) {
	allowed := map[string]string{
		"internal/confine/confine_linux.go": "a number in the name of a control group",
	}
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if found := wallClock.FindString(string(text)); found != "" && allowed[file] == "" {
			t.Errorf("%s calls %s, want differences of time.Now", file, found)
		}
	}
}
