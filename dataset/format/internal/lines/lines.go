// Package lines reads text files of lines, packed by gzip or not, several blocks of lines at a time. A file need not
// fit into memory.
package lines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/progress"
)

// block is how many bytes of text are parsed at a time. maxLine is the length of the longest line that is taken.
const (
	block   = 1 << 20
	maxLine = 1 << 26
)

// ratio bounds how much gzip can shrink: a byte of a file holds at most so many bytes of text.
const ratio = 1032

// File is a text file that is being read.
type File struct {
	// Path is the path of the file.
	Path string
	// Line is the number of lines that Next has returned.
	Line int

	file *os.File
	in   io.Reader
	rest []byte // what was read and not yet returned
	size int64  // the most bytes of text that the file can hold
	// onDisk is the number of bytes of the file itself.
	onDisk int64
}

// Open opens a file, which it unpacks if its name ends in .gz.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = &format.ReadError{File: path, Err: errors.New("a folder, want a file")}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	t := &File{Path: path, file: f, in: f, size: info.Size(), onDisk: info.Size()}
	if strings.HasSuffix(path, ".gz") {
		if t.in, err = gzip.NewReader(f); err != nil {
			f.Close()
			return nil, t.unpacking(err)
		}
		t.size *= ratio
	}
	return t, nil
}

// Close closes the file.
func (t *File) Close() error { return t.file.Close() }

// Fail returns a *format.ReadError about a line, from 1, or about the whole file if line is 0.
func (t *File) Fail(line int, text string, args ...any) error {
	return &format.ReadError{File: t.Path, Line: line, Err: fmt.Errorf(text, args...)}
}

func (t *File) unpacking(err error) error {
	if t.in == io.Reader(t.file) {
		return err
	}
	return t.Fail(0, "unpacking gzip: %w", err)
}

// more reads a block into rest. It returns io.EOF at the end of the file.
func (t *File) more() error {
	if len(t.rest) > maxLine {
		return t.Fail(t.Line+1, "a line of more than %d bytes", maxLine)
	}
	held := len(t.rest)
	grown := make([]byte, held+block)
	copy(grown, t.rest)
	n, err := held, error(nil)
	for n < len(grown) && err == nil {
		var k int
		k, err = t.in.Read(grown[n:])
		n += k
	}
	t.rest = grown[:n]
	if err == io.EOF && n > held {
		return nil
	}
	if err == nil || err == io.EOF {
		return err
	}
	return t.unpacking(err)
}

// Read reads text as io.Reader does, from where Next stopped.
func (t *File) Read(p []byte) (n int, err error) {
	if len(t.rest) > 0 {
		n = copy(p, t.rest)
		t.rest = t.rest[n:]
		return n, nil
	}
	if n, err = t.in.Read(p); err != nil && err != io.EOF {
		err = t.unpacking(err)
	}
	return n, err
}

// Next returns the next line without its end, or io.EOF.
func (t *File) Next() ([]byte, error) {
	for {
		if end := bytes.IndexByte(t.rest, '\n'); end >= 0 {
			line := t.rest[:end]
			t.rest = t.rest[end+1:]
			t.Line++
			return bytes.TrimSuffix(line, []byte("\r")), nil
		}
		switch err := t.more(); {
		case err == io.EOF && len(t.rest) > 0:
			line := t.rest
			t.rest = nil
			t.Line++
			return bytes.TrimSuffix(line, []byte("\r")), nil
		case err != nil:
			return nil, err
		}
	}
}

// About returns about how many lines there are still to read, by the length of those of the first block.
func (t *File) About() (int64, error) {
	if len(t.rest) == 0 {
		if err := t.more(); err != nil && err != io.EOF {
			return 0, err
		}
	}
	at, err := t.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	count := int64(bytes.Count(t.rest, []byte("\n")))
	if at > 0 && at < t.onDisk {
		count = int64(float64(count) * float64(t.onDisk) / float64(at))
	}
	return count + 1, nil
}

// Parse parses text, a block of whole lines. Line first of what Each reads, from 0, is its first. It returns nil or
// what is wrong with a line of text, and that line, from 0.
type Parse func(first int, text []byte) (line int, err error)

// Each calls parse for blocks of the lines that Next has not returned, several at a time. A block ends with the end of
// a line, except the last of a file that does not. The error is that of the first line that is wrong. It reports the
// bytes of the file that were read, packed if they are.
func (t *File) Each(ctx context.Context, parse Parse) error {
	type work struct {
		first int
		text  []byte
	}
	var (
		todo   = make(chan work)
		failed atomic.Bool
		group  sync.WaitGroup
		lock   sync.Mutex
		line   int
		wrong  error
	)
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for w := range todo {
				if at, err := parse(w.first, w.text); err != nil {
					lock.Lock()
					if wrong == nil || w.first+at < line {
						line, wrong = w.first+at, err
					}
					lock.Unlock()
					failed.Store(true)
				}
			}
		})
	}
	err := t.blocks(ctx, &failed, func(first int, text []byte) { todo <- work{first, text} })
	close(todo)
	group.Wait()
	if wrong != nil {
		return &format.ReadError{File: t.Path, Line: t.Line + line + 1, Err: wrong}
	}
	return err
}

// blocks hands on what is left of the file, until failed. A block ends where a line does.
func (t *File) blocks(ctx context.Context, failed *atomic.Bool, take func(first int, text []byte)) error {
	first := 0
	for !failed.Load() {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := t.more()
		text := t.rest
		if err == nil {
			end := bytes.LastIndexByte(text, '\n') + 1
			text, t.rest = text[:end], text[end:]
		} else if err == io.EOF {
			t.rest = nil
		} else {
			return err
		}
		t.report(ctx)
		if len(text) > 0 {
			take(first, text)
			first += bytes.Count(text, []byte("\n"))
		}
		if err == io.EOF {
			return nil
		}
	}
	return nil
}

// report tells how much of the file was read.
func (t *File) report(ctx context.Context) {
	if at, err := t.file.Seek(0, io.SeekCurrent); err == nil && t.onDisk > 0 {
		progress.Report(ctx, progress.Event{Stage: "reading " + filepath.Base(t.Path), Done: at, Total: t.onDisk})
	}
}

// Cut returns the first line of text without its end, and what follows it.
func Cut(text []byte) (line, rest []byte) {
	end := bytes.IndexByte(text, '\n')
	if end < 0 {
		return bytes.TrimSuffix(text, []byte("\r")), nil
	}
	return bytes.TrimSuffix(text[:end], []byte("\r")), text[end+1:]
}
