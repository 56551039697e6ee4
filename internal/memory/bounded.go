package memory

import "runtime/debug"

// Bounded makes the collector keep the memory of the process within a bound in bytes; 0 sets none. What the collector
// does not see is left out: the program, and the pages of mapped files. The function that it returns takes that back.
func Bounded(memory int64) (restore func()) {
	if memory <= 0 {
		return func() {}
	}
	const program, least = 24 << 20, 32 << 20
	before := debug.SetMemoryLimit(max(least, memory-memory/16-program))
	return func() { debug.SetMemoryLimit(before) }
}
