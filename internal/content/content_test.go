package content

import (
	"slices"
	"testing"
)

// TestShiftLabels counts classes from 1 if no label is 0, also if others are missing.
func TestShiftLabels(t *testing.T) {
	for _, c := range []struct {
		y, want []int32
		names   []string
	}{
		{[]int32{0, 2, -1}, []int32{0, 2, -1}, nil},
		{[]int32{3, -1, 1}, []int32{2, -1, 0}, []string{"1", "2", "3"}},
		{[]int32{2, 3}, []int32{1, 2}, []string{"1", "2", "3"}},
		{[]int32{-1}, []int32{-1}, nil},
		{nil, nil, nil},
	} {
		y := slices.Clone(c.y)
		if names := ShiftLabels(y); !slices.Equal(names, c.names) || !slices.Equal(y, c.want) {
			t.Errorf("%v: %v with names %q, want %v with %q", c.y, y, names, c.want, c.names)
		}
	}
}
