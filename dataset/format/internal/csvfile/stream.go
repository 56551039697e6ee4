package csvfile

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/lines"
)

// Source is a .csv file with a header, as Table, which is read in parts.
type Source struct {
	// File is the path of the file.
	File string
	// Header holds the names of the columns. No two are equal.
	Header []string
}

// blockSize is how much text a block has at least. mostRecord is the length of the longest record that is taken.
const (
	blockSize  = 1 << 20
	mostRecord = 1 << 26
)

// OpenSource reads the header of a file.
func OpenSource(file string) (*Source, error) {
	s := &Source{File: file}
	t, _, err := s.open()
	if err != nil {
		return nil, err
	}
	return s, t.text.Close()
}

// FailAt returns an error about a line.
func (s *Source) FailAt(line int, err error) error {
	return &format.ReadError{File: s.File, Line: line, Err: err}
}

// Place names the line of a record.
func (s *Source) Place(record int) string { return fmt.Sprintf("line %d", s.Line(record)) }

// Fail returns an error about a record, −1 for the header.
func (s *Source) Fail(record int, err error) error {
	if record < 0 {
		return s.FailAt(1, err)
	}
	return s.FailAt(s.Line(record), err)
}

// Blocks is a file whose blocks are being read.
type Blocks struct {
	source *Source
	text   *lines.File
	held   []byte // what was read and not yet handed on
	line   int    // of the first of it
	ended  bool
}

// open opens the file after its header, which it sets if it is not known.
func (s *Source) open() (b *Blocks, header []string, err error) {
	t, err := lines.Open(s.File)
	if err != nil {
		return nil, nil, err
	}
	b = &Blocks{source: s, text: t, line: 1}
	for size := 1 << 16; ; size *= 2 {
		if err = b.fill(size); err != nil {
			break
		}
		data := b.held
		r := &Reader{file: s.File, data: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), next: 1}
		fields, wrong := r.record()
		if (len(r.data) == 0 || wrong != nil) && !b.ended {
			continue // the header may go on
		}
		if wrong == io.EOF {
			wrong = r.fail("the file is empty, want a header")
		}
		if err = wrong; err != nil {
			break
		}
		for _, f := range fields {
			name := string(f)
			if slices.Contains(header, name) {
				err = r.fail("the header has the column %.50q twice", name)
			}
			header = append(header, name)
		}
		b.held, b.line = r.data, r.next
		break
	}
	if err != nil {
		t.Close()
		return nil, nil, err
	}
	if s.Header == nil {
		s.Header = header
	}
	return b, header, nil
}

// fill reads until so much is held, or to the end of the file.
func (b *Blocks) fill(size int) error {
	if size > mostRecord {
		return b.source.FailAt(b.line, fmt.Errorf("a record of more than %d bytes", mostRecord))
	}
	held := len(b.held)
	if b.ended || held >= size {
		return nil
	}
	grown := make([]byte, size)
	copy(grown, b.held)
	n, err := io.ReadFull(b.text, grown[held:])
	b.held = grown[:held+n]
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		b.ended, err = true, nil
	}
	return err
}

// Open begins to read the records. Close the blocks after use.
func (s *Source) Open() (*Blocks, error) {
	b, _, err := s.open()
	return b, err
}

// Close closes the file.
func (b *Blocks) Close() error { return b.text.Close() }

// Next returns a reader of the next block, about a megabyte of whole records. more is false at the end.
func (b *Blocks) Next() (r *Reader, more bool, err error) {
	end := 0
	for size := 2 * blockSize; ; size *= 2 {
		if err := b.fill(size); err != nil {
			return nil, false, err
		}
		if end = len(b.held); end > blockSize {
			end = quotedEnd(b.held, blockSize)
		}
		if b.ended || end < len(b.held) {
			break
		}
	}
	if end == 0 {
		return nil, false, nil
	}
	r = &Reader{file: b.source.File, columns: len(b.source.Header), data: b.held[:end:end], next: b.line}
	b.line += bytes.Count(r.data, []byte("\n"))
	b.held = b.held[end:]
	return r, true, nil
}

// About returns about how many records there are.
func (s *Source) About() (int64, error) {
	t, err := lines.Open(s.File)
	if err != nil {
		return 0, err
	}
	defer t.Close()
	return t.About()
}

// Line returns the line of a record, counted from 0.
func (s *Source) Line(record int) int {
	b, _, err := s.open()
	if err != nil {
		return 0
	}
	defer b.Close()
	line := 0
	for {
		r, more, err := b.Next()
		if err != nil || !more {
			return line
		}
		for {
			if _, err := r.record(); err != nil {
				break
			}
			if line = r.Line; record == 0 {
				return line
			}
			record--
		}
	}
}
