//go:build !linux

package memory

// Machine returns the bytes of memory of the machine; 0 if it is not known.
func Machine() int64 { return 0 }

// Limit returns 0: this system is not asked.
func Limit() (bytes int64, by string) { return 0, "" }

// Held returns 0: this system is not asked.
func Held() int64 { return 0 }

// ReadAhead returns what systems usually read at once.
func ReadAhead() int64 { return usualReadAhead }
