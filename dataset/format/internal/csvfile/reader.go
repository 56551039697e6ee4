package csvfile

import (
	"bytes"
	"fmt"
	"io"

	"github.com/graph-condensation/cgc/dataset/format"
)

// Reader reads records one after the other.
type Reader struct {
	file    string
	columns int
	data    []byte // what is still to be read
	next    int    // the line where the next record begins
	fields  [][]byte
	// Line is where the last record began.
	Line int
}

// fail returns an error about the record at Line.
func (r *Reader) fail(text string, args ...any) error {
	return &format.ReadError{File: r.file, Line: r.Line, Err: fmt.Errorf(text, args...)}
}

// About returns how many records are still to be read, if they are as long as the next one.
func (r *Reader) About() int { return len(r.data)/max(2, after(r.data, '\n')) + 1 }

// Read returns the next record, which has as many fields as the header, or io.EOF. The next call overwrites the record,
// but not the bytes of its fields, unless the caller writes to them.
func (r *Reader) Read() ([][]byte, error) {
	fields, err := r.record()
	if err == nil && len(fields) != r.columns {
		return nil, r.fail("%d fields, and the header has %d", len(fields), r.columns)
	}
	return fields, err
}

// record returns the next record that is not an empty line.
func (r *Reader) record() ([][]byte, error) {
	for len(r.data) > 0 && (r.data[0] == '\n' || r.data[0] == '\r') {
		if r.data[0] == '\n' {
			r.next++
		}
		r.data = r.data[1:]
	}
	if len(r.data) == 0 {
		return nil, io.EOF
	}
	r.Line, r.fields = r.next, r.fields[:0]
	for {
		var field []byte
		if len(r.data) > 0 && r.data[0] == '"' {
			var err error
			if field, err = r.quoted(); err != nil {
				return nil, err
			}
		} else {
			end := 0
			for end < len(r.data) && r.data[end] != ',' && r.data[end] != '\n' {
				end++
			}
			field, r.data = bytes.TrimSpace(r.data[:end]), r.data[end:]
		}
		r.fields = append(r.fields, field)
		if len(r.data) == 0 {
			return r.fields, nil
		}
		end := r.data[0]
		r.data = r.data[1:]
		if end == '\n' {
			r.next++
			return r.fields, nil
		}
	}
}

// quoted reads a field in quotes, in which a quote is doubled. It leaves the comma or the end of the line.
func (r *Reader) quoted() ([]byte, error) {
	rest := r.data[1:]
	var field []byte
	for {
		end := bytes.IndexByte(rest, '"')
		if end < 0 {
			return nil, r.fail("field %d: its quote is not closed", len(r.fields)+1)
		}
		r.next += bytes.Count(rest[:end], []byte("\n"))
		part := rest[:end]
		rest = rest[end+1:]
		if len(rest) > 0 && rest[0] == '"' {
			field = append(append(field, part...), '"')
			rest = rest[1:]
			continue
		}
		if field == nil {
			field = part
		} else {
			field = append(field, part...)
		}
		break
	}
	rest = bytes.TrimLeft(rest, " \t\r")
	if len(rest) > 0 && rest[0] != ',' && rest[0] != '\n' {
		return nil, r.fail("field %d: text after its closing quote", len(r.fields)+1)
	}
	r.data = rest
	return field, nil
}
