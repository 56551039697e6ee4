package blocked

import (
	"cmp"
	"iter"
	"math"
	"runtime"

	"github.com/graph-condensation/cgc/internal/budget"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/internal/paneled"
	"github.com/graph-condensation/cgc/mat"
)

const (
	// unit is the number of float32 values in a cache line. Rows of blocks are whole lines, so that no two rows share one.
	unit = 16
	// usualWidth is the number of columns of a block. Wider blocks copy rows in longer pieces, but allocating their memory
	// costs more than this saves, and fewer of their rows are in the cache.
	usualWidth = 32
	// widest is the largest number of columns of a block if nodes have fewer than 32 edges on average. Such blocks are
	// used if the rows of X fit in the cache, or with a memory limit. With wider blocks, X is read and entries are built
	// fewer times. In half precision, widest is the usual number: a row then has two cache lines, like 32 float32.
	widest = 64
	many   = 32
	// usualCache is the assumed size in bytes of the last-level cache if the system does not report it.
	usualCache = 8 << 20
)

// plan describes how columns are propagated. The result is bit-identical for all plans.
type plan struct {
	// width is the number of columns of a block: all columns of x, a multiple of unit, or fewer than unit.
	width int
	// kept is the number of places whose entries are built once for all blocks. Other entries are built for each block.
	kept int
	// held is the largest number of these entries in memory: whole rows, from the first place on. The rest is in a
	// temporary file, in the order of places.
	held int64
	// halves: a block of S⁽⁰⁾ is stored as X in float16, and each row is followed by its R. The products R·X are computed
	// while they are summed, with the same bits as S⁽⁰⁾.
	halves bool
	// spill: the results are in a temporary file until the last block is done. Results that fit are then read back.
	spill bool
	// beyond: the input is mapped from a file and larger than the memory limit. It is read only in order.
	beyond bool
}

// overhead is the memory of the process that a plan does not account for. With a mapped input, it includes the page
// tables and the pages being read. The adjacency of a causal graph is a copy, whose original may be mapped.
func (t *task) overhead(limit int64) int64 {
	var copied int64
	if t.adj.LowerTriangular() {
		copied = budget.Sparse(t.adj)
	}
	if !t.mapped { // the original has twice as many entries
		return budget.Propagating + 2*copied
	}
	return budget.Propagating + copied + budget.Mapped(t.input()) + budget.Reading(limit)
}

// task is a propagation to plan: the input, the number of hops, and how many nodes are within each distance of the
// rows.
type task struct {
	*layout
	adj     *mat.CSR
	x       mat.Matrix
	d       int  // columns of x
	sparse  bool // x is a *mat.CSR
	rows    []int32
	last    bool    // only H⁽ᴷ⁾ is kept
	apart   bool    // H⁽⁰⁾ can be read from x after the propagation
	rounded bool    // spilled results are float16
	mapped  bool    // adj and x are mapped from a file
	hops    int     // K, at least 1
	beta    float32 // β; 0 for rules without teleport
	half    bool    // blocks are float16
	panel   int     // columns of x that are stored together; 0 if there are no panels
}

// choose returns the usual plan if it fits a memory limit in bytes (0 means no limit), else the cheapest that fits. If
// nothing fits, it returns a plan that needs little memory.
func (t *task) choose(limit int64) plan {
	usual, wide := t.usual()
	room := limit - t.overhead(limit)
	if limit == 0 || t.need(usual)+t.input() <= room {
		return usual
	}
	if !t.mapped {
		room -= t.input()
	}
	smallest := plan{width: min(unit, wide), beyond: t.mapped, spill: t.apart} // if nothing fits
	best, least := plan{}, math.Inf(1)
	for p := range t.candidates(wide) {
		if t.mapped {
			smallest = p
		}
		left := room - t.need(p)
		if left < 0 {
			continue
		}
		p.held = min(left/budget.Entry(t.adj), t.keeps(p.kept))
		if cost := t.cost(p); cost < least {
			best, least = p, cost
		}
	}
	if math.IsInf(least, 1) {
		return smallest
	}
	return best
}

// usual returns the plan without a memory limit, and the widest block to consider with a limit.
func (t *task) usual() (_ plan, wide int) {
	usual, wide := usualWidth, usualWidth
	switch {
	case t.sparse:
		usual, wide = t.d, t.d
	case t.half: // rows of the same number of bytes
		usual, wide = widest, widest
	case t.read < many*int64(t.computed()):
		usual, wide = t.fitting(cmp.Or(memory.Cache(), usualCache)), widest
	}
	last := t.computed()
	return plan{width: min(t.d, usual), kept: last, held: t.keeps(last)}, min(t.d, wide)
}

// candidates yields the plans to compare, from the widest blocks to the narrowest. They keep no entries in memory yet.
func (t *task) candidates(wide int) iter.Seq[plan] {
	last := t.computed()
	stores := []plan{{kept: last}, {kept: last, halves: true}, {kept: t.inner()}, {}}
	return func(yield func(plan) bool) {
		for width := wide; width > 0; width = t.narrower(width) {
			for _, p := range stores {
				for _, spill := range []bool{false, true} {
					p.width, p.spill, p.beyond = width, spill, t.mapped
					if (!p.halves || t.halvable(p)) && !yield(p) {
						return
					}
				}
			}
		}
	}
}

// halvable reports whether p can store S⁽⁰⁾ as X and R. The kernel for this does not support edge weights, and teleport
// would need S⁽⁰⁾ later.
func (t *task) halvable(p plan) bool {
	x, panels := t.x.(*paneled.Matrix)
	return panels && x.Storage() == mat.F16 && !t.half && t.adj.Data == nil && t.beta == 0 && !t.narrow(p)
}

// fitting returns the widest block, from usualWidth to widest columns, whose S⁽⁰⁾ fits in a cache of the given size.
func (t *task) fitting(cache int64) int {
	for width := widest; width > usualWidth; width -= unit {
		if 4*int64(width)*int64(t.within[t.hops]) <= cache {
			return width
		}
	}
	return usualWidth
}

// narrower returns the next smaller width of a block, 0 after the last.
func (t *task) narrower(width int) int {
	switch {
	case width > unit:
		return (width - 1) / unit * unit
	case t.sparse:
		return 0
	}
	return width / 2
}

// computed returns the number of places where some H⁽ˡ⁾ is computed.
func (t *task) computed() int { return t.within[t.hops-1] }

// inner returns the number of places that are computed in a hop after the first. These hops read few entries.
func (t *task) inner() int { return t.within[max(0, t.hops-2)] }

// need returns the bytes that p needs in addition to its input.
func (t *task) need(p plan) int64 {
	bytes := t.arrays() + t.blockBytes(p) + t.storedBytes(p)
	if !p.spill {
		bytes += t.resultBytes(p)
	}
	return bytes
}

// least returns the smallest limit that fits a plan of need bytes. The overhead grows with the limit.
func (t *task) least(need int64) int64 {
	return budget.Least(need, func(limit int64) int64 {
		p := t.choose(limit)
		if !p.beyond { // with this limit, all of the input fits
			return 0
		}
		return t.need(p) + t.overhead(limit)
	})
}

// keepable reports whether the results may be in a file that is kept: if they are in a file anyway, or if writing and
// reading it takes little of the time. An eighth of work, which counts only one hop and rows in the cache, is at most a
// few percent.
func (t *task) keepable(p plan) bool {
	filed := p
	filed.spill = true
	return p.spill || float64(t.scratch(filed)-t.scratch(p))/budget.Disk <= t.work(p)/8
}

// cost estimates the seconds that p takes. It only serves to compare plans.
func (t *task) cost(p plan) float64 {
	return t.work(p) + float64(t.bytesRead(p)+t.scratch(p))/budget.Disk
}

// work estimates the seconds of p's arithmetic: each entry reads a row of each block of columns, in whole cache lines.
// Finding a dense row takes about as long as reading one more line.
func (t *task) work(p plan) float64 {
	passes, bytes := t.cut(p)
	made, find := t.entriesOf(t.computed())-t.entriesOf(p.kept), int64(4) // the index in the entry
	if !t.sparse {
		find = 4 * unit
	}
	return float64(t.read*(bytes+find*passes))/budget.Cached + float64(passes*made)/budget.Entries
}

// cut returns the number of blocks, and the bytes that one entry reads in the rows of all blocks, in whole cache lines.
func (t *task) cut(p plan) (passes, bytes int64) {
	if t.sparse {
		return int64((t.d + p.width - 1) / p.width), t.element() * int64(t.d)
	}
	for lo, hi := range t.blocks(p) {
		passes++
		if stride := t.stride(p, hi-lo); p.halves { // rows begin anywhere in a line, and an eighth is added for the products
			bytes += (2*int64(kernel.FactoredStride(stride)) + 60) * 9 / 8
		} else {
			bytes += t.element() * int64(max(unit, stride))
		}
	}
	return passes, bytes
}

// bytesRead returns the bytes of a mapped input that p reads if the system caches none of them, including the pass that
// finds the nodes within K hops.
func (t *task) bytesRead(p plan) (bytes int64) {
	if !p.beyond {
		if t.mapped {
			return t.input()
		}
		return 0
	}
	adjacency, features := budget.Sparse(t.adj), budget.Features(t.x)
	panel := cmp.Or(t.panel, t.d)
	passes, _ := t.cut(p)
	if t.sparse {
		bytes = features * passes
	} else {
		for lo, hi := range t.blocks(p) {
			for first := lo / panel * panel; first < hi; first += panel {
				bytes += features / int64(t.d) * int64(min(panel, t.d-first))
			}
		}
	}
	if t.half { // X is read twice, the first time for the largest magnitudes
		bytes *= 2
	}
	bytes += adjacency // to find the nodes
	if p.kept > 0 {
		bytes += adjacency
	}
	return bytes + passes*t.sweeps(p)
}

// sweeps returns the bytes of a mapped adjacency that the hops of one block read. A hop visits the rows of each
// distance in order, and reads whole pages.
func (t *task) sweeps(p plan) (bytes int64) {
	const page = 4096
	for l := 1; l <= t.hops; l++ {
		begin := 0
		for _, end := range t.within[:t.hops-l+1] {
			if rows := int64(end - max(begin, p.kept)); rows > 0 {
				bytes += min(budget.Sparse(t.adj), page*rows+4*t.read)
			}
			begin = end
		}
	}
	return bytes
}

// scratch returns the bytes that p writes to temporary files and reads back.
func (t *task) scratch(p plan) (bytes int64) {
	if p.spill {
		bytes = 2 * t.resultBytes(p)
	}
	passes, _ := t.cut(p)
	filed := t.keeps(p.kept) - p.held
	later := max(0, t.keeps(min(p.kept, t.inner()))-p.held) // an upper bound for each hop but the first
	hops := filed + int64(t.hops-1)*later
	return bytes + budget.Entry(t.adj)*(passes*hops+filed)
}

// input returns the bytes of the graph in memory or in mapped files. Features of unknown types count only if they are
// mapped, because the memory behind them is unknown.
func (t *task) input() int64 {
	switch t.x.(type) {
	case *mat.Dense, *mat.CSR, *paneled.Matrix:
		return budget.Graph(t.adj, t.x)
	}
	if t.mapped {
		return budget.Graph(t.adj, t.x)
	}
	return budget.Sparse(t.adj)
}

// resultBytes returns the bytes of the results that Embeddings allocates, or writes to a temporary file.
func (t *task) resultBytes(p plan) int64 {
	size := int64(4)
	if p.spill && t.rounded {
		size = 2
	}
	return size * int64(len(t.rows)) * int64(t.d) * int64(t.hops+1-t.first(p))
}

// first returns the first hop whose results are kept. It is 0 if H⁽⁰⁾ is copied. If X is in a file that does not fit in
// memory, reading the rows again at random would read most of the file. For Hops, they are copied if writing and
// reading the copy takes fewer bytes than that.
func (t *task) first(p plan) int {
	_, inPlace := t.x.(*mat.Dense)
	copied := p.beyond && !t.sparse && 8*int64(len(t.rows))*int64(t.d) < budget.Features(t.x)
	switch {
	case t.last:
		return t.hops
	case t.apart && !copied, inPlace && !p.beyond:
		return 1
	}
	return 0
}

// arrays returns the bytes of the arrays with a number per node: the place and R of every node, and the node and gain
// of every place where some H⁽ˡ⁾ is computed. A sparse X needs the gain of all nodes.
func (t *task) arrays() int64 {
	n, last := int64(t.adj.Rows), int64(t.computed())
	if t.sparse {
		return 12*n + 8*int64(t.within[t.hops])
	}
	return 8*n + 8*last
}

// blockBytes returns the bytes of a block of S⁽⁰⁾ and of two S⁽ˡ⁾, and of the tile of each thread.
func (t *task) blockBytes(p plan) int64 {
	stride := t.stride(p, p.width)
	bytes := t.column(p)*int64(stride) + int64(runtime.GOMAXPROCS(0))*t.tileBytes(stride)
	if p.halves {
		bytes += 2 * int64(kernel.FactoredStride(0)) * int64(t.within[t.hops])
	}
	return bytes
}

// element returns the bytes of a value in a block.
func (t *task) element() int64 {
	if t.half {
		return 2
	}
	return 4
}

// column returns the bytes that one column of a block needs.
func (t *task) column(p plan) int64 {
	hops, element := t.hops, t.element()
	bytes := element * int64(t.computed())
	switch x, sparse := t.x.(*mat.CSR); {
	case sparse:
		bytes += 8 * int64(len(x.Indices)/max(1, t.d))
	case p.halves:
		bytes += 2 * int64(t.within[hops])
	default:
		bytes += element * int64(t.within[hops])
	}
	if hops > 1 && (t.sparse || p.halves || t.beta > 0) { // otherwise S⁽²⁾ overwrites S⁽⁰⁾
		bytes += element * int64(t.within[hops-2])
	}
	return bytes
}

// stride returns the length of a row of a block with the given number of columns. Rows are whole cache lines unless the
// memory limit makes them narrow.
func (t *task) stride(p plan, columns int) int {
	if t.narrow(p) {
		return p.width
	}
	return wholeLines(columns)
}

// narrow reports whether the rows of a block are shorter than a cache line.
func (t *task) narrow(p plan) bool { return p.width < min(unit, t.d) }

// storedBytes returns the bytes of the entries that p keeps in memory, and of the row pointers.
func (t *task) storedBytes(p plan) int64 {
	return 8*int64(p.kept) + budget.Entry(t.adj)*p.held
}

// keeps returns the number of adjacency entries kept for the first places, including one self-loop per node.
func (t *task) keeps(places int) int64 { return t.entriesOf(places) + int64(places) }

// entriesOf returns the number of adjacency entries of the nodes at the first places; places is 0, inner() or the
// number of all computed places.
func (t *task) entriesOf(places int) int64 {
	switch places {
	case 0:
		return 0
	case t.computed():
		return t.read
	}
	return t.second
}

// blocks divides the columns into blocks [lo, hi) of at most p.width columns: as few blocks as possible, of sizes as
// equal as whole units allow. Columns in panels are divided between panels, or within a panel wider than a block.
func (t *task) blocks(p plan) iter.Seq2[int, int] {
	step, whole := unit, t.d
	if t.panel > 0 && t.panel < t.d {
		if t.panel <= p.width {
			step = t.panel
		} else {
			whole = t.panel
		}
	}
	if t.narrow(p) {
		step = 1
	}
	return func(yield func(lo, hi int) bool) {
		for first := 0; first < t.d; first += whole {
			columns := min(whole, t.d-first)
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
