package external

import (
	"os"

	"github.com/graph-condensation/cgc/internal/memory"
)

// unit is a range of keys whose entries are sorted and distinct. Its file holds the number of entries of each row, the
// column of each entry and, if edges have weights, the weight of each entry.
type unit struct {
	first uint64
	rows  int // more than 1 only if all rows are complete
	count int
	file  *os.File // nil if there are no entries
}

// writeUnit writes a unit of sorted entries.
func (s *Sorter) writeUnit(b *bucket, key []uint64, weight []float32) (unit, error) {
	u := unit{first: b.first, rows: 1, count: len(key)}
	row := int(b.first >> s.columns)
	if b.shift > s.columns {
		u.rows = min(1<<(b.shift-s.columns), s.nodes-row)
	}
	for _, w := range weight {
		if w != 1 {
			s.ones.Store(false)
			break
		}
	}
	if len(key) == 0 {
		return u, nil
	}
	degrees, columns := make([]uint32, u.rows), make([]int32, len(key))
	mask := uint64(1)<<s.columns - 1
	for i, e := range key {
		degrees[int(e>>s.columns)-row]++
		columns[i] = int32(e & mask)
	}
	var err error
	if u.file, err = s.create("sorted"); err != nil {
		return u, err
	}
	at := int64(0)
	for _, part := range [][]byte{memory.Bytes(degrees), memory.Bytes(columns), memory.Bytes(weight)} {
		if _, err := u.file.WriteAt(part, at); err != nil {
			return u, err
		}
		at += int64(len(part))
	}
	return u, nil
}

// rows is the content of a unit. Its memory is reused for the next unit.
type rows struct {
	first   int // number of the first row
	degrees []uint32
	columns []int32
	weights []float32
}

// readUnit reads a unit into r.
func (s *Sorter) readUnit(r *rows, u unit) error {
	r.first = int(u.first >> s.columns)
	r.degrees, r.columns, r.weights = memory.Resized(r.degrees, u.rows), memory.Resized(r.columns, u.count), nil
	clear(r.degrees)
	if u.file == nil {
		return nil
	}
	if s.weighted {
		r.weights = make([]float32, u.count)
	}
	at := int64(0)
	for _, part := range [][]byte{memory.Bytes(r.degrees), memory.Bytes(r.columns), memory.Bytes(r.weights)} {
		if _, err := u.file.ReadAt(part, at); err != nil {
			return err
		}
		at += int64(len(part))
	}
	return nil
}

// reopen moves the entries of sorted units back to their bucket.
func (s *Sorter) reopen(b *bucket, units []unit) error {
	var r rows
	for _, u := range units {
		if u.file == nil {
			continue
		}
		if err := s.readUnit(&r, u); err != nil {
			return err
		}
		at := 0
		for i, degree := range r.degrees {
			for range degree {
				key := []uint64{s.key(int32(r.first+i), r.columns[at])}
				if err := s.append(b, key, weights(r.weights, s.weighted, at, at+1)); err != nil {
					return err
				}
				at++
			}
		}
		if err := remove(u.file); err != nil {
			return err
		}
	}
	return nil
}
