//go:build (!amd64 || purego) && !(js && simd128)

package kernel

// available lists the sets of loops that this CPU runs, fastest first.
func available() []*implementation { return []*implementation{&portable} }
