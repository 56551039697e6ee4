package numpy_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/slow"
)

// parse reads an .npy file as T.
func parse[T numpy.Number](data []byte) ([]int, []T, error) {
	r := bytes.NewReader(data)
	a, err := numpy.NewArray(r, int64(len(data)))
	if err != nil {
		return nil, nil, err
	}
	x, err := numpy.Numbers[T](a)
	return a.Shape, x, err
}

func TestParseNpy(t *testing.T) {
	big := []byte("\x93NUMPY\x02\x00\x3d\x00\x00\x00{'descr': '>i4', 'fortran_order': True, 'shape': (2, 3), }   \n")
	for _, v := range []byte{1, 4, 2, 5, 3, 6} {
		big = append(big, 0, 0, 0, v)
	}
	big[8] = byte(len(big) - 24 - 12)
	shape, got, err := parse[float32](big)
	if err != nil || !slices.Equal(shape, []int{2, 3}) || !slices.Equal(got, []float32{1, 2, 3, 4, 5, 6}) {
		t.Errorf("big-endian, column-major: %v %v %v", shape, got, err)
	}
	for _, h := range []struct {
		bits uint16
		want float32
	}{
		{0x0001, 0x1p-24}, {0x83ff, -0x1.ff8p-15}, {0x0400, 0x1p-14}, {0x7bff, 65504},
		{0xfc00, float32(math.Inf(-1))}, {0x3555, 0.33325195},
	} {
		_, got, err := parse[float32](fixture.Npy("<f2", "1,", []uint16{h.bits}))
		if err != nil || got[0] != h.want {
			t.Errorf("half %04x is %v, want %v (%v)", h.bits, got, h.want, err)
		}
	}
	words := fixture.Npy("<U2", "2,", []rune{'a', 0, 'é', 'b'})
	a := mattest.Must(numpy.NewArray(bytes.NewReader(words), int64(len(words))))
	mattest.Equal(t, mattest.Must(numpy.Texts(a)), []string{"a", "éb"}, "texts")
	if _, _, err := parse[int32](fixture.Npy("<u4", "1,", []uint32{1 << 31})); err == nil {
		t.Error("2³¹ fits in an int32")
	}
}

// TestLargeFortranOrder checks that a large array in Fortran order, which is read in groups of columns, is returned in
// C order.
func TestLargeFortranOrder(t *testing.T) {
	slow.Test(t, "converts 30 MB")
	const rows, cols = 6_000_011, 5
	raw := make([]uint8, rows*cols)
	for i := range rows {
		for j := range cols {
			raw[j*rows+i] = uint8(i*7 + j)
		}
	}
	a := &numpy.Array{
		DType: numpy.DType{Kind: 'u', Size: 1}, Shape: []int{rows, cols}, Fortran: true, R: bytes.NewReader(raw),
	}
	got, err := numpy.Numbers[float32](a)
	if err != nil || len(got) != rows*cols {
		t.Fatalf("%d numbers, error %v", len(got), err)
	}
	for i := range rows {
		for j := range cols {
			if v := got[i*cols+j]; v != float32(uint8(i*7+j)) {
				t.Fatalf("number (%d, %d) is %v, want %d", i, j, v, uint8(i*7+j))
			}
		}
	}
}

// FuzzNpy checks that no input causes a panic or unbounded memory use. Errors are allowed.
func FuzzNpy(f *testing.F) {
	f.Add(fixture.Npy("<f4", "2, 2", []float32{1, 2, 3, 4}))
	f.Add(fixture.Npy(">i2", "3,", []int16{1, 2, 3}))
	f.Add(fixture.Npy("|b1", "", []bool{true}))
	f.Add(fixture.Npy("<f8", "9999999999, 9999999999", []float64{1}))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _, _ = parse[float32](data)
		_, _, _ = parse[int32](data)
	})
}

// FuzzNpz checks that no input causes a panic or unbounded memory use, in the zip around arrays. Errors are allowed.
func FuzzNpz(f *testing.F) {
	f.Add(fixture.Npz(map[string][]byte{
		"indptr": fixture.Npy("<i8", "3,", []int64{0, 1, 2}), "indices": fixture.Npy("<i4", "2,", []int32{1, 0}),
		"data": fixture.Npy("<f4", "2,", []float32{1, 2}), "shape": fixture.Npy("<i8", "2,", []int64{2, 2}),
	}))
	f.Add(fixture.Npz(map[string][]byte{"x": fixture.Npy("<f8", "1, 1", []float64{0.5})}))
	f.Add(fixture.Npz(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "own.npz")
		mattest.OK(t, os.WriteFile(path, data, 0o600))
		z, err := numpy.OpenArchive(t.Context(), path)
		if err != nil {
			return
		}
		defer z.Close()
		_, _ = numpy.Member[float32](z, "x")
		if m, err := z.CSR(t.Context(), ""); err == nil {
			if err := m.Validate(t.Context()); err != nil && len(m.Indices) == 0 {
				t.Fatal(err)
			}
		}
	})
}
