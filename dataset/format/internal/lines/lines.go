// Package lines reads text files line by line, gzip-compressed or not, in blocks that are parsed concurrently. A file
// may be larger than memory.
package lines

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/reading"
	"github.com/klauspost/compress/gzip"
)

// block is the size of a block of text in bytes, and maxLine is the largest length of a line.
const (
	block   = 1 << 20
	maxLine = 1 << 26
)

// A byte of a .gz file decompresses to at most ratio bytes of text. Tables of numbers shrink to a fifth, and nearly
// all-zero features to a hundredth. A file that decompresses to more than spare bytes plus likely times its own size is
// an error: it may be a decompression bomb.
const (
	ratio  = 1032
	likely = 512
	spare  = 16 << 20
)

// File is a text file that is being read.
type File struct {
	// Path is the path of the file.
	Path string
	// Line is the number of lines that Next has returned.
	Line int

	file *os.File
	in   io.Reader
	rest []byte // bytes that were read but not returned yet
	size int64  // an upper bound on the bytes of text
	// onDisk is the size of the file, compressed if it is.
	onDisk int64
}

// Open opens a file. It decompresses a file whose name ends in .gz.
func Open(path string) (*File, error) {
	f, size, err := reading.Open(path)
	if err != nil {
		return nil, err
	}
	t := &File{Path: path, file: f, in: f, size: size, onDisk: size}
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewReader(f)
		if err != nil {
			f.Close()
			return nil, t.Fail(0, "unpacking gzip: %w", err)
		}
		t.in = &bounded{Reader: z, size: t.onDisk, left: spare + likely*t.onDisk}
		t.size *= ratio
	}
	return t, nil
}

// bounded decompresses a file of size bytes. At most left bytes may still be read from it.
type bounded struct {
	io.Reader
	size, left int64
}

// Read reads as io.Reader does.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("%d bytes hold more than %d, must hold at most %d times as many: decompress the file first",
			b.size, spare+likely*b.size, likely)
	}
	return n, err
}

// Close closes the file.
func (t *File) Close() error { return t.file.Close() }

// Fail returns a *format.ReadError about a line, counted from 1, or about the complete file if line is 0.
func (t *File) Fail(line int, text string, args ...any) error {
	return &format.ReadError{File: t.Path, Line: line, Err: fmt.Errorf(text, args...)}
}

func (t *File) unpacking(err error) error {
	if t.in == io.Reader(t.file) {
		return err
	}
	return t.Fail(0, "unpacking gzip: %w", err)
}

// more appends at least a block to rest, or doubles rest if that is longer. It returns io.EOF at the end of the file.
func (t *File) more() error {
	if len(t.rest) > maxLine {
		return t.Fail(t.Line+1, "a line of more than %d bytes", maxLine)
	}
	held := len(t.rest)
	grown := make([]byte, held+max(block, held))
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

// Next returns the next line without its line end, or io.EOF.
func (t *File) Next() ([]byte, error) {
	line, size, err := t.first()
	if err == nil {
		t.rest = t.rest[size:]
		t.Line++
	}
	return line, err
}

// Peek returns the next line without consuming it.
func (t *File) Peek() ([]byte, error) {
	line, _, err := t.first()
	return line, err
}

// first returns the first line of rest, and its size with the line end.
func (t *File) first() (line []byte, size int, err error) {
	for {
		if end := bytes.IndexByte(t.rest, '\n'); end >= 0 {
			return bytes.TrimSuffix(t.rest[:end], []byte("\r")), end + 1, nil
		}
		if err := t.more(); err != nil {
			if err == io.EOF && len(t.rest) > 0 {
				return bytes.TrimSuffix(t.rest, []byte("\r")), len(t.rest), nil
			}
			return nil, 0, err
		}
	}
}

// Read calls use with each line of a file, and its number, counted from 1. If use fails, the error names the line.
func Read(ctx context.Context, path string, use func(number int, line []byte) error) error {
	const often = 1 << 14 // lines between context checks
	t, err := Open(path)
	if err != nil {
		return err
	}
	defer t.Close()
	for {
		line, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil && t.Line%often == 0 {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if err := use(t.Line, line); err != nil {
			return t.Fail(t.Line, "%w", err)
		}
	}
}

// About estimates the number of lines left, from the lengths of the lines in the first block.
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
