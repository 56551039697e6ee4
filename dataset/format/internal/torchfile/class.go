package torchfile

import (
	"errors"
	"fmt"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/dataset/format/internal/pickle"
	"github.com/nlpodyssey/gopickle/types"
)

// dtypes maps torch's names of element types to the types. storages maps the classes of storages to these names.
var dtypes = map[string]numpy.DType{
	"float64": {Kind: 'f', Size: 8}, "float32": {Kind: 'f', Size: 4}, "float16": {Kind: 'f', Size: 2},
	"bfloat16": {Kind: 'e', Size: 2}, "int64": {Kind: 'i', Size: 8}, "int32": {Kind: 'i', Size: 4},
	"int16": {Kind: 'i', Size: 2}, "int8": {Kind: 'i', Size: 1}, "uint8": {Kind: 'u', Size: 1},
	"uint16": {Kind: 'u', Size: 2}, "uint32": {Kind: 'u', Size: 4}, "uint64": {Kind: 'u', Size: 8},
	"bool": {Kind: 'b', Size: 1},
}

var storages = map[string]string{
	"DoubleStorage": "float64", "FloatStorage": "float32", "HalfStorage": "float16", "BFloat16Storage": "bfloat16",
	"LongStorage": "int64", "IntStorage": "int32", "ShortStorage": "int16", "CharStorage": "int8",
	"ByteStorage": "uint8", "BoolStorage": "bool",
}

// records lists the classes whose objects are read as records of their attributes. No code of these classes is run.
var records = map[string]bool{
	"torch_geometric.data.data.Data":              true,
	"torch_geometric.data.data.DataEdgeAttr":      true,
	"torch_geometric.data.data.DataTensorAttr":    true,
	"torch_geometric.data.hetero_data.HeteroData": true,
	"torch_geometric.data.storage.GlobalStorage":  true,
	attrType: true,
	"torch_geometric.data.feature_store.TensorAttr": true,
	"torch_geometric.data.graph_store.EdgeAttr":     true,
	"torch_geometric.data.storage.BaseStorage":      true,
	"torch_geometric.data.storage.NodeStorage":      true,
	"torch_geometric.data.storage.EdgeStorage":      true,
	"torch_sparse.tensor.SparseTensor":              true,
	"torch_sparse.storage.SparseStorage":            true,
	"torch.device":                                  true,
	"cgc._condensed.Origin":                         true,
}

// attrType is an enumeration. Pickles refer to its members through getattr.
const attrType = "torch_geometric.data.storage.AttrType"

// functions maps the names of the functions that a pickle of torch may call to their implementations.
var functions = map[string]pickle.Function{
	"torch._utils._rebuild_tensor":            rebuildTensor,
	"torch._utils._rebuild_tensor_v2":         rebuildTensor,
	"torch._utils._rebuild_tensor_v3":         rebuildUntyped,
	"torch._utils._rebuild_parameter":         first,
	"torch._utils._rebuild_sparse_tensor":     rebuildSparse,
	"torch._utils._rebuild_sparse_csr_tensor": rebuildSparse,
	"torch.serialization._get_layout":         first,
	"torch.Size":                              first,
	"builtins.set":                            setOf,
	"__builtin__.set":                         setOf,
	"builtins.getattr":                        memberOf,
	"__builtin__.getattr":                     memberOf,
}

// classOf returns the Go value of a class or a function of torch or PyTorch Geometric, if it is listed above.
func classOf(module, name string) (any, bool) {
	full := module + "." + name
	if f, known := functions[full]; known {
		return f, true
	}
	if records[full] {
		return class(full), true
	}
	if d, known := dtypes[name]; known && module == "torch" {
		return element{d}, true
	}
	if of, known := storages[name]; known && module == "torch" {
		return element{dtypes[of]}, true
	}
	if full == "torch.storage.UntypedStorage" || full == "torch.storage._UntypedStorage" {
		return element{dtypes["uint8"]}, true
	}
	return nil, false
}

type (
	// class is the name of a class. Calling it creates a record of that class, without running any code.
	class string
	// element is an element type, or the type of a storage.
	element struct{ numpy.DType }
)

// PyNew returns an empty record.
func (c class) PyNew(...any) (any, error) {
	return &Record{Class: string(c), Fields: map[string]any{}}, nil
}

// Call returns an empty record.
func (c class) Call(...any) (any, error) { return c.PyNew() }

// Record is an object that is read as its attributes.
type Record struct {
	// Class is the name of the class, with its module.
	Class string
	// Fields are the attributes.
	Fields map[string]any
}

// PyDictSet sets an attribute.
func (r *Record) PyDictSet(key, value any) error {
	if name, ok := key.(string); ok {
		r.Fields[name] = value
	}
	return nil
}

func first(args ...any) (any, error) {
	if len(args) == 0 {
		return nil, errors.New("torch's pickle calls a function without an argument")
	}
	return args[0], nil
}

// setOf returns the items of a set.
func setOf(args ...any) (any, error) { return append([]any{nil}, args...)[len(args)], nil }

// memberOf returns the name of a member of attrType. No other attribute is looked up.
func memberOf(args ...any) (any, error) {
	if len(args) == 2 && args[0] == any(class(attrType)) {
		return args[1], nil
	}
	return nil, errors.New("pickle uses the function getattr, which no data set needs")
}

// rebuildTensor takes the arguments (storage, offset, shape, strides, …).
func rebuildTensor(args ...any) (any, error) {
	if len(args) >= 4 {
		s, isStorage := args[0].(*storage)
		offset, isNumber := args[1].(int)
		shape, isShape := ints(args[2])
		stride, isStride := ints(args[3])
		if isStorage && isNumber && isShape && isStride && len(shape) == len(stride) {
			return &Tensor{DType: s.DType, Shape: shape, stride: stride, offset: offset, storage: s}, nil
		}
	}
	return nil, errors.New("torch's pickle has a tensor that is not a storage, an offset, a shape and strides")
}

// rebuildUntyped takes the arguments (storage, offset, shape, strides, gradient, hooks, type, …).
func rebuildUntyped(args ...any) (any, error) {
	if len(args) >= 7 {
		if kind, ok := args[6].(element); ok {
			made, err := rebuildTensor(args...)
			if err != nil {
				return nil, err
			}
			t := made.(*Tensor)
			t.DType = kind.DType
			return t, nil
		}
	}
	return nil, errors.New("torch's pickle has a tensor without a type")
}

// rebuildSparse takes the arguments (layout, parts). The parts are indices, values and shape, or row pointers, columns,
// values and shape.
func rebuildSparse(args ...any) (any, error) {
	if len(args) >= 2 {
		layout, _ := args[0].(string)
		parts, ok := args[1].(*types.Tuple)
		layout = strings.TrimPrefix(layout, "torch.sparse_")
		switch {
		case ok && layout == "coo" && parts.Len() >= 3:
			return newSparse(layout, parts.Get(0), nil, parts.Get(1), parts.Get(2))
		case ok && (layout == "csr" || layout == "csc") && parts.Len() >= 4:
			return newSparse(layout, parts.Get(0), parts.Get(1), parts.Get(2), parts.Get(3))
		case ok && layout != "":
			return nil, fmt.Errorf("torch's pickle has a sparse tensor of layout %.40q, must be coo, csr or csc", layout)
		}
	}
	return nil, errors.New("torch's pickle has a sparse tensor without its parts")
}

func newSparse(layout string, a, b, values, size any) (*Sparse, error) {
	shape, ok := ints(size)
	if !ok || len(shape) != 2 {
		return nil, fmt.Errorf("torch's pickle has a sparse tensor of shape %v, must have two sides", shape)
	}
	return &Sparse{layout: layout, Rows: shape[0], Cols: shape[1], index: a, columns: b, values: values}, nil
}

// stringsOf returns a list of strings.
func stringsOf(v any) (texts []string, ok bool) {
	list, ok := v.(*types.List)
	if !ok {
		return nil, false
	}
	texts = make([]string, len(*list))
	for i, item := range *list {
		if texts[i], ok = item.(string); !ok {
			return nil, false
		}
	}
	return texts, true
}

// ints returns a tuple or a list of numbers.
func ints(v any) ([]int, bool) {
	var items []any
	switch v := v.(type) {
	case *types.Tuple:
		items = *v
	case *types.List:
		items = *v
	default:
		return nil, false
	}
	numbers := make([]int, len(items))
	for i, item := range items {
		n, ok := item.(int)
		if !ok {
			return nil, false
		}
		numbers[i] = n
	}
	return numbers, true
}
