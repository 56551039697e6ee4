package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Table holds rows of cells under column heads.
type Table struct {
	// Title is written directly above the table, and Foot is written directly below it. Each may be empty.
	Title, Foot string
	Columns     []Column
	// Rows may be shorter than Columns: missing cells are blank. Renderers panic on a longer row, and on a cell with more
	// values than its column has parts.
	Rows [][]Cell
	// Lead marks the main results: a few rows, each with a name, a value and a remark. A page shows each row as a tile
	// with a large value. Folded marks rows that few readers need. A page shows them after a click on the title. Other
	// renderers ignore both.
	Lead, Folded bool
}

// Column describes the cells of a column. If no column of a table has a name, the table has no head.
type Column struct {
	// Name heads the column. Unit, if any, is the unit of its numbers: "%", "s".
	Name, Unit string
	// Key is the column's name for programs, in CSV and JSON. Empty means Name and Unit.
	Key string
	// Parts names the values of cells with several values, such as "mean" and "std". CSV writes a column for each part.
	// nil means one value.
	Parts []string
	// Side overrides the alignment of the column.
	Side Side
}

// Side is the alignment of the cells of a column.
type Side int

// Auto aligns columns with a number in any cell to the right, and all others to the left.
const (
	Auto Side = iota
	Left
	Right
)

// Columns returns a column for each name.
func Columns(names ...string) []Column {
	columns := make([]Column, len(names))
	for j, name := range names {
		columns[j].Name = name
	}
	return columns
}

// Row appends a row. Each value is a Cell, a list of cells, a string (a Word) or an int (an Integer).
func (t *Table) Row(values ...any) {
	var row []Cell
	for _, v := range values {
		switch v := v.(type) {
		case Cell:
			row = append(row, v)
		case []Cell:
			row = append(row, v...)
		case string:
			row = append(row, Word(v))
		case int:
			row = append(row, Integer(v))
		default:
			panic(fmt.Sprintf("report: a row holds %v of type %T, must hold Cell, []Cell, string or int", v, v))
		}
	}
	t.Rows = append(t.Rows, row)
}

// Full appends a row of unrounded values. A nil value gives a blank cell.
func (t *Table) Full(values ...any) {
	cells := make([]Cell, len(values))
	for j, v := range values {
		if v != nil {
			cells[j] = Full(v)
		}
	}
	t.Row(cells)
}

// Head returns Name, followed by a comma and the unit if there is one.
func (c Column) Head() string {
	if c.Unit == "" {
		return c.Name
	}
	return c.Name + ", " + c.Unit
}

// key returns the column's name for programs.
func (c Column) key() string { return cmp.Or(c.Key, strings.TrimSuffix(c.Name+" "+c.Unit, " ")) }

// Align returns the side of column j: Left or Right.
func (t *Table) Align(j int) Side {
	if side := t.Columns[j].Side; side != Auto {
		return side
	}
	for i := range t.Rows {
		if slices.ContainsFunc(t.Cell(i, j).Values, numeric) {
			return Right
		}
	}
	return Left
}

// Cell returns the cell of row i and column j. It is blank if the row is too short.
func (t *Table) Cell(i, j int) Cell {
	if j < len(t.Rows[i]) {
		return t.Rows[i][j]
	}
	return Cell{}
}

// Headed reports whether any column has a name.
func (t *Table) Headed() bool {
	return slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Head() != "" })
}

// numeric reports whether the value of a cell is a number. It panics on a type that a cell must not hold.
func numeric(v any) bool {
	switch v.(type) {
	case int, int64, uint64, float64:
		return true
	case string, bool:
		return false
	}
	panic(fmt.Sprintf("report: a cell holds %v of type %T, must hold string, bool, int, int64, uint64 or float64", v, v))
}

// check panics if a row has more cells than there are columns, or if a cell has more values than its column has parts.
func (t *Table) check() {
	for i, row := range t.Rows {
		if len(row) > len(t.Columns) {
			panic(fmt.Sprintf("report: table %q: row %d has %d cells, must have at most %d, the number of columns", t.Title, i,
				len(row), len(t.Columns)))
		}
		for j, c := range row {
			if most := max(1, len(t.Columns[j].Parts)); len(c.Values) > most {
				panic(fmt.Sprintf("report: table %q: cell %q of column %q has %d values, must have at most %d", t.Title, c.Text,
					t.Columns[j].Name, len(c.Values), most))
			}
		}
	}
}
