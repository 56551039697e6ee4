package safetensors

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"

	"github.com/graph-condensation/cgc/internal/atomicfile"
	"github.com/graph-condensation/cgc/progress"
)

// Tensor is a tensor to be written.
type Tensor struct {
	Name string
	// DType is the type of the elements. Empty means the plain type of Data (uint16 is U16, not F16).
	DType DType
	// Shape is the length of each dimension. nil means the length of Data.
	Shape []int
	// Data is a slice of an Element type, in C order, or a Stream.
	Data any
}

// Stream is the data of an F32 tensor that is not in memory as a whole. Its Shape must be given.
type Stream iter.Seq2[[]float32, error]

// align is the alignment of the first tensor in the file: a cache line.
const align = 64

// Write writes a file, completely or not at all (atomicfile.Write). It checks ctx every megabyte, and then reports the
// bytes written and the total to package progress, under the name of the file. The data starts at a multiple of 64
// bytes. Tensors are sorted by the size of their elements, largest first, so that each is aligned: the format allows no
// gaps. Equal arguments give equal bytes.
func Write(ctx context.Context, path string, meta map[string]string, tensors []Tensor) error {
	order := slices.Clone(tensors)
	raw := make(map[string][]byte, len(order))
	for i, t := range order {
		if _, twice := raw[t.Name]; twice || t.Name == metadata {
			return fmt.Errorf("safetensors: tensor name %q is taken", t.Name)
		}
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
		raw[t.Name] = b
	}
	slices.SortStableFunc(order, func(a, b Tensor) int { return cmp.Compare(b.DType.Size(), a.DType.Size()) })
	header, size, err := makeHeader(meta, order, raw)
	if err != nil {
		return err
	}

	err = atomicfile.Write(path, func(file io.Writer) error {
		w := &writer{ctx: ctx, name: filepath.Base(path), file: file, total: size + int64(len(header))}
		w.write(header, 1)
		for _, t := range order {
			if stream, ok := t.Data.(Stream); ok {
				w.stream(t, stream)
			} else {
				w.write(raw[t.Name], t.DType.Size())
			}
		}
		return w.err
	})
	if err != nil {
		return fmt.Errorf("safetensors: %w", err)
	}
	return nil
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
		b := int64(len(raw[t.Name]))
		if _, ok := t.Data.(Stream); ok {
			b = n // the length is checked when the Stream ends
		}
		if n != b || slices.ContainsFunc(t.Shape, func(s int) bool { return s < 0 }) {
			return nil, 0, fmt.Errorf("safetensors: tensor %q: shape %v of %s takes %d bytes, and its data has %d",
				t.Name, t.Shape, t.DType, n, b)
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
		return nil, 0, fmt.Errorf("safetensors: header of %d bytes, must be at most %d", len(text), maxHeader)
	}
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...), size, nil
}

// rawData returns the types that data can be stored as, and the memory of data, or nil for a Stream.
func rawData(data any) ([]DType, []byte, error) {
	switch s := data.(type) {
	case Stream:
		return dtypes[float32](), nil, nil
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
	return nil, nil, fmt.Errorf("data is a %T, must be a slice of numbers", data)
}

// writer writes megabyte by megabyte until the context is done. After an error it does nothing.
type writer struct {
	ctx         context.Context
	name        string
	file        io.Writer
	done, total int64
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
		progress.Report(w.ctx, progress.Event{Stage: "writing " + w.name, Done: w.done, Total: w.total})
	}
}

// stream writes the values of a Stream, which must be as long as the tensor.
func (w *writer) stream(t Tensor, blocks Stream) {
	want, got := 1, 0
	for _, s := range t.Shape {
		want *= s
	}
	for block, err := range blocks {
		if w.err == nil {
			w.err = err
		}
		if got += len(block); w.err == nil && got > want {
			break
		}
		if w.err != nil {
			return
		}
		w.write(bytesOf(block), t.DType.Size())
	}
	if w.err == nil && got != want {
		w.err = fmt.Errorf("tensor %q: %d numbers for the shape %v", t.Name, got, t.Shape)
	}
}
