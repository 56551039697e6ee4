// Package npy writes numpy's .npy files, which numpy can map into memory.
package npy

import (
	"fmt"
	"io"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/mat"
)

// Write writes an array in C order, little-endian. Matrices are read in blocks and stored as mat.F32 or mat.F16;
// integers become int64. It fails if a value is too large for mat.F16, or if reading fails.
func Write(w io.Writer, a format.Array, storage mat.Storage) error {
	if x, is := a.Data.(mat.Matrix); is && storage == mat.F16 {
		return writeHalf(w, a.Name, x)
	}
	if storage != mat.F32 && storage != mat.F16 {
		return fmt.Errorf("array %s: number type %s, must be f32 or f16: numpy has no other", a.Name, storage)
	}
	d, blocks, err := numpy.Encode(a)
	if err != nil {
		return err
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

// writeHalf writes a matrix as float16.
func writeHalf(w io.Writer, name string, x mat.Matrix) error {
	n, d := x.Dims()
	if _, err := w.Write(numpy.Header(numpy.DType{Kind: 'f', Size: 2}, []int{n, d})); err != nil {
		return err
	}
	var half []uint16
	first, largest := 0, mat.F16.Largest()
	for block, err := range mat.Blocks(x) {
		if err != nil {
			return err
		}
		for i, v := range block.Data {
			if v > largest || v < -largest {
				return fmt.Errorf("array %s: element (%d, %d) is %v, must be at most %v in f16", name, first+i/d, i%d, v,
					largest)
			}
		}
		first += block.Rows
		if len(half) < len(block.Data) {
			half = make([]uint16, len(block.Data))
		}
		kernel.NarrowFloat16(half[:len(block.Data)], block.Data)
		if _, err := w.Write(numpy.LittleEndian(half[:len(block.Data)])); err != nil {
			return err
		}
	}
	return nil
}
