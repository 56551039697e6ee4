// Package reading tells how much of a file was read, for readers that take bytes from it themselves. Package progress
// hears it. Reading ends when its context does.
package reading

import (
	"context"
	"io"
	"path/filepath"

	"github.com/graph-condensation/cgc/progress"
)

// step is the number of bytes from one report to the next.
const step = 1 << 20

// Meter counts the bytes of one file. A nil Meter counts nothing. It is for one goroutine at a time.
type Meter struct {
	ctx               context.Context
	stage             string
	done, told, total int64
}

// New returns a meter of a file from which total bytes are to be read. doing says what is done: "reading".
func New(ctx context.Context, doing, file string, total int64) *Meter {
	return &Meter{ctx: ctx, stage: doing + " " + filepath.Base(file), total: total}
}

// Add counts n bytes more. It reports every megabyte. The error is that of the context.
func (m *Meter) Add(n int) error {
	if m == nil {
		return nil
	}
	if m.done += int64(n); m.done-m.told < step {
		return nil
	}
	m.told = m.done
	progress.Report(m.ctx, progress.Event{Stage: m.stage, Done: min(m.done, m.total), Total: m.total})
	return m.ctx.Err()
}

// Reader returns a reader that counts what is read from r.
func (m *Meter) Reader(r io.Reader) io.Reader {
	if m == nil {
		return r
	}
	return reader{r, m}
}

// ReaderAt is Reader for an io.ReaderAt.
func (m *Meter) ReaderAt(r io.ReaderAt) io.ReaderAt {
	if m == nil {
		return r
	}
	return readerAt{r, m}
}

type reader struct {
	io.Reader
	*Meter
}

// Read implements io.Reader. It counts what it reads.
func (r reader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p[:min(len(p), step)])
	if wrong := r.Add(n); wrong != nil {
		err = wrong
	}
	return n, err
}

type readerAt struct {
	io.ReaderAt
	*Meter
}

// ReadAt implements io.ReaderAt. It counts what it reads.
func (r readerAt) ReadAt(p []byte, at int64) (n int, err error) {
	for n < len(p) && err == nil {
		var k int
		k, err = r.ReaderAt.ReadAt(p[n:min(len(p), n+step)], at+int64(n))
		n += k
		if wrong := r.Add(k); wrong != nil {
			err = wrong
		}
	}
	return n, err
}
