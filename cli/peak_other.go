//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package cli

// peakRSS returns 0: the size is not known here.
func peakRSS() int64 { return 0 }
