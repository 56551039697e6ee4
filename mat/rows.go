package mat

// RowsOf returns the given rows of x as a matrix, in the given order, repeats allowed. It copies nothing: each block is
// read from x. rows must not change.
func RowsOf(x Matrix, rows []int32) Matrix { return &someRows{x, rows} }

type someRows struct {
	of   Matrix
	rows []int32
}

// Dims implements Matrix.
func (s *someRows) Dims() (rows, cols int) {
	_, cols = s.of.Dims()
	return len(s.rows), cols
}

// PanelWidth implements Paneled.
func (s *someRows) PanelWidth() int { return PanelWidth(s.of) }

// ReadBlock implements Matrix.
func (s *someRows) ReadBlock(dst *Dense, rows []int32, lo, hi int) error {
	there := make([]int32, len(rows))
	for r, i := range rows {
		there[r] = s.rows[i]
	}
	return Read(dst, s.of, there, lo, hi)
}
