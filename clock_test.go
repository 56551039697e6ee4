package cgc_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/internal/mattest"
)

// wallClock matches code that reads the wall clock as a number, or the time of a file. The difference of two time.Now
// values uses the monotonic clock, unless Round strips it.
var wallClock = regexp.MustCompile(`\.(ModTime|Unix|UnixNano|UnixMilli|UnixMicro)\(\)|\.Round\(0\)|os\.Chtimes`)

// A jump of the wall clock changes nothing: no code compares it with the clock of another run or with the time of a
// file. Progress, checkpoint intervals and time limits use the monotonic clock.
func TestNoWallClock(t *testing.T) {
	allowed := map[string]string{
		"internal/confine/confine_linux.go": "a number in the name of a control group",
		"cmd/cgc/cli/hops.go":               "a changed file has another time, which is compared with no clock",
	}
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text := mattest.Must(os.ReadFile(file))
		if found := wallClock.FindString(string(text)); found != "" && allowed[file] == "" {
			t.Errorf("%s calls %s, want differences of time.Now", file, found)
		}
	}
}
