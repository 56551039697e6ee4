// Package csvfile finds and reads the .csv files of a folder, packed by gzip or not.
package csvfile

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/reading"
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

// Read reads a file. It unpacks a file whose name ends in .gz, and reports this to package progress. A
// *format.ReadError says that unpacking failed.
func Read(ctx context.Context, file string) ([]byte, error) {
	if !strings.HasSuffix(file, ".gz") {
		return os.ReadFile(file)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(reading.New(ctx, "unpacking", file, info.Size()).Reader(f))
	var data []byte
	if err == nil {
		data, err = io.ReadAll(z)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, &format.ReadError{File: file, Err: fmt.Errorf("unpacking gzip: %w", err)}
	}
	return data, nil
}
