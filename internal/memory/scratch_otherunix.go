//go:build unix && !linux

package memory

import "os"

// nameless creates a file in a folder and removes its name.
func nameless(folder string) (*os.File, error) { return unnamed(folder) }

func reserve(file *os.File, size int64) error { return file.Truncate(size) }
