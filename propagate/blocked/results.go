package blocked

import (
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
)

// results collects the columns of H⁽⁰⁾ … H⁽ᴷ⁾ block by block, or of H⁽ᴷ⁾ only. H⁽⁰⁾ is included only if it is a copy.
//
// Spilled results are stored in a temporary file block by block, so that it is written in order. When all blocks are
// done and their memory is free, each H⁽ˡ⁾ is assembled from the file, in memory if there is room and otherwise in
// another file. The rows of a class are adjacent, because the partition reads class by class.
type results struct {
	rows, cols int
	from       int          // the first hop that is kept
	whole      []*mat.Dense // the matrices of the hops that are kept; nil if they are spilled
	file       []float32    // spilled columns: columns lo to hi−1 of H⁽ˡ⁾ are at ((l−from)·cols+lo)·rows
	halves     []uint16     // file in float16, instead of file
	place      []int32      // the position of row i in the file; nil if it is i

	nodes    []int32 // the nodes of the rows, for errors
	mu       sync.Mutex
	where    [2]int // the first row and column of an element that exceeds float16
	exceeded error  // the error for it
}

// newResults allocates the results of hops from, from+1, …, hops. Spilled results use the memory of kept, if any.
func newResults(
	rows, classes []int32, cols, from, hops int, spill, rounded bool, kept []byte,
) (_ *results, err error) {
	s := &results{rows: len(rows), cols: cols, from: from, whole: make([]*mat.Dense, hops+1), nodes: rows}
	if spill {
		s.place = propagate.Input{Classes: classes}.ByClass()
		size := (hops + 1 - from) * s.rows * cols
		switch {
		case kept != nil && rounded:
			s.halves = memory.As[uint16](kept)
		case kept != nil:
			s.file = memory.As[float32](kept)
		case rounded:
			s.halves, err = memory.Scratch[uint16](size)
		default:
			s.file, err = memory.Scratch[float32](size)
		}
		return s, err
	}
	for l := from; l <= hops; l++ {
		s.whole[l] = mat.NewDense(s.rows, cols)
	}
	return s, nil
}

// row returns columns lo to hi−1, which are a block, of row i of H⁽ˡ⁾. The results are not halves.
func (s *results) row(l, i, lo, hi int) []float32 {
	if s.file == nil {
		return s.whole[l].Row(i)[lo:hi]
	}
	at := s.at(l, i, lo, hi)
	return s.file[at : at+hi-lo]
}

// at returns the place of columns lo to hi−1 of row i of H⁽ˡ⁾ in the file.
func (s *results) at(l, i, lo, hi int) int {
	if s.place != nil {
		i = int(s.place[i])
	}
	return ((l-s.from)*s.cols+lo)*s.rows + i*(hi-lo)
}

// prefetch prefetches what row returns for these arguments, or the memory that put writes to.
func (s *results) prefetch(l, i, lo, hi int) {
	if s.halves == nil {
		kernel.Prefetch(s.row(l, i, lo, hi))
		return
	}
	at := s.at(l, i, lo, hi)
	kernel.PrefetchHalves(s.halves[at : at+hi-lo])
}

// put sets columns of row i of H⁽ˡ⁾ from column lo on. If the results are halves, a value beyond the range of float16
// sets exceeded.
func (s *results) put(l, i, lo int, columns []float32) {
	if s.halves == nil {
		copy(s.row(l, i, lo, lo+len(columns)), columns)
		return
	}
	at := s.at(l, i, lo, lo+len(columns))
	kernel.NarrowFloat16(s.halves[at:at+len(columns)], columns)
	largest := mat.F16.Largest()
	for j, v := range columns {
		if v > largest || v < -largest {
			s.exceed(l, i, lo+j, v, largest)
			return
		}
	}
}

// exceed keeps the error for the first of these elements, in the order of rows and columns.
func (s *results) exceed(l, i, j int, v, largest float32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := [2]int{i, j}; s.exceeded == nil || slices.Compare(at[:], s.where[:]) < 0 {
		s.where = at
		s.exceeded = fmt.Errorf("feature %d of node %d is %v in hop %d, must be at most %v in f16", j, s.nodes[i], v, l,
			largest)
	}
}

// views returns H⁽⁰⁾ … H⁽ᴷ⁾, empty where they are not kept. It assembles spilled matrices, the last first, in memory if
// they fit in what is left of room bytes.
func (s *results) views(room int64, blocks iter.Seq2[int, int]) ([]mat.View, error) {
	views := make([]mat.View, len(s.whole))
	for l := len(s.whole) - 1; l >= s.from; l-- {
		if s.file == nil {
			views[l] = s.whole[l].View()
			continue
		}
		h := &mat.Dense{Rows: s.rows, Cols: s.cols}
		if need := 4 * int64(s.rows) * int64(s.cols); need <= room {
			room -= need
			h.Reshape(s.rows, s.cols)
		} else {
			var err error
			if h.Data, err = memory.Scratch[float32](s.rows * s.cols); err != nil {
				return nil, err
			}
		}
		s.assemble(h, l, blocks)
		if s.place == nil {
			views[l] = h.View()
		} else {
			views[l] = h.Select(s.place)
		}
	}
	return views, nil
}

// assemble sets h to the rows of H⁽ˡ⁾ in the order of the file.
func (s *results) assemble(h *mat.Dense, l int, blocks iter.Seq2[int, int]) {
	const chunk = 4096
	parallel.For(s.rows, chunk, func(first, end int) {
		for lo, hi := range blocks {
			from, width := s.file[((l-s.from)*s.cols+lo)*s.rows:], hi-lo
			for i := first; i < end; i++ {
				copy(h.Row(i)[lo:hi], from[i*width:(i+1)*width])
			}
		}
	})
}

// matrix returns H⁽ˡ⁾ without assembling it.
func (s *results) matrix(l int, blocks iter.Seq2[int, int]) mat.Matrix {
	if s.file == nil && s.halves == nil {
		return s.whole[l]
	}
	return spilled{s, l, blocks}
}

// spilled is H⁽ˡ⁾ in the temporary file.
type spilled struct {
	*results
	hop    int
	blocks iter.Seq2[int, int]
}

// Dims implements mat.Matrix.
func (s spilled) Dims() (rows, cols int) { return s.rows, s.cols }

// ReadBlock implements mat.Matrix.
func (s spilled) ReadBlock(dst *mat.Dense, rows []int32, lo, hi int) error {
	dst.Reshape(len(rows), hi-lo)
	for first, end := range s.blocks {
		from, to := max(lo, first), min(hi, end)
		if from >= to {
			continue
		}
		for i, row := range rows {
			columns := dst.Row(i)[from-lo : to-lo]
			if s.halves == nil {
				copy(columns, s.row(s.hop, int(row), first, end)[from-first:to-first])
				continue
			}
			at := s.at(s.hop, int(row), first, end)
			kernel.WidenFloat16(columns, s.halves[at+from-first:at+to-first])
		}
	}
	return nil
}

// finite is H⁽ᴷ⁾ for the given nodes. Reading a value that is not finite is an error.
type finite struct {
	mat.Matrix
	nodes []int32
	hop   int
}

// ReadBlock implements mat.Matrix.
func (f finite) ReadBlock(dst *mat.Dense, rows []int32, lo, hi int) error {
	if err := f.Matrix.ReadBlock(dst, rows, lo, hi); err != nil {
		return err
	}
	if i, j, found := dst.View().FirstNotFinite(); found {
		return propagate.NotFinite(f.hop, f.nodes[rows[i]], lo+j, dst.Row(i)[j])
	}
	return nil
}
