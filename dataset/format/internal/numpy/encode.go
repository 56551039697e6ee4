package numpy

import (
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// encodeBlock is the number of elements that are encoded at once.
const encodeBlock = 1 << 17

// Encode returns the type of an array in the file, and blocks of its little-endian bytes in C order. Integers become
// int64, and strings get the width of the longest. An error names a value that cannot be written.
func Encode(a format.Array) (d DType, blocks iter.Seq2[[]byte, error], err error) {
	switch data := a.Data.(type) {
	case []float32:
		return DType{Kind: 'f', Size: 4}, func(yield func([]byte, error) bool) { yield(LittleEndian(data), nil) }, nil
	case mat.Matrix:
		return DType{Kind: 'f', Size: 4}, encodeMatrix(data), nil
	case []int64:
		return DType{Kind: 'i', Size: 8}, encode(data, func(raw []byte, v int64) []byte {
			return binary.LittleEndian.AppendUint64(raw, uint64(v))
		}), nil
	case []int32:
		return DType{Kind: 'i', Size: 8}, encode(data, func(raw []byte, v int32) []byte {
			return binary.LittleEndian.AppendUint64(raw, uint64(v))
		}), nil
	case []bool:
		return DType{Kind: 'b', Size: 1}, encode(data, func(raw []byte, v bool) []byte {
			if v {
				return append(raw, 1)
			}
			return append(raw, 0)
		}), nil
	case []string:
		return encodeText(a.Name, data)
	}
	return DType{}, nil, fmt.Errorf("array %s holds a %T, must hold numbers or strings", a.Name, a.Data)
}

// LittleEndian returns the little-endian bytes of numbers: their memory, if the machine is little-endian too.
func LittleEndian[E float32 | uint16](numbers []E) []byte {
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		return memory.Bytes(numbers)
	}
	raw, _ := binary.Append(nil, binary.LittleEndian, numbers) // these types cannot fail
	return raw
}

func encode[E any](data []E, add func([]byte, E) []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var raw []byte
		for block := range slices.Chunk(data, encodeBlock) {
			raw = raw[:0]
			for _, v := range block {
				raw = add(raw, v)
			}
			if !yield(raw, nil) {
				return
			}
		}
	}
}

// encodeMatrix encodes a matrix that is read in blocks.
func encodeMatrix(x mat.Matrix) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for block, err := range mat.Blocks(x) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(LittleEndian(block.Data), nil) {
				return
			}
		}
	}
}

// encodeText encodes strings as numpy's type U: code points, padded with zeros. A string that ends in a zero is an
// error, because numpy would drop it.
func encodeText(name string, texts []string) (DType, iter.Seq2[[]byte, error], error) {
	longest := 1
	for i, s := range texts {
		if strings.HasSuffix(s, "\x00") || !utf8.ValidString(s) {
			return DType{}, nil, fmt.Errorf("array %s: text %d is %.40q, which numpy's text cannot hold", name, i, s)
		}
		longest = max(longest, utf8.RuneCountInString(s))
	}
	const most = 1 << 34
	if int64(longest)*4 > most/int64(max(1, len(texts))) {
		return DType{}, nil, fmt.Errorf("array %s: %d strings of up to %d characters, must be at most 16 GiB of them",
			name, len(texts), longest)
	}
	return DType{Kind: 'U', Size: 4 * longest}, encode(texts, func(raw []byte, s string) []byte {
		end := len(raw) + 4*longest
		for _, r := range s {
			raw = binary.LittleEndian.AppendUint32(raw, uint32(r))
		}
		return append(raw, make([]byte, end-len(raw))...)
	}), nil
}

// Header returns the header of an .npy file: version 1, little-endian, C order, padded to a multiple of 64 bytes.
func Header(d DType, shape []int) []byte {
	list := strings.ReplaceAll(strings.Trim(fmt.Sprint(shape), "[]"), " ", ", ")
	if len(shape) == 1 {
		list += ","
	}
	order, size := "<", d.Size
	switch d.Kind {
	case 'b':
		order = "|"
	case 'U':
		size /= 4
	}
	text := fmt.Sprintf("{'descr': '%s%c%d', 'fortran_order': False, 'shape': (%s), }", order, d.Kind, size, list)
	const start, align = 10, 64
	text += strings.Repeat(" ", (align-(start+len(text)+1)%align)%align) + "\n"
	return append(binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(text))), text...)
}

// Values returns the elements as format.ArrayStore.ReadArrays does: []float32, []int64 or []string.
func Values(a *Array) (any, error) {
	switch a.Kind {
	case 'U', 'S':
		return Texts(a)
	case 'f', 'e':
		return Numbers[float32](a)
	}
	return Numbers[int64](a)
}

// Texts returns the elements of an array of strings (U) or bytes (S).
func Texts(a *Array) ([]string, error) {
	if a.Strings != nil {
		return a.Strings, nil
	}
	if a.Kind != 'U' && a.Kind != 'S' {
		return nil, fmt.Errorf("elements of type %s, must be text", a.DType)
	}
	n := 1
	for _, s := range a.Shape {
		n *= s
	}
	texts, raw := make([]string, 0, min(n, encodeBlock)), make([]byte, min(n, 1)*a.Size)
	for i := range n {
		if _, err := io.ReadFull(a.R, raw); err != nil {
			return nil, fmt.Errorf("reading text %d of %d: %w", i, n, err)
		}
		texts = append(texts, textOf(a.DType, raw))
	}
	return texts, nil
}

// textOf returns the string of one element, without trailing zeros.
func textOf(d DType, raw []byte) string {
	if d.Kind == 'S' {
		return strings.TrimRight(string(raw), "\x00")
	}
	var b strings.Builder
	var order binary.ByteOrder = binary.LittleEndian
	if d.Big {
		order = binary.BigEndian
	}
	for r := range slices.Chunk(raw, 4) {
		b.WriteRune(rune(order.Uint32(r)))
	}
	return strings.TrimRight(b.String(), "\x00")
}
