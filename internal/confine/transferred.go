package confine

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Transferred returns the numbers of bytes that a process has read from disks and written to them. They are 0 if the
// process has ended or the system does not report them.
func Transferred(pid int) (read, written int64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		n, _ := strconv.ParseInt(value, 10, 64)
		switch name {
		case "read_bytes":
			read = n
		case "write_bytes":
			written = n
		}
	}
	return read, written
}
