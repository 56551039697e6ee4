package text

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/csvfile"
	"github.com/graph-condensation/cgc/dataset/format/internal/decimal"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/progress"
)

// parseLines calls parse for each line of a file, several blocks of the file at a time. It returns what parse appended
// for each block, in the order of the lines, and how much that is. A first line whose first field is a word is a
// header. It is left out, and so are empty lines at the end. It reports the blocks that are done.
func parseLines[T any](
	ctx context.Context, file string, parse func(line []byte, out []T) ([]T, error),
) (blocks [][]T, total int, err error) {
	data, err := csvfile.Read(ctx, file)
	if err != nil {
		return nil, 0, err
	}
	header := 0
	if line, rest, _ := bytes.Cut(data, []byte("\n")); isHeader(line) {
		data, header = rest, 1
	}
	data = bytes.TrimRight(data, "\r\n")
	const block = 1 << 20
	type result struct {
		out   []T
		lines int
		err   error
	}
	results := make([]result, (len(data)+block-1)/block)
	count, stage := progress.NewCounter(0, len(results)), "reading "+filepath.Base(file)
	err = parallel.ForContext(ctx, len(data), block, func(lo, hi int) {
		defer count.Add(ctx, stage)
		r := &results[lo/block]
		// A line belongs to the block in which it starts.
		if lo > 0 && data[lo-1] != '\n' {
			next := bytes.IndexByte(data[lo:hi], '\n')
			if next < 0 {
				return
			}
			lo += next + 1
		}
		for lo < hi && r.err == nil {
			end := bytes.IndexByte(data[lo:], '\n')
			if end < 0 {
				end = len(data) - lo
			}
			if r.out == nil {
				r.out = make([]T, 0, (hi-lo)/(end+1)+1) // if lines are about as long as the first
			}
			r.out, r.err = parse(bytes.TrimSuffix(data[lo:lo+end], []byte("\r")), r.out)
			lo += end + 1
			r.lines++
		}
	})
	if err != nil {
		return nil, 0, err
	}
	line := header
	for _, r := range results {
		line += r.lines
		if r.err != nil {
			return nil, 0, &format.ReadError{File: file, Line: line, Err: r.err}
		}
		blocks = append(blocks, r.out)
		total += len(r.out)
	}
	if total == 0 {
		return nil, 0, &format.ReadError{File: file, Err: errors.New("no lines with values")}
	}
	return blocks, total, nil
}

// isHeader reports whether the first field of a line is a word, but not that of a part.
func isHeader(line []byte) bool {
	field, _, _ := bytes.Cut(line, []byte(","))
	_, err := decimal.Float(field)
	_, notPart := parsePart(field)
	return err != nil && notPart != nil
}
