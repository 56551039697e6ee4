package planetoid

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	gopickle "github.com/nlpodyssey/gopickle/pickle"
	"github.com/nlpodyssey/gopickle/types"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/csr"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

// readPickle returns the object in a pickle of Python 2's protocols. Only numpy arrays, scipy's CSR matrices, lists and
// dictionaries may occur in it. Nothing is executed.
func readPickle(file string) (any, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	object, err := unpickle(data)
	if err != nil {
		return nil, &format.ReadError{File: file, Err: err}
	}
	return object, nil
}

func unpickle(data []byte) (object any, err error) {
	defer func() {
		if r := recover(); r != nil { // the library indexes its stack unchecked
			object, err = nil, fmt.Errorf("not a pickle: %v", r)
		}
	}()
	u := gopickle.NewUnpickler(&guard{Reader: bufio.NewReader(bytes.NewReader(data)), size: len(data)})
	u.FindClass = findClass
	if object, err = u.Load(); err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errors.New("pickle is cut short")
	}
	return object, err
}

// guard refuses what the library trusts: strings longer than the file, which the library allocates before it reads
// them, and frames, in which nothing can be checked.
type guard struct {
	*bufio.Reader
	size int
	last byte
}

// ReadByte reads an instruction, or an argument of one byte.
func (g *guard) ReadByte() (byte, error) {
	b, err := g.Reader.ReadByte()
	g.last = b
	return b, err
}

// Read reads an argument. If it is a length, the instruction has just been read. An error comes with 0 bytes, since
// io.ReadFull drops an error that comes with all bytes.
func (g *guard) Read(p []byte) (int, error) {
	n, err := io.ReadFull(g.Reader, p)
	var length uint64
	switch {
	case n == 8 && g.last == 0x95:
		return 0, errors.New("pickle of protocol 4 or later, want 2 (Python 2's, as the files are published)")
	case n == 8 && strings.IndexByte("\x8d\x8e\x96", g.last) >= 0:
		length = binary.LittleEndian.Uint64(p)
	case n == 4 && strings.IndexByte("TBX\x8b", g.last) >= 0:
		length = uint64(binary.LittleEndian.Uint32(p))
	}
	if length > uint64(g.size) {
		return 0, fmt.Errorf("pickle claims a string of %d bytes in a file of %d", length, g.size)
	}
	g.last = 0
	return n, err
}

// findClass maps the classes that Planetoid's files need to Go values, and refuses all others.
func findClass(module, name string) (any, error) {
	switch strings.Replace(module, "numpy._core", "numpy.core", 1) + "." + name {
	case "numpy.core.multiarray._reconstruct":
		return reconstruct{}, nil
	case "numpy.ndarray":
		return ndarrayClass{}, nil
	case "numpy.dtype":
		return dtypeClass{}, nil
	case "scipy.sparse.csr.csr_matrix", "scipy.sparse._csr.csr_matrix":
		return csrClass{}, nil
	case "collections.defaultdict":
		return dictClass{}, nil
	case "__builtin__.list":
		return &types.List{}, nil
	}
	return nil, fmt.Errorf("pickle wants the class %.100q, which is not one that a data set needs", module+"."+name)
}

// The classes, and the objects that they make.
type (
	reconstruct  struct{}
	ndarrayClass struct{}
	dtypeClass   struct{}
	csrClass     struct{}
	dictClass    struct{}

	pickledType  struct{ numpy.DType }
	pickledArray struct {
		numpy.Array
		raw string
	}
	pickledCSR struct{ field map[string]any }
	dict       struct{ keys, values []any }
)

// Call returns an empty array, to be filled by PySetState.
func (reconstruct) Call(...any) (any, error) { return &pickledArray{}, nil }

// Call returns an empty dictionary.
func (dictClass) Call(...any) (any, error) { return &dict{}, nil }

// PyNew returns an empty matrix, to be filled by PyDictSet.
func (csrClass) PyNew(...any) (any, error) { return &pickledCSR{map[string]any{}}, nil }

// Call returns the element type that its first argument names.
func (dtypeClass) Call(args ...any) (any, error) {
	if len(args) == 0 {
		return nil, errors.New("pickled dtype has no name")
	}
	name, _ := args[0].(string)
	d, err := numpy.ParseDType(name)
	return &pickledType{d}, err
}

// PySetState takes (version, byte order, …).
func (d *pickledType) PySetState(state any) error {
	t, ok := state.(*types.Tuple)
	if !ok || t.Len() < 2 {
		return errors.New("pickled dtype has no byte order")
	}
	order, _ := t.Get(1).(string)
	d.Big = order == ">"
	return nil
}

// PySetState takes (version, shape, dtype, Fortran order, bytes).
func (a *pickledArray) PySetState(state any) error {
	t, ok := state.(*types.Tuple)
	if !ok || t.Len() != 5 {
		return errors.New("pickled array has no state of five fields")
	}
	shape, okShape := t.Get(1).(*types.Tuple)
	kind, okKind := t.Get(2).(*pickledType)
	raw, okRaw := t.Get(4).(string)
	if !okShape || !okKind || !okRaw {
		return fmt.Errorf("pickled array has fields %T, %T and %T, want shape, type and bytes",
			t.Get(1), t.Get(2), t.Get(4))
	}
	a.Shape = nil
	for _, s := range *shape {
		n, ok := s.(int)
		if !ok {
			return fmt.Errorf("pickled array has a %T in its shape", s)
		}
		a.Shape = append(a.Shape, n)
	}
	a.DType, a.raw = kind.DType, raw
	a.Fortran, _ = t.Get(3).(bool)
	_, err := a.Length(int64(len(raw)))
	return err
}

// PyDictSet takes an attribute.
func (m *pickledCSR) PyDictSet(key, value any) error {
	if name, ok := key.(string); ok {
		m.field[name] = value
	}
	return nil
}

// Set takes an entry.
func (d *dict) Set(key, value any) {
	d.keys, d.values = append(d.keys, key), append(d.values, value)
}

// numbersOf reads a pickled array.
func numbersOf[T numpy.Number](object any) ([]T, error) {
	a, ok := object.(*pickledArray)
	if !ok {
		return nil, fmt.Errorf("found a %T, want a numpy array", object)
	}
	a.R = strings.NewReader(a.raw)
	return numpy.Numbers[T](&a.Array)
}

// csr returns the matrix, rows sorted.
func (m *pickledCSR) csr() (*mat.CSR, error) {
	shape, ok := m.field["_shape"].(*types.Tuple)
	if !ok || shape.Len() != 2 {
		return nil, errors.New("pickled matrix has no shape")
	}
	rows, okRows := shape.Get(0).(int)
	cols, okCols := shape.Get(1).(int)
	if !okRows || !okCols || rows < 0 || cols < 0 || max(rows, cols) > graph.MaxNodes {
		return nil, fmt.Errorf("pickled matrix has a shape that is not two numbers up to %d", graph.MaxNodes)
	}
	s := &mat.CSR{Rows: rows, Cols: cols}
	var err error
	if s.Indptr, err = numbersOf[int64](m.field["indptr"]); err != nil {
		return nil, fmt.Errorf("indptr: %w", err)
	}
	if s.Indices, err = numbersOf[int32](m.field["indices"]); err != nil {
		return nil, fmt.Errorf("indices: %w", err)
	}
	if s.Data, err = numbersOf[float32](m.field["data"]); err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	if err := csr.Check(s); err != nil {
		return nil, err
	}
	csr.SortRows(s)
	return s, nil
}
