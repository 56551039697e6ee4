//go:build !linux

package memory

// Only Linux is asked about the machine and for huge pages. Elsewhere all of it is unknown, and there is no limit.

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
