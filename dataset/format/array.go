package format

import (
	"fmt"
	"strings"

	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// Arrays is a graph as arrays that have names, and strings that describe it.
type Arrays struct {
	// Metadata holds strings by their names. Its key "format" says what the arrays are.
	Metadata map[string]string
	// List holds the arrays. Names differ, also where "." is written as "_".
	List []Array
}

// Array is an array with a name.
type Array struct {
	// Name consists of words with points between them. A store whose names must be identifiers writes "_" for ".".
	Name string
	// Shape is the length of each side; nil for the length of Data.
	Shape []int
	// Data holds the elements in C order. WriteArrays takes
	//
	//	[]float32, []int64, []bool
	//	[]int32        whole numbers; a store may write them as int64
	//	[]string       one dimension
	//	mat.Matrix     float32, read in blocks
	//
	// ReadArrays returns []float32, []int64 (truth values are 0 and 1) or []string, whatever the file has.
	Data any
	// Derived says that the array follows from the others. It is there for programs that read the file. A store may leave
	// it out.
	Derived bool
}

// Add adds an array. Without a shape it has one dimension.
func (a *Arrays) Add(name string, data any, shape ...int) {
	a.List = append(a.List, Array{Name: name, Shape: shape, Data: data})
}

// Find returns the array of that name, where "." and "_" are alike; nil if there is none.
func (a *Arrays) Find(name string) *Array {
	for i := range a.List {
		if PlainName(a.List[i].Name) == PlainName(name) {
			return &a.List[i]
		}
	}
	return nil
}

// PlainName returns the name of an array as an identifier: with "_" for ".".
func PlainName(name string) string { return strings.ReplaceAll(name, ".", "_") }

// Sides returns the shape: that of the data if Shape is nil.
func (a *Array) Sides() []int {
	if a.Shape != nil {
		return a.Shape
	}
	switch data := a.Data.(type) {
	case []float32:
		return []int{len(data)}
	case []int64:
		return []int{len(data)}
	case []int32:
		return []int{len(data)}
	case []bool:
		return []int{len(data)}
	case []string:
		return []int{len(data)}
	case mat.Matrix:
		rows, cols := data.Dims()
		return []int{rows, cols}
	}
	return nil
}

// Floats returns the elements of an array that was read as float32.
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
	return nil, fmt.Errorf("array %s holds %s, want numbers", a.Name, kindOf(a.Data))
}

// Ints returns the elements of an array that was read as int64. A number with a fraction is an error.
func (a *Array) Ints() ([]int64, error) {
	switch data := a.Data.(type) {
	case []int64:
		return data, nil
	case []float32:
		out := memory.Make[int64](len(data))
		for i, v := range data {
			if out[i] = int64(v); float32(out[i]) != v {
				return nil, fmt.Errorf("array %s: element %d is %v, want a whole number", a.Name, i, v)
			}
		}
		return out, nil
	}
	return nil, fmt.Errorf("array %s holds %s, want whole numbers", a.Name, kindOf(a.Data))
}

// Strings returns the elements of an array of texts that was read.
func (a *Array) Strings() ([]string, error) {
	if data, ok := a.Data.([]string); ok {
		return data, nil
	}
	return nil, fmt.Errorf("array %s holds %s, want texts", a.Name, kindOf(a.Data))
}

// kindOf names what data holds.
func kindOf(data any) string {
	switch data.(type) {
	case []float32, []int64, []int32, []bool, mat.Matrix:
		return "numbers"
	case []string:
		return "texts"
	}
	return fmt.Sprintf("a %T", data)
}
