package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/internal/atomicfile"
	"github.com/graph-condensation/cgc/report"
)

const extension = ".safetensors"

// writable returns an error if the result could not be written to path, before any work is done for it. A file that
// exists is kept, unless force is set or replaceable says that the file may go.
func writable(flag, path string, force bool, replaceable func(path string) bool) error {
	return writableAs(extension, flag, path, force, replaceable)
}

// writableAs is writable for names that end in extension.
func writableAs(extension, flag, path string, force bool, replaceable func(path string) bool) error {
	if filepath.Ext(path) != extension {
		return usagef("%s %s, want a name that ends in %s", flag, path, extension)
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return usagef("%s %s is a folder, want a file", flag, path)
	case err == nil && !force && !replaceable(path):
		return fmt.Errorf("%s %s: the file exists (--force replaces it)", flag, path)
	}
	if err := atomicfile.Check(path); err != nil {
		return fmt.Errorf("%s %s: %w", flag, path, err)
	}
	return nil
}

// reason strips the name of a file from err, if it is a name that the user did not give.
func reason(err error) error {
	if path, ok := err.(*os.PathError); ok {
		return path.Err
	}
	return err
}

// save writes a file. While it writes, the command does not exit.
func (c *command) save(path string, write func() error) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	c.progress.step("writing " + path)
	return write()
}

// replace writes a file as a whole or not at all, in place of one that is there.
func (c *command) replace(path string, write func(io.Writer) error) error {
	return c.save(path, func() error { return atomicfile.Write(path, write) })
}

// isCondensed says whether the file at path is a condensed graph. Such a file may be replaced without asking: the
// command that made it makes it again.
func isCondensed(path string) bool {
	_, err := cgc.Load(path)
	return err == nil
}

// never says that no file may be replaced.
func never(string) bool { return false }

// writeJSON writes value as one indented JSON object and a newline.
func writeJSON(w io.Writer, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// sentenceDocument is a document of one sentence.
func sentenceDocument(format string, args ...any) *report.Document {
	return &report.Document{Blocks: []report.Block{report.Paragraph(fmt.Sprintf(format, args...))}}
}
