// Package confine runs a program with a bound on its memory that the system enforces: a control group of Linux. The
// pages of files that the program reads count too. Tests and measurements use it.
package confine

import "time"

// Usage is what a confined program took.
type Usage struct {
	// Peak is the most memory, in bytes, that the group held, with the pages of files.
	Peak int64
	// Processor is the time of all threads, in the program and in the system for it. Seconds is by the wall clock.
	Processor time.Duration
	Seconds   float64
	// Phases are the parts of the run that the program told of (CGC_PROGRESS=json), in order.
	Phases []Phase
}

// Phase is a part of a run.
type Phase struct {
	// Name is the stage of the program's progress; "load" for what comes before the first.
	Name    string
	Seconds float64
	// Read is how many bytes the program read from disks, Written how many it wrote.
	Read, Written int64
}
