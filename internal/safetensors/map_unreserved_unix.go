//go:build unix && !linux

package safetensors

// unreserved is for Linux alone: other systems map files of any size.
const unreserved = 0
