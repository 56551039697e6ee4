package safetensors

import (
	"cmp"
	"fmt"
	"os"
	"slices"
)

// Blank is a file whose header is written and whose tensors are filled in any order. It is safe for concurrent use on
// different elements.
type Blank struct {
	file  *os.File
	start int64 // the offset of the data
	infos map[string]Info
}

// NewBlank writes the header into an empty file, and sets the length of the file. Tensors have a Shape and a DType, and
// no Data. Once every element is filled, the file has the bytes that Write gives for the same tensors.
func NewBlank(file *os.File, meta map[string]string, tensors []Tensor) (*Blank, error) {
	order := slices.Clone(tensors)
	b := &Blank{file: file, infos: map[string]Info{}}
	slices.SortStableFunc(order, func(a, b Tensor) int { return cmp.Compare(b.DType.Size(), a.DType.Size()) })
	end := int64(0)
	for _, t := range order {
		if _, twice := b.infos[t.Name]; twice || t.Name == metadata {
			return nil, fmt.Errorf("safetensors: tensor name %q is taken", t.Name)
		}
		sides := make([]int64, len(t.Shape))
		for i, s := range t.Shape {
			sides[i] = int64(s)
		}
		size, err := sizeOf(t.DType, sides)
		if err != nil || t.DType.Size() == 0 {
			return nil, fmt.Errorf("safetensors: tensor %q: type %q of shape %v cannot be stored", t.Name, t.DType, t.Shape)
		}
		b.infos[t.Name] = Info{Name: t.Name, DType: t.DType, Shape: t.Shape, Begin: end, End: end + size}
		end += size
	}
	for i := range order {
		order[i].Data = Stream(nil) // its length follows from its shape
	}
	header, size, err := makeHeader(meta, order, nil)
	if err != nil {
		return nil, err
	}
	b.start = int64(len(header))
	if _, err := file.WriteAt(header, 0); err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	if err := file.Truncate(b.start + size); err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	return b, nil
}

// Size returns the length of the file.
func (b *Blank) Size() (size int64) {
	size = b.start
	for _, t := range b.infos {
		size += t.End - t.Begin
	}
	return size
}

// Fill writes elements of the named tensor, starting with element at. They must be within the tensor, whose type is
// stored as E.
func Fill[E Element](b *Blank, name string, at int64, s []E) error {
	t, ok := b.infos[name]
	size := int64(t.DType.Size())
	if !ok || !slices.Contains(dtypes[E](), t.DType) || at < 0 || at+int64(len(s)) > (t.End-t.Begin)/max(1, size) {
		return fmt.Errorf("safetensors: elements %d to %d of type %s for tensor %q, %s of shape %v",
			at, at+int64(len(s)), dtypes[E]()[0], name, t.DType, t.Shape)
	}
	raw := bytesOf(s)
	if !littleEndian() {
		raw = slices.Clone(raw)
		swap(raw, int(size))
	}
	if _, err := b.file.WriteAt(raw, b.start+t.Begin+at*size); err != nil {
		return fmt.Errorf("safetensors: %w", err)
	}
	return nil
}
