package mat

import (
	"fmt"
	"math"

	"github.com/graph-condensation/cgc/internal/kernel"
)

// Storage is the number format in which elements are stored.
type Storage string

// The number formats. Values are read as float32 from each of them.
const (
	// F32 is float32, without conversion.
	F32 Storage = "f32"
	// F16 is float16 (IEEE 754 binary16): 11 significant bits, at most 65504 in magnitude, steps of 6e-8 near 0.
	F16 Storage = "f16"
	// BF16 is bfloat16, the upper half of a float32: 8 significant bits, and the range of float32.
	BF16 Storage = "bf16"
)

// Storages returns all number formats.
func Storages() []Storage { return []Storage{F32, F16, BF16} }

// Bytes returns the number of bytes of an element.
func (s Storage) Bytes() int {
	if s == F32 {
		return 4
	}
	return 2
}

// largest returns the largest finite magnitude.
func (s Storage) largest() float32 {
	switch s {
	case F16:
		return kernel.MaxFloat16
	case BF16:
		return kernel.MaxBFloat16
	}
	return math.MaxFloat32
}

// check returns an error unless s is one of Storages.
func (s Storage) check() error {
	if s != F32 && s != F16 && s != BF16 {
		return fmt.Errorf("mat: storage %q, must be one of %q", string(s), Storages())
	}
	return nil
}

// Round sets dst to x in the format s, F16 or BF16, rounded to nearest, ties to even. It returns the index of the first
// value of x that is NaN or exceeds the largest magnitude of s, and −1 if there is none. len(dst) is len(x).
func (s Storage) Round(dst []uint16, x []float32) (wrong int) {
	if bound := s.largest(); !kernel.Within(x, bound) {
		for i, v := range x {
			if !(v >= -bound && v <= bound) {
				return i
			}
		}
	}
	if s == F16 {
		kernel.NarrowFloat16(dst, x)
	} else {
		kernel.NarrowBFloat16(dst, x)
	}
	return -1
}

// widen converts src from the format s to float32.
func (s Storage) widen(dst []float32, src []uint16) {
	if s == F16 {
		kernel.WidenFloat16(dst, src)
	} else {
		kernel.WidenBFloat16(dst, src)
	}
}

// CannotKeep is the error for a value that a Storage cannot represent.
type CannotKeep struct {
	Row, Col int
	Value    float32
	Storage  Storage
}

// Error names the position, the value and the limit.
func (e *CannotKeep) Error() string {
	if notFinite(e.Value) {
		return fmt.Sprintf("feature %d of node %d is %v, must be a finite number", e.Col, e.Row, e.Value)
	}
	return fmt.Sprintf("feature %d of node %d is %v, expected −%v to %v for %s", e.Col, e.Row, e.Value,
		e.Storage.largest(), e.Storage.largest(), e.Storage)
}
