package mat

import "github.com/graph-condensation/cgc/internal/kernel"

// Kernels returns the name of the set of loops that this processor runs: avx512, avx2 or generic. Results of different
// sets may differ in their last bits.
func Kernels() string { return kernel.Name() }
