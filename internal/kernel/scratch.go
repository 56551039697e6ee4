package kernel

import "sync"

// scratch is memory for packed operands, kept between calls.
type scratch struct {
	data  []float32
	used  int
	index []int32
	wide  [256]float64
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func borrow() *scratch {
	s := scratches.Get().(*scratch)
	s.used = 0
	return s
}

func (s *scratch) giveBack() { scratches.Put(s) }

// take returns n values, not cleared. Slices returned earlier stay valid: memory that must grow is replaced, not moved.
func (s *scratch) take(n int) []float32 {
	if s.used+n > len(s.data) {
		s.data = make([]float32, max(2*len(s.data), s.used+n))
		s.used = 0
	}
	t := s.data[s.used : s.used+n]
	s.used += n
	return t
}

// takeIndex returns n integers, not cleared.
func (s *scratch) takeIndex(n int) []int32 {
	if n > len(s.index) {
		s.index = make([]int32, n)
	}
	return s.index[:n]
}

func roundUp(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }
