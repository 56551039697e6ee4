package table

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// most is for how many rows memory is taken before they are read.
const most = 1 << 20

// part is what a part of a table of nodes holds. Its nodes are counted from 0.
type part struct {
	Rows
	columns
	header []string
	text   []byte // the ids, one after the other
	ends   []int  // of each in text
	labels labels
	widths []int // the number of features in each column of features, by the first row
	x      []float32
	// place holds nodes of the split, and part the part of each: 0 trains, 1 validates, 2 tests.
	place []int32
	part  []byte

	number []byte // the last label that is a number, as text
}

// fail returns an error about the last row.
func (p *part) fail(text string, args ...any) error { return p.Fail(p.At(), fmt.Errorf(text, args...)) }

// read reads all rows.
func (p *part) read() error {
	about := min(p.About(), most)
	p.ends, p.x = make([]int, 0, about), make([]float32, 0, min(about*len(p.features), 64*most))
	for {
		cells, err := p.Read()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = p.add(cells)
		}
		if err != nil {
			return err
		}
	}
}

// add takes a row.
func (p *part) add(cells []Cell) error {
	id, text, isName := cells[p.id].text(p.text)
	label, number, isLabel := cells[p.label].text(p.number[:0])
	p.number = number
	switch {
	case !isName:
		return p.fail("the id is %v, want a name or a whole number", &cells[p.id])
	case !isLabel:
		return p.fail("the label is %v, want a name or a whole number", &cells[p.label])
	case len(id) == 0 && cells[p.id].Kind != Text:
		return p.fail("the id is %v", &cells[p.id])
	case len(id) == 0:
		return p.fail("the id is empty")
	case !utf8.Valid(id) || !utf8.Valid(label):
		return p.fail("the id or the label is not UTF-8 text")
	}
	node := int32(len(p.ends))
	if p.text = text; cells[p.id].Kind == Text {
		p.text = append(p.text, id...)
	}
	p.ends = append(p.ends, len(p.text))
	p.labels.add(label)
	if err := p.addFeatures(cells); err != nil || p.split < 0 {
		return err
	}
	return p.addSplit(node, &cells[p.split])
}

// addFeatures takes the features of a row.
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
					return p.fail("column %s: number %d of the list is %v or null, want a finite number", p.header[c], i+1, v)
				}
			}
			p.x = append(p.x, cell.List...)
		} else {
			return p.fail("column %s: %v, want a finite number", p.header[c], cell)
		}
		if len(p.widths) <= k {
			p.widths = append(p.widths, width)
		}
		if width != p.widths[k] {
			return p.fail("column %s holds %d numbers, and %d in the rows before", p.header[c], width, p.widths[k])
		}
	}
	return nil
}

// addSplit takes the part of the split that a node is in.
func (p *part) addSplit(node int32, cell *Cell) error {
	which := byte(0)
	switch word, _, ok := cell.text(nil); {
	case !ok:
		return p.fail("split %v, want train, val, test or nothing", cell)
	case len(word) == 0:
		return nil
	default:
		switch strings.ToLower(string(word)) {
		case "train":
		case "val", "valid", "validation":
			which = 1
		case "test":
			which = 2
		case "none":
			return nil
		default:
			return p.fail("split %v, want train, val, test or nothing", cell)
		}
	}
	p.place, p.part = append(p.place, node), append(p.part, which)
	return nil
}
