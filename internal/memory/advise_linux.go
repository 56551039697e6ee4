package memory

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// advise asks for huge pages under the whole pages of b. A system that declines serves them as it would have.
func advise(b []byte) {
	const page = 1 << 12
	skip := -int(uintptr(unsafe.Pointer(&b[0]))) & (page - 1)
	// advice: there is nothing to mend where it is not taken
	_ = unix.Madvise(b[skip:skip+(len(b)-skip)&^(page-1)], unix.MADV_HUGEPAGE)
}
