package memory

import (
	"fmt"
	"runtime/debug"
)

// Exceeded is what Make panics with when the system would end the process for what is asked for. Functions that return
// an error return it as that: see Recover.
type Exceeded struct {
	// Asked is the bytes that were asked for at once, Held what the process holds, and Most what the system allows.
	Asked, Held, Most int64
	// By is what allows no more, as Limit says it.
	By string
}

// Error says what was asked for, what is held and what the system allows.
func (e *Exceeded) Error() string {
	gigabytes := func(n int64) float64 { return float64(n) / 1e9 }
	return fmt.Sprintf("memory: the next step takes %.2f GB of memory at once beside %.2f GB that are taken, "+
		"and %s %.2f GB",
		gigabytes(e.Asked), gigabytes(e.Held), e.By, gigabytes(e.Most))
}

// Recover makes an error of the panic of Make. It belongs at the beginning of a function that returns err:
//
//	defer memory.Recover(&err)
//
// Any other panic goes on.
func Recover(err *error) {
	switch raised := recover().(type) {
	case nil:
	case *Exceeded:
		*err = raised
	default:
		panic(raised)
	}
}

// looked is the number of bytes from which on Make asks what the system allows. Asking takes some 100 µs.
const looked = 256 << 20

// check panics if the system does not allow so many more bytes.
func check(asked int64) {
	limit, by := Limit()
	if e := exceeded(asked, limit, by, Held, debug.FreeOSMemory); e != nil {
		panic(e)
	}
}

// exceeded is check with functions that tell what is held, and that give back what is not in use.
func exceeded(asked, limit int64, by string, held func() int64, free func()) *Exceeded {
	if limit == 0 || asked <= limit-held() {
		return nil
	}
	free()
	if now := held(); asked > limit-now {
		return &Exceeded{Asked: asked, Held: now, Most: limit, By: by}
	}
	return nil
}
