package dataset_test

import (
	"math"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/mat"
)

func adjFull(shape []int64, indptr []int64, indices []int32, data any, descr string) []byte {
	length := func(n int) string { return string(rune('0'+n)) + "," }
	members := map[string][]byte{
		"indptr": npy("<i8", length(len(indptr)), indptr), "indices": npy("<i4", length(len(indices)), indices),
		"shape": npy("<i8", length(len(shape)), shape), "format": npy("|S3", "", []byte("csr")),
	}
	if data != nil {
		members["data"] = npy(descr, length(len(indices)), data)
	}
	return npz(members)
}

func saint() map[string][]byte {
	return map[string][]byte{
		// 0→2, 0→1 (columns not in order), 1→1, 3→2
		"adj_full.npz":   adjFull([]int64{4, 4}, []int64{0, 2, 3, 3, 4}, []int32{2, 1, 1, 2}, []bool{true, true, true, true}, "|b1"),
		"feats.npy":      npy("<f4", "4, 2", []float32{1, 2, 3, 4, 5, 6, 7, 8}),
		"class_map.json": []byte("{\"0\": 2, \"1\": 0,\n \"3\": 1}"),
		"role.json":      []byte(`{"tr": [1, 0], "va": [], "te": [3]}`),
	}
}

func TestReadSAINT(t *testing.T) {
	g := open(t, folder(t, saint()))
	if !slices.Equal(g.Adj.Indptr, []int64{0, 2, 3, 5, 6}) || !slices.Equal(g.Adj.Indices, []int32{1, 2, 0, 0, 3, 2}) || g.Adj.Data != nil {
		t.Errorf("adjacency %+v", g.Adj)
	}
	if !slices.Equal(g.Y, []int32{2, 0, graph.Unlabelled, 1}) || g.Classes != 3 {
		t.Errorf("labels %v of %d classes", g.Y, g.Classes)
	}
	if !slices.Equal(g.Split.Train, []int32{0, 1}) || len(g.Split.Val) != 0 || !slices.Equal(g.Split.Test, []int32{3}) {
		t.Errorf("split %+v", g.Split)
	}
}

func TestReadSAINTFeatures(t *testing.T) {
	want := []float32{0, 1, 2, 3, 0, 1, 0, 1}
	for descr, numbers := range map[string]any{
		"|b1": []bool{false, true, true, true, false, true, false, true},
		"|u1": []uint8{0, 1, 2, 3, 0, 1, 0, 1}, "|i1": []int8{0, 1, 2, 3, 0, 1, 0, 1},
		"<u2": []uint16{0, 1, 2, 3, 0, 1, 0, 1}, "<i2": []int16{0, 1, 2, 3, 0, 1, 0, 1},
		"<i4": []int32{0, 1, 2, 3, 0, 1, 0, 1}, "<u8": []uint64{0, 1, 2, 3, 0, 1, 0, 1},
		"<f8": []float64{0, 1, 2, 3, 0, 1, 0, 1}, "<f4": want,
		"<f2": []uint16{0, 0x3c00, 0x4000, 0x4200, 0x8000, 0x3c00, 0, 0x3c00},
	} {
		g := open(t, folder(t, with(saint(), "feats.npy", npy(descr, "4, 2", numbers))))
		got := slices.Clone(g.X.(*mat.Dense).Data)
		if descr == "|b1" {
			got[2], got[3] = 2, 3 // there is no other true
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: features %v, want %v", descr, got, want)
		}
	}
}

func TestReadSAINTWeights(t *testing.T) {
	adj := adjFull([]int64{4, 4}, []int64{0, 2, 3, 3, 4}, []int32{2, 1, 0, 2}, []float64{0.5, 2, 3, 0}, "<f8")
	g := open(t, folder(t, with(saint(), "adj_full.npz", adj)))
	if !slices.Equal(g.Adj.Indices, []int32{1, 2, 0, 0}) || !slices.Equal(g.Adj.Data, []float32{3, .5, 3, .5}) {
		t.Errorf("adjacency %+v, want the larger of two weights, and none for a stored zero", g.Adj)
	}
}

func TestReadSAINTRefuses(t *testing.T) {
	ok := []bool{true, true, true, true}
	for _, c := range []struct {
		file string
		data []byte
		want string
	}{
		{"adj_full.npz", adjFull([]int64{4, 4}, []int64{0, 2, 3, 3, 4}, []int32{2, 1, 1, 4}, ok, "|b1"), "column 4 of entry 3, want 0 to 3"},
		{"adj_full.npz", adjFull([]int64{4, 5}, []int64{0, 2, 3, 3, 4}, []int32{2, 1, 1, 2}, ok, "|b1"), "4×5, want it square"},
		{"adj_full.npz", adjFull([]int64{4, 4}, []int64{0, 3, 2, 3, 4}, []int32{2, 1, 1, 2}, ok, "|b1"), "row pointer 3 of row 1 is above 2"},
		{"adj_full.npz", adjFull([]int64{4, 4}, []int64{0, 2, 3, 4}, []int32{2, 1, 1, 2}, ok, "|b1"), "4 row pointers for 4 rows"},
		{"adj_full.npz", adjFull([]int64{4, 4}, []int64{0, 2, 3, 3, 4}, []int32{2, 1, 1, 2}, []float32{1, -1, 1, 1}, "<f4"), "weight -1 of edge 0–1"},
		{"adj_full.npz", adjFull([]int64{4, 4}, []int64{0, 2, 3, 3, 4}, []int32{2, 1, 1, 2}, nil, ""), "array data: missing"},
		{"adj_full.npz", npz(map[string][]byte{"format": npy("|S3", "", []byte("coo"))}), "coo format, want csr"},
		{"adj_full.npz", []byte("PK"), "not an .npz file"},
		{"feats.npy", npy("<f4", "3, 2", make([]float32, 6)), "features are 3×2, want 4 rows"},
		{"feats.npy", npy("<f4", "4, 2", []float32{1, 2, 3, float32(math.NaN()), 5, 6, 7, 8}), "feature 1 of node 1 is not a finite number"},
		{"feats.npy", npy("<f4", "4, 3", make([]float32, 8)), "does not take the 32 bytes"},
		{"feats.npy", npy("<c8", "4, 1", make([]float32, 8)), `element type "<c8"`},
		{"feats.npy", npy("<f4", "2, 2, 2", make([]float32, 8)), "want rows and columns"},
		{"feats.npy", []byte("hello, world"), "magic word"},
		{"class_map.json", []byte(`{"0": [0, 1], "1": [1, 0]}`), "list of labels: a graph where nodes have several classes is not supported"},
		{"class_map.json", []byte(`{"0": 1, "9": 1}`), `class_map.json:1: byte 13: node "9", want 0 to 3`},
		{"class_map.json", []byte("{\"0\": 1,\n\"1\": -5}"), "class_map.json:2: byte 16: label -5 of node 1, want 0 to 65535"},
		{"class_map.json", []byte(`{"0": 1.5}`), `"1.5" is not a whole number`},
		{"class_map.json", []byte(`{"0": 1`), "file ends"},
		{"class_map.json", []byte(`{"0": 1}}`), `'}' after the end`},
		{"role.json", []byte(`{"tr": [0, 4]}`), "role.json:1: byte 12: node 4, want 0 to 3"},
		{"role.json", []byte(`{"tr": [0], "te": [0]}`), "node 0 is in train and again in test"},
		{"role.json", []byte(`{"tr": [0, 2]}`), "node 2 of train has no label"},
		{"role.json", []byte(`{"te": [0]}`), "training split is empty"},
		{"role.json", []byte(`{"train": [0]}`), `key "train", want tr, va or te`},
		{"role.json", nil, "role.json: no such file"},
	} {
		refuses(t, with(saint(), c.file, c.data), c.want)
	}
}

func TestReadArrays(t *testing.T) {
	members := func() map[string][]byte {
		return map[string][]byte{
			"adj_indptr": npy("<i4", "4,", []int32{0, 1, 2, 2}), "adj_indices": npy("<i4", "2,", []int32{1, 2}),
			"adj_data": npy("<f4", "2,", []float32{1, 1}), "adj_shape": npy("<i8", "2,", []int64{3, 3}),
			"attr_indptr": npy("<i4", "4,", []int32{0, 3, 3, 4}), "attr_indices": npy("<i4", "4,", []int32{4, 1, 4, 0}),
			"attr_data": npy("<f4", "4,", []float32{1, 2, 3, 4}), "attr_shape": npy("<i8", "2,", []int64{3, 5}),
			"labels": npy("<i8", "3,", []int64{0, 1, 0}),
		}
	}
	g := open(t, folder(t, map[string][]byte{"own.npz": npz(members())}))
	x := g.X.(*mat.CSR)
	if err := x.Validate(); err != nil {
		t.Error(err)
	}
	if !slices.Equal(x.Indices, []int32{1, 4, 0}) || !slices.Equal(x.Data, []float32{2, 4, 4}) {
		t.Errorf("sparse features %+v, want columns in order and repeats added", x)
	}
	dense := members()
	dense["attr_matrix"] = npy("<i4", "3, 2", []int32{1, 2, 3, 4, 5, 6})
	if g := open(t, folder(t, map[string][]byte{"own.npz": npz(dense)})); !slices.Equal(g.X.(*mat.Dense).Data, []float32{1, 2, 3, 4, 5, 6}) {
		t.Errorf("dense features %+v", g.X)
	}
	for want, change := range map[string][]byte{
		"2 labels for 3 nodes":                               npy("<i8", "2,", []int64{0, 1}),
		"label -3 of node 2":                                 npy("<i8", "3,", []int64{0, 1, -3}),
		"array labels: element 1 is 1.5, which does not fit": npy("<f4", "3,", []float32{0, 1.5, 0}),
		"array labels: missing":                              nil,
	} {
		files := members()
		files["labels"] = change
		if change == nil {
			delete(files, "labels")
		}
		refuses(t, map[string][]byte{"own.npz": npz(files)}, want)
	}
}

func TestParseNpy(t *testing.T) {
	big := []byte("\x93NUMPY\x02\x00\x3d\x00\x00\x00{'descr': '>i4', 'fortran_order': True, 'shape': (2, 3), }   \n")
	for _, v := range []byte{1, 4, 2, 5, 3, 6} {
		big = append(big, 0, 0, 0, v)
	}
	big[8] = byte(len(big) - 24 - 12)
	shape, got, err := dataset.ParseNpy[float32](big)
	if err != nil || !slices.Equal(shape, []int{2, 3}) || !slices.Equal(got, []float32{1, 2, 3, 4, 5, 6}) {
		t.Errorf("big-endian, column-major: %v %v %v", shape, got, err)
	}
	for _, h := range []struct {
		bits uint16
		want float32
	}{{0x0001, 0x1p-24}, {0x83ff, -0x1.ff8p-15}, {0x0400, 0x1p-14}, {0x7bff, 65504}, {0xfc00, float32(math.Inf(-1))}, {0x3555, 0.33325195}} {
		_, got, err := dataset.ParseNpy[float32](npy("<f2", "1,", []uint16{h.bits}))
		if err != nil || got[0] != h.want {
			t.Errorf("half %04x is %v, want %v (%v)", h.bits, got, h.want, err)
		}
	}
	if _, _, err := dataset.ParseNpy[int32](npy("<u4", "1,", []uint32{1 << 31})); err == nil {
		t.Error("2³¹ fits in an int32")
	}
}
