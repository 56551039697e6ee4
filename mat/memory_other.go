//go:build !linux

package mat

// spread asks for huge pages under a large slice, where the system can be asked.
func spread([]float32) {}
