package saint_test

import (
	"math"
	"testing"

	"github.com/graph-condensation/cgc/dataset/format/formattest"
	"github.com/graph-condensation/cgc/dataset/format/internal/formats/saint"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
)

func adjFull(shape []int64, indptr []int64, indices []int32, data any, descr string) []byte {
	length := func(n int) string { return string(rune('0'+n)) + "," }
	members := map[string][]byte{
		"indptr":  fixture.Npy("<i8", length(len(indptr)), indptr),
		"indices": fixture.Npy("<i4", length(len(indices)), indices),
		"shape":   fixture.Npy("<i8", length(len(shape)), shape), "format": fixture.Npy("|S3", "", []byte("csr")),
	}
	if data != nil {
		members["data"] = fixture.Npy(descr, length(len(indices)), data)
	}
	return fixture.Npz(members)
}

func folder() map[string][]byte {
	return map[string][]byte{
		// 0→2, 0→1 (columns not in order), 1→1, 3→2
		"adj_full.npz": adjFull(
			[]int64{4, 4}, []int64{0, 2, 3, 3, 4}, []int32{2, 1, 1, 2}, []bool{true, true, true, true}, "|b1"),
		"feats.npy":      fixture.Npy("<f4", "4, 2", []float32{1, 2, 3, 4, 5, 6, 7, 8}),
		"class_map.json": []byte("{\"0\": 2, \"1\": 0,\n \"3\": 1}"),
		"role.json":      []byte(`{"tr": [1, 0], "va": [], "te": [3]}`),
	}
}

func TestContract(t *testing.T) { formattest.Run(t, saint.Name, fixture.Folder(t, folder())) }

func TestReadSAINT(t *testing.T) {
	g := fixture.Open(t, fixture.Folder(t, folder()))
	fixture.Is(t, g, "edges 0-1 0-2 2-3; y 2 0 - 1; split 0 1 /  / 3")
	mattest.Equal(t, g.Classes, 3, "classes")
	one := []byte(`{"0": 3, "1": 1, "3": 1}`)
	// The larger of two weights counts, and a stored 0 is no edge.
	weighted := adjFull([]int64{4, 4}, []int64{0, 2, 3, 3, 4}, []int32{2, 1, 0, 2}, []float64{0.5, 2, 3, 0}, "<f8")
	for want, files := range map[string]map[string][]byte{
		"y 2 0 - 0; classes 1|2|3": fixture.With(folder(), "class_map.json", one),
		"edges 0-1*3 0-2*0.5":      fixture.With(folder(), "adj_full.npz", weighted),
	} {
		fixture.Is(t, fixture.Open(t, fixture.Folder(t, files)), want)
	}
}

func TestReadSAINTFeatures(t *testing.T) {
	for descr, numbers := range map[string]any{
		"|b1": []bool{false, true, true, true, false, true, false, true},
		"|u1": []uint8{0, 1, 2, 3, 0, 1, 0, 1}, "|i1": []int8{0, 1, 2, 3, 0, 1, 0, 1},
		"<u2": []uint16{0, 1, 2, 3, 0, 1, 0, 1}, "<i2": []int16{0, 1, 2, 3, 0, 1, 0, 1},
		"<i4": []int32{0, 1, 2, 3, 0, 1, 0, 1}, "<u8": []uint64{0, 1, 2, 3, 0, 1, 0, 1},
		"<f8": []float64{0, 1, 2, 3, 0, 1, 0, 1}, "<f4": []float32{0, 1, 2, 3, 0, 1, 0, 1},
		"<f2": []uint16{0, 0x3c00, 0x4000, 0x4200, 0, 0x3c00, 0, 0x3c00},
	} {
		g := fixture.Open(t, fixture.Folder(t, fixture.With(folder(), "feats.npy", fixture.Npy(descr, "4, 2", numbers))))
		want := "dense 0 1, 2 3, 0 1, 0 1"
		if descr == "|b1" {
			want = "dense 0 1, 1 1, 0 1, 0 1"
		}
		fixture.Is(t, g, want)
	}
}

func TestReadSAINTRefuses(t *testing.T) {
	ok := []bool{true, true, true, true}
	for _, c := range []struct {
		file string
		data []byte
		want string
	}{
		{"adj_full.npz", adjFull([]int64{4, 4}, []int64{0, 2, 3, 3, 4}, []int32{2, 1, 1, 4}, ok, "|b1"),
			"column 4 of entry 3, must be 0 to 3"},
		{"adj_full.npz", adjFull([]int64{4, 5}, []int64{0, 2, 3, 3, 4}, []int32{2, 1, 1, 2}, ok, "|b1"),
			"4×5, must be square"},
		{"adj_full.npz", adjFull([]int64{4, 4}, []int64{0, 3, 2, 3, 4}, []int32{2, 1, 1, 2}, ok, "|b1"),
			"row pointer 3 of row 1 is above 2"},
		{"adj_full.npz", adjFull([]int64{4, 4}, []int64{0, 2, 3, 4}, []int32{2, 1, 1, 2}, ok, "|b1"),
			"4 row pointers for 4 rows"},
		{"adj_full.npz", adjFull([]int64{4, 4}, []int64{0, 2, 3, 3, 4}, []int32{2, 1, 1, 2}, []float32{1, -1, 1, 1}, "<f4"),
			"weight -1 of edge 0–1"},
		{"adj_full.npz", adjFull([]int64{4, 4}, []int64{0, 2, 3, 3, 4}, []int32{2, 1, 1, 2}, nil, ""), "array data: missing"},
		{"adj_full.npz", fixture.Npz(map[string][]byte{"format": fixture.Npy("|S3", "", []byte("coo"))}),
			"coo format, must be csr"},
		{"adj_full.npz", []byte("PK"), "not an .npz file"},
		{"feats.npy", fixture.Npy("<f4", "3, 2", make([]float32, 6)), "features are 3×2, expected 4 rows"},
		{"feats.npy", fixture.Npy("<f4", "4, 2", []float32{1, 2, 3, float32(math.NaN()), 5, 6, 7, 8}),
			"feature 1 of node 1 is not a finite number"},
		{"feats.npy", fixture.Npy("<f4", "4, 3", make([]float32, 8)), "does not fit the 32 bytes"},
		{"feats.npy", fixture.Npy("<c8", "4, 1", make([]float32, 8)), `element type "<c8"`},
		{"feats.npy", fixture.Npy("<f4", "2, 2, 2", make([]float32, 8)), "expected rows and columns"},
		{"feats.npy", []byte("hello, world"), "magic word"},
		{"class_map.json", []byte(`{"0": [0, 1], "1": [1, 0]}`),
			"list of labels: a graph where nodes have several classes is not supported"},
		{"class_map.json", []byte(`{"0": 1, "9": 1}`), `class_map.json:1: byte 13: node "9", must be 0 to 3`},
		{"class_map.json", []byte("{\"0\": 1,\n\"1\": -5}"),
			"class_map.json:2: byte 16: label -5 of node 1, must be 0 to 65535"},
		{"class_map.json", []byte(`{"0": 1.5}`), `"1.5" is not an integer`},
		{"class_map.json", []byte(`{"0": 1`), "file ends"},
		{"class_map.json", []byte(`{0: 1}`), `found '0', expected '"'`},
		{"class_map.json", []byte(`{"0": 1}}`), `'}' after the end`},
		{"role.json", []byte(`{"tr": [0, 4]}`), "role.json:1: byte 12: node 4, must be 0 to 3"},
		{"role.json", []byte(`{"tr": [0], "te": [0]}`), "node 0 is in train and again in test"},
		{"role.json", []byte(`{"tr": [0, 2]}`), "node 2 of train has no label"},
		{"role.json", []byte(`{"te": [0]}`), "training split is empty"},
		{"role.json", []byte(`{"train": [0]}`), `key "train", expected tr, va or te`},
		{"role.json", nil, "role.json: there is no such file"},
	} {
		fixture.Refuses(t, fixture.With(folder(), c.file, c.data), c.want)
	}
}

func FuzzSAINT(f *testing.F) {
	s := folder()
	f.Add(s["adj_full.npz"], s["feats.npy"], s["class_map.json"], s["role.json"])
	f.Fuzz(func(t *testing.T, adj, feats, classes, roles []byte) {
		fixture.Valid(t, fixture.Folder(t, map[string][]byte{
			"adj_full.npz": adj, "feats.npy": feats, "class_map.json": classes, "role.json": roles,
		}))
	})
}
