package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/progress"
)

// terminal returns both ends of a new pseudo-terminal with the given number of columns. It skips the test if the system
// does not provide one.
func terminal(t *testing.T, columns int) (control, screen *os.File) {
	t.Helper()
	need := func(err error) {
		if err != nil {
			t.Skipf("no terminal here: %v", err)
		}
	}
	control, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	need(err)
	t.Cleanup(func() { control.Close() })
	need(unix.IoctlSetPointerInt(int(control.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(control.Fd()), unix.TIOCGPTN)
	need(err)
	screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	need(err)
	size := &unix.Winsize{Row: 24, Col: uint16(columns)}
	mattest.OK(t, unix.IoctlSetWinsize(int(control.Fd()), unix.TIOCSWINSZ, size))
	return control, screen
}

// work shows progress on stderr during work that takes several seconds of a synthetic clock.
func work(t *testing.T, stderr io.Writer, quiet bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := newMeter(stderr, quiet)
		p.step("opening a graph")
		p.note("a split was drawn")
		ctx := p.listen(t.Context())
		for done := range int64(7) {
			event := progress.Event{Stage: "reading the-edges-of-a-graph-with-a-long-name.csv.gz", Done: done + 1, Total: 20}
			progress.Report(ctx, event)
			time.Sleep(300 * time.Millisecond)
		}
		p.step("condensing")
		p.finish()
	})
}

// onTerminal returns what work shows on a terminal with the given number of columns.
func onTerminal(t *testing.T, columns int, quiet bool) string {
	t.Helper()
	control, screen := terminal(t, columns)
	all := make(chan string)
	go func() {
		text, _ := io.ReadAll(control) // the error means that the other end was closed
		all <- string(text)
	}()
	work(t, screen, quiet)
	screen.Close()
	return <-all
}

// TestBar checks that, on a terminal, long work shows a line with a bar, a percentage and the time left, and that the
// line fits. At the end, a line with the times of the steps replaces it.
func TestBar(t *testing.T) {
	for _, columns := range []int{60, 160} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			t.Parallel()
			shown := onTerminal(t, columns, false)
			mattest.True(t, regexp.MustCompile(`35% 2s, 4s left`).MatchString(shown), "no time left in\n%q", shown)
			escape := regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`)
			text := escape.ReplaceAllString(shown, "\r")
			lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\r' || r == '\n' })
			for _, line := range lines {
				n := len([]rune(line))
				mattest.True(t, n <= columns, "%d columns, want at most %d: %q", n, columns, line)
			}
			whole := strings.Contains(shown, "a-long-name.csv.gz")
			mattest.Equal(t, whole, columns == 160, "%d columns: the name is whole:", columns)
			if last := lines[len(lines)-1]; !regexp.MustCompile(`^2\.1 s: opening a graph 2\.1 s$`).MatchString(last) {
				t.Errorf("the last line is %q", last)
			}
		})
	}
}

// TestNoBar checks that a file receives only notes, and nothing with --quiet.
func TestNoBar(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	work(t, &file, false)
	mattest.Equal(t, file.String(), "note: a split was drawn\n", "in a file:")
	mattest.Equal(t, onTerminal(t, 80, true), "", "with --quiet:")
}
