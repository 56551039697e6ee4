package table

import (
	"fmt"
	"io"
	"math"
	"unicode/utf8"

	"github.com/graph-condensation/cgc/dataset/format/internal/classes"
	"github.com/graph-condensation/cgc/graph"
)

// most bounds the rows for which memory is allocated before they are read.
const most = 1 << 20

// part is the content of a run of rows of nodes. Its nodes are counted from 0.
type part struct {
	Rows
	columns
	header []string
	text   []byte // the concatenated ids
	ends   []int  // the end of each id in text
	labels classes.Labels
	known  bool  // the classes are known, and one may have an empty name
	widths []int // the number of features in each feature column, from the first row
	x      []float32
	in     graph.Split

	number []byte // the last label that is a number, as text
}

// fail returns an error about the last row.
func (p *part) fail(text string, args ...any) error { return p.Fail(p.At(), fmt.Errorf(text, args...)) }

// read reads all rows.
func (p *part) read() error {
	about := min(p.About(), most)
	p.ends, p.x = make([]int, 0, about), make([]float32, 0, min(about*len(p.features), 64*most))
	return eachRow(p, p.add)
}

// eachRow calls use with the cells of each row.
func eachRow(r Rows, use func(cells []Cell) error) error {
	for {
		cells, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = use(cells)
		}
		if err != nil {
			return err
		}
	}
}

// add adds the node of a row.
func (p *part) add(cells []Cell) error {
	id, text, isName := cells[p.id].text(p.text)
	var label []byte
	isLabel := true
	if p.label >= 0 {
		label, p.number, isLabel = cells[p.label].text(p.number[:0])
	}
	switch {
	case !isName && cells[p.id].Kind == Float && cells[p.id].Float == math.Trunc(cells[p.id].Float):
		return p.fail("the id is the float %v, must be an integer or text: floats from 2^53 are rounded", &cells[p.id])
	case !isName:
		return p.fail("the id is %v, must be a name or an integer", &cells[p.id])
	case !isLabel:
		return p.fail("the label is %v, must be a name or an integer", &cells[p.label])
	case len(id) == 0 && cells[p.id].Kind != Text:
		return p.fail("the id is %v", &cells[p.id])
	case len(id) == 0:
		return p.fail("the id is empty")
	case !utf8.Valid(id):
		return p.fail("column %s: %.50q is not UTF-8 text: save the table as UTF-8", p.named(p.id), id)
	case !utf8.Valid(label):
		return p.fail("column %s: %.50q is not UTF-8 text: save the table as UTF-8", p.named(p.label), label)
	}
	node := int32(len(p.ends))
	if p.text = text; cells[p.id].Kind == Text {
		p.text = append(p.text, id...)
	}
	p.ends = append(p.ends, len(p.text))
	if p.known && p.label >= 0 && cells[p.label].Kind == Text {
		p.labels.AddName(label, int(node))
	} else {
		p.labels.Add(label, int(node))
	}
	if err := p.addFeatures(cells); err != nil {
		return err
	}
	if p.split < 0 {
		return p.addMasked(node, cells)
	}
	return p.addSplit(node, &cells[p.split])
}

// addFeatures adds the features of a row.
func (p *part) addFeatures(cells []Cell) error {
	for k, c := range p.features {
		cell := &cells[c]
		width := 1
		if v, ok := cell.number(); ok {
			p.x = append(p.x, v)
		} else if cell.Kind == List {
			width = len(cell.List)
			for i, v := range cell.List {
				if !finite(v) {
					return p.fail("column %s: number %d of the list is %v or null, must be a finite number", p.named(c), i+1, v)
				}
			}
			p.x = append(p.x, cell.List...)
		} else {
			return p.fail("column %s: %s", p.named(c), cell.notNumber(p.label >= 0))
		}
		if len(p.widths) <= k {
			p.widths = append(p.widths, width)
		}
		if width != p.widths[k] {
			return p.fail("column %s holds %d numbers, and %d in the rows before", p.named(c), width, p.widths[k])
		}
	}
	return nil
}

// named returns the name of a column in errors: its name, or its position if it has none.
func (p *part) named(c int) string {
	if p.header[c] == "" {
		return fmt.Sprintf("%d, which has no name", c+1)
	}
	return p.header[c]
}

// addSplit adds a node to its part of the split.
func (p *part) addSplit(node int32, cell *Cell) error {
	word, _, ok := cell.text(nil)
	part, named := classes.PartOf(word)
	if !ok || !named {
		return p.fail("split %v, must be train, val, test or nothing", cell)
	}
	classes.Put(&p.in, node, part)
	return nil
}

// addMasked adds a node to the part of the split whose mask is 1. A missing value is 0.
func (p *part) addMasked(node int32, cells []Cell) error {
	in := classes.NoPart
	for k, c := range p.masks {
		if c < 0 || cells[c].missing() {
			continue
		}
		switch v, ok := cells[c].number(); {
		case !ok || v != 0 && v != 1:
			return p.fail("%s is %v, must be 0 or 1", p.header[c], &cells[c])
		case v == 1 && in != classes.NoPart:
			return p.fail("the node is in %s and in %s, must be in one of them", p.header[p.masks[in]], p.header[c])
		case v == 1:
			in = k
		}
	}
	classes.Put(&p.in, node, in)
	return nil
}
