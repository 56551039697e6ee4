package experiment

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/internal/atomicfile"
)

// Log keeps records in a file of JSON lines, one record per line, from which an interrupted Grid resumes. A record is
// on the disk when Add returns. A Log is safe for concurrent use by one process. While one process has it open, OpenLog
// fails in other processes, except on systems without file locks.
type Log struct {
	mu      sync.Mutex
	file    *os.File
	records []Record
	byKey   map[string]int
	torn    int
}

// start is the beginning of each line.
var start = fmt.Sprintf(`{"record":%d,`, recordVersion)

// OpenLog opens the log at path and creates the file if it does not exist.
//
// A last line without a newline was cut short because a process was killed while writing it. OpenLog removes the line,
// and Torn returns its length. If any other line is not a record, OpenLog returns an error and leaves the file
// unchanged.
func OpenLog(path string) (l *Log, err error) {
	l = &Log{byKey: map[string]int{}}
	if l.file, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o666); err != nil {
		return nil, fmt.Errorf("opening the log: %w", err)
	}
	defer func() {
		if err != nil {
			l.file.Close()
			l = nil
		}
	}()
	if err := atomicfile.Lock(l.file); err != nil { // before reading: another process may be adding lines
		return l, fmt.Errorf("opening the log: %w", err)
	}
	text, err := io.ReadAll(l.file)
	if err != nil {
		return l, fmt.Errorf("reading the log: %w", err)
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	number := 0
	for line := range bytes.Lines(text[:whole]) {
		number++
		var r Record
		if err := decode(line, &r); err != nil {
			return l, fmt.Errorf("%s line %d: %w", path, number, err)
		}
		l.keep(r)
	}
	if last := text[whole:]; len(last) > 0 {
		if n := min(len(last), len(start)); string(last[:n]) != start[:n] {
			return l, fmt.Errorf("%s line %d: %w", path, number+1, errNotRecord)
		}
		l.torn = len(last)
	}
	if l.torn > 0 {
		if err := l.file.Truncate(int64(whole)); err != nil {
			return l, fmt.Errorf("removing the torn last line of the log: %w", err)
		}
	}
	return l, nil
}

var errNotRecord = fmt.Errorf("not a record of an experiment, must be a line that begins with %s", start)

// decode reads one line. A parameter that was added since the line was written gets its default.
func decode(line []byte, r *Record) error {
	var known struct {
		Record int `json:"record"`
	}
	if err := json.Unmarshal(line, &known); err != nil || known.Record < 1 {
		return errNotRecord
	}
	if known.Record > recordVersion {
		return fmt.Errorf("record of version %d, must be at most %d: a newer version of cgc wrote it", known.Record,
			recordVersion)
	}
	r.Training = gnn.Defaults()
	err := json.Unmarshal(line, r)
	if err == nil && !r.isWhole() {
		r.Config, err = complete(r.Config)
	}
	if err != nil {
		return fmt.Errorf("not a record of an experiment (%s)", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// Torn returns the number of bytes of a torn last line that OpenLog removed; 0 if there was none.
func (l *Log) Torn() int { return l.torn }

// Records returns all records of the log, in the order in which their training runs ended.
func (l *Log) Records() []Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.records)
}

// Add appends a record, and writes it to the disk. A record that OpenLog would not read back is an error.
func (l *Log) Add(r Record) error {
	line, err := json.Marshal(r)
	if err == nil {
		err = decode(line, new(Record))
	}
	if err != nil {
		return fmt.Errorf("writing a record: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	// The whole line is written at once, so that only a power cut or a full disk can cut it short.
	if _, err := l.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("writing to the log: %w", err)
	}
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("writing to the log: %w", err)
	}
	l.keep(r)
	return nil
}

// Close closes the file.
func (l *Log) Close() error { return l.file.Close() }

// keep adds r, unless there is a record with its key.
func (l *Log) keep(r Record) {
	if _, is := l.byKey[r.key()]; is {
		return
	}
	l.byKey[r.key()] = len(l.records)
	l.records = append(l.records, r)
}

// find returns the record with a key, if there is one. A nil log has no records.
func (l *Log) find(key string) (Record, bool) {
	if l == nil {
		return Record{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	i, is := l.byKey[key]
	if !is {
		return Record{}, false
	}
	return l.records[i], true
}
