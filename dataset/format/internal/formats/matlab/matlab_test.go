package matlab_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format/formattest"
	"github.com/graph-condensation/cgc/dataset/format/internal/formats/matlab"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
)

// order is the byte order of a file.
type order interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// element returns an element: a tag, numbers, and zeros up to a multiple of 8 bytes. Content of up to 4 bytes is in the
// tag.
func element(o order, kind uint32, numbers any) []byte {
	content := mattest.Must(binary.Append(nil, o, numbers))
	if size := uint32(len(content)); size > 0 && size <= 4 {
		return append(o.AppendUint32(nil, size<<16|kind), append(content, make([]byte, 4-size)...)...)
	}
	e := append(o.AppendUint32(o.AppendUint32(nil, kind), uint32(len(content))), content...)
	return append(e, make([]byte, (8-len(content)%8)%8)...)
}

// variable returns a matrix of a class: flags, dimensions, name, and elements with numbers.
func variable(o order, class uint32, name string, rows, cols int32, numbers ...[]byte) []byte {
	content := slices.Concat(element(o, 6, []uint32{class, 0}), element(o, 5, []int32{rows, cols}),
		element(o, 1, []byte(name)), slices.Concat(numbers...))
	return append(o.AppendUint32(o.AppendUint32(nil, 14), uint32(len(content))), content...)
}

// packed returns a zlib-compressed variable.
func packed(o order, variable []byte) []byte {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	mattest.Must(z.Write(variable))
	z.Close() // a buffer does not fail
	return append(o.AppendUint32(o.AppendUint32(nil, 15), uint32(out.Len())), out.Bytes()...)
}

// written returns a .mat file of version 5 with the given variables.
func written(o order, variables ...[]byte) []byte {
	header := append([]byte("MATLAB 5.0 MAT-file"), bytes.Repeat([]byte{' '}, 105)...)
	return append(o.AppendUint16(o.AppendUint16(header, 0x100), 'M'<<8|'I'), slices.Concat(variables...)...)
}

// adjacency is the path 3–0–1–2 as a sparse matrix, with room for two entries more.
func adjacency(o order) []byte {
	return variable(o, 5, "A", 4, 4, element(o, 5, []int32{1, 3, 0, 2, 1, 0, 0, 0}),
		element(o, 5, []int32{0, 2, 4, 5, 6}), element(o, 9, []float64{1, 1, 1, 1, 1, 1, 0, 0}))
}

// people is the table of four people, by columns.
func people(o order) []byte {
	return variable(o, 11, "local_info", 4, 7, element(o, 4, []uint16{
		1, 1, 2, 1, 1, 2, 2, 0, 9, 0, 7, 7, 0, 0, 0, 0, 3, 3, 3, 3, 2007, 2006, 2005, 2004, 0, 0, 0, 50000,
	}))
}

// facebook is a graph in the layout of Facebook100.
func facebook(o order) []byte { return written(o, packed(o, adjacency(o)), packed(o, people(o))) }

// arrays returns the variables of the same graph with the names that other programs use, and two splits.
func arrays(o order) map[string][]byte {
	return map[string][]byte{
		"edge_index": variable(o, 12, "edge_index", 2, 3, element(o, 5, []int32{0, 1, 1, 2, 3, 0})),
		"node_feat":  variable(o, 6, "node_feat", 4, 2, element(o, 2, []uint8{1, 3, 5, 7, 2, 4, 6, 8})),
		"label":      variable(o, 14, "label", 1, 4, element(o, 12, []int64{0, 1, 1, 0})),
		"train_masks": variable(o, 9, "train_masks", 2, 4,
			element(o, 2, []uint8{1, 0, 1, 0, 0, 1, 0, 1})),
		"note": variable(o, 4, "note", 1, 2, element(o, 16, []byte("hi"))),
	}
}

// all returns a file of variables, in order of name.
func all(variables map[string][]byte) []byte {
	var list [][]byte
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		list = append(list, variables[name])
	}
	return written(binary.LittleEndian, list...)
}

func put(t testing.TB, data []byte) string { return fixture.File(t, "own.mat", data) }

// TestFacebook reads files of both byte orders, and a file that scipy 1.17 wrote (testdata/write.py).
func TestFacebook(t *testing.T) {
	for name, data := range map[string][]byte{
		"little-endian": facebook(binary.LittleEndian), "big-endian": facebook(binary.BigEndian),
		"scipy": fixture.Base64(t, filepath.Join("testdata", "own.mat.b64")),
	} {
		file := put(t, data)
		g := fixture.Open(t, file)
		fixture.Is(t, g, "edges 0-1 0-3 1-2; y 0 1 1 -")
		x := g.X.(*mat.CSR)
		// Status has 2 values, major 3, minor 1, dorm 1, year 4, and high school 2.
		want := []int32{0, 4, 5, 6, 10, 11, 0, 2, 5, 6, 9, 11, 1, 3, 5, 6, 8, 11, 0, 3, 5, 6, 7, 12}
		if x.Cols != 13 || !slices.Equal(x.Indices, want) || x.Data != nil {
			t.Errorf("%s: features %+v", name, x)
		}
		formattest.Run(t, matlab.Name, file)
	}
}

func TestArrays(t *testing.T) {
	file := put(t, all(arrays(binary.LittleEndian)))
	for split, want := range []string{"split 0 1 /  /", "split 2 3 /  /"} {
		g := mattest.Must(dataset.Options{Split: split}.Open(t.Context(), file))
		fixture.Is(t, g, "edges 0-1 0-3 1-2; y 0 1 1 0; dense 1 2, 3 4, 5 6, 7 8; "+want)
	}
	formattest.Run(t, matlab.Name, file)
}

// TestUnlabelled checks that labels may be missing if graphs without labels are allowed.
func TestUnlabelled(t *testing.T) {
	variables := arrays(binary.LittleEndian)
	delete(variables, "label")
	g := mattest.Must(dataset.Options{Unlabelled: true}.Open(t.Context(), put(t, all(variables))))
	fixture.Is(t, g, "edges 0-1 0-3 1-2; y - - - -")
}

func TestReadFilesOfThisPython(t *testing.T) {
	for _, compressed := range []string{"", "yes"} {
		file := filepath.Join(t.TempDir(), "own.mat")
		mattest.Python(t, "numpy, scipy.io, scipy.sparse", `
import sys, numpy as np, scipy.io, scipy.sparse as sp
a = sp.csc_matrix((np.ones(6), ([0,1,1,2,3,0], [1,0,2,1,0,3])), (4, 4))
scipy.io.savemat(sys.argv[1], {"A": a, "attr": sp.csc_matrix(np.eye(4)), "labels": np.array([0, 1, 1, 0])},
    do_compression=bool(sys.argv[2]))`, file, compressed)
		fixture.Is(t, fixture.Open(t, file), "edges 0-1 0-3 1-2; y 0 1 1 0")
	}
}

func TestRefuses(t *testing.T) {
	o := binary.LittleEndian
	good := facebook(o)
	sparse := func(rows, cols int32, ir, jc []int32, values []float64) []byte {
		return written(o, variable(o, 5, "A", rows, cols, element(o, 5, ir), element(o, 5, jc), element(o, 9, values)),
			people(o))
	}
	matrix := func(content []byte) []byte {
		return append(o.AppendUint32(o.AppendUint32(nil, 14), uint32(len(content))), content...)
	}
	bomb := packed(o, o.AppendUint32(o.AppendUint32(nil, 14), 1<<31))
	with := func(name string, data []byte) []byte {
		variables := arrays(o)
		variables[name] = data
		return all(variables)
	}
	hdf5 := append([]byte("MATLAB 7.3 MAT-file"), make([]byte, 600)...)
	eight, one := element(o, 9, make([]float64, 8)), []float64{1}
	two, ends := variable(o, 6, "local_info", 4, 2, eight), element(o, 5, []int32{0, 4})
	double, unsigned := element(o, 6, []uint32{6, 0}), element(o, 6, []uint32{1, 4})
	for want, data := range map[string][]byte{
		"not a MAT-file of version 5: it does not begin":    []byte("MATLAB 5.0"),
		"a file of MATLAB 7.3 (HDF5), must be of version 5": hdf5,
		`the byte order is "XX", must be IM or MI`:          slices.Concat(good[:126], []byte("XX")),
		"byte 128: an element of":                           good[:len(good)-len(good[128:])+60],
		"byte 128: the file of 132 bytes is cut short":      good[:132],
		"element of type 7, must be a matrix":               slices.Concat(good[:128], []byte{7, 0, 0, 0, 0, 0, 0, 0}),
		"byte 128: unpacking zlib":                          slices.Concat(good[:136], make([]byte, len(good)-136)),
		"claims 2147483648 decompressed, must be at most":   written(o, bomb),
		"4 rows, expected 5":                                sparse(4, 4, []int32{1}, []int32{0, 1, 1, 1}, one),
		"in columns: column 7 of entry 0, must be 0 to 3":   sparse(4, 4, []int32{7}, []int32{0, 1, 1, 1, 1}, one),
		"1 values for 2 entries":                            sparse(4, 4, []int32{1, 2}, []int32{0, 2, 2, 2, 2}, one),
		"in columns: row pointers run from 0 to 9":          sparse(4, 4, []int32{1}, []int32{0, 9, 9, 9, 9}, one),
		"array A: shape 1000000000×4, must have 4 rows":     sparse(1e9, 4, nil, []int32{0, 0, 0, 0, 0}, nil),
		"shape [4 -4], must be rows and at most":            sparse(4, -4, nil, []int32{0}, nil),
		"array A: shape 4×3, must be 4×4":                   sparse(4, 3, nil, []int32{0, 0, 0, 0}, nil),
		"array A: weight -1 of edge 0–1":                    sparse(4, 4, []int32{0}, []int32{0, 0, 1, 1, 1}, []float64{-1}),
		"array local_info: shape [4 2], must be people × 7": written(o, adjacency(o), two),
		`file holds "A" (4×4 sparse)`:                       written(o, adjacency(o)),
		"array label: it is of the class char, must be a":   with("label", variable(o, 4, "label", 1, 1)),
		"array label: complex numbers, must be real":        with("label", variable(o, 0x806, "label", 1, 1)),
		"array label: the matrix ends, must have another":   with("label", variable(o, 6, "label", 1, 4)),
		"array node_feat: shape [4 1000000000] of 8-byte":   with("node_feat", variable(o, 6, "node_feat", 4, 1e9, eight)),
		"array label: a sparse matrix, must be dense":       with("label", variable(o, 5, "label", 1, 4)),
		"dimensions: type 6 of 8 bytes, must be type 5":     with("label", matrix(slices.Concat(double, unsigned))),
		"flags: type 0 of 0 bytes, must be type 6":          with("label", matrix(make([]byte, 8))),
		"edge_index: node 4 at [1, 0], must be 0 to 3":      with("edge_index", variable(o, 12, "edge_index", 2, 1, ends)),
		"a small element of 9 bytes, must be at most 4":     with("label", matrix([]byte{6, 0, 9, 0, 0, 0, 0, 0})),
		"an element of 4096 bytes, must be at most 0":       with("label", matrix([]byte{6, 0, 0, 0, 0, 16, 0, 0})),
	} {
		fixture.RefusesAt(t, put(t, data), want)
	}
}

// FuzzRead checks that no input causes a panic or unbounded memory use. Errors are allowed.
func FuzzRead(f *testing.F) {
	for _, o := range []order{binary.LittleEndian, binary.BigEndian} {
		f.Add(facebook(o))
		f.Add(written(o, adjacency(o), people(o)))
	}
	f.Add(all(arrays(binary.LittleEndian)))
	f.Add(fixture.Base64(f, filepath.Join("testdata", "own.mat.b64")))
	f.Fuzz(func(t *testing.T, data []byte) { fixture.Valid(t, put(t, data)) })
}

// FuzzMatrix changes only what zlib decompresses.
func FuzzMatrix(f *testing.F) {
	o := binary.LittleEndian
	f.Add(adjacency(o), people(o))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		fixture.Valid(t, put(t, written(o, packed(o, first), packed(o, second))))
	})
}
