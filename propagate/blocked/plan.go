package blocked

import (
	"cmp"
	"iter"
	"math"
	"runtime"

	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

const (
	// unit is the number of float32 in a cache line. Rows of blocks are whole lines, so that no two rows share one.
	unit = 16
	// usualWidth is the number of columns of a block. Wider blocks copy rows in longer pieces, but new memory costs more
	// than the copies, and fewer of their rows are in the cache.
	usualWidth = 32
	// widest is the largest number of columns of a block where nodes have fewer than many edges: if the rows of X fit in
	// the cache, or within a bound on memory. A wide block spares reading X, or making entries, once more. In half
	// precision it is the usual number: a row has two lines of the cache, as 32 float32.
	widest = 64
	many   = 32
	// usualCache is the size in bytes of the last cache where the system does not tell it.
	usualCache = 8 << 20
)

// plan says how columns are propagated. No bit of the result depends on it.
type plan struct {
	// width is the number of columns of a block: all of x's, a multiple of unit, or fewer than unit.
	width int
	// kept is how many places have their entries made once, for all blocks. The others are made anew for each block.
	kept int
	// held is how many of these entries are in memory, at most: whole rows, from the first place on. The others lie in a
	// temporary file, in the order of places.
	held int64
	// halves says that a block of S⁽⁰⁾ is kept as X in float16, with R of each row behind the row. The products R·X are
	// made while they are summed, and have the bits of S⁽⁰⁾.
	halves bool
	// spill says that the results lie in a temporary file until the last block is done, and then as far as they fit.
	spill bool
	// beyond says that the input is mapped from a file and larger than the bound. It is read in order only.
	beyond bool
}

// What a plan costs, in seconds, is needed only to compare plans. The rates are those of an ordinary machine: bytes a
// second from a disk and from random places of memory, and entries a second that are made.
const (
	diskRate   = 1e9
	gatherRate = 30e9
	entryRate  = 4e8
)

// process is the memory of a process that has not begun to work, with the pages of its program.
const process = 32 << 20

// overhead is what a process takes beside what is counted. With a mapped input that is also the tables of its pages,
// and room for the pages that are being read.
func (r *run) overhead(memory int64) int64 {
	if !r.mapped {
		return process
	}
	return process + r.input()/512 + memory/16
}

// choose returns the plan for a bound in bytes; 0 sets no bound. If nothing fits, it returns a plan of little memory.
func (r *run) choose(bound int64) plan {
	last := r.within[r.hops-1]
	_, d := r.x.Dims()
	_, sparse := r.x.(*mat.CSR)
	wide, usual := d, plan{width: d, kept: last, held: r.keeps(last)}
	if !sparse {
		wide, usual.width = min(d, usualWidth), min(d, usualWidth)
		if r.half { // rows of as many bytes
			wide, usual.width = min(d, widest), min(d, widest)
		} else if r.read < many*int64(last) {
			wide, usual.width = min(d, widest), min(d, r.fitting(cmp.Or(memory.Cache(), usualCache)))
		}
	}
	room := bound - r.overhead(bound)
	if bound == 0 || r.need(usual)+r.input() <= room {
		return usual
	}
	if !r.mapped {
		room -= r.input()
	}
	best, least := plan{width: min(unit, wide), beyond: r.mapped}, math.Inf(1)
	smallest := best
	for width := wide; width > 0; width = r.narrower(width) {
		for _, p := range []plan{{kept: last}, {kept: last, halves: true}, {kept: r.inner()}, {}} {
			for _, spill := range []bool{false, true} {
				p.width, p.held, p.spill, p.beyond = width, 0, spill, r.mapped
				if p.halves && !r.halvable(p) {
					continue
				}
				if r.mapped {
					smallest = p
				}
				left := room - r.need(p)
				if left < 0 {
					continue
				}
				p.held = min(left/r.perEntry(), r.keeps(p.kept))
				if cost := r.cost(p); cost < least {
					best, least = p, cost
				}
			}
		}
	}
	if math.IsInf(least, 1) {
		return smallest
	}
	return best
}

// halvable reports whether p can keep S⁽⁰⁾ as X. The kernel for that has no weights of edges, and teleport would need
// S⁽⁰⁾ later.
func (r *run) halvable(p plan) bool {
	x, panels := r.x.(*mat.Panels)
	return panels && x.Storage() == mat.F16 && !r.half && r.adj.Data == nil && r.beta == 0 && !r.narrow(p)
}

// fitting returns the widest block, from usualWidth to widest columns, whose S⁽⁰⁾ fits in a cache of some bytes.
func (r *run) fitting(cache int64) int {
	for width := widest; width > usualWidth; width -= unit {
		if 4*int64(width)*int64(r.within[r.hops]) <= cache {
			return width
		}
	}
	return usualWidth
}

// narrower returns the next smaller width of a block, 0 after the last.
func (r *run) narrower(width int) int {
	_, sparse := r.x.(*mat.CSR)
	switch {
	case width > unit:
		return (width - 1) / unit * unit
	case sparse:
		return 0
	}
	return width / 2
}

// inner returns the number of places whose hop reads few entries: all that are computed but those of the first hop
// alone.
func (r *run) inner() int { return r.within[max(0, r.hops-2)] }

// need returns the bytes that p takes beside its input.
func (r *run) need(p plan) int64 {
	bytes := r.arrays() + r.blockBytes(p) + r.storedBytes(p)
	if !p.spill {
		bytes += r.resultBytes(p)
	}
	return bytes
}

// least returns the least bound within which the plan of need bytes fits: a part of the overhead grows with the bound.
func (r *run) least(need int64) int64 {
	least := need
	for range 100 {
		p := r.choose(least)
		if !p.beyond { // all of the input fits before the blocks do
			return least
		}
		if need = r.need(p) + r.overhead(least); need <= least {
			return least
		}
		least = need
	}
	return least
}

// cost returns about how many seconds p takes.
func (r *run) cost(p plan) float64 {
	return r.work(p) + float64(r.bytesRead(p)+r.scratch(p))/diskRate
}

// work returns about how many seconds the arithmetic of p takes: an entry reads a row of each block of columns, whole
// lines of the cache.
func (r *run) work(p plan) float64 {
	passes, bytes := r.cut(p)
	made := r.entriesOf(r.within[r.hops-1]) - r.entriesOf(p.kept)
	return float64(r.read*(bytes+4*passes))/gatherRate + float64(passes*made)/entryRate
}

// cut returns the number of blocks, and the bytes of the rows of all blocks that are read for an entry, in whole lines
// of the cache.
func (r *run) cut(p plan) (passes, bytes int64) {
	_, d := r.x.Dims()
	if _, sparse := r.x.(*mat.CSR); sparse {
		return int64((d + p.width - 1) / p.width), r.element() * int64(d)
	}
	for lo, hi := range r.blocks(p) {
		passes++
		if stride := r.stride(p, hi-lo); p.halves { // rows begin at any word of a line, and an eighth is for the products
			bytes += (2*int64(kernel.FactoredStride(stride)) + 60) * 9 / 8
		} else {
			bytes += r.element() * int64(max(unit, stride))
		}
	}
	return passes, bytes
}

// bytesRead returns how many bytes of a mapped input p reads, if none of them stays in memory. The pass that finds the
// nodes within some hops is among them.
func (r *run) bytesRead(p plan) (bytes int64) {
	if !p.beyond {
		if r.mapped {
			return r.input()
		}
		return 0
	}
	_, d := r.x.Dims()
	adjacency, features := size(r.adj), r.features()
	panel := r.panel
	if panel == 0 {
		panel = d
	}
	passes, _ := r.cut(p)
	if _, sparse := r.x.(*mat.CSR); sparse {
		bytes = features * passes
	} else {
		for lo, hi := range r.blocks(p) {
			for first := lo / panel * panel; first < hi; first += panel {
				bytes += features / int64(d) * int64(min(panel, d-first))
			}
		}
	}
	if r.half { // once more, for the largest magnitudes
		bytes *= 2
	}
	bytes += adjacency // to find the nodes
	if p.kept > 0 {
		bytes += adjacency
	}
	return bytes + passes*r.sweeps(p)
}

// sweeps returns how many bytes of a mapped adjacency the hops of one block read. A hop goes through the rows of each
// distance in order, and reads whole pages.
func (r *run) sweeps(p plan) (bytes int64) {
	const page = 4096
	for l := 1; l <= r.hops; l++ {
		begin := 0
		for _, end := range r.within[:r.hops-l+1] {
			if rows := int64(end - max(begin, p.kept)); rows > 0 {
				bytes += min(size(r.adj), page*rows+4*r.read)
			}
			begin = end
		}
	}
	return bytes
}

// scratch returns how many bytes p writes to temporary files and reads again.
func (r *run) scratch(p plan) (bytes int64) {
	if p.spill {
		bytes = 2 * r.resultBytes(p)
	}
	passes, _ := r.cut(p)
	filed := r.keeps(p.kept) - p.held
	later := max(0, r.keeps(min(p.kept, r.inner()))-p.held) // at most that for each hop but the first
	hops := filed + int64(r.hops-1)*later
	return bytes + r.perEntry()*(passes*hops+filed)
}

// features returns the bytes of X.
func (r *run) features() int64 {
	n, d := r.x.Dims()
	switch x := r.x.(type) {
	case *mat.CSR:
		return size(x)
	case *mat.Panels:
		return int64(x.Storage().Bytes()) * int64(n) * int64(d)
	}
	return 4 * int64(n) * int64(d)
}

// input returns the bytes of the graph that lie in memory, or are mapped. Features of a type that is read take no
// memory that is known here, unless they are mapped.
func (r *run) input() int64 {
	switch r.x.(type) {
	case *mat.Dense, *mat.CSR, *mat.Panels:
		return size(r.adj) + r.features()
	}
	if r.mapped {
		return size(r.adj) + r.features()
	}
	return size(r.adj)
}

// resultBytes returns the bytes of what Embeddings returns, as far as it is new memory.
func (r *run) resultBytes(p plan) int64 {
	_, d := r.x.Dims()
	hops := r.hops
	if r.copies(p) {
		hops++
	}
	return 4 * int64(len(r.rows)) * int64(d) * int64(hops)
}

// copies reports whether H⁽⁰⁾ is a copy of rows of X. Rows of a mapped file that does not fit would be read at random.
func (r *run) copies(p plan) bool {
	_, inPlace := r.x.(*mat.Dense)
	return !inPlace || p.beyond
}

// arrays returns the bytes of the arrays with a number for each node: its place, R, and, of those at which an H⁽ˡ⁾ is
// computed, the node and the gain. A sparse X needs the gain of all nodes.
func (r *run) arrays() int64 {
	n, last := int64(r.adj.Rows), int64(r.within[r.hops-1])
	if _, sparse := r.x.(*mat.CSR); sparse {
		return 12*n + 8*int64(r.within[r.hops])
	}
	return 8*n + 8*last
}

// blockBytes returns the bytes of a block of S⁽⁰⁾ and of two S⁽ˡ⁾, and of the tile of each thread.
func (r *run) blockBytes(p plan) int64 {
	stride := r.stride(p, p.width)
	bytes := r.column(p)*int64(stride) + int64(runtime.GOMAXPROCS(0))*r.tileBytes(stride)
	if p.halves {
		bytes += 2 * int64(kernel.FactoredStride(0)) * int64(r.within[r.hops])
	}
	return bytes
}

// element returns the bytes of a number of a block.
func (r *run) element() int64 {
	if r.half {
		return 2
	}
	return 4
}

// column returns the bytes that one column of a block takes.
func (r *run) column(p plan) int64 {
	hops, element := r.hops, r.element()
	bytes := element * int64(r.within[hops-1])
	x, sparse := r.x.(*mat.CSR)
	if sparse {
		_, d := x.Dims()
		bytes += 8 * int64(len(x.Indices)/max(1, d))
	} else if p.halves {
		bytes += 2 * int64(r.within[hops])
	} else {
		bytes += element * int64(r.within[hops])
	}
	if hops > 1 && (sparse || p.halves || r.beta > 0) { // else S⁽²⁾ takes the place of S⁽⁰⁾
		bytes += element * int64(r.within[hops-2])
	}
	return bytes
}

// stride returns how many numbers a row of a block of some columns takes. Rows that a bound made narrow share lines of
// the cache.
func (r *run) stride(p plan, columns int) int {
	if r.narrow(p) {
		return p.width
	}
	return (columns + unit - 1) / unit * unit
}

// narrow reports whether the bound asks for blocks of less than a line of the cache.
func (r *run) narrow(p plan) bool {
	_, d := r.x.Dims()
	return p.width < min(unit, d)
}

// storedBytes returns the bytes that the entries that p keeps take in memory, with a pointer to each place's.
func (r *run) storedBytes(p plan) int64 {
	return 8*int64(p.kept) + r.perEntry()*p.held
}

// perEntry returns the bytes of an entry.
func (r *run) perEntry() int64 {
	if r.adj.Data != nil {
		return 8
	}
	return 4
}

// keeps returns how many entries are kept for the first places. The nodes themselves are among them.
func (r *run) keeps(places int) int64 { return r.entriesOf(places) + int64(places) }

// entriesOf returns how many entries of the adjacency the nodes at the first places have; places is 0, inner() or all
// at which something is computed.
func (r *run) entriesOf(places int) int64 {
	switch places {
	case 0:
		return 0
	case r.within[r.hops-1]:
		return r.read
	}
	return r.second
}

// size returns the bytes that m takes.
func size(m *mat.CSR) int64 {
	return 8*int64(len(m.Indptr)) + 4*int64(len(m.Indices)+len(m.Data))
}

// blocks cuts the columns into blocks [lo, hi) of at most p.width columns, as few as can be and as even as whole units
// allow. Columns that stand in panels are cut between panels, or within one if that is wider than a block.
func (r *run) blocks(p plan) iter.Seq2[int, int] {
	_, d := r.x.Dims()
	step, whole := unit, d
	if r.panel > 0 && r.panel < d {
		if r.panel <= p.width {
			step = r.panel
		} else {
			whole = r.panel
		}
	}
	if r.narrow(p) {
		step = 1
	}
	return func(yield func(lo, hi int) bool) {
		for first := 0; first < d; first += whole {
			columns := min(whole, d-first)
			units, most := (columns+step-1)/step, max(1, p.width/step)
			count := (units + most - 1) / most
			if p.width >= columns {
				count = 1
			}
			for b := range count {
				if !yield(first+b*units/count*step, first+min(columns, (b+1)*units/count*step)) {
					return
				}
			}
		}
	}
}
