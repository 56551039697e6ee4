//go:build linux || darwin || freebsd || netbsd || openbsd

package cli

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"syscall"
)

// peakRSS returns the largest resident set of this process so far, in bytes; 0 if it is not known.
func peakRSS() int64 {
	// On Linux, getrusage includes the memory of the parent at the time it started this process (under go run, of the go
	// command). /proc does not.
	if status, err := os.ReadFile("/proc/self/status"); err == nil {
		if _, rest, found := bytes.Cut(status, []byte("VmHWM:")); found {
			if fields := bytes.Fields(rest); len(fields) > 0 {
				if kilobytes, err := strconv.ParseInt(string(fields[0]), 10, 64); err == nil {
					return kilobytes << 10
				}
			}
		}
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
