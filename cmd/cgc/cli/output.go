package cli

import (
	"cmp"
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
	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/internal/atomicfile"
)

const extension = ".safetensors"

// writable returns an error if the result could not be written to path, so that the command can fail before any work is
// done. The name must end in extension. An existing file is kept unless force is set or replaceable accepts it.
func writable(flag, path, extension string, force bool, replaceable func(path string) bool) error {
	if filepath.Ext(path) != extension {
		return usagef("%s %s, must end in %s", flag, path, extension)
	}
	return free(flag, path, false, force, replaceable)
}

// storable is like writable, for a condensed graph in the file of -o. name is the format; if empty, the file extension
// determines it.
func storable(path, name string, force bool) error {
	f, err := format.StoreFor(path, name)
	var unknown *format.UnknownExtensionError
	switch {
	case errors.As(err, &unknown):
		return usagef("-o %s, must end in %s", path, words(unknown.Extensions))
	case err != nil:
		return usagef("--format %s: %s", name, sentence(err))
	}
	return freeFor("-o", path, f, force, readBy(cgc.Load))
}

// freeFor is like free, for a result in the format f. Some formats write a folder, which cannot replace a file.
func freeFor(flag, path string, f format.Format, force bool, replaceable func(path string) bool) error {
	d := f.Describe()
	if info, err := os.Stat(path); err == nil && !info.IsDir() && d.Folder != "" && d.File == "" {
		return usagef("%s %s is a file, must be a folder: the format is %s", flag, path, d.Title)
	}
	return free(flag, path, d.Folder != "", force, replaceable)
}

// free returns an error if path must not be overwritten, or cannot be created. folder means that the result may be a
// folder.
func free(flag, path string, folder, force bool, replaceable func(path string) bool) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir() && !folder:
		return usagef("%s %s is a folder, must be a file", flag, path)
	case err == nil && !force && !replaceable(path):
		kind := "file"
		if info.IsDir() {
			kind = "folder"
		}
		return fmt.Errorf("%s %s: the %s exists (--force replaces it)", flag, path, kind)
	}
	if folder {
		path = filepath.Clean(path) // without a slash at the end
		if base := filepath.Base(path); base == "." || base == ".." {
			return usagef("%s %s, must be a folder with a name: it is replaced when the new one is complete", flag, path)
		}
	}
	err = atomicfile.Check(path)      // creates a temporary file next to it
	beside, _ := filepath.Split(path) // filepath.Dir would remove NAME/..
	beside = cmp.Or(atomicfile.TrimSeparators(beside), ".")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s %s: there is no folder %s", flag, path, beside)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s %s: %s is a file, must be a folder", flag, path, beside)
	case err != nil:
		return fmt.Errorf("%s %s: %w", flag, path, err)
	}
	return nil
}

// notInput returns an error if out, the argument of -o, is one of the files that the command reads.
func notInput(out string, inputs ...string) error {
	written, err := os.Stat(out)
	if err != nil {
		return nil // it does not exist
	}
	for _, input := range inputs {
		if read, err := os.Stat(input); err == nil && os.SameFile(read, written) {
			return usagef("-o %s is the file %s that is read, must be another file", out, input)
		}
	}
	return nil
}

// notFile returns an error if path, which will be a folder, is a file.
func notFile(flag, path string) error {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return usagef("%s %s is a file, must be a folder", flag, path)
	}
	return nil
}

// makeFolder makes a folder if it does not exist.
func makeFolder(flag, path string) error {
	err := os.MkdirAll(path, 0o777)
	var at *os.PathError
	switch {
	case errors.As(err, &at) && errors.Is(err, syscall.ENOTDIR):
		return usagef("%s %s: %s is a file, must be a folder", flag, path, at.Path)
	case err != nil:
		return fmt.Errorf("%s %s: %w", flag, path, reason(err))
	}
	return nil
}

// words joins words with commas, and with "or" before the last.
func words(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
}

// reason returns err without the path that package os adds. Callers name the file themselves.
func reason(err error) error {
	if path, ok := err.(*os.PathError); ok {
		return path.Err
	}
	return err
}

// save calls write, which writes a file. The command does not exit while write runs.
func (c *command) save(path string, write func() error) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	c.progress.step("writing " + path)
	return write()
}

// replace atomically writes a file, replacing an existing one.
func (c *command) replace(path string, write func(io.Writer) error) error {
	return c.save(path, func() error { return atomicfile.Write(path, write) })
}

// readBy returns a function for the argument replaceable of writable. It accepts the files that read can read: they may
// be replaced without asking, because the command that made one can make it again.
func readBy[T any](read func(path string) (T, error)) (replaceable func(path string) bool) {
	return func(path string) bool {
		_, err := read(path)
		return err == nil
	}
}

// never is a function for the argument replaceable of writable. It keeps every existing file.
func never(string) bool { return false }

// writeJSON writes value as one indented JSON object and a newline.
func writeJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// sentenceDocument returns a document that consists of one sentence.
func sentenceDocument(format string, args ...any) *report.Document {
	return &report.Document{Blocks: []report.Block{report.Paragraph(fmt.Sprintf(format, args...))}}
}
