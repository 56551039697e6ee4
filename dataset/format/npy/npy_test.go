package npy_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/numpy"
	"github.com/graph-condensation/cgc/dataset/format/npy"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

func matrix(rows, cols int) *mat.Dense {
	x := mat.NewDense(rows, cols)
	for i := range x.Data {
		x.Data[i] = float32(i%1000) / 4
	}
	return x
}

// TestWrite reads back what Write wrote. float16 holds these values exactly.
func TestWrite(t *testing.T) {
	x := matrix(5000, 3) // several blocks
	for _, storage := range []mat.Storage{mat.F32, mat.F16} {
		var file bytes.Buffer
		mattest.OK(t, npy.Write(&file, format.Array{Name: "x", Data: x}, storage))
		if file.Len() != 128+15000*storage.Bytes() {
			t.Errorf("%s: %d bytes", storage, file.Len())
		}
		a := mattest.Must(numpy.NewArray(&file, int64(file.Len())))
		read, err := numpy.Dense(a)
		if err != nil || read.Rows != 5000 || fmt.Sprint(read.Data) != fmt.Sprint(x.Data) {
			t.Errorf("%s: %d rows, %v", storage, read.Rows, err)
		}
	}
	var file bytes.Buffer
	mattest.OK(t, npy.Write(&file, format.Array{Name: "nodes", Data: []int32{7, -1}}, mat.F16))
	a, err := numpy.NewArray(&file, int64(file.Len()))
	if err != nil || a.DType.String() != "int64" {
		t.Errorf("integers are %v, %v", a.DType, err)
	}
}

func TestWriteErrors(t *testing.T) {
	x := matrix(2, 2)
	x.Data[3] = 1e6
	for storage, want := range map[mat.Storage]string{
		mat.F16: "array x: element (1, 1) is 1e+06, must be at most 65504 in f16", mat.BF16: "bf16, must be f32 or f16",
	} {
		err := npy.Write(&bytes.Buffer{}, format.Array{Name: "x", Data: x}, storage)
		mattest.WantError(t, err, want)
	}
}

func ExampleWrite() {
	var file bytes.Buffer
	x := mat.NewDense(3, 2)
	if err := npy.Write(&file, format.Array{Name: "x", Data: x}, mat.F16); err != nil {
		panic(err)
	}
	fmt.Println(strings.TrimSpace(file.String()[10:128]))
	// Output:
	// {'descr': '<f2', 'fortran_order': False, 'shape': (3, 2), }
}

// TestRows adds rows to a file in two steps, and reads some of them.
func TestRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	whole := matrix(9000, 3)
	part := func(lo, hi int) format.Array {
		return format.Array{Name: "x", Data: &mat.Dense{Rows: hi - lo, Cols: 3, Data: whole.Data[3*lo : 3*hi]}}
	}
	file := mattest.Must(os.Create(path))
	mattest.OK(t, npy.Write(file, part(0, 5), mat.F32))
	mattest.OK(t, file.Close())
	mattest.Fails(t, "no such file")(npy.OpenRows(path+"x", part(0, 0), false))
	r := mattest.Must(npy.OpenRows(path, part(0, 0), true))
	defer r.Close()
	mattest.OK(t, r.Append(5, part(5, 9000)))
	mattest.WantError(t, r.Resize(9001), "fewer than 9001 rows")
	rows := []int32{0, 1, 2, 4000, 8000, 8999}
	for _, end := range []int{5, 9000} { // rows can be read before the header counts them
		got := new(mat.Dense)
		mattest.OK(t, r.Read(t.Context(), got, rows))
		mattest.Equal(t, got.Data, whole.Select(rows).Dense().Data, "rows")
		if end == 9000 {
			mattest.OK(t, r.Resize(end))
		}
	}
	read := mattest.Must(numpy.Read(t.Context(), path))
	mattest.Equal(t, read.Data, whole.Data, "rows")
	mattest.OK(t, r.Resize(7))
	mattest.Equal(t, mattest.Must(numpy.Read(t.Context(), path)).Data, whole.Data[:21], "rows")
	mattest.WantError(t, r.Read(t.Context(), new(mat.Dense), rows), "reading row 4000 of "+path)
	mattest.WantError(t, r.Append(0, format.Array{Name: "x", Data: 3}), "holds a int")
}
