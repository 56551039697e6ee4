package memory

import (
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Machine returns the bytes of memory that this process may use: the minimum of the machine's memory, the limits of
// control groups, and the limit of the address space (ulimit -v). It returns 0 if this is unknown.
func Machine() int64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	total := int64(info.Totalram) * int64(info.Unit)
	return min(total, groupLimit(ownGroups(), "/sys/fs/cgroup", 0), addressSpace())
}

// Limit returns the bytes of memory beyond which the system kills this process, and the source of the limit in words,
// such as "the machine has" or "the control group allows". Swap space counts. bytes is 0 if unknown.
func Limit() (bytes int64, by string) {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0, ""
	}
	unit := int64(info.Unit)
	swap := int64(info.Totalswap) * unit
	bytes, by = int64(info.Totalram)*unit+swap, ByMachine
	if group := groupLimit(ownGroups(), "/sys/fs/cgroup", swap); group < bytes {
		bytes, by = group, "the control group allows"
	}
	if space := addressSpace(); space < bytes {
		bytes, by = space, "ulimit -v allows"
	}
	return bytes, by
}

// ownGroups returns the kernel's list of the control groups of this process.
func ownGroups() string {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	return string(text)
}

// groupLimit returns the smallest limit of control groups and their parents, or the largest number if there is none. A
// container may see its own group as the root, under another name, and the search ends there. Swap space counts if the
// group may use it.
func groupLimit(groups, root string, swap int64) int64 {
	limit := int64(math.MaxInt64)
	for line := range strings.Lines(groups) { // such as "4:memory:/a/b", or "0::/a/b" in version 2
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) < 3 {
			continue
		}
		var folder, bound, both, more string
		switch {
		case strings.Contains(","+fields[1]+",", ",memory,"):
			folder, bound, both = "memory", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"
		case fields[0] == "0":
			bound, more = "memory.max", "memory.swap.max"
		default:
			continue
		}
		for at := path.Clean("/" + fields[2]); ; at = path.Dir(at) {
			read := func(name string) int64 {
				if name == "" {
					return math.MaxInt64
				}
				return number(filepath.Join(root, folder, at, name))
			}
			if memory := read(bound); memory < math.MaxInt64-swap {
				limit = min(limit, max(memory, min(memory+min(swap, read(more)), read(both))))
			}
			if at == "/" {
				break
			}
		}
	}
	return limit
}

// number returns the number in a file, or the largest one if there is no limit: the file says "max" or does not exist.
func number(file string) int64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return math.MaxInt64
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || n < 0 {
		return math.MaxInt64
	}
	return n
}

// addressSpace returns how many bytes may be resident before the address space is full, or the largest number if there
// is no limit. Go reserves more than a gigabyte that it never touches.
func addressSpace() int64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &limit) != nil || limit.Cur > math.MaxInt64 {
		return math.MaxInt64
	}
	reserved, resident, _ := pages()
	return max(1, int64(limit.Cur)-reserved+resident)
}

// Held returns the resident bytes of this process that are not backed by files, which the system cannot drop; 0 if
// unknown.
func Held() int64 {
	_, resident, backed := pages()
	return resident - backed
}

// pages returns the bytes of the address space, the resident ones, and the resident bytes backed by files.
func pages() (reserved, resident, backed int64) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, 0, 0
	}
	if _, err := fmt.Sscan(string(text), &reserved, &resident, &backed); err != nil {
		return 0, 0, 0
	}
	page := int64(os.Getpagesize())
	return reserved * page, resident * page, backed * page
}

// ReadAhead returns how many bytes the system reads when one byte of a file of Scratch is read.
func ReadAhead() int64 {
	var at unix.Stat_t
	if unix.Stat(folder(), &at) != nil {
		return usualReadAhead
	}
	device := fmt.Sprintf("/sys/class/bdi/%d:%d/read_ahead_kb", unix.Major(at.Dev), unix.Minor(at.Dev))
	if kb := number(device); kb < math.MaxInt64>>10 {
		return kb << 10
	}
	return usualReadAhead
}

// Cache returns the size in bytes of the largest cache of the first processor; 0 if unknown.
var Cache = sync.OnceValue(func() int64 { return largestCache("/sys/devices/system/cpu/cpu0/cache") })

// largestCache returns the largest cache size in folder, which has files such as index3/size with the content "32768K".
func largestCache(folder string) (largest int64) {
	files, _ := filepath.Glob(filepath.Join(folder, "index*", "size")) // the pattern is valid
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		size, unit := strings.TrimSpace(string(text)), int64(1)
		for suffix, bytes := range map[string]int64{"K": 1 << 10, "M": 1 << 20, "G": 1 << 30} {
			if number, has := strings.CutSuffix(size, suffix); has {
				size, unit = number, bytes
				break
			}
		}
		if n, err := strconv.ParseInt(size, 10, 40); err == nil && n > 0 {
			largest = max(largest, n*unit)
		}
	}
	return largest
}
