package safetensors

import "golang.org/x/sys/unix"

// unreserved keeps Linux from refusing a private mapping that exceeds memory.
const unreserved = unix.MAP_NORESERVE
