package format

import (
	"fmt"
	"strings"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// Arrays holds a graph as named arrays, and strings that describe the graph.
type Arrays struct {
	// Metadata maps keys to strings. The key "format" names the kind of content.
	Metadata map[string]string
	// List holds the arrays. Their names are distinct, even with "." replaced by "_".
	List []Array
}

// Array is an array with a name.
type Array struct {
	// Name consists of words separated by dots. A store whose names must be identifiers replaces "." by "_".
	Name string
	// Shape is the length of each dimension; nil means the shape of Data.
	Shape []int
	// Data holds the elements in C order. WriteArrays accepts
	//
	//	[]float32, []int64, []bool
	//	[]int32        integers; a store may write them as int64
	//	[]string       one dimension
	//	mat.Matrix     float32, read in blocks
	//
	// ReadArrays converts every element type of a file to []float32, []int64 (booleans are 0 and 1) or []string.
	Data any
	// Derived marks an array that can be computed from the other arrays, and is only stored for programs that read the
	// file. A store may omit it.
	Derived bool
}

// Add adds an array. Without a shape it has one dimension.
func (a *Arrays) Add(name string, data any, shape ...int) {
	a.List = append(a.List, Array{Name: name, Shape: shape, Data: data})
}

// Find returns the array of that name, or nil. It treats "." and "_" as equal.
func (a *Arrays) Find(name string) *Array {
	for i := range a.List {
		if PlainName(a.List[i].Name) == PlainName(name) {
			return &a.List[i]
		}
	}
	return nil
}

// PlainName returns the name of an array as an identifier: with "." replaced by "_".
func PlainName(name string) string { return strings.ReplaceAll(name, ".", "_") }

// Sides returns the shape, or the shape of the data if Shape is nil.
func (a *Array) Sides() []int {
	if a.Shape != nil {
		return a.Shape
	}
	if x, is := a.Data.(mat.Matrix); is {
		rows, cols := x.Dims()
		return []int{rows, cols}
	}
	if n := length(a.Data); n >= 0 {
		return []int{n}
	}
	return nil
}

// Floats returns the elements of an array from ReadArrays, as float32.
func (a *Array) Floats() ([]float32, error) {
	switch data := a.Data.(type) {
	case []float32:
		return data, nil
	case []int64:
		out := memory.Make[float32](len(data))
		for i, v := range data {
			out[i] = float32(v)
		}
		return out, nil
	}
	return nil, fmt.Errorf("array %s holds %s, must hold numbers", a.Name, kindOf(a.Data))
}

// Ints returns the elements of an array from ReadArrays, as int64. A number with a fraction is an error.
func (a *Array) Ints() ([]int64, error) {
	switch data := a.Data.(type) {
	case []int64:
		return data, nil
	case []float32:
		out := memory.Make[int64](len(data))
		for i, v := range data {
			if out[i] = int64(v); float32(out[i]) != v {
				return nil, fmt.Errorf("array %s: element %d is %v, must be an integer", a.Name, i, v)
			}
		}
		return out, nil
	}
	return nil, fmt.Errorf("array %s holds %s, must hold integers", a.Name, kindOf(a.Data))
}

// Strings returns the elements of an array of strings.
func (a *Array) Strings() ([]string, error) {
	if data, ok := a.Data.([]string); ok {
		return data, nil
	}
	return nil, fmt.Errorf("array %s holds %s, must hold strings", a.Name, kindOf(a.Data))
}

// kindOf names the kind of data in errors.
func kindOf(data any) string {
	switch data.(type) {
	case []float32, []int64, []int32, []bool, mat.Matrix:
		return "numbers"
	case []string:
		return "strings"
	}
	return fmt.Sprintf("a %T", data)
}
