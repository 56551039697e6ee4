package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/ids"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
)

// Source is a Table that is read several times, and not held.
type Source interface {
	Table
	// Runs calls use for readers of the runs of rows that make up the table, each with its number, several at a time. The
	// cells of columns that are not among the given ones may be null; nil means all columns. Each call gives the same
	// runs. The error is that of the first run that has one.
	Runs(ctx context.Context, columns []int, use func(run int, r Rows) error) error
	// Bytes returns about how many bytes Runs reads from files, and Most about how many rows there are.
	Bytes() int64
	Most() (int64, error)
}

// Each calls use for what next returns, with its number, several at a time and in order, until more is false. The error
// is that of next, or of the first use that has one.
func Each[T any](
	ctx context.Context, next func() (item T, more bool, err error), use func(k int, item T) error,
) error {
	var mu sync.Mutex
	var group sync.WaitGroup
	var wrong error
	count, at, done := 0, -1, false
	fail := func(k int, err error) {
		if at < 0 || k < at {
			at, wrong = k, err
		}
	}
	take := func() (k int, item T, more bool) {
		mu.Lock()
		defer mu.Unlock()
		if done || at >= 0 {
			return 0, item, false
		}
		item, more, err := next()
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			fail(count, err)
			more = false
		}
		done = !more
		count++
		return count - 1, item, more
	}
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for {
				k, item, more := take()
				if !more {
					return
				}
				if err := use(k, item); err != nil {
					mu.Lock()
					fail(k, err)
					mu.Unlock()
				}
			}
		})
	}
	group.Wait()
	return wrong
}

// turns lets the runs of a table take their turns, in order.
type turns struct {
	mu     sync.Mutex
	moved  *sync.Cond
	next   int
	failed bool
}

func newTurns() *turns {
	t := &turns{}
	t.moved = sync.NewCond(&t.mu)
	return t
}

// take calls f when all earlier runs had their turn. After an error, none has.
func (t *turns) take(run int, f func() error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.next < run && !t.failed {
		t.moved.Wait()
	}
	if t.failed {
		return nil // the error is that of an earlier run
	}
	err := f()
	t.next, t.failed = run+1, err != nil
	t.moved.Broadcast()
	return err
}

// errEnough ends the reading of a table.
var errEnough = errors.New("enough")

// Stream delivers the graph of Graph in parts. Nodes and Edges are each a Source, and Sort is not set. Ids are found in
// a table of 20 bytes for each, which is not needed if id i is the number i. That table, labels and split take at most
// memory bytes, or there is an error. The rows of nodes are read three times: for ids, for names and for features.
func (p Pair) Stream(ctx context.Context, memory int64) (*format.Stream, []string, error) {
	nodes, is := p.Nodes.(Source)
	if !is || p.Sort {
		panic(fmt.Sprintf("table: %s is read once, want a table to read several times", p.Nodes.Name()))
	}
	c, err := findColumns(nodes)
	if err != nil {
		return nil, nil, err
	}
	n := &streamed{Source: nodes, columns: c, memory: memory, at: ids.NewTable(memory)}
	if err := n.measure(ctx); err != nil {
		return nil, nil, err
	}
	if err := n.index(ctx); err != nil {
		return nil, nil, err
	}
	s := &format.Stream{Name: p.Name, Nodes: n.at.Len(), Features: n.features()}
	if s.Held, err = format.Hold(int64(s.Nodes), memory-n.at.Bytes()); err != nil {
		return nil, nil, &format.ReadError{File: nodes.File(), Err: err}
	}
	s.Held += n.at.Bytes()
	if s.Y, s.ClassNames, err = n.labels.classes(nodes); err != nil {
		return nil, nil, err
	}
	whole := nodeTable(n)
	if err := whole.checkSplit(s.Y); err != nil {
		return nil, nil, err
	}
	s.Split = n.split
	if err := s.Check(nodes.File(), nil); err != nil {
		return nil, nil, err
	}
	opened, err := p.Edges(ctx)
	if err != nil {
		return nil, nil, err
	}
	edges := opened.(Source)
	ends, err := findEnds(edges)
	if err != nil {
		return nil, nil, err
	}
	if s.Entries, err = edges.Most(); err != nil {
		return nil, nil, err
	}
	s.Weighted = ends.weight >= 0
	s.Edges = func(ctx context.Context, add func(graph.Edges) error) error {
		return n.streamEdges(ctx, edges, ends, add)
	}
	s.Rows = n.rows
	s.Size = nodes.Bytes()*2 + edges.Bytes()
	if !n.at.Numbered() {
		s.Names, s.NameBytes = n.names, n.nameBytes
	}
	return s, n.notes(), nil
}

// streamed is a table of nodes that is not held.
type streamed struct {
	Source
	columns
	memory int64
	widths []int // of each column of features
	firsts []int // the node that is the first of each run

	at        *ids.Table
	nameBytes int64
	labels    labels
	split     graph.Split

	whole, odd int    // the number of ids that are whole numbers, and the first node whose id is none
	oddID      string // its id
	forms      []form // nodes whose ids are numbers in another form
}

// form is a node whose id is not in the usual form.
type form struct {
	node int
	id   string
}

// mostForms bounds the ids that are compared as numbers, for a note.
const mostForms = 1 << 16

// nodeTable returns n as far as errors about its split need it.
func nodeTable(n *streamed) *nodes { return &nodes{Table: n.Source, split: n.split} }

// features returns the number of features.
func (n *streamed) features() (sum int) {
	for _, w := range n.widths {
		sum += w
	}
	return sum
}

// measure sets the widths of the columns of features, by the first row.
func (n *streamed) measure(ctx context.Context) error {
	err := n.Runs(ctx, n.columns.features, func(run int, r Rows) error {
		if run > 0 {
			return errEnough
		}
		cells, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		p := part{Rows: r, columns: n.columns, header: n.Header()}
		if err := p.addFeatures(cells); err != nil {
			return err
		}
		n.widths = p.widths
		return errEnough
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	if n.widths == nil {
		return failAll(n.Source, "the table has no rows, want at least 1 node")
	}
	return nil
}

// index reads ids, labels and split.
func (n *streamed) index(ctx context.Context) error {
	n.odd = -1
	about, err := n.Most()
	if err != nil {
		return err
	}
	columns := []int{n.id, n.label}
	if n.columns.split >= 0 {
		columns = append(columns, n.columns.split)
	}
	turn := newTurns()
	return n.Runs(ctx, columns, func(run int, r Rows) error {
		c := n.columns
		c.features = nil
		p := &part{Rows: r, columns: c, header: n.Header()}
		wrong := p.read()
		return turn.take(run, func() error {
			if err := n.join(p, about); err != nil {
				return err
			}
			progress.Report(ctx, progress.Event{
				Stage: "reading ids of " + n.Source.Name(), Done: min(int64(n.at.Len()), about), Total: about,
			})
			return wrong
		})
	})
}

// join adds the nodes of a part.
func (n *streamed) join(p *part, about int64) error {
	base, from := n.at.Len(), 0
	n.firsts = append(n.firsts, base)
	n.labels.join(&p.labels)
	for i, end := range p.ends {
		id := p.text[from:end]
		from = end
		node := base + i
		if node == n.labels.beyond() {
			return n.Fail(node, fmt.Errorf("more than %d labels", graph.MaxClasses))
		}
		first, err := n.at.Add(id, about)
		switch {
		case err != nil:
			return &format.ReadError{File: n.File(), Err: err}
		case first >= 0:
			return n.Fail(node, fmt.Errorf("the id %.50q is there twice, first in %s", id, n.Place(first)))
		case node >= graph.MaxNodes:
			return n.Fail(node, fmt.Errorf("more than %d nodes", graph.MaxNodes))
		}
		n.nameBytes += int64(len(id))
		n.look(node, string(id))
	}
	for i, v := range p.place {
		list := [...]*[]int32{&n.split.Train, &n.split.Val, &n.split.Test}[p.part[i]]
		*list = append(*list, int32(base)+v)
	}
	_, err := format.Hold(int64(n.at.Len()), n.memory)
	if err != nil {
		err = &format.ReadError{File: n.File(), Err: err}
	}
	return err
}

// look takes note of the form of an id.
func (n *streamed) look(node int, id string) {
	if n.at.Numbered() {
		n.whole++
		return
	}
	if ids.Whole(id) {
		n.whole++
	} else if n.odd < 0 {
		n.odd, n.oddID = node, id
	}
	if len(n.forms) < mostForms && ids.Plain(id) != id {
		n.forms = append(n.forms, form{node, id})
	}
}

// notes returns a sentence if ids are numbers and names, and one if two ids are the same number.
func (n *streamed) notes() (notes []string) {
	if n.whole > 0 && n.odd >= 0 {
		notes = append(notes, fmt.Sprintf("%s: the id %.50q in %s is a name, and %d of %d ids are whole numbers: "+
			"all are compared as text", n.File(), n.oddID, n.Place(n.odd), n.whole, n.at.Len()))
	}
	same := func(f form, other int, id string) []string {
		return append(notes, fmt.Sprintf("%s: the id %.50q in %s is another node than %.50q in %s: "+
			"ids are compared as text", n.File(), f.id, n.Place(f.node), id, n.Place(other)))
	}
	seen := map[string]form{}
	node := make([]int32, 1)
	for _, f := range n.forms {
		plain := ids.Plain(f.id)
		if n.at.Find([][]byte{[]byte(plain)}, node); node[0] >= 0 {
			return same(f, int(node[0]), plain)
		}
	}
	for _, f := range n.forms {
		if first, again := seen[ids.Plain(f.id)]; again {
			return same(f, first.node, first.id)
		}
		seen[ids.Plain(f.id)] = f
	}
	return notes
}

// names delivers the ids, in order.
func (n *streamed) names(ctx context.Context, put func(text []byte, ends []int) error) error {
	turn := newTurns()
	return n.Runs(ctx, []int{n.id}, func(run int, r Rows) error {
		var text []byte
		var ends []int
		var wrong error
		for {
			cells, err := r.Read()
			if err != nil {
				if err != io.EOF {
					wrong = err
				}
				break
			}
			id, grown, _ := cells[n.id].text(text)
			if text = grown; cells[n.id].Kind == Text {
				text = append(text, id...)
			}
			ends = append(ends, len(text))
		}
		return turn.take(run, func() error {
			if wrong != nil {
				return wrong
			}
			return put(text, ends)
		})
	})
}

// Find, Like and Name make n an index.
func (n *streamed) Find(names [][]byte, nodes []int32) { n.at.Find(names, nodes) }

// search returns the first node whose id is as asked, and that id.
func (n *streamed) search(is func(node int, id string) bool) (node int, id string) {
	node, base := -1, 0
	_ = n.names(context.Background(), func(text []byte, ends []int) error { // an error on the way to one is not told
		from := 0
		for i, end := range ends {
			if name := string(text[from:end]); is(base+i, name) {
				node, id = base+i, name
				return errEnough
			}
			from = end
		}
		base += len(ends)
		return nil
	})
	return node, id
}

// Like returns a node whose id differs from name in form alone, or −1.
func (n *streamed) Like(name string) int {
	node, _ := n.search(func(_ int, id string) bool { return ids.Alike(id, name) })
	return node
}

// Name returns the id of a node.
func (n *streamed) Name(node int) string {
	_, id := n.search(func(at int, _ string) bool { return at == node })
	return id
}

// streamEdges delivers the edges of a table.
func (n *streamed) streamEdges(ctx context.Context, t Source, ends edges, add func(graph.Edges) error) error {
	columns := []int{ends.source, ends.target}
	if ends.weight >= 0 {
		columns = append(columns, ends.weight)
	}
	return t.Runs(ctx, columns, func(_ int, r Rows) error {
		p := ends
		p.Rows, p.table, p.at, p.take = r, n.Source.Name(), n, add
		return p.read()
	})
}

// rowNumbers is the number of features that are put at a time.
const rowNumbers = 1 << 18

// rows delivers the features.
func (n *streamed) rows(ctx context.Context, put func(first int, block *mat.Dense) error) error {
	width := n.features()
	height := max(1, rowNumbers/width)
	return n.Runs(ctx, n.columns.features, func(run int, r Rows) error {
		p := part{Rows: r, columns: n.columns, header: n.Header(), widths: slices.Clone(n.widths)}
		first := n.firsts[run]
		for {
			cells, err := r.Read()
			if err == nil {
				err = p.addFeatures(cells)
			}
			if held := len(p.x) / width; held > 0 && (err == io.EOF || held == height) {
				block := &mat.Dense{Rows: held, Cols: width, Data: p.x[:held*width]}
				if wrong := put(first, block); wrong != nil {
					return format.Locate(wrong, n.File(), nil)
				}
				first += held
				p.x = p.x[:0]
			}
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
		}
	})
}
