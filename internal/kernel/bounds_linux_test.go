package kernel

import (
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestGatherSumReadsNoIndexBehindTheLast puts the indices at the end of memory. A prefetch for an entry that does not
// exist would crash.
func TestGatherSumReadsNoIndexBehindTheLast(t *testing.T) {
	page := os.Getpagesize()
	memory, err := unix.Mmap(-1, 0, 2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Skip(err)
	}
	defer unix.Munmap(memory)
	if err := unix.Mprotect(memory[page:], unix.PROT_NONE); err != nil {
		t.Skip(err)
	}
	const n = 10
	indices := unsafe.Slice((*int32)(unsafe.Pointer(&memory[page-4*n])), n)
	for i := range indices {
		indices[i] = int32(i)
	}
	each(t, func(t *testing.T, s *implementation) {
		for d := 16; d <= 64; d += 16 {
			x, dst := make([]float32, n*d), make([]float32, 2*d)
			for i := range x {
				x[i] = 1
			}
			sums[float32]{Rows(dst, d), []int64{0, 3, n}, indices, nil, []float32{1, 1}, x, d, d}.by(s.gatherSum)
			if dst[0] != 3 || dst[2*d-1] != n-3 {
				t.Errorf("sums %g and %g, want 3 and %d", dst[0], dst[2*d-1], n-3)
			}
			halves := make([]uint16, n*d)
			NarrowFloat16(halves, x)
			for _, weights := range [][]float32{nil, x[:n]} {
				clear(dst)
				sums[uint16]{Rows(dst, d), []int64{0, 3, n}, indices, weights, []float32{1, 1}, halves, d, d}.by(s.gatherHalf)
				if dst[0] != 3 || dst[2*d-1] != n-3 {
					t.Errorf("sums of float16 %g and %g, want 3 and %d", dst[0], dst[2*d-1], n-3)
				}
			}
		}
	})
}
