// Package memory makes large slices that the system serves fast, or says that it would not.
package memory

import (
	"context"
	"slices"
	"strings"
	"unsafe"
)

// huge is the size in bytes of a huge page. Slices smaller than two of them are left as they are.
const huge = 2 << 20

// Number is an element of what this package makes: it holds no pointer.
type Number interface {
	bool | byte | uint16 | uint32 | uint64 | int | int8 | int16 | int32 | int64 | float32 | float64
}

// Make returns n zeros. A large slice gets huge pages if the system has them. Its first use then costs far fewer page
// faults, and random places of it are found without walking the page table: that was a fifth of the time of
// propagation. If the system does not allow so much, Make panics with an *Exceeded: otherwise the system would end the
// process. Recover makes an error of that panic.
func Make[T Number](n int) []T {
	size := ask[T](n)
	s := make([]T, n)
	if size >= 2*huge {
		advise(unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), size))
	}
	return s
}

// Uncleared is Make for a caller that sets every element before it reads it. The elements may have any value: memory
// that was in use before is not set to zeros. For a gigabyte that takes up to a second, in which no context is asked.
func Uncleared[T Number](n int) []T {
	size := ask[T](n)
	if size < 2*huge {
		return make([]T, n)
	}
	// strings.Builder is the one way of the standard library to memory that is not cleared. Nobody else has its string.
	var b strings.Builder
	b.Grow(size)
	b.WriteByte(0)
	raw := unsafe.Slice(unsafe.StringData(b.String()), size)
	advise(raw)
	return unsafe.Slice((*T)(unsafe.Pointer(&raw[0])), n)
}

// Filled returns n times v. Like Make, it panics if the system does not allow so much.
func Filled[T Number](n int, v T) []T {
	s := Uncleared[T](n)
	for i := range s {
		s[i] = v
	}
	return s
}

// Clone returns the elements of s in memory of their own. Like Make, it panics if the system does not allow so much.
func Clone[T Number](s []T) []T {
	c := Uncleared[T](len(s))
	copy(c, s)
	return c
}

// Join returns the elements of parts one after the other, in memory of their own. When ctx is done, it returns soon,
// with the error of ctx. Like Make, it panics if the system does not allow so much.
func Join[T Number](ctx context.Context, parts ...[]T) ([]T, error) {
	n := 0
	for _, part := range parts {
		n += len(part)
	}
	const piece = 1 << 20 // elements that are copied between two looks at ctx
	all := Uncleared[T](n)
	to := all
	for _, part := range parts {
		for some := range slices.Chunk(part, piece) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			to = to[copy(to, some):]
		}
	}
	return all, nil
}

// ask returns the bytes of n elements. It panics if they are many and the system does not allow them.
func ask[T Number](n int) (size int) {
	if size = n * int(unsafe.Sizeof(*new(T))); size >= looked {
		check(int64(size))
	}
	return size
}

// ByMachine is what Limit says of a limit that is the size of the machine.
const ByMachine = "the machine has"

// usualReadAhead is what Linux reads ahead unless a disk's setting says otherwise.
const usualReadAhead = 128 << 10
