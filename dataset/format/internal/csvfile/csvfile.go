// Package csvfile finds and reads the .csv files of a folder, packed by gzip or not.
package csvfile

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/reading"
	"github.com/graph-condensation/cgc/internal/memory"
)

// Exists reports whether there is a file or a folder at path.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Path returns the path of name.csv.gz in dir if that is there, else of name.csv.
func Path(dir, name string) string {
	if file := filepath.Join(dir, name+".csv.gz"); Exists(file) {
		return file
	}
	return filepath.Join(dir, name+".csv")
}

// A file may unpack to most + ratio times its bytes. Tables of numbers pack to a fifth, features that are nearly all
// 0 to a hundredth or two. What packs better than 1 to 512 is meant to fill memory.
const (
	most  = 16 << 20
	ratio = 512
)

// piece is how many bytes are read between two looks at the context.
const piece = 16 << 20

// unpack reads all of z, which size bytes hold.
func unpack(ctx context.Context, z io.Reader, size int64) ([]byte, error) {
	bound := most + ratio*size
	data, err := whole(ctx, io.LimitReader(z, bound+1), int(min(bound, 4*size+piece)))
	if err == nil && int64(len(data)) > bound {
		return nil, fmt.Errorf("%d bytes hold more than %d, want at most %d times as many: unpack the file first",
			size, bound, ratio)
	}
	return data, err
}

// whole reads all of r, which is expected to hold size bytes. It asks ctx between pieces: gigabytes take seconds.
func whole(ctx context.Context, r io.Reader, size int) ([]byte, error) {
	const more = 512 // a read beyond the last byte tells the end
	data := memory.Uncleared[byte](size + more)[:0]
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(data) == cap(data) {
			var err error
			if data, err = grow(ctx, data); err != nil {
				return nil, err
			}
		}
		n, err := r.Read(data[len(data):min(cap(data), len(data)+piece)])
		data = data[:len(data)+n]
		if err == io.EOF {
			return data, nil
		} else if err != nil {
			return nil, err
		}
	}
}

// grow returns data with room for half as many bytes more. It asks ctx between pieces.
func grow(ctx context.Context, data []byte) ([]byte, error) {
	grown := memory.Uncleared[byte](len(data) + len(data)/2)[:0]
	for some := range slices.Chunk(data, piece) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		grown = append(grown, some...)
	}
	return grown, nil
}

// Read reads a file. It unpacks a file whose name ends in .gz, and reports this to package progress. A
// *format.ReadError says that unpacking failed.
func Read(ctx context.Context, file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(file, ".gz") {
		return whole(ctx, f, int(info.Size()))
	}
	z, err := gzip.NewReader(reading.New(ctx, "unpacking", file, info.Size()).Reader(f))
	var data []byte
	if err == nil {
		data, err = unpack(ctx, z, info.Size())
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, &format.ReadError{File: file, Err: fmt.Errorf("unpacking gzip: %w", err)}
	}
	return data, nil
}
