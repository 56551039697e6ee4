package named

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/csvfile"
)

// table reads a .csv file with a header, record by record, as RFC 4180 describes it.
type table struct {
	file   string
	data   []byte // what is still to be read
	header []string
	// line is where the last record began, and next where the one after it begins.
	line, next int
	fields     [][]byte
}

// openTable reads a file, which it unpacks if its name ends in .gz, and its header.
func openTable(file string) (*table, error) {
	data, err := csvfile.Read(file)
	if err != nil {
		return nil, err
	}
	t := &table{file: file, data: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), next: 1}
	fields, err := t.record()
	if err == io.EOF {
		return nil, t.fail("the file is empty, want a header")
	}
	for _, f := range fields {
		name := string(f)
		if slices.Contains(t.header, name) {
			return nil, t.fail("the header has the column %.50q twice", name)
		}
		t.header = append(t.header, name)
	}
	return t, err
}

// fail returns an error about the last record.
func (t *table) fail(text string, args ...any) error {
	return &format.ReadError{File: t.file, Line: t.line, Err: fmt.Errorf(text, args...)}
}

// column returns the place of the first of the names that is a column, in any case of letters, or −1.
func (t *table) column(names ...string) int {
	for _, name := range names {
		for i, h := range t.header {
			if strings.EqualFold(h, name) {
				return i
			}
		}
	}
	return -1
}

// read returns the next record, which has as many fields as the header, or io.EOF. The next call overwrites it.
func (t *table) read() ([][]byte, error) {
	fields, err := t.record()
	if err == nil && len(fields) != len(t.header) {
		return nil, t.fail("%d fields, and the header has %d", len(fields), len(t.header))
	}
	return fields, err
}

// record returns the next record that is not an empty line.
func (t *table) record() ([][]byte, error) {
	for len(t.data) > 0 && (t.data[0] == '\n' || t.data[0] == '\r') {
		if t.data[0] == '\n' {
			t.next++
		}
		t.data = t.data[1:]
	}
	if len(t.data) == 0 {
		return nil, io.EOF
	}
	t.line, t.fields = t.next, t.fields[:0]
	for {
		var field []byte
		if len(t.data) > 0 && t.data[0] == '"' {
			var err error
			if field, err = t.quoted(); err != nil {
				return nil, err
			}
		} else {
			end := 0
			for end < len(t.data) && t.data[end] != ',' && t.data[end] != '\n' {
				end++
			}
			field, t.data = bytes.TrimSpace(t.data[:end]), t.data[end:]
		}
		t.fields = append(t.fields, field)
		if len(t.data) == 0 {
			return t.fields, nil
		}
		end := t.data[0]
		t.data = t.data[1:]
		if end == '\n' {
			t.next++
			return t.fields, nil
		}
	}
}

// quoted reads a field in quotes, in which a quote is doubled. It leaves the comma or the end of the line.
func (t *table) quoted() ([]byte, error) {
	rest := t.data[1:]
	var field []byte
	for {
		end := bytes.IndexByte(rest, '"')
		if end < 0 {
			return nil, t.fail("field %d: its quote is not closed", len(t.fields)+1)
		}
		t.next += bytes.Count(rest[:end], []byte("\n"))
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
		return nil, t.fail("field %d: text after its closing quote", len(t.fields)+1)
	}
	t.data = rest
	return field, nil
}
