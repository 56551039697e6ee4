package memory

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// advise asks for huge pages under the whole pages of b. A system may decline.
func advise(b []byte) {
	const page = 1 << 12
	skip := -int(uintptr(unsafe.Pointer(&b[0]))) & (page - 1)
	// This is advice: if it is not taken, the slice works all the same.
	_ = unix.Madvise(b[skip:skip+(len(b)-skip)&^(page-1)], unix.MADV_HUGEPAGE)
}
