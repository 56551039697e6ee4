//go:build !linux

package memory

// Only on Linux does this package read the properties of the machine and request huge pages. On other systems they are
// unknown, and there is no limit.

// Cache returns 0, for unknown.
func Cache() int64 { return 0 }

// Machine returns 0, for unknown.
func Machine() int64 { return 0 }

// Limit returns 0, for none.
func Limit() (bytes int64, by string) { return 0, "" }

// Held returns 0, for unknown.
func Held() int64 { return 0 }

// ReadAhead returns the usual value.
func ReadAhead() int64 { return usualReadAhead }

func advise([]byte) {}
