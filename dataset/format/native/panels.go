package native

import (
	"strconv"

	"github.com/graph-condensation/cgc/internal/paneled"
	"github.com/graph-condensation/cgc/internal/safetensors"
	"github.com/graph-condensation/cgc/mat"
)

// storageOf returns the storage format of features in a tensor of the given type, or "" if the type is not supported.
func storageOf(t safetensors.DType) mat.Storage {
	for storage, stored := range dtypes {
		if stored == t {
			return storage
		}
	}
	return ""
}

// dtypes maps each storage format of features to the type of its tensors.
var dtypes = map[mat.Storage]safetensors.DType{
	mat.F32: safetensors.F32, mat.F16: safetensors.F16, mat.BF16: safetensors.BF16,
}

// panelName returns the name of the tensor of panel k, if there are several.
func panelName(k int) string { return "x." + strconv.Itoa(k) }

// featureName returns the name of the tensor of panel k of count.
func featureName(k, count int) string {
	if count == 1 {
		return "x"
	}
	return panelName(k)
}

// panels reads x.0, x.1, …. They must have equal numbers of rows and one type, and all except the last must have equal
// numbers of columns.
func (f *file) panels() mat.Matrix {
	first, _ := f.Find(panelName(0))
	shape := f.dims(panelName(0), 2)
	if storageOf(first.DType) == "" {
		f.fail("tensor %s is %s, expected F32, F16 or BF16", panelName(0), first.DType)
	}
	var names []string
	cols := 0
	for k := 0; f.err == nil; k++ {
		t, ok := f.Find(panelName(k))
		if !ok {
			break
		}
		here := f.dims(t.Name, 2)
		if f.err != nil {
			break
		}
		if t.DType != first.DType || here[0] != shape[0] || here[1] > shape[1] || cols != k*shape[1] || here[1] < 1 {
			f.fail("tensor %s is %s %v, expected %s with %d rows and %d columns, fewer only in the last panel",
				t.Name, t.DType, here, first.DType, shape[0], shape[1])
		}
		names, cols = append(names, t.Name), cols+here[1]
	}
	if f.err != nil {
		return nil
	}
	return f.panelsOf(names, shape[0], cols, shape[1], first.DType)
}

// panelsOf returns the matrix of the given tensors, which stay in the file.
func (f *file) panelsOf(names []string, rows, cols, width int, t safetensors.DType) mat.Matrix {
	var x *paneled.Matrix
	var err error
	if t == safetensors.F32 {
		x, err = paneled.OfFloats(rows, cols, width, mapped[float32](f, names))
	} else {
		x, err = paneled.OfHalves(rows, cols, width, storageOf(t), mapped[uint16](f, names))
	}
	if f.note(err); f.err != nil {
		return nil
	}
	return x
}

// mapped returns the elements of tensors.
func mapped[E float32 | uint16](f *file, names []string) (all [][]E) {
	for _, name := range names {
		s, err := safetensors.Slice[E](f.File, name)
		f.note(err)
		all = append(all, s)
	}
	return all
}

// note keeps the first error.
func (f *file) note(err error) {
	if err != nil {
		f.fail("%w", err)
	}
}

// panelTensors returns the panels of x, or the tensor x if there is one panel.
func panelTensors(x *paneled.Matrix) (tensors []safetensors.Tensor) {
	rows, _ := x.Dims()
	for k := range x.Count() {
		t := safetensors.Tensor{Name: featureName(k, x.Count()), DType: dtypes[x.Storage()], Data: x.Halves(k)}
		length := len(x.Halves(k))
		if x.Storage() == mat.F32 {
			t.Data, length = x.Floats(k), len(x.Floats(k))
		}
		t.Shape = []int{rows, length / max(1, rows)}
		tensors = append(tensors, t)
	}
	return tensors
}
