//go:build unix && !linux

package memory

import "os"

// nameless creates a file in a folder and removes its name.
func nameless(folder string) (*os.File, error) { return unnamed(folder) }
