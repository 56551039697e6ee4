package table

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/classes"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/content"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
)

// often is the number of nodes, or comparisons of them, between context checks.
const often = 1 << 14

// nodes is a table of nodes after reading. Ids and features are in memory only if hold is true.
type nodes struct {
	Table
	columns columns
	known   *Known
	memory  int64 // the memory limit for ids, labels and split
	hold    bool
	widths  []int // the number of features in each column of features
	firsts  []int // the first node of each run

	at        *index
	nameBytes int64
	labels    classes.Labels
	split     graph.Split
	ids       []string    // if held
	x         [][]float32 // the features of each run, if held
	order     []int32     // the node of each row, without old; nil means that row i is node i
	old       int32       // nodes below it are known; no edge joins two known nodes
	among     string      // the name of the table, for errors about edges

	whole, odd int    // the number of ids that are integers, and the first node whose id is not
	oddID      string // the id of that node
	forms      []form // nodes whose ids are numbers in an unusual form
}

// form is a node whose id is not in the usual form.
type form struct {
	node int
	id   string
}

// mostForms bounds the ids that are compared as numbers, for a note.
const mostForms = 1 << 16

// readNodes reads the columns c of a table of nodes.
func readNodes(ctx context.Context, t Table, c columns, known *Known, memory int64, hold bool) (*nodes, error) {
	n := &nodes{
		Table: t, known: known, columns: c, memory: memory, hold: hold, at: newIndex(memory), odd: -1, among: t.Name(),
	}
	if !hold {
		if err := n.measure(ctx); err != nil {
			return nil, err
		}
	}
	if err := n.index(ctx); err != nil {
		return nil, err
	}
	if n.at.Len() == 0 {
		return nil, format.Wrong(t.File(), "the table has no rows, must have at least 1 node")
	}
	return n, nil
}

// failAt returns an error about the row of a node.
func (n *nodes) failAt(node int, text string, args ...any) error {
	return n.Fail(node, fmt.Errorf(text, args...))
}

// width returns the number of features.
func (n *nodes) width() (sum int) {
	for _, w := range n.widths {
		sum += w
	}
	return sum
}

// featureNames returns the names of the features, which are those of their columns. Feature i of a column of lists is
// called "column[i]". A single column of lists gives no names.
func (n *nodes) featureNames() (names []string) {
	if len(n.widths) == 1 && n.widths[0] > 1 {
		return nil
	}
	for k, c := range n.columns.features {
		name := strings.ToValidUTF8(n.Header()[c], "\uFFFD") // files store names as JSON
		if n.widths[k] == 1 {
			names = append(names, name)
			continue
		}
		for i := range n.widths[k] {
			names = append(names, fmt.Sprintf("%s[%d]", name, i))
		}
	}
	return names
}

// errEnough stops the reading of a table early.
var errEnough = errors.New("enough")

// measure sets the widths of the feature columns from the first row.
func (n *nodes) measure(ctx context.Context) error {
	err := n.Runs(ctx, n.columns.features, func(run int, r Rows) error {
		if run > 0 {
			return errEnough
		}
		p := part{Rows: r, columns: n.columns, header: n.Header()}
		return eachRow(r, func(cells []Cell) error {
			err := p.addFeatures(cells)
			n.widths = p.widths
			return cmp.Or(err, errEnough)
		})
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// index reads ids, labels and split, and features if they are held.
func (n *nodes) index(ctx context.Context) error {
	about, err := n.Most()
	if err != nil {
		return err
	}
	var columns []int // nil: all
	stage := "reading " + n.Name()
	if !n.hold {
		stage = "reading ids of " + n.Name()
		columns = []int{n.columns.id}
		for _, c := range append(n.columns.masks[:], n.columns.label, n.columns.split) {
			if c >= 0 {
				columns = append(columns, c)
			}
		}
	}
	turn := newTurns()
	return n.Runs(ctx, columns, func(run int, r Rows) error {
		p := &part{Rows: r, columns: n.columns, header: n.Header(), known: n.known != nil}
		if !n.hold {
			p.features = nil
		}
		wrong := p.read()
		return turn.take(run, func() error {
			if err := n.join(p, about); err != nil {
				return err
			}
			progress.Report(ctx, progress.Event{Stage: stage, Done: min(int64(n.at.Len()), about), Total: about})
			return wrong
		})
	})
}

// join adds the nodes of a run.
func (n *nodes) join(p *part, about int64) error {
	base, from, text := n.at.Len(), 0, string(p.text)
	n.firsts = append(n.firsts, base)
	n.labels.Join(&p.labels)
	for i, end := range p.ends {
		id := text[from:end]
		from = end
		node := base + i
		if node == n.labels.Beyond() {
			return n.failAt(node, "more than %d labels", graph.MaxClasses)
		}
		first, err := n.at.Add(id, about)
		switch {
		case err != nil:
			return &format.ReadError{File: n.File(), Err: err}
		case first >= 0:
			return n.failAt(node, "the id %.50q appears twice, first in %s", id, n.Place(first))
		case node >= graph.MaxNodes:
			return n.failAt(node, "more than %d nodes", graph.MaxNodes)
		}
		if n.nameBytes += int64(len(id)); n.hold {
			n.ids = append(n.ids, id)
		}
		n.look(node, id)
	}
	for part, list := range [...][]int32{p.in.Train, p.in.Val, p.in.Test} {
		for _, v := range list {
			classes.Put(&n.split, int32(base)+v, part)
		}
	}
	if n.widths == nil {
		n.widths = p.widths
	}
	for i, w := range p.widths {
		if w != n.widths[i] {
			return n.failAt(base, "column %s holds %d numbers, and %d in %s",
				p.header[p.features[i]], w, n.widths[i], n.Place(0))
		}
	}
	n.x = append(n.x, p.x)
	if _, err := content.Hold(int64(n.at.Len()), n.memory); err != nil {
		return &format.ReadError{File: n.File(), Err: err}
	}
	return nil
}

// look records the form of an id.
func (n *nodes) look(node int, id string) {
	if n.at.Numbered() {
		n.whole++
		return
	}
	if isWhole(id) {
		n.whole++
	} else if n.odd < 0 {
		n.odd, n.oddID = node, id
	}
	if len(n.forms) < mostForms && plainForm(id) != id {
		n.forms = append(n.forms, form{node, id})
	}
}

// classes sets the labels, the classes and the split of s. Without labels there is no split.
func (n *nodes) classes(s *format.Stream) (err error) {
	at := 0
	if n.known == nil {
		s.Y, s.ClassNames, at, err = n.labels.Classes(n.Place)
	} else {
		s.Classes, s.ClassNames = n.known.Count, n.known.Names
		s.Y, at, err = n.labels.Known(n.known.Class)
	}
	if _, placed := err.(*format.ReadError); err != nil && !placed {
		err = n.Fail(at, err)
	}
	if err != nil || n.columns.label < 0 {
		return err
	}
	s.Split = n.split
	return n.checkSplit(s.Y)
}

// checkSplit returns an error about the first node of the split that has no label.
func (n *nodes) checkSplit(y []int32) error {
	first, name := len(y), ""
	for k, part := range [...][]int32{n.split.Train, n.split.Val, n.split.Test} {
		for _, v := range part {
			if y[v] == graph.Unlabelled && int(v) < first {
				first, name = int(v), [...]string{"train", "val", "test"}[k]
			}
		}
	}
	if name == "" {
		return nil
	}
	return n.failAt(first, "the split is %s, and there is no label (-1 is none): leave the node out of the split", name)
}

// notes returns indexNotes and repeatNotes, a sentence if some ids are numbers and others names, and one if two ids are
// the same number.
func (n *nodes) notes() (notes []string) {
	notes = append(n.columns.indexNotes(n.Table), n.columns.repeatNotes(n.Table)...)
	if n.whole > 0 && n.odd >= 0 {
		notes = append(notes, fmt.Sprintf("%s: the id %.50q in %s is a name, and %d of %d ids are integers: "+
			"all are compared as text", n.File(), n.oddID, n.Place(n.odd), n.whole, n.at.Len()))
	}
	same := func(f form, other int, id string) []string {
		return append(notes, fmt.Sprintf("%s: the id %.50q in %s is another node than %.50q in %s: "+
			"ids are compared as text", n.File(), f.id, n.Place(f.node), id, n.Place(other)))
	}
	seen := map[string]form{}
	node := make([]int32, 1)
	for _, f := range n.forms {
		plain := plainForm(f.id)
		if n.at.Find([][]byte{[]byte(plain)}, node); node[0] >= 0 {
			return same(f, int(node[0]), plain)
		}
	}
	for _, f := range n.forms {
		if first, again := seen[plainForm(f.id)]; again {
			return same(f, first.node, first.id)
		}
		seen[plainForm(f.id)] = f
	}
	return notes
}

// names delivers the ids, in order.
func (n *nodes) names(ctx context.Context, put func(text []byte, ends []int) error) error {
	turn := newTurns()
	return n.Runs(ctx, []int{n.columns.id}, func(run int, r Rows) error {
		var text []byte
		var ends []int
		wrong := eachRow(r, func(cells []Cell) error {
			id, grown, _ := cells[n.columns.id].text(text)
			if text = grown; cells[n.columns.id].Kind == Text {
				text = append(text, id...)
			}
			ends = append(ends, len(text))
			return nil
		})
		return turn.take(run, func() error {
			if wrong != nil {
				return wrong
			}
			return put(text, ends)
		})
	})
}

// like returns the first id that differs from name only in form (alike), if there is one.
func (n *nodes) like(name string) (id string, found bool) {
	if n.ids != nil {
		k := slices.IndexFunc(n.ids, func(id string) bool { return alike(id, name) })
		if k < 0 {
			return "", false
		}
		return n.ids[k], true
	}
	_ = n.names(context.Background(), func(text []byte, ends []int) error { // the error to report is the unknown id
		from := 0
		for _, end := range ends {
			if id = string(text[from:end]); alike(id, name) {
				found = true
				return errEnough
			}
			from = end
		}
		return nil
	})
	return id, found
}

// rowNumbers is the number of feature values in a block of rows.
const rowNumbers = 1 << 18

// rows delivers the features.
func (n *nodes) rows(ctx context.Context, put func(first int, block *mat.Dense) error) error {
	width := n.width()
	height := max(1, rowNumbers/width)
	return n.Runs(ctx, n.columns.features, func(run int, r Rows) error {
		p := part{Rows: r, columns: n.columns, header: n.Header(), widths: slices.Clone(n.widths)}
		first := n.firsts[run]
		flush := func() error {
			block := &mat.Dense{Rows: len(p.x) / width, Cols: width, Data: p.x}
			err := put(first, block)
			first, p.x = first+block.Rows, p.x[:0]
			return err
		}
		err := eachRow(r, func(cells []Cell) error {
			if err := p.addFeatures(cells); err != nil || len(p.x) < height*width {
				return err
			}
			return flush()
		})
		if err != nil || len(p.x) == 0 {
			return err
		}
		return flush()
	})
}

// matrix returns the features that are held.
func (n *nodes) matrix(ctx context.Context) (*mat.Dense, error) {
	x := &mat.Dense{Rows: n.at.Len(), Cols: n.width()}
	x.Data = memory.Make[float32](x.Rows * x.Cols)[:0]
	for _, part := range n.x {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		x.Data = append(x.Data, part...)
	}
	n.x = nil
	return x, nil
}

// sort numbers the nodes by their ids, and puts y (which may be nil) and x into that order. It returns ctx.Err() soon
// after ctx is done, and the order is then meaningless.
func (n *nodes) sort(ctx context.Context, y []int32, x *mat.Dense) error {
	values, whole := memory.Make[int64](len(n.ids)), true
	for i, id := range n.ids {
		v, err := content.Int([]byte(id))
		values[i], whole = v, whole && err == nil
	}
	rows := memory.Range(0, len(n.ids)) // the row of each node
	compared, ended := 0, false
	compare := func(i, j int32) int {
		if compared++; compared%often == 0 {
			ended = ended || ctx.Err() != nil
		}
		if ended {
			return 0 // all equal: the sort ends soon
		}
		if whole && values[i] != values[j] {
			return cmp.Compare(values[i], values[j])
		}
		return strings.Compare(n.ids[i], n.ids[j])
	}
	if !slices.IsSortedFunc(rows, compare) {
		slices.SortFunc(rows, compare)
	} else if !ended {
		return nil
	}
	if ended {
		return ctx.Err()
	}
	n.order = memory.Make[int32](len(rows))
	names, labels := make([]string, len(rows)), memory.Make[int32](len(y))
	data := memory.Make[float32](len(x.Data))[:0]
	for i, row := range rows {
		if i%often == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		n.order[row], names[i] = int32(i), n.ids[row]
		if y != nil {
			labels[i] = y[row]
		}
		data = append(data, x.Row(int(row))...)
	}
	copy(y, labels)
	n.ids, x.Data = names, data
	for _, list := range [][]int32{n.split.Train, n.split.Val, n.split.Test} {
		for k, row := range list {
			list[k] = n.order[row]
		}
	}
	return nil
}
