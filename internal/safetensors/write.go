package safetensors

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Tensor is a tensor to be written.
type Tensor struct {
	Name string
	// DType is the type of the elements; empty for the plain one of Data's type (uint16 is U16, not F16).
	DType DType
	// Shape is the length of each side; nil for the length of Data.
	Shape []int
	// Data is a slice of an Element type, in C order.
	Data any
}

// align is the alignment of the first tensor in the file: a cache line.
const align = 64

// Write writes a file. It appears under its name only when it is whole: until then it is a temporary file beside it, which is removed
// on an error, or when ctx is done, which is looked at every megabyte. The data starts at a multiple of 64 bytes, and
// tensors are ordered by the size of their elements, largest first, so each is aligned to its own element. (The format allows no gaps.)
// Equal arguments give equal bytes. progress, if not nil, is called with the bytes written and the bytes in all.
func Write(ctx context.Context, path string, meta map[string]string, tensors []Tensor, progress func(done, total int64)) (err error) {
	order := slices.Clone(tensors)
	raw := make(map[string][]byte, len(order))
	for i, t := range order {
		d, b, err := rawData(t.Data)
		if err != nil {
			return fmt.Errorf("safetensors: tensor %q: %w", t.Name, err)
		}
		if order[i].DType == "" {
			order[i].DType = d[0]
		} else if !slices.Contains(d, t.DType) {
			return fmt.Errorf("safetensors: tensor %q: type %s from a %T", t.Name, t.DType, t.Data)
		}
		if t.Shape == nil {
			order[i].Shape = []int{len(b) / d[0].Size()}
		}
		if _, twice := raw[t.Name]; twice || t.Name == metadata {
			return fmt.Errorf("safetensors: tensor name %q is taken", t.Name)
		}
		raw[t.Name] = b
	}
	slices.SortStableFunc(order, func(a, b Tensor) int { return cmp.Compare(b.DType.Size(), a.DType.Size()) })
	header, size, err := makeHeader(meta, order, raw)
	if err != nil {
		return err
	}

	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("safetensors: writing %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			file.Close()
			os.Remove(file.Name())
			err = fmt.Errorf("safetensors: writing %s: %w", path, err)
		}
	}()
	w := &writer{ctx: ctx, file: file, total: size + int64(len(header)), progress: progress}
	w.write(header, 1)
	for _, t := range order {
		w.write(raw[t.Name], t.DType.Size())
	}
	if w.err != nil {
		return w.err
	}
	const readable = 0o644 // CreateTemp keeps the file private
	if err := file.Chmod(readable); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// makeHeader returns the length and the header, padded so that the data is aligned, and the size of the data.
func makeHeader(meta map[string]string, order []Tensor, raw map[string][]byte) (header []byte, size int64, err error) {
	type entry struct {
		DType   DType    `json:"dtype"`
		Shape   []int    `json:"shape"`
		Offsets [2]int64 `json:"data_offsets"`
	}
	entries := make(map[string]any, len(order)+1)
	if len(meta) > 0 {
		entries[metadata] = meta
	}
	for _, t := range order {
		n := int64(t.DType.Size())
		for _, s := range t.Shape {
			n *= int64(s)
		}
		if b := int64(len(raw[t.Name])); n != b || slices.ContainsFunc(t.Shape, func(s int) bool { return s < 0 }) {
			return nil, 0, fmt.Errorf("safetensors: tensor %q: shape %v of %s takes %d bytes, and its data has %d", t.Name, t.Shape, t.DType, n, b)
		}
		entries[t.Name] = entry{t.DType, t.Shape, [2]int64{size, size + n}}
		size += n
	}
	text, err := json.Marshal(entries) // keys sorted
	if err != nil {
		return nil, 0, fmt.Errorf("safetensors: header: %w", err)
	}
	text = append(text, bytes.Repeat([]byte(" "), (align-(8+len(text))%align)%align)...)
	if len(text) > maxHeader {
		return nil, 0, fmt.Errorf("safetensors: header of %d bytes, want at most %d", len(text), maxHeader)
	}
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...), size, nil
}

// rawData returns the types that a slice can be stored as, and its memory.
func rawData(data any) ([]DType, []byte, error) {
	switch s := data.(type) {
	case []float64:
		return dtypes[float64](), bytesOf(s), nil
	case []float32:
		return dtypes[float32](), bytesOf(s), nil
	case []int64:
		return dtypes[int64](), bytesOf(s), nil
	case []int32:
		return dtypes[int32](), bytesOf(s), nil
	case []int16:
		return dtypes[int16](), bytesOf(s), nil
	case []int8:
		return dtypes[int8](), bytesOf(s), nil
	case []uint64:
		return dtypes[uint64](), bytesOf(s), nil
	case []uint32:
		return dtypes[uint32](), bytesOf(s), nil
	case []uint16:
		return dtypes[uint16](), bytesOf(s), nil
	case []uint8:
		return dtypes[uint8](), bytesOf(s), nil
	}
	return nil, nil, fmt.Errorf("data is a %T, want a slice of numbers", data)
}

// writer writes megabytes until the context is done; after an error it does nothing.
type writer struct {
	ctx         context.Context
	file        *os.File
	done, total int64
	progress    func(done, total int64)
	err         error
}

func (w *writer) write(b []byte, size int) {
	for block := range slices.Chunk(b, 1<<20) {
		if w.err == nil {
			w.err = w.ctx.Err()
		}
		if w.err != nil {
			return
		}
		if !littleEndian() {
			block = slices.Clone(block)
			swap(block, size)
		}
		_, w.err = w.file.Write(block)
		w.done += int64(len(block))
		if w.progress != nil {
			w.progress(w.done, w.total)
		}
	}
}
