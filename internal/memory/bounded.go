package memory

import "runtime/debug"

// Bounded sets the memory limit of the garbage collector in bytes; 0 means no limit. It leaves room for memory that the
// collector does not manage: the program, and the pages of mapped files. restore restores the previous limit.
func Bounded(memory int64) (restore func()) {
	if memory <= 0 {
		return func() {}
	}
	const program, least = 24 << 20, 32 << 20
	before := debug.SetMemoryLimit(max(least, memory-memory/16-program))
	return func() { debug.SetMemoryLimit(before) }
}
