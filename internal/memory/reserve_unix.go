//go:build unix && !linux

package memory

import "os"

func reserve(file *os.File, size int64) error { return file.Truncate(size) }
