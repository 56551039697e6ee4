// Package budget holds what memory and time estimates share: the memory of the process itself, the rates of an ordinary
// machine, the size of a graph, and the search for the smallest sufficient memory limit.
package budget

import (
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/paneled"
	"github.com/graph-condensation/cgc/mat"
)

// The resident memory of a process before its work begins, in bytes, including the pages of the program: in general,
// with the code for propagation, and with the code for models and a sample to train them on.
const (
	Process     = memory.Process
	Propagating = 32 << 20
	Testing     = 48 << 20
)

// Margin is a size that is much larger than the process. If work needs less than its limit by this margin, an estimate
// is not necessary.
const Margin = 256 << 20

// Rates of an ordinary machine, in bytes or operations per second.
const (
	Disk     = 1e9  // bytes read from a disk, or written to it
	Gather   = 1e10 // bytes of rows at random places in memory
	Cached   = 3e10 // like Gather, in blocks so narrow that most rows are in the cache
	Products = 1e11 // floating-point operations of matrix products
	Entries  = 4e8  // adjacency entries that are built
)

// Mapped returns the bytes of the page tables for input bytes of mapped files.
func Mapped(input int64) int64 { return input / 512 }

// Reading returns the part of a memory limit for the pages of mapped files that are being read.
func Reading(limit int64) int64 { return limit / 16 }

// Least returns the smallest memory limit that is at least limit and at least its own need. Part of the need may grow
// with the limit, by much less than the limit itself.
func Least(limit int64, need func(limit int64) int64) int64 {
	for range 100 {
		bytes := need(limit)
		if bytes <= limit {
			break
		}
		limit = bytes
	}
	return limit
}

// Entry returns the bytes of an entry of m: its column, and its value if m stores values.
func Entry(m *mat.CSR) int64 {
	if m.Data != nil {
		return 8
	}
	return 4
}

// Sparse returns the bytes of m.
func Sparse(m *mat.CSR) int64 {
	return 8*int64(len(m.Indptr)) + 4*int64(len(m.Indices)+len(m.Data))
}

// Features returns the bytes of a feature matrix in memory or in a file.
func Features(x mat.Matrix) int64 {
	n, d := x.Dims()
	per := 4
	switch x := x.(type) {
	case *mat.CSR:
		return Sparse(x)
	case *paneled.Matrix:
		per = x.Storage().Bytes()
	}
	return int64(per) * int64(n) * int64(d)
}

// Graph returns the bytes of an adjacency and of features.
func Graph(a *mat.CSR, x mat.Matrix) int64 { return Sparse(a) + Features(x) }
