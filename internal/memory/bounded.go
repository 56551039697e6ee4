package memory

import "runtime/debug"

// Process is the resident set of a process that has not begun to work, in bytes.
const Process = 24 << 20

// Bounded sets the memory limit of the garbage collector in bytes; 0 means no limit. It leaves room for memory that the
// collector does not manage: the program, and the pages of mapped files. restore restores the previous limit.
func Bounded(memory int64) (restore func()) {
	if memory <= 0 {
		return func() {}
	}
	const least = 32 << 20
	before := debug.SetMemoryLimit(max(least, memory-memory/16-Process))
	return func() { debug.SetMemoryLimit(before) }
}
