package safetensors

import (
	"fmt"
	"os"
	"slices"

	"github.com/graph-condensation/cgc/internal/memory"
)

// Blank is a file whose header is written and whose tensors are filled in any order. It is safe for concurrent use on
// different elements.
type Blank struct {
	file  *os.File
	start int64 // the offset of the data
	infos map[string]Info
}

// NewBlank writes the header into an empty file, and sets the length of the file. Tensors have a Shape and a DType, and
// no Data. Once every element is filled, the file is byte-identical to that of Write for the same tensors.
func NewBlank(file *os.File, meta map[string]string, tensors []Tensor) (*Blank, error) {
	l, err := arrange(meta, tensors)
	if err != nil {
		return nil, err
	}
	b := &Blank{file: file, start: int64(len(l.header)), infos: l.infos}
	if _, err := file.WriteAt(l.header, 0); err != nil {
		return nil, err
	}
	if err := file.Truncate(b.start + l.size); err != nil {
		return nil, err
	}
	return b, nil
}

// Fill writes elements of the named tensor, starting with element at. They must be within the tensor, whose type is
// stored as E.
func Fill[E Element](b *Blank, name string, at int64, s []E) error {
	t, ok := b.infos[name]
	size := int64(t.DType.Size())
	if !ok || !slices.Contains(dtypes[E](), t.DType) || at < 0 || at+int64(len(s)) > (t.End-t.Begin)/max(1, size) {
		return fmt.Errorf("elements %d to %d of type %s for tensor %q, %s of shape %v",
			at, at+int64(len(s)), dtypes[E]()[0], name, t.DType, t.Shape)
	}
	raw := memory.Bytes(s)
	if !littleEndian() {
		raw = slices.Clone(raw)
		swap(raw, int(size))
	}
	_, err := b.file.WriteAt(raw, b.start+t.Begin+at*size)
	return err
}
