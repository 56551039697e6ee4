package safetensors

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
	"unsafe"

	"github.com/graph-condensation/cgc/internal/memory"
)

// File is an open safetensors file. Its methods are safe for concurrent use.
type File struct {
	// Metadata is the map of strings in the header, or nil.
	Metadata map[string]string

	file    *os.File
	mapped  []byte // the complete file; nil if it could not be mapped
	start   int64  // the offset of the data
	tensors []Info
}

// Open opens and checks the file. Errors from its contents name the file and what is wrong.
func Open(path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f := &File{file: file}
	if err := f.readHeader(); err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

func (f *File) readHeader() error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	var start [8]byte
	if _, err := f.file.ReadAt(start[:], 0); err != nil && err != io.EOF {
		return err
	}
	length, err := headerLength(binary.LittleEndian.Uint64(start[:]), info.Size())
	if err != nil {
		return err
	}
	header := make([]byte, length)
	if _, err := f.file.ReadAt(header, 8); err != nil {
		return err
	}
	f.start = 8 + length
	if f.tensors, f.Metadata, err = parseHeader(header, info.Size()-f.start); err != nil {
		return err
	}
	f.mapped, err = mapFile(f.file, info.Size())
	if errors.Is(err, syscall.ENOMEM) { // other systems and devices cannot map files; then Slice reads tensors into memory
		return fmt.Errorf("mapping %d bytes into memory: %w (ulimit -v may be too small)", info.Size(), err)
	}
	return nil
}

// Close closes the file. Slices in the mapped memory must not be used afterwards.
func (f *File) Close() error {
	if f.mapped != nil {
		if err := unmapFile(f.mapped); err != nil {
			return err
		}
		f.mapped = nil
	}
	return f.file.Close()
}

// Tensors returns the tensors in the order of their data.
func (f *File) Tensors() []Info { return slices.Clone(f.tensors) }

// Find returns the named tensor, and whether it exists.
func (f *File) Find(name string) (Info, bool) {
	i := slices.IndexFunc(f.tensors, func(t Info) bool { return t.Name == name })
	if i < 0 {
		return Info{}, false
	}
	return f.tensors[i], true
}

// Reader returns the raw bytes of a tensor of this file.
func (f *File) Reader(t Info) io.Reader {
	return io.NewSectionReader(f.file, f.start+t.Begin, t.End-t.Begin)
}

// Slice returns the elements of the named tensor, whose type must match E. If the file is mapped and the tensor is
// aligned, the slice is the memory of the file: reading the slice reads the file, and writing to it changes a private
// copy of the page, not the file. It is valid until Close. Otherwise the tensor is read into new memory.
func Slice[E Element](f *File, name string) ([]E, error) {
	t, ok := f.Find(name)
	if !ok {
		return nil, fmt.Errorf("%s: no tensor %q", f.file.Name(), name)
	}
	if types := dtypes[E](); !slices.Contains(types, t.DType) {
		return nil, fmt.Errorf("%s: tensor %q is %s, expected %s", f.file.Name(), name, t.DType, types[0])
	}
	n := t.Len()
	if n == 0 {
		return []E{}, nil
	}
	if f.mapped != nil && littleEndian() {
		first := unsafe.Pointer(&f.mapped[f.start+t.Begin])
		if uintptr(first)%unsafe.Alignof(*new(E)) == 0 {
			return unsafe.Slice((*E)(first), n), nil
		}
	}
	s := memory.Make[E](n)
	raw := memory.Bytes(s)
	if _, err := f.file.ReadAt(raw, f.start+t.Begin); err != nil {
		return nil, fmt.Errorf("%s: reading tensor %q: %w", f.file.Name(), name, err)
	}
	if !littleEndian() {
		swap(raw, t.DType.Size())
	}
	return s, nil
}

// Holds reports whether s, which is not empty, is in the mapped memory of the file.
func Holds[E Element](f *File, s []E) bool {
	if len(f.mapped) == 0 || len(s) == 0 {
		return false
	}
	at, first := uintptr(unsafe.Pointer(&s[0])), uintptr(unsafe.Pointer(&f.mapped[0]))
	return first <= at && at < first+uintptr(len(f.mapped))
}

// littleEndian reports whether this machine is little-endian, as the files are.
func littleEndian() bool { return binary.NativeEndian.Uint16([]byte{1, 0}) == 1 }

// swap reverses the bytes of each element.
func swap(raw []byte, size int) {
	for e := range slices.Chunk(raw, size) {
		slices.Reverse(e)
	}
}
