//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package cli

import "time"

// peakRSS returns 0, because the peak is not known on this system.
func peakRSS() int64 { return 0 }

// begun is the start of the process.
var begun = time.Now()

// processorSeconds returns the elapsed time, because the processor time is not known on this system.
func processorSeconds() float64 { return time.Since(begun).Seconds() }
