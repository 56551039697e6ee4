// Package archive writes zip archives of numbers, as numpy.savez and torch.save do. Members are not compressed.
package archive

import (
	"archive/zip"
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"path/filepath"
	"strings"

	"github.com/graph-condensation/cgc/internal/atomicfile"
	"github.com/graph-condensation/cgc/progress"
)

// Member is a file in an archive.
type Member struct {
	Name string
	// Blocks yields the bytes in blocks. A block is valid until the next one.
	Blocks iter.Seq2[[]byte, error]
}

// Text returns a member that contains data.
func Text(name string, data []byte) Member {
	return Member{name, func(yield func([]byte, error) bool) { yield(data, nil) }}
}

// Write writes an archive atomically (atomicfile.Write). The data of each member begins at a multiple of align bytes; 1
// means no alignment. Write checks ctx at each block, and reports the bytes written, out of about total, to package
// progress. Equal members give equal bytes: the archive contains no timestamps.
func Write(ctx context.Context, path string, members []Member, align int, total int64) error {
	return atomicfile.Write(path, func(file io.Writer) error {
		buffered := bufio.NewWriterSize(file, 1<<20)
		to := &counter{w: buffered}
		z := zip.NewWriter(to)
		closing := int64(0) // bytes of the data descriptor of the previous member
		for _, m := range members {
			if err := z.Flush(); err != nil {
				return err
			}
			const january = 1<<5 | 1 // 1980-01-01, the earliest date in a zip archive
			header := &zip.FileHeader{Name: m.Name, Method: zip.Store, ModifiedDate: january}
			header.Extra = padding(to.n+closing+localHeader+int64(len(m.Name)), int64(align))
			w, err := z.CreateHeader(header)
			if err != nil {
				return err
			}
			length := int64(0)
			for block, err := range m.Blocks {
				if err = cmp.Or(err, ctx.Err()); err == nil {
					_, err = w.Write(block)
				}
				length += int64(len(block))
				if err != nil {
					return fmt.Errorf("member %s: %w", m.Name, err)
				}
				progress.Report(ctx, progress.Event{
					Stage: "writing " + filepath.Base(path), Done: min(to.n, total), Total: total,
				})
			}
			if closing = 16; length >= math.MaxUint32 { // a checksum and two lengths, of 4 or 8 bytes each
				closing = 24
			}
		}
		if err := z.Close(); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		return buffered.Flush()
	})
}

// localHeader is the length of the header of a member, without its name and extra field.
const localHeader = 30

// padding returns an extra field of a header at offset, so that the header ends at a multiple of align.
func padding(offset, align int64) []byte {
	if align <= 1 {
		return nil
	}
	const head = 4
	n := (align - (offset+head)%align) % align
	return append([]byte{'F', 'B', byte(n), byte(n >> 8)}, strings.Repeat("Z", int(n))...)
}

// counter counts the bytes that are written to w.
type counter struct {
	w io.Writer
	n int64
}

// Write writes p to the underlying writer.
func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
