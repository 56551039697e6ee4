//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package cli

// peakRSS returns 0, because the peak is not known on this system.
func peakRSS() int64 { return 0 }

// resetPeak has no effect here.
func resetPeak() {}
