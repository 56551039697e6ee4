package memory

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Machine returns the bytes of memory that this process may use: those of the machine, or of the control group that
// limits the process, if that is fewer. 0 if it is not known.
func Machine() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	total := int64(info.Totalram) * int64(info.Unit)
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return total
	}
	for line := range strings.Lines(string(groups)) { // "4:memory:/a/b", or "0::/a/b" in version 2
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) < 3 {
			continue
		}
		var file string
		switch {
		case fields[1] == "memory":
			file = "/sys/fs/cgroup/memory" + fields[2] + "/memory.limit_in_bytes"
		case fields[0] == "0":
			file = "/sys/fs/cgroup" + fields[2] + "/memory.max"
		default:
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && limit < total {
			total = limit // no limit is "max", or a number above all memory
		}
	}
	return total
}
