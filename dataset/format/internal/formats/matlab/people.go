package matlab

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// The names of the table of people in the files of Facebook100, and of the features and labels made from it.
const (
	localInfo  = "local_info"
	peopleX    = "x"
	peopleY    = "y"
	peopleWide = 7 // status, gender, major, minor, dorm, year, high school
	gender     = 1 // the column that is the label; 0 if it is missing
)

// people is the table of the people in a graph of Facebook100, by rows.
type people struct {
	rows  int
	table []int32
}

// readPeople reads the table of people, if the file has one and neither x nor y.
func (f *file) readPeople() error {
	if f.find(localInfo) == nil || f.find(peopleX) != nil || f.find(peopleY) != nil {
		return nil
	}
	return f.Open(localInfo, func(a *numpy.Array) (err error) {
		if len(a.Shape) != 2 || a.Shape[1] != peopleWide {
			return fmt.Errorf("shape %v, must be people × %d", a.Shape, peopleWide)
		}
		p := &people{rows: a.Shape[0]}
		p.table, err = numpy.Numbers[int32](a)
		f.people = p
		return err
	})
}

// labels returns the gender of each person, −1 if it is missing.
func (p *people) labels() *numpy.Array {
	raw := make([]byte, 0, 4*p.rows)
	for i := range p.rows {
		raw = binary.LittleEndian.AppendUint32(raw, uint32(p.table[i*peopleWide+gender]-1))
	}
	return &numpy.Array{DType: numpy.DType{Kind: 'i', Size: 4}, Shape: []int{p.rows}, R: bytes.NewReader(raw)}
}

// features returns a one-hot encoding of the other columns: one feature for each value of each column, in ascending
// order. 0 (missing) counts as a value.
func (p *people) features() *mat.CSR {
	x := &mat.CSR{Rows: p.rows, Indptr: memory.Make[int64](p.rows + 1)}
	const wide = peopleWide - 1
	x.Indices = memory.Make[int32](p.rows * wide)
	for k, c := range [wide]int{0, 2, 3, 4, 5, 6} {
		values := make([]int32, p.rows)
		for i := range values {
			values[i] = p.table[i*peopleWide+c]
		}
		distinct := slices.Compact(slices.Sorted(slices.Values(values)))
		for i, v := range values {
			at, _ := slices.BinarySearch(distinct, v)
			x.Indices[i*wide+k] = int32(x.Cols + at)
		}
		x.Cols += len(distinct)
	}
	for i := range x.Indptr {
		x.Indptr[i] = int64(i * wide)
	}
	return x
}
