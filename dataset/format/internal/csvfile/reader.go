package csvfile

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/internal/content"
)

// Reader reads the records of a block.
type Reader struct {
	file    string
	columns int
	comma   byte   // the separator of fields
	data    []byte // not read yet
	next    int    // the line where the next record begins
	fields  [][]byte
	// Line is the line where the last record began.
	Line int
}

// fail returns an error about the record at Line.
func (r *Reader) fail(text string, args ...any) error {
	return &format.ReadError{File: r.file, Line: r.Line, Err: fmt.Errorf(text, args...)}
}

// About estimates the number of records left from the length of the next one.
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
			end, comma := 0, r.comma
			for end < len(r.data) && r.data[end] != comma && r.data[end] != '\n' {
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

// quoted reads a quoted field, in which a doubled quote means one quote. It stops before the separator or the end of
// the line.
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
	for len(rest) > 0 && rest[0] != r.comma && (rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r') {
		rest = rest[1:]
	}
	if len(rest) > 0 && rest[0] != r.comma && rest[0] != '\n' {
		return nil, r.fail("field %d: text after its closing quote", len(r.fields)+1)
	}
	r.data = rest
	return field, nil
}

// separator returns the separator of the fields of a header: a comma or, in a header without one, semicolons or tabs.
// Spreadsheets write semicolons where a comma is the decimal point. Separators within quotes do not count.
func separator(data []byte) byte {
	count := map[byte]int{}
	for quoted := false; len(data) > 0 && (quoted || data[0] != '\n'); data = data[1:] {
		if data[0] == '"' {
			quoted = !quoted
		} else if !quoted {
			count[data[0]]++
		}
	}
	switch {
	case count[','] > 0 || count[';']+count['\t'] == 0:
		return ','
	case count[';'] >= count['\t']:
		return ';'
	}
	return '\t'
}

// header returns the column names in a record, given the results of the method record. Equal names are an error,
// and so are the first line of Excel and the line ends of old Macs.
func (r *Reader) header(fields [][]byte, err error) (names []string, _ error) {
	if err == io.EOF {
		err = r.fail("the file is empty, must begin with a header")
	}
	if len(fields) > 0 {
		if wrong := content.RefuseUTF16(fields[0]); wrong != nil {
			err = r.fail("%w", wrong)
		} else if err == nil && bytes.HasPrefix(fields[0], []byte("sep=")) && len(fields) < 3 {
			err = r.fail("the line tells Excel the separator, must be the header: remove the line")
		}
	}
	for _, f := range fields {
		if at := bytes.IndexByte(f, '\r'); at >= 0 && !bytes.HasPrefix(f[at+1:], []byte("\n")) && err == nil {
			err = r.fail("lines end in a carriage return alone, must end in a line feed: save the table as CSV UTF-8")
		}
		if slices.Contains(names, string(f)) && err == nil {
			err = r.fail("the header has the column %.50q twice", f)
		}
		names = append(names, string(f))
	}
	return names, err
}
