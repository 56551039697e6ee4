//go:build unix && !linux

package safetensors

// unreserved is only necessary on Linux: other systems map files of any size.
const unreserved = 0
