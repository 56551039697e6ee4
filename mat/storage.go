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

// CannotKeep is the error for a value that a Storage cannot represent.
type CannotKeep struct {
	Row, Col int
	Value    float32
	Storage  Storage
}

// Error names the position, the value and the limit.
func (e *CannotKeep) Error() string {
	if !kernel.Finite([]float32{e.Value}) {
		return fmt.Sprintf("feature %d of node %d is %v, must be a finite number", e.Col, e.Row, e.Value)
	}
	return fmt.Sprintf("feature %d of node %d is %v, expected −%v to %v for %s", e.Col, e.Row, e.Value,
		e.Storage.Largest(), e.Storage.Largest(), e.Storage)
}
