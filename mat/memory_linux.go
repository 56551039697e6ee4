package mat

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// spread asks for huge pages under a large slice: its first use then costs far fewer page faults, and random rows of it are found without
// walking the page table (a fifth of the time of propagation). A system that declines serves it as it would have.
func spread(data []float32) {
	const page, huge = 1 << 12, 2 << 20
	if 4*len(data) < 2*huge {
		return
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&data[0])), 4*len(data))
	skip := -int(uintptr(unsafe.Pointer(&data[0]))) & (page - 1)
	bytes = bytes[skip : skip+(len(bytes)-skip)&^(page-1)]
	_ = unix.Madvise(bytes, unix.MADV_HUGEPAGE) // advice: there is nothing to mend where it is not taken
}
