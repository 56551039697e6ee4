// Package torchfile reads and writes the files of torch.save without running anything: tensors, plain containers, and
// the attributes of objects of a few classes. Any other class or function is an error that names it.
//
// Since torch 1.6, a file is a zip archive of uncompressed members:
//
//	NAME/data.pkl   a pickle; a storage in it is a persistent id with type, key and length
//	NAME/data/KEY   the numbers of a storage
//	NAME/byteorder  "little" or "big"; absent from older files
//
// Before torch 1.6, a file is five pickles (a magic number, the version, sizes of the system, the object, the keys of
// the storages), followed by the storages, each an 8-byte length and its numbers.
package torchfile

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/nlpodyssey/gopickle/types"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/dataset/format/internal/pickle"
	"github.com/graph-condensation/cgc/dataset/format/internal/reading"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

const (
	// maxPickle bounds the size of the pickle, which does not contain the numbers.
	maxPickle = 1 << 30
	// maxNumbers is the largest length of a storage.
	maxNumbers = 1 << 50
)

// File is a file of torch.save. Tensors are read from it until Close.
type File struct {
	// Object is the saved object: a *Tensor, a *Sparse, a *Record, a container of package pickle, a string, a number or
	// nil.
	Object any

	file     *os.File
	meter    *reading.Meter
	storages map[string]*storage
}

// Open reads the pickle of a file. Reading tensors reports to package progress, and stops when ctx is done. Errors
// about the content do not name the file.
func Open(ctx context.Context, name string) (*File, error) {
	file, size, err := reading.Open(name)
	if err != nil {
		return nil, err
	}
	f := &File{file: file, meter: reading.New(ctx, name, size), storages: map[string]*storage{}}
	if err := f.read(size); err != nil {
		file.Close()
		return nil, err
	}
	return f, nil
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// Looks reports whether a file looks like a file of torch.save, by its start or by the directory of its archive.
func Looks(name string) bool {
	file, size, err := reading.Open(name)
	if err != nil {
		return false
	}
	defer file.Close()
	start := make([]byte, len(legacyMagic))
	if n, _ := io.ReadFull(file, start); string(start[:n]) == legacyMagic {
		return true
	}
	if !bytes.HasPrefix(start, []byte("PK\x03\x04")) {
		return false
	}
	archive, err := zip.NewReader(file, size)
	return err == nil && slices.ContainsFunc(archive.File, isPickle)
}

// isPickle reports whether a member of an archive is the pickle.
func isPickle(m *zip.File) bool { return path.Base(m.Name) == "data.pkl" }

// read reads a file of the given size.
func (f *File) read(size int64) error {
	start := make([]byte, len(legacyMagic))
	if n, err := f.file.ReadAt(start, 0); err != nil && err != io.EOF {
		return err
	} else if string(start[:n]) == legacyMagic {
		return f.readLegacy(size)
	}
	archive, err := zip.NewReader(f.file, size)
	switch {
	case err != nil && string(start[:4]) == "PK\x03\x04":
		return fmt.Errorf("the file of %d bytes is cut short: no zip directory at its end", size)
	case err != nil:
		return errors.New("not a file of torch.save: neither a zip archive nor a pickle of torch")
	}
	return f.readArchive(archive, size)
}

// readArchive reads the pickle of an archive of the given size, and finds its storages.
func (f *File) readArchive(archive *zip.Reader, size int64) error {
	members := map[string]*zip.File{}
	var pickled *zip.File
	for _, m := range archive.File {
		members[m.Name] = m
		if isPickle(m) && pickled == nil {
			pickled = m
		}
	}
	if pickled == nil {
		return errors.New("a zip archive without data.pkl, must be a file of torch.save")
	}
	folder := path.Dir(pickled.Name)
	raw, err := member(pickled)
	if err != nil {
		return err
	}
	big := false
	if order := members[path.Join(folder, "byteorder")]; order != nil {
		text, err := member(order)
		if err != nil {
			return err
		}
		big = string(text) == "big"
	}
	object, _, err := f.loader(big).Load(raw)
	if err != nil {
		return err
	}
	for key, s := range f.storages {
		m := members[path.Join(folder, "data", key)]
		if m == nil {
			return fmt.Errorf("the numbers of storage %.20q are missing: no member %.60q", key, folder+"/data/"+key)
		}
		at, err := m.DataOffset()
		if err != nil {
			return fmt.Errorf("storage %.20q: %w", key, err)
		}
		if m.Method != zip.Store {
			return fmt.Errorf("storage %.20q is compressed, must be stored as torch.save does", key)
		}
		if held := min(int64(m.UncompressedSize64), size-at); held < s.size || held < 0 {
			return fmt.Errorf("storage %.20q holds %d bytes, expected %d", key, held, s.size)
		}
		s.from, s.meter = io.NewSectionReader(f.file, at, s.size), f.meter
	}
	f.Object = object
	return nil
}

// member returns the bytes of a small member.
func member(m *zip.File) ([]byte, error) {
	const ratio = 1032 // deflate cannot compress more
	if m.UncompressedSize64 > maxPickle || m.UncompressedSize64/ratio > m.CompressedSize64 {
		return nil, fmt.Errorf("member %.60q claims %d bytes from %d, expected at most 1 GiB",
			m.Name, m.UncompressedSize64, m.CompressedSize64)
	}
	r, err := m.Open()
	if err != nil {
		return nil, fmt.Errorf("member %.60q: %w", m.Name, err)
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, maxPickle))
	if err != nil {
		return nil, fmt.Errorf("member %.60q: %w", m.Name, err)
	}
	return data, nil
}

// loader returns the loader of a pickle. It records storages by their keys.
func (f *File) loader(bigEndian bool) pickle.Loader {
	return pickle.Loader{Class: classOf, Persistent: func(id any) (any, error) {
		t, ok := id.(*types.Tuple)
		if !ok || t.Len() < 5 {
			return nil, errors.New("torch's pickle has a storage that is not a tuple (storage, type, key, place, length)")
		}
		kind, isKind := t.Get(1).(element)
		key, isKey := t.Get(2).(string)
		n, isNumber := t.Get(4).(int)
		if word, _ := t.Get(0).(string); word != "storage" || !isKind || !isKey || !isNumber || n < 0 || n > maxNumbers {
			return nil, errors.New("torch's pickle has a storage that is not a tuple (storage, type, key, place, length)")
		}
		kind.Big = bigEndian
		s := f.storages[key]
		if s == nil {
			s = &storage{DType: kind.DType}
			f.storages[key] = s
		}
		s.size = max(s.size, int64(n)*int64(kind.Size))
		if kind.DType != s.DType {
			return nil, fmt.Errorf("storage %.20q has two types", key)
		}
		return s, nil
	}}
}

// legacyMagic begins each file that torch before 1.6 wrote. It is the pickle of a number.
const legacyMagic = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."

// readLegacy reads a file that torch before 1.6 wrote.
func (f *File) readLegacy(size int64) error {
	const most = 1 << 36
	if size > most {
		return fmt.Errorf("a file of %d bytes in the form before torch 1.6, must be at most %d: save it again",
			size, int64(most))
	}
	rest, err := io.ReadAll(f.meter.Reader(io.NewSectionReader(f.file, 0, size)))
	if err != nil {
		return err
	}
	load := f.loader(false)
	var objects [5]any
	for i := range objects {
		if objects[i], rest, err = load.Load(rest); err != nil {
			return err
		}
	}
	if _, magic := objects[0].(*big.Int); !magic {
		return errors.New("not a file of torch.save: its magic number is missing")
	}
	keys, ok := objects[4].(*types.List)
	if !ok {
		return errors.New("a file of torch.save without the keys of its storages")
	}
	for _, key := range *keys {
		name, _ := key.(string)
		s := f.storages[name]
		if s == nil {
			return fmt.Errorf("storage %.20q is not in the pickle", name)
		}
		if len(rest) < 8 || s.size > int64(len(rest)-8) {
			return fmt.Errorf("the file is cut short: storage %.20q has %d bytes, expected %d", name, max(0, len(rest)-8),
				s.size)
		}
		if n := binary.LittleEndian.Uint64(rest); n != uint64(s.size)/uint64(s.Size) {
			return fmt.Errorf("storage %.20q has %d elements, expected %d", name, n, s.size/int64(s.Size))
		}
		s.from = bytes.NewReader(rest[8 : 8+s.size])
		rest = rest[8+s.size:]
	}
	for key, s := range f.storages {
		if s.from == nil {
			return fmt.Errorf("the numbers of storage %.20q are missing", key)
		}
	}
	f.Object = objects[3]
	return nil
}

// Fields returns the attributes of a record, or the entries of a dictionary whose keys are strings, by name. For a
// Data, it returns the attributes of its store. ok is false for other objects.
func Fields(object any) (fields map[string]any, ok bool) {
	for _, inner := range []string{"_store", "_mapping"} { // fields of a Data since PyTorch Geometric 2
		if r, is := object.(*Record); is && r.Fields[inner] != nil {
			object = r.Fields[inner]
		}
	}
	fields = map[string]any{}
	add := func(key, value any) {
		if name, is := key.(string); is {
			fields[name] = value
		}
	}
	switch o := object.(type) {
	case *Record:
		for name, v := range o.Fields {
			if !strings.HasPrefix(name, "_") {
				fields[name] = v
			}
		}
	case *types.Dict:
		for _, e := range *o {
			add(e.Key, e.Value)
		}
	case *types.OrderedDict:
		for e := o.List.Front(); e != nil; e = e.Next() {
			entry := e.Value.(*types.OrderedDictEntry)
			add(entry.Key, entry.Value)
		}
	case *pickle.Dict:
		for i, key := range o.Keys {
			add(key, o.Values[i])
		}
	default:
		return nil, false
	}
	return fields, true
}

// Values are the objects of a file by name. It implements numpy.Opener.
type Values struct {
	// Path is the path of the file.
	Path string
	// Fields maps names to objects.
	Fields map[string]any
}

// Where returns the path of the file.
func (v Values) Where() string { return v.Path }

// Has reports whether there is an object of that name.
func (v Values) Has(name string) bool { return v.Fields[name] != nil }

// Open calls read with the array of that name.
func (v Values) Open(name string, read func(*numpy.Array) error) error {
	a, ok, err := ArrayOf(v.Fields[name])
	switch {
	case err != nil:
	case ok:
		err = read(a)
	case v.Fields[name] == nil:
		err = errors.New("missing")
	default:
		err = fmt.Errorf("it holds %s, must hold a tensor", Kind(v.Fields[name]))
	}
	return v.Fail(name, err)
}

// Fail returns a *format.ReadError about an object, or nil.
func (v Values) Fail(name string, err error) error {
	if err == nil {
		return nil
	}
	return format.Wrong(v.Path, "%s: %w", name, err)
}

// Kind names an object in messages.
func Kind(object any) string {
	switch o := object.(type) {
	case *Tensor:
		return "a tensor"
	case *Sparse:
		return "a sparse tensor"
	case *Record:
		return "a " + o.Class[strings.LastIndex(o.Class, ".")+1:]
	case class:
		return "the class " + string(o)
	case *types.OrderedDict:
		return "a dictionary"
	}
	return pickle.Kind(object)
}

// ArrayOf returns a tensor, a numpy array, or a list of integers or strings as an array. ok is false for other objects.
func ArrayOf(object any) (a *numpy.Array, ok bool, err error) {
	switch o := object.(type) {
	case *Tensor:
		a, err = o.Array()
		return a, true, err
	case *pickle.Array:
		return o.Open(), o.Objects == nil, nil
	}
	if texts, isList := stringsOf(object); isList {
		return &numpy.Array{DType: numpy.DType{Kind: 'U'}, Shape: []int{len(texts)}, Strings: texts}, true, nil
	}
	list, isList := ints(object)
	if !isList || len(list) == 0 {
		return nil, false, nil
	}
	raw := memory.Make[byte](8 * len(list))[:0]
	for _, v := range list {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	return &numpy.Array{DType: dtypes["int64"], Shape: []int{len(list)}, R: bytes.NewReader(raw)}, true, nil
}

// Matrix returns a sparse matrix of at most n rows, or nil if the object of that name is none.
func (v Values) Matrix(ctx context.Context, name string, n int) (m *mat.CSR, err error) {
	s, is := v.Fields[name].(*Sparse)
	if r, isRecord := v.Fields[name].(*Record); isRecord && r.Class == "torch_sparse.tensor.SparseTensor" {
		s, err = sparseOf(r)
		is = true
	}
	if is && err == nil {
		m, err = s.CSR(ctx, n)
	}
	return m, v.Fail(name, err)
}
