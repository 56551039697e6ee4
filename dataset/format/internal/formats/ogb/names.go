package ogb

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/lines"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/content"
)

// mappings returns the files of a folder whose names begin with prefix.
func mappings(dir, prefix string) (files []string) {
	for _, file := range entries(dir) {
		if strings.HasPrefix(file, prefix) && strings.HasSuffix(strings.TrimSuffix(file, ".gz"), ".csv") {
			files = append(files, filepath.Join(dir, file))
		}
	}
	return files
}

// leftOut is the note about a file of names that cannot be read.
func leftOut(err error) string {
	return fmt.Sprintf("%v; its names are left out", err)
}

// readClassNames sets the names of classes from the first file labelidx2… that can be read, and Classes, as there may
// be more names than classes with nodes.
func readClassNames(ctx context.Context, dir string, s *format.Stream) (notes []string) {
	for _, file := range mappings(dir, "labelidx2") {
		names, err := readMapping(ctx, file, 0)
		if err != nil {
			notes = append(notes, leftOut(err))
		}
		if s.ClassNames = names; names != nil {
			break
		}
	}
	classes := 0
	if len(s.Y) > 0 {
		classes = int(slices.Max(s.Y)) + 1
	}
	if named := len(s.ClassNames); named >= classes {
		s.Classes = named
	} else if named > 0 {
		notes = append(notes, fmt.Sprintf("%s names %d classes, and there are %d; the names are left out",
			dir, named, classes))
		s.ClassNames = nil
	}
	return notes
}

// errOrder says that a mapping is not in the order of its numbers.
var errOrder = errors.New("its numbers are not in order")

// namesInOrder is like readMapping, for n names in the order of their numbers. It delivers blocks of names to put,
// which may be nil, and returns the total number of bytes. The error wraps errOrder if the names are in another order.
func namesInOrder(
	ctx context.Context, file string, n int, put func(text []byte, ends []int) error,
) (size int64, err error) {
	const most = 1 << 16
	var text []byte
	var ends []int
	var wrong error // an error of put, which is not about the file
	flush := func() error {
		if len(ends) > 0 {
			wrong = put(text, ends)
		}
		text, ends = text[:0], ends[:0]
		return wrong
	}
	count := 0
	err = eachName(ctx, file, func(e entry) error {
		if e.number != int64(count) || count == n {
			return errOrder
		}
		count, size = count+1, size+int64(len(e.name))
		if put == nil {
			return nil
		}
		text = append(text, e.name...)
		if ends = append(ends, len(text)); len(ends) == most {
			return flush()
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	if err = cmp.Or(wrong, err); err == nil && count != n {
		err = format.Wrong(file, "%d names, expected %d", count, n)
	}
	return size, err
}

// readMapping reads lines of a number and a name, after a header. The numbers are 0 to n−1, in any order. If n is 0, n
// is the number of lines. An empty name is replaced by its number.
func readMapping(ctx context.Context, file string, n int) ([]string, error) {
	var list []entry
	err := eachName(ctx, file, func(e entry) error {
		if n > 0 && len(list) == n {
			return fmt.Errorf("one line too many, expected %d", n)
		}
		if n == 0 && len(list) == graph.MaxClasses {
			return fmt.Errorf("more than %d classes", graph.MaxClasses)
		}
		list = append(list, e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	names := make([]string, len(list))
	taken := make([]bool, len(list))
	for i, e := range list {
		if e.number < 0 || e.number >= int64(len(list)) || taken[e.number] {
			return nil, &format.ReadError{File: file, Line: i + 2,
				Err: fmt.Errorf("number %d, expected each of 0 to %d once", e.number, len(list)-1)}
		}
		names[e.number], taken[e.number] = e.name, true
	}
	if n > 0 && len(list) != n {
		return nil, format.Wrong(file, "%d names, expected %d", len(list), n)
	}
	return names, nil
}

// eachName calls use with the entries of a mapping, which follow a header.
func eachName(ctx context.Context, file string, use func(e entry) error) error {
	return lines.Read(ctx, file, func(line int, text []byte) error {
		if line == 1 || len(text) == 0 {
			return nil
		}
		e, err := mapping(text)
		if err != nil {
			return err
		}
		return use(e)
	})
}

// entry is a line of a mapping.
type entry struct {
	number int64
	name   string
}

// mapping reads a number and a name, which may be quoted.
func mapping(line []byte) (e entry, err error) {
	number, name, _ := bytes.Cut(line, comma)
	if e.number, err = content.Int(bytes.TrimSpace(number)); err != nil {
		return e, err
	}
	if bytes.HasPrefix(name, []byte(`"`)) {
		end := bytes.LastIndexByte(name[1:], '"')
		if end < 0 {
			return e, errors.New("a quote is not closed")
		}
		name = bytes.ReplaceAll(name[1:1+end], []byte(`""`), []byte(`"`))
	} else {
		name, _, _ = bytes.Cut(name, comma)
	}
	if !utf8.Valid(name) {
		return e, errors.New("the name is not UTF-8 text")
	}
	if e.name = string(bytes.TrimSpace(name)); e.name == "" {
		e.name = strconv.FormatInt(e.number, 10)
	}
	return e, nil
}
