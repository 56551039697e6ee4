package mat

import (
	"fmt"
	"math"

	"github.com/graph-condensation/cgc/internal/kernel"
)

// Storage says how a number is kept.
type Storage string

// The ways of keeping a number. What is read is float32 in any case.
const (
	// F32 is float32, as it is.
	F32 Storage = "f32"
	// F16 is float16 (IEEE 754 binary16): 11 significant bits, at most 65504 in magnitude, steps of 6e-8 near 0.
	F16 Storage = "f16"
	// BF16 is bfloat16, the upper half of a float32: 8 significant bits, and the range of float32.
	BF16 Storage = "bf16"
)

// Storages returns all of them.
func Storages() []Storage { return []Storage{F32, F16, BF16} }

// Bytes returns the bytes of a number.
func (s Storage) Bytes() int {
	if s == F32 {
		return 4
	}
	return 2
}

// Largest returns the largest finite magnitude.
func (s Storage) Largest() float32 {
	switch s {
	case F16:
		return kernel.MaxFloat16
	case BF16:
		return kernel.MaxBFloat16
	}
	return math.MaxFloat32
}

// check returns an error if s is none of Storages.
func (s Storage) check() error {
	if s != F32 && s != F16 && s != BF16 {
		return fmt.Errorf("mat: storage %q, want one of %q", string(s), Storages())
	}
	return nil
}

// Round sets dst to x in s, which is F16 or BF16: to the nearest number, ties to even. It returns the place of the
// first number of x that is NaN or whose magnitude is above s.Largest, and −1 if there is none. len(dst) is len(x).
func (s Storage) Round(dst []uint16, x []float32) (wrong int) {
	if bound := s.Largest(); !kernel.Within(x, bound) {
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

// widen sets dst to the numbers of src, kept in s.
func (s Storage) widen(dst []float32, src []uint16) {
	if s == F16 {
		kernel.WidenFloat16(dst, src)
	} else {
		kernel.WidenBFloat16(dst, src)
	}
}

// CannotKeep is the error for a number that a Storage has no place for.
type CannotKeep struct {
	Row, Col int
	Value    float32
	Storage  Storage
}

// Error names the place, the value and the bound.
func (e *CannotKeep) Error() string {
	if notFinite(e.Value) {
		return fmt.Sprintf("feature %d of node %d is %v, want a finite number", e.Col, e.Row, e.Value)
	}
	return fmt.Sprintf("feature %d of node %d is %v, want −%v to %v for %s", e.Col, e.Row, e.Value,
		e.Storage.Largest(), e.Storage.Largest(), e.Storage)
}
