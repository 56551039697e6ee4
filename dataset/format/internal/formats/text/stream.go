package text

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/classes"
	"github.com/graph-condensation/cgc/dataset/format/internal/csvfile"
	"github.com/graph-condensation/cgc/dataset/format/internal/lines"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/content"
	"github.com/graph-condensation/cgc/mat"
)

var _ format.Streamer = Format{}

// Stream delivers the same graph as Read. Files are read in blocks of lines.
func (Format) Stream(ctx context.Context, path string, memory int64) (*format.Stream, []string, error) {
	edges, labels := csvfile.Path(path, "edges"), csvfile.Path(path, "labels")
	s := &format.Stream{
		Name: filepath.Base(path), Tells: true, Path: path, Files: map[string]string{"edges": edges, "labels": labels},
	}
	var err error
	if s.Files["split"], err = readLabels(ctx, path, s, memory); err != nil {
		return nil, nil, err
	}
	s.Nodes = len(s.Y)
	if s.Held, err = content.Hold(int64(s.Nodes), memory); err != nil {
		return nil, nil, &format.ReadError{File: labels, Err: err}
	}
	if err := s.Check(); err != nil {
		return nil, nil, err
	}
	if s.Files["features"], err = features(ctx, path, s); err != nil {
		return nil, nil, err
	}
	notes, err := survey(edges, s)
	if err != nil {
		return nil, nil, err
	}
	s.Edges = func(ctx context.Context, add func(graph.Edges) error) error {
		return streamEdges(ctx, edges, s.Nodes, add)
	}
	s.Size = content.SizeOf(edges, s.Files["features"])
	return s, notes, nil
}

// features sets the rows of s, and returns their file.
func features(ctx context.Context, path string, s *format.Stream) (file string, err error) {
	folder := numpy.OpenFolder(ctx, path)
	if !folder.Has("features") {
		file = csvfile.Path(path, "features")
		t, err := lines.OpenTable(file, s.Nodes, true)
		s.Features, s.Rows = t.Columns, t.Rows
		return file, err
	}
	err = folder.Open("features", func(a *numpy.Array) error {
		s.Features, err = numpy.CheckRows(a, s.Nodes)
		return err
	})
	s.Rows = func(ctx context.Context, put func(first int, block *mat.Dense) error) error {
		return numpy.Rows(ctx, numpy.OpenFolder(ctx, path), "features", put)
	}
	return filepath.Join(path, "features.npy"), err
}

// survey estimates from the first lines how many edges there are and whether they have weights. A header whose columns
// have another order is an error. A note says that a third column with another name is the weight.
func survey(file string, s *format.Stream) (notes []string, err error) {
	t, header, err := openLines(file)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	for i, names := range [][]string{content.SourceNames, content.TargetNames, content.WeightNames} {
		if at := content.Column(header, names); at >= 0 && at != i {
			return nil, t.Fail(1, "the columns are %.200q, must be source, target and weight in this order",
				strings.Join(header, ","))
		}
	}
	if len(header) == 3 && !strings.EqualFold(header[2], "weight") {
		notes = append(notes, fmt.Sprintf("%s: the column %.50q is read as the weight of the edges: leave it out if it is "+
			"not", file, header[2]))
	}
	if s.Entries, err = t.About(); err != nil {
		return nil, err
	}
	line, err := t.Peek()
	s.Weighted = bytes.Count(line, comma) > 1
	if err == io.EOF {
		err = nil
	}
	return notes, err
}

var comma = []byte(",")

// openLines opens a file. If it has a header, it skips the line and returns the names.
func openLines(file string) (t *lines.File, header []string, err error) {
	t, err = lines.Open(file)
	if err != nil {
		return nil, nil, err
	}
	line, err := t.Peek()
	if err == nil {
		err = t.CheckIndex(line, isWord)
	}
	first, _, _ := bytes.Cut(line, comma)
	if err == nil && isWord(first) {
		header = lines.Fields(line)
		_, err = t.Next()
	}
	if err != nil && err != io.EOF {
		t.Close()
		return nil, nil, err
	}
	return t, header, nil
}

// each reads a file without its header, in sections that are parsed concurrently. For each section it calls begin. The
// add that begin returns is called for each line that is not empty, with its number after the header, and end after the
// last line; an error from end is not about a line. each returns the number of lines, trailing empty ones excluded, and
// the first empty line before the last line with values, or −1.
func each(
	ctx context.Context, file string, begin func(first int) (add func(i int, line []byte) error, end func() error),
) (count, empty int, err error) {
	t, _, err := openLines(file)
	if err != nil {
		return 0, -1, err
	}
	defer t.Close()
	var mu sync.Mutex
	empty = math.MaxInt
	_, err = t.Sections(ctx, func(first int, _ []byte) (func(int, []byte) error, func() error) {
		add, end := begin(first)
		last, hole := -1, math.MaxInt
		parse := func(at int, line []byte) error {
			if line = bytes.TrimRight(line, "\r"); len(line) == 0 {
				hole = min(hole, at)
				return nil
			}
			last = at
			return add(at, line)
		}
		return parse, func() error {
			err := end()
			mu.Lock()
			defer mu.Unlock()
			count, empty = max(count, last+1), min(empty, hole)
			return err
		}
	})
	if empty >= count {
		empty = -1
	}
	if err == nil && count == 0 {
		err = t.Fail(0, "no lines with values")
	}
	return count, empty, err
}

// streamEdges parses edges.csv in blocks of lines, and passes each block to add, from several goroutines.
func streamEdges(ctx context.Context, file string, nodes int, add func(graph.Edges) error) error {
	idle := sync.Pool{New: func() any { return new(graph.Edges) }}
	_, empty, err := each(ctx, file, func(int) (func(int, []byte) error, func() error) {
		e := idle.Get().(*graph.Edges)
		e.From, e.To, e.Weight = e.From[:0], e.To[:0], e.Weight[:0]
		weighted := false
		parse := func(_ int, line []byte) error {
			one, err := parseEdge(line, nodes)
			e.From, e.To, e.Weight = append(e.From, one.from), append(e.To, one.to), append(e.Weight, one.weight)
			weighted = weighted || one.weight != 1
			return err
		}
		return parse, func() error {
			defer idle.Put(e)
			list := *e
			if !weighted {
				list.Weight = nil
			}
			return add(list)
		}
	})
	if err == nil && empty >= 0 {
		err = emptyLine(file, empty)
	}
	return err
}

// emptyLine returns an error about an empty line. at counts from 0 after the header.
func emptyLine(file string, at int) error {
	t, _, err := openLines(file)
	if err != nil {
		return err
	}
	defer t.Close()
	return t.Fail(t.Line+at+1, "the line is empty, and lines with values follow")
}

// readLabels sets labels and split, and returns the split's path. It is an error if labels need more than memory
// bytes.
func readLabels(ctx context.Context, dir string, s *format.Stream, memory int64) (splitFile string, err error) {
	file := csvfile.Path(dir, "labels")
	list, err := readLines(ctx, file, parseLabel, func(n int) error {
		if _, err := content.Hold(int64(n), memory); err != nil {
			return &format.ReadError{File: file, Err: err}
		}
		return nil
	})
	if err != nil {
		return file, err
	}
	for _, l := range list {
		s.Y = append(s.Y, l.label)
	}
	s.ClassNames = content.ShiftLabels(s.Y)
	if split := csvfile.Path(dir, "split"); csvfile.Exists(split) {
		file = split
		list, err = readLines(ctx, split, func(text []byte) (l line, err error) {
			l.part, err = parsePart(text)
			return l, err
		}, func(int) error { return nil })
		if err == nil && len(list) != len(s.Y) {
			err = format.Wrong(split, "%d lines for %d labels", len(list), len(s.Y))
		}
	}
	for i, l := range list {
		classes.Put(&s.Split, int32(i), int(l.part))
	}
	return file, err
}

// readLines returns what parse finds in each line of a file; an empty line has neither a label nor a part. check is
// called with the number of lines before there is memory for them.
func readLines(
	ctx context.Context, file string, parse func(text []byte) (line, error), check func(n int) error,
) (list []line, err error) {
	none := []line{{label: graph.Unlabelled, part: classes.NoPart}}
	var mu sync.Mutex
	count, _, err := each(ctx, file, func(first int) (func(int, []byte) error, func() error) {
		var part []line
		add := func(i int, text []byte) error {
			part = append(part, slices.Repeat(none, i-first-len(part))...)
			l, err := parse(text)
			part = append(part, l)
			return err
		}
		return add, func() error {
			mu.Lock()
			defer mu.Unlock()
			n := first + len(part)
			if err := check(n); err != nil {
				return err
			}
			list = append(list, slices.Repeat(none, max(0, n-len(list)))...)
			copy(list[first:], part)
			return nil
		}
	})
	if err != nil {
		return nil, err
	}
	return list[:count], nil
}

// isWord reports whether a field is neither a number nor a part of the split.
func isWord(field []byte) bool {
	_, err := content.Float(field)
	_, part := classes.PartOf(field)
	return err != nil && !part
}
