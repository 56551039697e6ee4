package memory

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// advise requests huge pages for the full pages in b. The system may decline.
func advise(b []byte) {
	const page = 1 << 12
	skip := -int(uintptr(unsafe.Pointer(&b[0]))) & (page - 1)
	// This is only advice: the slice works without it.
	_ = unix.Madvise(b[skip:skip+(len(b)-skip)&^(page-1)], unix.MADV_HUGEPAGE)
}
