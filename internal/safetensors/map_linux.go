package safetensors

import "golang.org/x/sys/unix"

// unreserved keeps Linux from rejecting a private mapping larger than memory.
const unreserved = unix.MAP_NORESERVE
