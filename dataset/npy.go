package dataset

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/graph-condensation/cgc/mat"
)

// array is a numpy array whose numbers are still to be read, from an .npy file, a member of an .npz file or a pickle.
type array struct {
	dtype
	shape   []int
	fortran bool // column-major
	r       io.Reader
}

// dtype is numpy's description of an element.
type dtype struct {
	kind byte // b bool, i integer, u unsigned, f float, S bytes, U text; of our own: e bfloat16
	size int  // in bytes
	big  bool // big-endian
}

// number is what arrays are read as.
type number interface{ int32 | int64 | float32 }

// parseDtype understands numpy's short form: byte order, kind, size, as in "<f4".
func parseDtype(s string) (dtype, error) {
	short := strings.TrimLeft(s, "<>|=")
	if short == "" {
		return dtype{}, fmt.Errorf("element type %q is not understood", s)
	}
	size, err := strconv.Atoi(short[1:])
	d := dtype{kind: short[0], size: size, big: s[0] == '>'}
	known := map[byte][]int{'b': {1}, 'i': {1, 2, 4, 8}, 'u': {1, 2, 4, 8}, 'f': {2, 4, 8}}[d.kind]
	if text := d.kind == 'S' || d.kind == 'U'; err != nil || !text && !slices.Contains(known, size) || text && size < 0 {
		return dtype{}, fmt.Errorf("element type %q, want bool, integers of 1 to 8 bytes or floats of 2 to 8", s)
	}
	if d.kind == 'U' {
		d.size *= 4
	}
	return d, nil
}

// length returns the number of elements, and an error if their bytes are not the size that is there.
func (a *array) length(bytes int64) (int, error) {
	n := int64(1)
	for _, s := range a.shape {
		if s < 0 || s > 0 && n > math.MaxInt64/64/int64(s) {
			return 0, fmt.Errorf("shape %v is not possible", a.shape)
		}
		n *= int64(s)
	}
	if n > math.MaxInt64/int64(max(1, a.size)) || n*int64(a.size) != bytes {
		return 0, fmt.Errorf("shape %v of %d-byte elements does not take the %d bytes that are there", a.shape, a.size, bytes)
	}
	return int(n), nil
}

// newArray reads the header of an .npy file of the given size.
func newArray(r io.Reader, size int64) (*array, error) {
	start := make([]byte, 12)
	if _, err := io.ReadFull(r, start[:10]); err != nil || string(start[:6]) != "\x93NUMPY" {
		return nil, errors.New("not a numpy array: the magic word is missing")
	}
	used, length := int64(10), int64(binary.LittleEndian.Uint16(start[8:]))
	if start[6] >= 2 {
		if _, err := io.ReadFull(r, start[10:]); err != nil {
			return nil, errors.New("numpy header is cut short")
		}
		used, length = 12, int64(binary.LittleEndian.Uint32(start[8:]))
	}
	if length > size-used || length > 1<<20 {
		return nil, fmt.Errorf("numpy header of %d bytes in a file of %d, want at most 1 MiB", length, size)
	}
	header := make([]byte, length)
	if _, err := io.ReadFull(r, header); err != nil {
		return nil, errors.New("numpy header is cut short")
	}
	a := &array{r: r}
	field := func(key string) string {
		_, value, _ := strings.Cut(string(header), "'"+key+"':")
		return strings.TrimSpace(value)
	}
	descr, quoted := strings.CutPrefix(field("descr"), "'")
	descr, _, closed := strings.Cut(descr, "'")
	if !quoted || !closed {
		return nil, errors.New("numpy array of records, want one of numbers")
	}
	var err error
	if a.dtype, err = parseDtype(descr); err != nil {
		return nil, err
	}
	a.fortran = strings.HasPrefix(field("fortran_order"), "True")
	shape, open := strings.CutPrefix(field("shape"), "(")
	shape, _, closed = strings.Cut(shape, ")")
	if !open || !closed {
		return nil, errors.New("numpy header has no shape")
	}
	for s := range strings.SplitSeq(shape, ",") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		n, err := strconv.Atoi(s)
		if err != nil {
			return nil, fmt.Errorf("numpy shape (%s) is not made of numbers", shape)
		}
		a.shape = append(a.shape, n)
	}
	_, err = a.length(size - used - length)
	return a, err
}

// readNumbers reads the elements of a in C order. A number that T cannot hold exactly is an error if T is an integer; as a
// float32 it is rounded.
func readNumbers[T number](a *array) ([]T, error) {
	n := 1
	for _, s := range a.shape {
		n *= s
	}
	dst := make([]T, n)
	var err error
	switch kind := fmt.Sprint(string(a.kind), a.size); kind {
	case "b1", "u1":
		err = convert[T, uint8](dst, a)
	case "u2":
		err = convert[T, uint16](dst, a)
	case "u4":
		err = convert[T, uint32](dst, a)
	case "u8":
		err = convert[T, uint64](dst, a)
	case "i1":
		err = convert[T, int8](dst, a)
	case "i2":
		err = convert[T, int16](dst, a)
	case "i4":
		err = convert[T, int32](dst, a)
	case "i8":
		err = convert[T, int64](dst, a)
	case "f2":
		err = convert[T, float16](dst, a)
	case "e2":
		err = convert[T, bfloat16](dst, a)
	case "f4":
		err = convert[T, float32](dst, a)
	case "f8":
		err = convert[T, float64](dst, a)
	default:
		err = fmt.Errorf("elements of type %s, want numbers", kind)
	}
	if err != nil || !a.fortran || len(a.shape) < 2 {
		return dst, err
	}
	if len(a.shape) > 2 {
		return nil, fmt.Errorf("shape %v in Fortran order, want at most 2 dimensions", a.shape)
	}
	rows, cols := a.shape[0], a.shape[1]
	c := make([]T, n)
	const tile = 64 // both sides of the transposition then stay in cache
	for i0 := 0; i0 < rows; i0 += tile {
		for j := range cols {
			for i := i0; i < min(i0+tile, rows); i++ {
				c[i*cols+j] = dst[j*rows+i]
			}
		}
	}
	return c, nil
}

// float16 is an IEEE half, by its bits.
type float16 uint16

// float32 returns the value of h, which float32 holds exactly.
func (h float16) float32() float32 {
	sign, exponent, fraction := uint32(h)&0x8000<<16, uint32(h)>>10&0x1f, uint32(h)&0x3ff
	switch exponent {
	case 0: // zero and subnormal: fraction·2⁻²⁴
		v := float32(fraction) * 0x1p-24
		return math.Float32frombits(math.Float32bits(v) | sign)
	case 0x1f: // infinity and NaN
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}

// bfloat16 is the upper half of a float32.
type bfloat16 uint16

func (h bfloat16) float32() float32 { return math.Float32frombits(uint32(h) << 16) }

type element interface {
	uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64 | float16 | bfloat16 | float32 | float64
}

// bytesOf returns the memory of s.
func bytesOf[E element](s []E) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}

// convert fills dst with the elements of a, stored as S. Where the two types are one, they are read in place.
func convert[T number, S element](dst []T, a *array) error {
	swap := a.big == (binary.NativeEndian.Uint16([]byte{1, 0}) == 1)
	if same, ok := any(dst).([]S); ok && !swap {
		if _, err := io.ReadFull(a.r, bytesOf(same)); err != nil {
			return fmt.Errorf("reading %d numbers: %w", len(dst), err)
		}
		return nil
	}
	buffer := make([]S, min(len(dst), 1<<17))
	for done := 0; done < len(dst); {
		block := buffer[:min(len(buffer), len(dst)-done)]
		raw := bytesOf(block)
		if _, err := io.ReadFull(a.r, raw); err != nil {
			return fmt.Errorf("reading number %d of %d: %w", done, len(dst), err)
		}
		if swap && a.size > 1 {
			for e := range slices.Chunk(raw, a.size) {
				slices.Reverse(e)
			}
		}
		if at := cast(dst[done:], block); at >= 0 {
			return fmt.Errorf("element %d is %v, which does not fit in %T", done+at, block[at], dst[0])
		}
		done += len(block)
	}
	return nil
}

// cast sets dst to the values of src and returns the position of the first that an integer type cannot hold, or −1.
func cast[T number, S element](dst []T, src []S) int {
	switch half := any(src).(type) {
	case []float16:
		return cast(dst, widen(half))
	case []bfloat16:
		return cast(dst, widen(half))
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

func widen[H interface{ float32() float32 }](half []H) []float32 {
	wide := make([]float32, len(half))
	for i, h := range half {
		wide[i] = h.float32()
	}
	return wide
}

// readDense reads a two-dimensional array; a vector counts as one column.
func readDense(a *array) (*mat.Dense, error) {
	if len(a.shape) == 1 {
		a.shape = append(a.shape, 1)
	}
	if len(a.shape) != 2 {
		return nil, fmt.Errorf("shape %v, want rows and columns", a.shape)
	}
	data, err := readNumbers[float32](a)
	if err != nil {
		return nil, err
	}
	return &mat.Dense{Rows: a.shape[0], Cols: a.shape[1], Data: data}, nil
}

// readNpy reads an .npy file of two dimensions.
func readNpy(file string) (*mat.Dense, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	a, err := newArray(bufio.NewReaderSize(f, 1<<16), info.Size())
	if err != nil {
		return nil, &ReadError{File: file, Err: err}
	}
	x, err := readDense(a)
	if err != nil {
		return nil, &ReadError{File: file, Err: err}
	}
	return x, nil
}
