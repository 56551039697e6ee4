//go:build !linux

package memory

// Machine returns 0, for unknown: only Linux is asked.
func Machine() int64 { return 0 }

// Limit returns 0, for none: only Linux is asked.
func Limit() (bytes int64, by string) { return 0, "" }

// Held returns 0, for unknown: only Linux is asked.
func Held() int64 { return 0 }

// ReadAhead returns the usual value.
func ReadAhead() int64 { return usualReadAhead }
