package memory

import "fmt"

// Exceeded is the value of Make's panic when the system would kill the process for an allocation. Functions that return
// an error convert it: see Recover.
type Exceeded struct {
	// Asked is the size of the allocation, Held is the memory of the process, and Most is the limit of the system, all in
	// bytes.
	Asked, Held, Most int64
	// By is the source of the limit, as returned by Limit.
	By string
}

// Error states the allocation, the memory of the process and the limit.
func (e *Exceeded) Error() string {
	gigabytes := func(n int64) float64 { return float64(n) / 1e9 }
	return fmt.Sprintf("the next step takes %.2f GB of memory in addition to the %.2f GB in use, "+
		"and %s %.2f GB",
		gigabytes(e.Asked), gigabytes(e.Held), e.By, gigabytes(e.Most))
}

// Recover converts the panic of Make to an error. Defer it at the beginning of a function that returns err:
//
//	defer memory.Recover(&err)
//
// It does not stop other panics.
func Recover(err *error) {
	switch raised := recover().(type) {
	case nil:
	case *Exceeded:
		*err = raised
	default:
		panic(raised)
	}
}

// looked is the smallest allocation in bytes for which Make checks the limit. A check takes about 100 µs.
const looked = 256 << 20

// exceeded returns an error if the memory limit of the system does not allow another asked bytes. held and free are
// Held and debug.FreeOSMemory, which tests replace.
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
