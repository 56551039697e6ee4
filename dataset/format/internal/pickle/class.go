package pickle

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nlpodyssey/gopickle/types"

	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
)

// findClass maps the classes that data sets need to Go values. Other classes are errors.
func findClass(module, name string) (any, error) {
	rest, isSparse := strings.CutPrefix(module, "scipy.sparse.") // scipy.sparse.csr or, in new versions, scipy.sparse._csr
	layout := strings.TrimPrefix(rest, "_")
	if isSparse && slices.Contains([]string{"csr", "csc", "coo"}, layout) &&
		(name == layout+"_matrix" || name == layout+"_array") {
		return sparse{layout}, nil
	}
	full := strings.Replace(module, "numpy._core", "numpy.core", 1) + "." + name
	if f, known := functions[full]; known {
		return f, nil
	}
	if full == "__builtin__.list" {
		return &types.List{}, nil
	}
	return nil, fmt.Errorf("pickle uses the class %.100q, which no data set needs", module+"."+name)
}

// Function is a function or a class that a pickle may call.
type Function func(args ...any) (any, error)

// Call calls the function with the arguments in the pickle.
func (f Function) Call(args ...any) (any, error) { return f(args...) }

// functions maps the names of Python functions and classes to their implementations.
var functions = map[string]Function{
	"numpy.core.multiarray._reconstruct": func(...any) (any, error) { return &Array{}, nil }, // PySetState fills it
	"numpy.core.multiarray.scalar":       scalar,
	"numpy.ndarray":                      func(...any) (any, error) { return nil, errors.New("an array without data") },
	"numpy.dtype":                        dtypeOf,
	"collections.defaultdict":            func(...any) (any, error) { return &Dict{}, nil },
	"_codecs.encode":                     encode,
}

// sparse is a class of sparse matrices.
type sparse struct{ layout string }

// The types of the objects that these functions and classes return.
type (
	// Array is a numpy array. Its shape fits its data.
	Array struct {
		numpy.Array
		// Objects holds the elements of an array of objects, in C order. It is nil for an array of numbers.
		Objects []any
		raw     string
	}
	// Dict is a dictionary, in the order of the file.
	Dict struct{ Keys, Values []any }

	dtype struct{ numpy.DType }
)

// PyNew returns an empty matrix, to be filled by PyDictSet.
func (s sparse) PyNew(...any) (any, error) {
	return &Matrix{layout: s.layout, field: map[string]any{}}, nil
}

// dtypeOf returns the element type that its first argument names.
func dtypeOf(args ...any) (any, error) {
	if len(args) == 0 {
		return nil, errors.New("pickled dtype has no name")
	}
	name, _ := args[0].(string)
	d, err := numpy.ParseDType(name)
	return &dtype{d}, err
}

// scalar returns the number that a numpy scalar (type, bytes) holds: an int, or a float64.
func scalar(args ...any) (any, error) {
	if len(args) == 2 {
		kind, isKind := args[0].(*dtype)
		raw, isRaw := rawBytes(args[1])
		if isKind && isRaw && len(raw) == kind.Size {
			number := &numpy.Array{DType: kind.DType, R: strings.NewReader(raw)}
			if kind.Kind == 'f' {
				v, err := numpy.Numbers[float32](number)
				if err != nil {
					return nil, err
				}
				return float64(v[0]), nil
			}
			v, err := numpy.Numbers[int64](number)
			if err != nil {
				return nil, err
			}
			return int(v[0]), nil
		}
	}
	return nil, errors.New("pickled numpy scalar is not a type and its bytes")
}

// encode returns the bytes of a Latin-1 string, the form in which Python 3 writes bytes in old protocols.
func encode(args ...any) (any, error) {
	if len(args) > 0 {
		if text, ok := args[0].(string); ok {
			raw := make([]byte, 0, len(text))
			for _, r := range text {
				if r > 0xff {
					return nil, fmt.Errorf("pickled bytes hold the character %q, expected Latin-1", r)
				}
				raw = append(raw, byte(r))
			}
			return string(raw), nil
		}
	}
	return nil, errors.New("pickled bytes are not text")
}

// rawBytes returns the bytes of a string of Python 2 or 3.
func rawBytes(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []byte:
		return string(v), true
	}
	return "", false
}

// PySetState accepts (version, byte order, …).
func (d *dtype) PySetState(state any) error {
	t, ok := state.(*types.Tuple)
	if !ok || t.Len() < 2 {
		return errors.New("pickled dtype has no byte order")
	}
	order, _ := t.Get(1).(string)
	d.Big = order == ">"
	return nil
}

// PySetState accepts (version, shape, dtype, Fortran order, bytes), or a list of objects in place of bytes.
func (a *Array) PySetState(state any) error {
	t, ok := state.(*types.Tuple)
	if !ok || t.Len() != 5 {
		return errors.New("pickled array has no state of five fields")
	}
	shape, okShape := t.Get(1).(*types.Tuple)
	kind, okKind := t.Get(2).(*dtype)
	if !okShape || !okKind {
		return fmt.Errorf("pickled array has fields %T and %T, expected shape and type", t.Get(1), t.Get(2))
	}
	a.Shape = nil
	for _, s := range *shape {
		n, ok := s.(int)
		if !ok {
			return fmt.Errorf("pickled array has a %T in its shape", s)
		}
		a.Shape = append(a.Shape, n)
	}
	a.DType = kind.DType
	a.Fortran, _ = t.Get(3).(bool)
	if list, ok := t.Get(4).(*types.List); ok && kind.Kind == numpy.Object {
		a.Objects = *list
		one := *a
		one.Size = 1
		_, err := one.Length(int64(len(a.Objects)))
		return err
	}
	raw, okRaw := rawBytes(t.Get(4))
	if !okRaw || kind.Kind == numpy.Object {
		return fmt.Errorf("pickled array has data of type %T, expected bytes", t.Get(4))
	}
	a.raw = raw
	_, err := a.Length(int64(len(raw)))
	return err
}

// Set adds an entry.
func (d *Dict) Set(key, value any) {
	d.Keys, d.Values = append(d.Keys, key), append(d.Values, value)
}

// Open returns the array, ready to be read from its beginning.
func (a *Array) Open() *numpy.Array {
	numbers := a.Array
	numbers.R = strings.NewReader(a.raw)
	return &numbers
}

// Numbers returns the elements of object, which must be an *Array of numbers, in C order.
func Numbers[T numpy.Number](object any) ([]T, error) {
	a, ok := object.(*Array)
	if !ok {
		return nil, fmt.Errorf("found %s, expected a numpy array", Kind(object))
	}
	return numpy.Numbers[T](a.Open())
}
