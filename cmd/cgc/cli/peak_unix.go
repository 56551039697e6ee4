//go:build linux || darwin || freebsd || netbsd || openbsd

package cli

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
)

// peakRSS returns the largest resident set of this process so far, in bytes; 0 if it is not known.
func peakRSS() int64 {
	// On Linux, getrusage includes the memory of the parent at the time it started this process (under go run, of the go
	// command). /proc does not.
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kilobytes int64
	if _, err := fmt.Sscan(rest, &kilobytes); err == nil {
		return kilobytes << 10
	}
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) << 10 // kilobytes elsewhere
}

// processorSeconds returns the processor time of this process so far.
func processorSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}
