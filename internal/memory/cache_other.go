//go:build !linux

package memory

// Cache returns the bytes of the largest cache of the first processor; 0 if it is not known.
func Cache() int64 { return 0 }
