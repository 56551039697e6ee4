// Package confine runs a program with a memory limit that the system enforces: a Linux control group, which also counts
// the cached pages of files that the program reads. Tests and measurements use it.
package confine

import "time"

// Usage is the resource usage of a confined program.
type Usage struct {
	// Peak is the maximum memory of the group in bytes, including cached pages of files.
	Peak int64
	// Processor is the time of all threads, in user and system mode. Seconds is the wall-clock time.
	Processor time.Duration
	Seconds   float64
	// Phases are the parts of the run that the program reported (CGC_PROGRESS=json), in order.
	Phases []Phase
}

// Phase is a part of a run.
type Phase struct {
	// Name is the stage of the program's progress; "load" before the first one.
	Name    string
	Seconds float64
	// Read and Written are the numbers of bytes that the program read from disks and wrote to them.
	Read, Written int64
}
