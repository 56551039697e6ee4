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
	"reflect"
	"slices"
	"unsafe"

	"github.com/graph-condensation/cgc/internal/atomicfile"
	"github.com/graph-condensation/cgc/internal/memory"
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
	tensors = slices.Clone(tensors)
	raw := make(map[string][]byte, len(tensors))
	for i := range tensors {
		t := &tensors[i]
		d, b, err := rawData(t.Data)
		if err != nil {
			return fmt.Errorf("tensor %q: %w", t.Name, err)
		}
		if t.DType == "" {
			t.DType = d[0]
		} else if !slices.Contains(d, t.DType) {
			return fmt.Errorf("tensor %q: type %s from a %T", t.Name, t.DType, t.Data)
		}
		if t.Shape == nil {
			t.Shape = []int{len(b) / d[0].Size()}
		}
		raw[t.Name] = b
	}
	l, err := arrange(meta, tensors)
	if err != nil {
		return err
	}
	for _, t := range l.order {
		info, b := l.infos[t.Name], raw[t.Name]
		_, late := t.Data.(Stream) // its length is checked at its end
		if !late && info.End-info.Begin != int64(len(b)) {
			return fmt.Errorf("tensor %q: shape %v of %s takes %d bytes, and its data has %d",
				t.Name, t.Shape, t.DType, info.End-info.Begin, len(b))
		}
	}
	return atomicfile.Write(path, func(file io.Writer) error {
		w := &writer{ctx: ctx, name: filepath.Base(path), file: file, total: l.size + int64(len(l.header))}
		w.write(l.header, 1)
		for _, t := range l.order {
			if stream, ok := t.Data.(Stream); ok {
				w.stream(t, stream)
			} else {
				w.write(raw[t.Name], t.DType.Size())
			}
		}
		return w.err
	})
}

// layout is the arrangement of tensors in a file.
type layout struct {
	order  []Tensor // in the order of their data
	infos  map[string]Info
	header []byte // its length and the header, padded so that the data is aligned
	size   int64  // of the data
}

// arrange arranges tensors, which have a Shape and a DType.
func arrange(meta map[string]string, tensors []Tensor) (l layout, err error) {
	type entry struct {
		DType   DType    `json:"dtype"`
		Shape   []int    `json:"shape"`
		Offsets [2]int64 `json:"data_offsets"`
	}
	l.infos = make(map[string]Info, len(tensors))
	entries := make(map[string]any, len(tensors)+1)
	if len(meta) > 0 {
		entries[metadata] = meta
	}
	l.order = slices.Clone(tensors)
	slices.SortStableFunc(l.order, func(a, b Tensor) int { return cmp.Compare(b.DType.Size(), a.DType.Size()) })
	for _, t := range l.order {
		if _, twice := l.infos[t.Name]; twice || t.Name == metadata {
			return l, fmt.Errorf("tensor name %q is taken", t.Name)
		}
		n, err := sizeOf(t.DType, t.Shape)
		if err != nil || t.DType.Size() == 0 {
			return l, fmt.Errorf("tensor %q: type %q of shape %v cannot be stored", t.Name, t.DType, t.Shape)
		}
		l.infos[t.Name] = Info{Name: t.Name, DType: t.DType, Shape: t.Shape, Begin: l.size, End: l.size + n}
		entries[t.Name] = entry{t.DType, t.Shape, [2]int64{l.size, l.size + n}}
		l.size += n
	}
	text, err := json.Marshal(entries) // keys sorted
	if err != nil {
		return l, fmt.Errorf("header: %w", err)
	}
	text = append(text, bytes.Repeat([]byte(" "), (align-(8+len(text))%align)%align)...)
	if len(text) > maxHeader {
		return l, fmt.Errorf("header of %d bytes, must be at most %d", len(text), maxHeader)
	}
	l.header = append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
	return l, nil
}

// rawData returns the types that data can be stored as, and the memory of data, or nil for a Stream.
func rawData(data any) ([]DType, []byte, error) {
	if _, is := data.(Stream); is {
		return dtypes[float32](), nil, nil
	}
	v := reflect.ValueOf(data)
	if v.Kind() == reflect.Slice && stored[v.Type().Elem().Kind()] != nil {
		elements := v.Type().Elem()
		return stored[elements.Kind()], unsafe.Slice((*byte)(v.UnsafePointer()), v.Len()*int(elements.Size())), nil
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
		w.write(memory.Bytes(block), t.DType.Size())
	}
	if w.err == nil && got != want {
		w.err = fmt.Errorf("tensor %q: %d numbers for the shape %v", t.Name, got, t.Shape)
	}
}
