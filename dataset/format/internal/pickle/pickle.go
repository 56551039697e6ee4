// Package pickle reads Python's pickles of arrays without executing anything. It knows numpy's arrays, scalars and
// element types, scipy's sparse matrices, and plain containers. Any other class is an error that names the class.
package pickle

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"

	gopickle "github.com/nlpodyssey/gopickle/pickle"
	"github.com/nlpodyssey/gopickle/types"

	"github.com/graph-condensation/cgc/dataset/format/internal/reading"
)

// Load returns the object in a pickle of protocol 0 to 5: an *Array, a *Matrix, a *Dict, a list or tuple, a string, a
// number, or nil. Its memory use is at most a constant times len(data).
func Load(data []byte) (any, error) {
	object, _, err := Loader{}.Load(data)
	return object, err
}

// Loader loads pickles. It knows the classes of numpy and scipy, and the additional classes of Class.
type Loader struct {
	// Class returns the Go value of a class or a function, and whether it is known. A value with the method Call(...any)
	// (any, error) can be called, and one with PyNew(...any) (any, error) creates objects. If Class is nil, there are no
	// additional classes.
	Class func(module, name string) (any, bool)
	// Persistent returns the object with that identifier outside the pickle. If it is nil, there are no such objects.
	Persistent func(id any) (any, error)
	// Meter counts the bytes read from the pickle. It may be nil.
	Meter *reading.Meter
}

// Load returns the object in a pickle, as the function Load does, and the bytes after the pickle.
func (l Loader) Load(data []byte) (object any, rest []byte, err error) {
	defer func() {
		if r := recover(); r != nil { // the library indexes its stack without checks
			object, err = nil, fmt.Errorf("not a pickle: %v", r)
		}
	}()
	whole := bytes.NewReader(data)
	buffered := bufio.NewReader(l.Meter.Reader(whole))
	u := gopickle.NewUnpickler(&guard{Reader: buffered, size: len(data)})
	u.FindClass = func(module, name string) (any, error) {
		if l.Class != nil {
			if class, known := l.Class(module, name); known {
				return class, nil
			}
		}
		return findClass(module, name)
	}
	u.PersistentLoad = l.Persistent
	object, err = u.Load()
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errors.New("pickle is cut short")
	}
	const longest = 300
	if err != nil && len(err.Error()) > longest { // the library prints whole objects
		err = fmt.Errorf("not a pickle of arrays: %.300q", err.Error())
	}
	return object, data[len(data)-whole.Len()-buffered.Buffered():], err
}

const (
	// maxMarks bounds the instructions that open a list, a tuple or a dictionary. The library allocates 256 bytes for each
	// one.
	maxMarks = 1 << 20
	// maxLong bounds the bytes of an integer, and maxDigits its decimal digits, as Python does. The library needs
	// quadratic time to parse it.
	maxLong, maxDigits = 64, 4300
)

// The instructions whose arguments are checked.
const (
	opMark  = '('
	opLong  = 'L' // its argument is a line of decimal digits
	opLong4 = 0x8b
	opFrame = 0x95
	short   = "TBX\x8b"      // an argument of 4 bytes is a length
	long    = "\x8d\x8e\x96" // an argument of 8 bytes is a length
)

// guard returns errors for input that the library does not check: strings longer than the file, which the library
// allocates before it reads them, long numbers, and too many marks. It removes frames, since nothing can be checked
// within them.
type guard struct {
	*bufio.Reader
	size  int
	last  byte
	marks int
	// digits is the number of bytes since opLong, or 0 if other bytes than digits followed it.
	digits int
	err    error // the first error, which is kept because the library tries again after an error
}

// ReadByte reads an instruction, or an argument of one byte.
func (g *guard) ReadByte() (byte, error) {
	b, err := g.Reader.ReadByte()
	if g.err == nil && err == nil {
		g.instruction(b)
	}
	return b, cmp.Or(g.err, err)
}

// instruction records b, which may be an instruction.
func (g *guard) instruction(b byte) {
	g.last = b
	if b == opMark {
		if g.marks++; g.marks > maxMarks {
			g.err = fmt.Errorf("pickle has more than %d lists and tuples", maxMarks)
		}
	}
	switch {
	case b == opLong:
		g.digits = 1
	case g.digits == 0 || (b < '0' || b > '9') && b != '-':
		g.digits = 0
	default:
		if g.digits++; g.digits > maxDigits {
			g.err = fmt.Errorf("pickle has an integer of more than %d digits", maxDigits)
		}
	}
}

// Read reads an argument. If the last byte was an instruction with a length, the argument is that length, and is
// checked. If it fails, Read returns 0 bytes, since io.ReadFull drops an error that comes with all bytes. The length of
// a frame becomes 0, so that the library reads its content as if there were no frame.
func (g *guard) Read(p []byte) (int, error) {
	n, err := io.ReadFull(g.Reader, p)
	if err = cmp.Or(g.err, err); err != nil {
		return 0, err
	}
	var length uint64
	switch {
	case n == 1: // the first byte after a frame
		g.instruction(p[0])
		if g.err != nil {
			return 0, g.err
		}
		return n, nil
	case n == 8 && g.last == opFrame:
		clear(p)
	case n == 8 && strings.IndexByte(long, g.last) >= 0:
		length = binary.LittleEndian.Uint64(p)
	case n == 4 && strings.IndexByte(short, g.last) >= 0:
		length = uint64(binary.LittleEndian.Uint32(p))
		if g.last == opLong4 && length > maxLong {
			g.err = fmt.Errorf("pickle has an integer of %d bytes, must have at most %d", length, maxLong)
		}
	}
	if g.err == nil && length > uint64(g.size) {
		g.err = fmt.Errorf("pickle claims a string of %d bytes in a file of %d", length, g.size)
	}
	if g.err != nil {
		return 0, g.err
	}
	g.last = 0
	return n, nil
}

// Kind names an object in messages: "a numpy array", "a list".
func Kind(object any) string {
	switch o := object.(type) {
	case nil:
		return "nothing (None)"
	case *Array:
		return "a numpy array"
	case *Matrix:
		return "a sparse matrix"
	case *Dict, *types.Dict:
		return "a dictionary"
	case *types.List:
		return "a list"
	case *types.Tuple:
		return "a tuple"
	case string, []byte:
		return "a string"
	case bool:
		return "a boolean"
	case int, float64, *big.Int:
		return "a number"
	default:
		return fmt.Sprintf("an object of type %T", o)
	}
}
