// Package memory allocates large slices efficiently, and reports allocations that the system would not allow.
package memory

import (
	"runtime/debug"
	"unsafe"
)

// huge is the size in bytes of a huge page. Slices smaller than two huge pages are allocated normally.
const huge = 2 << 20

// Number is the type of an element; it contains no pointers.
type Number interface {
	bool | byte | uint16 | uint32 | uint64 | int | int8 | int16 | int32 | int64 | float32 | float64
}

// Make returns n zeros. A large slice gets huge pages if the system has them. Its first use then causes far fewer page
// faults, and random accesses need no walks of the page table, which took a fifth of the time of propagation. If the
// system does not allow the allocation, Make panics with an *Exceeded, because otherwise the system would kill the
// process. Recover converts that panic to an error.
func Make[T Number](n int) []T {
	size := n * int(unsafe.Sizeof(*new(T)))
	Check(size)
	s := make([]T, n)
	if size >= 2*huge {
		advise(Bytes(s))
	}
	return s
}

// Check panics with an *Exceeded if the system does not allow an allocation of size bytes.
func Check(size int) {
	if size < looked {
		return
	}
	limit, by := Limit()
	if e := exceeded(int64(size), limit, by, Held, debug.FreeOSMemory); e != nil {
		panic(e)
	}
}

// Bytes returns the memory of s, whose elements contain no pointers.
func Bytes[E any](s []E) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(E))))
}

// Filled returns n copies of v. It panics like Make.
func Filled[T Number](n int, v T) []T {
	s := Make[T](n)
	for i := range s {
		s[i] = v
	}
	return s
}

// Resized returns a slice of n elements with undefined values, in the memory of s if that is large enough. It panics
// like Make.
func Resized[T Number](s []T, n int) []T {
	if cap(s) < n {
		return Make[T](n)
	}
	return s[:n]
}

// Range returns the integers from lo to hi−1, in order. It panics like Make.
func Range(lo, hi int) []int32 {
	s := Make[int32](hi - lo)
	for i := range s {
		s[i] = int32(lo + i)
	}
	return s
}

// Clone returns a copy of s. It panics like Make.
func Clone[T Number](s []T) []T {
	c := Make[T](len(s))
	copy(c, s)
	return c
}

// ByMachine is Limit's text for a limit that is the size of the machine.
const ByMachine = "the machine has"

// usualReadAhead is the default of Linux, which a disk's setting may change.
const usualReadAhead = 128 << 10

// Process is the resident memory of a process before its work begins, in bytes.
const Process = 24 << 20

// Bounded sets the memory limit of the garbage collector in bytes; 0 changes nothing. It leaves room for memory that
// the collector does not manage: the program, and the pages of mapped files. restore restores the previous limit.
func Bounded(memory int64) (restore func()) {
	if memory <= 0 {
		return func() {}
	}
	const least = 32 << 20
	before := debug.SetMemoryLimit(max(least, memory-memory/16-Process))
	return func() { debug.SetMemoryLimit(before) }
}
