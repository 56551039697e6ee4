package mat

import "github.com/graph-condensation/cgc/internal/kernel"

// Kernels returns the name of the SIMD code path that this processor runs: avx512, avx2 or generic. Results of
// different code paths may differ in their last bits.
func Kernels() string { return kernel.Name() }
