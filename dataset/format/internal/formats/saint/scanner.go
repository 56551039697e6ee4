package saint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/reading"
	"github.com/graph-condensation/cgc/internal/content"
)

// scanner walks JSON that is one object of integers or of arrays of integers. The files have millions of entries.
// Unlike encoding/json, the scanner is as fast as the disk.
type scanner struct {
	file string
	data []byte
	at   int

	meter *reading.Meter
	told  int // the bytes already reported to the meter
}

// openScanner reads a file.
func openScanner(ctx context.Context, file string) (*scanner, error) {
	data, err := os.ReadFile(file)
	return &scanner{file: file, data: data, meter: reading.New(ctx, file, int64(len(data)))}, err
}

// wrap adds the file, the line and the byte to an error.
func (s *scanner) wrap(err error) error {
	if err == nil {
		return nil
	}
	line := 1 + bytes.Count(s.data[:min(s.at, len(s.data))], []byte("\n"))
	return &format.ReadError{File: s.file, Line: line, Err: fmt.Errorf("byte %d: %w", s.at, err)}
}

// peek returns the next byte that is not white space without consuming it, or 0 at the end.
func (s *scanner) peek() byte {
	for s.at < len(s.data) {
		switch c := s.data[s.at]; c {
		case ' ', '\n', '\r', '\t':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// want consumes the byte c, or fails if the next byte differs.
func (s *scanner) want(c byte) error {
	switch found := s.peek(); found {
	case c:
		s.at++
		return nil
	case 0:
		return fmt.Errorf("file ends, expected %q", c)
	default:
		return fmt.Errorf("found %q, expected %q", found, c)
	}
}

// object walks {"key": value, …} to the end of the file; f reads the value.
func (s *scanner) object(f func(key []byte) error) error {
	err := s.list('{', '}', func() error {
		if err := s.want('"'); err != nil {
			return err
		}
		length := bytes.IndexByte(s.data[s.at:], '"')
		if length < 0 {
			return errors.New("file ends within a string")
		}
		key := s.data[s.at : s.at+length]
		s.at += length + 1
		if err := s.want(':'); err != nil {
			return err
		}
		return f(key)
	})
	if err == nil && s.peek() != 0 {
		err = fmt.Errorf("found %q after the end of the object", s.peek())
	}
	return err
}

// list walks the values between open and close; f reads a value.
func (s *scanner) list(open, close byte, f func() error) error {
	if err := s.want(open); err != nil {
		return err
	}
	if s.peek() == close {
		s.at++
		return nil
	}
	for {
		if err := f(); err != nil {
			return err
		}
		if err := s.meter.Add(s.at - s.told); err != nil {
			return err
		}
		s.told = s.at
		if s.peek() == close {
			s.at++
			return nil
		}
		if err := s.want(','); err != nil {
			return err
		}
	}
}

// integer reads an integer.
func (s *scanner) integer() (int64, error) {
	s.peek()
	from := s.at
	for s.at < len(s.data) && strings.IndexByte("0123456789-+.eE", s.data[s.at]) >= 0 {
		s.at++
	}
	return content.Int(s.data[from:s.at])
}
