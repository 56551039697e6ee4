package memory

import (
	"fmt"
	"runtime/debug"
)

// Exceeded is what Make panics with when the system would end the process for what is asked for.
type Exceeded struct {
	// Asked is the bytes that were asked for at once, Held what the process holds, and Most what the system allows.
	Asked, Held, Most int64
	// By is what allows no more, as Limit says it.
	By string
}

// Error says what was asked for, what is held, and what the system allows, in bytes.
func (e *Exceeded) Error() string {
	return fmt.Sprintf("memory: %d bytes asked for at once, and %d held, %s %d", e.Asked, e.Held, e.By, e.Most)
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
