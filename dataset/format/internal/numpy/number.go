package numpy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
)

// Number lists the Go types for the elements of an array.
type Number interface{ int32 | int64 | float32 }

// Numbers reads the elements of a in C order. If T is an integer type, a number outside its range is an error. If T is
// float32, numbers are rounded.
func Numbers[T Number](a *Array) ([]T, error) {
	d, err := NewDecoder[T](a)
	if err != nil {
		return nil, err
	}
	if a.Fortran && len(a.Shape) > 2 {
		return nil, fmt.Errorf("shape %v in Fortran order, must be at most 2 dimensions", a.Shape)
	}
	dst := memory.Make[T](d.n)
	if !a.Fortran || len(a.Shape) < 2 || d.n == 0 {
		return dst, d.Read(dst)
	}
	const most = 1 << 24 // numbers that are read together
	rows, cols := a.Shape[0], a.Shape[1]
	some := min(cols, max(1, most/rows))
	columns := memory.Make[T](some * rows)
	for j := 0; j < cols; j += some {
		columns = columns[:min(some, cols-j)*rows]
		if err := d.Read(columns); err != nil {
			return nil, err
		}
		transpose(dst, columns, rows, cols, j)
	}
	return dst, nil
}

// transpose sets columns first, first+1, … of dst, which is rows × cols. src holds these columns contiguously.
func transpose[T Number](dst, src []T, rows, cols, first int) {
	const tile = 64 // tiles of both matrices then fit into the cache
	for i0 := 0; i0 < rows; i0 += tile {
		for j := range len(src) / rows {
			for i := i0; i < min(i0+tile, rows); i++ {
				dst[i*cols+first+j] = src[j*rows+i]
			}
		}
	}
}

// Decoder reads the elements of an array as T, in the order of the file.
type Decoder[T Number] struct {
	a       *Array
	n, at   int // the number of elements, and the number already read
	convert func(dst []T, a *Array, first int) error
}

// NewDecoder begins to read an array. It fails if the array does not hold numbers.
func NewDecoder[T Number](a *Array) (*Decoder[T], error) {
	if a.Kind == Object || a.Kind == 0 {
		return nil, errors.New("pickled Python objects, must be numbers")
	}
	d := &Decoder[T]{a: a, n: 1}
	for _, s := range a.Shape {
		d.n *= s
	}
	kind := fmt.Sprint(string(a.Kind), a.Size)
	d.convert = map[string]func(dst []T, a *Array, first int) error{
		"b1": convert[T, uint8], "u1": convert[T, uint8], "u2": convert[T, uint16], "u4": convert[T, uint32],
		"u8": convert[T, uint64], "i1": convert[T, int8], "i2": convert[T, int16], "i4": convert[T, int32],
		"i8": convert[T, int64], "f2": convert[T, float16], "e2": convert[T, bfloat16], "f4": convert[T, float32],
		"f8": convert[T, float64],
	}[kind]
	if d.convert == nil {
		return nil, fmt.Errorf("elements of type %s, must be numbers", a.DType)
	}
	return d, nil
}

// Read reads the next len(dst) elements.
func (d *Decoder[T]) Read(dst []T) error {
	first := d.at
	d.at += len(dst)
	return d.convert(dst, d.a, first)
}

// Skip skips the next n elements.
func (d *Decoder[T]) Skip(n int) error {
	d.at += n
	if _, err := io.CopyN(io.Discard, d.a.R, int64(n)*int64(d.a.Size)); err != nil {
		return fmt.Errorf("reading %d numbers: %w", n, err)
	}
	return nil
}

// float16 and bfloat16 hold the bits of IEEE half-precision numbers and of the upper halves of float32.
type float16 uint16
type bfloat16 uint16

type element interface {
	uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64 | float16 | bfloat16 | float32 | float64
}

// convert fills dst with the next elements of a, which are stored as S. If T is S, they are read directly into dst.
// first is the index of the first of these elements.
func convert[T Number, S element](dst []T, a *Array, first int) error {
	swap := a.Big == (binary.NativeEndian.Uint16([]byte{1, 0}) == 1)
	if same, ok := any(dst).([]S); ok && !swap {
		if _, err := io.ReadFull(a.R, memory.Bytes(same)); err != nil {
			return fmt.Errorf("reading %d numbers: %w", len(dst), err)
		}
		return nil
	}
	buffer := make([]S, min(len(dst), 1<<17))
	for done := 0; done < len(dst); {
		block := buffer[:min(len(buffer), len(dst)-done)]
		raw := memory.Bytes(block)
		if _, err := io.ReadFull(a.R, raw); err != nil {
			return fmt.Errorf("reading number %d: %w", first+done, err)
		}
		if swap && a.Size > 1 {
			for e := range slices.Chunk(raw, a.Size) {
				slices.Reverse(e)
			}
		}
		if at := cast(dst[done:], block); at >= 0 {
			return fmt.Errorf("element %d is %v, which does not fit in %T", first+done+at, block[at], dst[0])
		}
		done += len(block)
	}
	return nil
}

// cast sets dst to the values of src. It returns the position of the first value that does not fit, or −1.
func cast[T Number, S element](dst []T, src []S) int {
	switch half := any(src).(type) {
	case []float16:
		return cast(dst, widen(half, kernel.WidenFloat16))
	case []bfloat16:
		return cast(dst, widen(half, kernel.WidenBFloat16))
	}
	if out, ok := any(dst).([]float32); ok {
		for i, v := range src {
			out[i] = float32(v)
		}
		return -1
	}
	for i, v := range src {
		dst[i] = T(v)
		if S(dst[i]) != v || dst[i] < 0 != (v < 0) {
			return i
		}
	}
	return -1
}

func widen[H float16 | bfloat16](half []H, widen func(dst []float32, src []uint16)) []float32 {
	wide, bits := make([]float32, len(half)), make([]uint16, len(half))
	for i, h := range half {
		bits[i] = uint16(h)
	}
	widen(wide, bits)
	return wide
}
