package mat

// Paneled is a Matrix that is read faster in blocks of whole panels.
type Paneled interface {
	Matrix
	// PanelWidth returns the number of columns of a panel, or 0 if all columns are equally fast to read. Columns
	// k·PanelWidth to (k+1)·PanelWidth−1 are stored together.
	PanelWidth() int
}

// PanelWidth returns the panel width of x, or 0 if x has no panels.
func PanelWidth(x Matrix) int {
	if p, ok := x.(Paneled); ok {
		return p.PanelWidth()
	}
	return 0
}
