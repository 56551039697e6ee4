// Package npy writes numpy's .npy files, which numpy can map into memory.
package npy

import (
	"fmt"
	"io"
	"iter"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/mat"
)

// Write writes an array in C order, little-endian. Matrices are read in blocks and stored as mat.F32 or mat.F16;
// integers become int64. It fails if a value is too large for mat.F16, or if reading fails.
func Write(w io.Writer, a format.Array, storage mat.Storage) error {
	if storage != mat.F32 && storage != mat.F16 {
		return fmt.Errorf("array %s: number type %s, must be f32 or f16: numpy has no other", a.Name, storage)
	}
	d, blocks, err := numpy.Encode(a)
	if err != nil {
		return err
	}
	if x, is := a.Data.(mat.Matrix); is && storage == mat.F16 {
		d.Size, blocks = 2, halves(a.Name, x)
	}
	if _, err := w.Write(numpy.Header(d, a.Sides())); err != nil {
		return err
	}
	for raw, err := range blocks {
		if err != nil {
			return err
		}
		if _, err := w.Write(raw); err != nil {
			return err
		}
	}
	return nil
}

// halves yields blocks of the bytes of a matrix as float16.
func halves(name string, x mat.Matrix) iter.Seq2[[]byte, error] {
	_, d := x.Dims()
	largest := mat.F16.Largest()
	return func(yield func([]byte, error) bool) {
		first := 0
		for block, err := range mat.Blocks(x) {
			if err != nil {
				yield(nil, err)
				return
			}
			for i, v := range block.Data {
				if v > largest || v < -largest {
					yield(nil, fmt.Errorf("array %s: element (%d, %d) is %v, must be at most %v in f16",
						name, first+i/d, i%d, v, largest))
					return
				}
			}
			first += block.Rows
			half := make([]uint16, len(block.Data))
			kernel.NarrowFloat16(half, block.Data)
			if !yield(numpy.LittleEndian(half), nil) {
				return
			}
		}
	}
}
