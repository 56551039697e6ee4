package memory

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

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
