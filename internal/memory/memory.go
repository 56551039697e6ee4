// Package memory makes large slices that the system serves fast.
package memory

import "unsafe"

// huge is the size in bytes of a huge page. Slices smaller than two of them are left as they are.
const huge = 2 << 20

// Make returns n zeros. A large slice gets huge pages if the system has them. Its first use then costs far fewer page
// faults, and random places of it are found without walking the page table: that was a fifth of the time of
// propagation. If the system does not allow so much, Make panics with an *Exceeded: otherwise the system would end the
// process.
func Make[T uint16 | int32 | int64 | float32](n int) []T {
	size := n * int(unsafe.Sizeof(*new(T)))
	if size >= looked {
		check(int64(size))
	}
	s := make([]T, n)
	if size >= 2*huge {
		advise(unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), size))
	}
	return s
}

// ByMachine is what Limit says of a limit that is the size of the machine.
const ByMachine = "the machine has"

// usualReadAhead is what Linux reads ahead unless a disk's setting says otherwise.
const usualReadAhead = 128 << 10
