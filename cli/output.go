package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/internal/atomicfile"
	"github.com/graph-condensation/cgc/report"
)

const extension = ".safetensors"

// writable returns an error if the result could not be written to path, before any work is done for it. The name ends
// in extension. A file that exists is kept, unless force is set or replaceable says that the file may go.
func writable(flag, path, extension string, force bool, replaceable func(path string) bool) error {
	if filepath.Ext(path) != extension {
		return usagef("%s %s, want a name that ends in %s", flag, path, extension)
	}
	return free(flag, path, false, force, replaceable)
}

// storable is writable for a condensed graph, in the format of the given name or by the end of path.
func storable(flag, path, name string, force bool) error {
	f, err := format.StoreFor(path, name)
	var unknown *format.UnknownExtension
	switch {
	case errors.As(err, &unknown):
		return usagef("%s %s, want a name that ends in %s", flag, path, words(unknown.Extensions))
	case err != nil:
		return usagef("--format %s: %s", name, sentence(err))
	}
	return freeFor(flag, path, f, force, isCondensed)
}

// freeFor is free for a result in a format. Some formats write a folder, which takes the place of no file.
func freeFor(flag, path string, f format.Format, force bool, replaceable func(path string) bool) error {
	d := f.Describe()
	if info, err := os.Stat(path); err == nil && !info.IsDir() && d.Folder != "" && d.File == "" {
		return usagef("%s %s is a file, want a folder: the format is %s", flag, path, d.Title)
	}
	return free(flag, path, d.Folder != "", force, replaceable)
}

// free returns an error if nothing may be written to path. folder says that the result may be a folder.
func free(flag, path string, folder, force bool, replaceable func(path string) bool) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir() && !folder:
		return usagef("%s %s is a folder, want a file", flag, path)
	case err == nil && !force && !replaceable(path):
		return fmt.Errorf("%s %s: the file exists (--force replaces it)", flag, path)
	}
	return roomFor(flag, path)
}

// roomFor returns an error if the folder that path is in takes no file.
func roomFor(flag, path string) error {
	folder := filepath.Dir(path)
	err := atomicfile.Check(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s %s: there is no folder %s", flag, path, folder)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s %s: %s is a file, want a folder", flag, path, folder)
	case err != nil:
		return fmt.Errorf("%s %s: %w", flag, path, err)
	}
	return nil
}

// makeFolder makes a folder if it is not there.
func makeFolder(flag, path string) error {
	err := os.MkdirAll(path, 0o777)
	var at *os.PathError
	switch {
	case errors.As(err, &at) && errors.Is(err, syscall.ENOTDIR):
		return usagef("%s %s: %s is a file, want a folder", flag, path, at.Path)
	case err != nil:
		return fmt.Errorf("%s %s: %w", flag, path, reason(err))
	}
	return nil
}

// words lists words with "or" before the last.
func words(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
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
