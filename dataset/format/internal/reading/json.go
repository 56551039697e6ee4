package reading

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/internal/content"
)

// Scanner walks JSON that is one object of integers or of lists of integers. The files have millions of entries. Unlike
// encoding/json, the scanner is as fast as the disk.
type Scanner struct {
	data []byte
	at   int

	meter *Meter
	told  int // the bytes already reported to the meter
}

// Object reads a file of {"key": value, …}. It calls use with each key, to read the value. An error names the file, the
// line and the byte.
func Object(ctx context.Context, file string, use func(s *Scanner, key []byte) error) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	s := &Scanner{data: data, meter: New(ctx, file, int64(len(data)))}
	if err = s.object(use); err == nil {
		return nil
	}
	line := 1 + bytes.Count(data[:min(s.at, len(data))], []byte("\n"))
	return &format.ReadError{File: file, Line: line, Err: fmt.Errorf("byte %d: %w", s.at, err)}
}

// Peek returns the next byte that is not white space without consuming it, or 0 at the end.
func (s *Scanner) Peek() byte {
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
func (s *Scanner) want(c byte) error {
	switch found := s.Peek(); found {
	case c:
		s.at++
		return nil
	case 0:
		return fmt.Errorf("file ends, expected %q", c)
	default:
		return fmt.Errorf("found %q, expected %q", found, c)
	}
}

// object walks {"key": value, …} to the end of the file.
func (s *Scanner) object(use func(s *Scanner, key []byte) error) error {
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
		return use(s, key)
	})
	if err == nil && s.Peek() != 0 {
		err = fmt.Errorf("found %q after the end of the object", s.Peek())
	}
	return err
}

// List reads [value, …]. It calls use for each value, to read it.
func (s *Scanner) List(use func() error) error { return s.list('[', ']', use) }

// list walks the values between open and close; f reads a value.
func (s *Scanner) list(open, close byte, f func() error) error {
	if err := s.want(open); err != nil {
		return err
	}
	if s.Peek() == close {
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
		if s.Peek() == close {
			s.at++
			return nil
		}
		if err := s.want(','); err != nil {
			return err
		}
	}
}

// Integer reads an integer.
func (s *Scanner) Integer() (int64, error) { return content.Int(s.token()) }

// Within reads an integer from 0 to most. An error names it as what.
func (s *Scanner) Within(what string, most int64) (int32, error) {
	return content.Within(what, s.token(), most)
}

// token reads up to the next comma, bracket or white space.
func (s *Scanner) token() []byte {
	s.Peek()
	from := s.at
	for s.at < len(s.data) && strings.IndexByte(",]} \n\r\t", s.data[s.at]) < 0 {
		s.at++
	}
	return s.data[from:s.at]
}
