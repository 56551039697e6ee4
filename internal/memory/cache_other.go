//go:build !linux

package memory

// Cache returns the size in bytes of the largest cache of the first processor; 0 if unknown.
func Cache() int64 { return 0 }
