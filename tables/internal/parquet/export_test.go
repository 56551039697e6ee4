package parquet

// SetRowGroup sets the number of values in a row group, and returns a function that restores it.
func SetRowGroup(values int) (restore func()) {
	before := rowGroup
	rowGroup = values
	return func() { rowGroup = before }
}
