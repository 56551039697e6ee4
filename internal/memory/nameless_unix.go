//go:build unix && !linux

package memory

import "os"

// nameless makes a file in a folder that has no name.
func nameless(folder string) (*os.File, error) { return unnamed(folder) }
