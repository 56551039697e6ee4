// Package reading opens files, and reports to package progress how much of a file was read. Reading ends when its
// context ends.
package reading

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/progress"
)

// step is the number of bytes between reports.
const step = 1 << 20

// Open opens a file, and returns its size. A folder is an error.
func Open(path string) (file *os.File, size int64, err error) {
	if file, err = os.Open(path); err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = format.Wrong(path, "a folder, must be a file")
	}
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, info.Size(), nil
}

// Meter counts the bytes of one file. A nil Meter counts nothing. It is safe for concurrent use.
type Meter struct {
	mu                sync.Mutex
	ctx               context.Context
	stage             string
	done, told, total int64
}

// New returns a meter for reading total bytes of a file.
func New(ctx context.Context, file string, total int64) *Meter {
	return &Meter{ctx: ctx, stage: "reading " + filepath.Base(file), total: total}
}

// Add counts n more bytes, and reports every megabyte. It returns the error of the context.
func (m *Meter) Add(n int) error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.done += int64(n); m.done-m.told < step {
		return nil
	}
	m.told = m.done
	progress.Report(m.ctx, progress.Event{Stage: m.stage, Done: min(m.done, m.total), Total: m.total})
	return m.ctx.Err()
}

// Reader returns a reader that counts the bytes read from r.
func (m *Meter) Reader(r io.Reader) io.Reader {
	if m == nil {
		return r
	}
	return reader{r, m}
}

type reader struct {
	io.Reader
	*Meter
}

// Read implements io.Reader. It counts what it reads.
func (r reader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p[:min(len(p), step)])
	return n, cmp.Or(r.Add(n), err)
}

// Failed returns an error of opening or reading a file: err itself if it comes from the system or names the file, else
// a *format.ReadError.
func Failed(file string, err error) error {
	if err == nil || errors.As(err, new(*fs.PathError)) || errors.As(err, new(*format.ReadError)) {
		return err
	}
	return &format.ReadError{File: file, Err: err}
}
