package mtx_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/graph-condensation/cgc/dataset/format/formattest"
	"github.com/graph-condensation/cgc/dataset/format/internal/formats/mtx"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
)

const (
	banner  = "%%MatrixMarket matrix coordinate pattern general\n"
	dense   = "%%MatrixMarket matrix array real general\n"
	pattern = banner + "% a comment\n\n4 4 4\n1 2\n2 1\n 3\t2 \r\n3 3\n\n"
)

// plain returns the files of the graph of fixture.Plain.
func plain() map[string][]byte {
	return map[string][]byte{
		"adjacency.mtx": []byte(pattern),
		"features.csv":  []byte("a,b\n1,0.5\n0,-2e-3\n0,0\n3,4\n"),
		"labels.csv":    []byte("label,part\n0,train\n1, val\n,\n1,TEST\n\n"),
	}
}

func TestContract(t *testing.T) {
	dir := fixture.Folder(t, plain())
	formattest.Run(t, mtx.Name, dir)
	formattest.Run(t, mtx.Name, filepath.Join(dir, "adjacency.mtx"))
}

// TestReadFilesOfSciPy reads files that scipy wrote (testdata/write.py).
func TestReadFilesOfSciPy(t *testing.T) {
	g := fixture.Open(t, filepath.Join("testdata", "pattern"))
	fixture.Is(t, g, "edges 0-1 1-2; sparse 1 0.5, 0 -0.002, 0 0, 3 4; y 0 1 - 1")
	g = fixture.Open(t, filepath.Join("testdata", "symmetric"))
	fixture.Is(t, g, "edges 0-1*2.5 1-2*0.25; dense 1 0.5, 0 -0.002, 0 0, 3 4; classes blue|red; split 0 / 1 / 3")
}

// TestRepeatedEntries checks that the largest of repeated entries is the weight, and that a note mentions them.
func TestRepeatedEntries(t *testing.T) {
	repeated := "%%MatrixMarket matrix coordinate real general\n4 4 3\n1 2 2\n1 2 3\n2 3 1\n"
	g, notes := fixture.Noted(t, fixture.Folder(t, fixture.With(plain(), "adjacency.mtx", []byte(repeated))))
	fixture.Is(t, g, "edges 0-1*3 1-2*1")
	fixture.Notes(t, notes, "1 repeat or opposite direction merged")
}

// TestVariants checks that all ways to store features, labels and the split give the same graph.
func TestVariants(t *testing.T) {
	want := fixture.Open(t, fixture.Folder(t, fixture.Plain()))
	split := []byte("split\ntrain\nval\n\ntest\n")
	files := fixture.With(plain(), "adjacency.mtx", nil)
	files = fixture.With(files, "own.mtx.gz", fixture.Packed(pattern))
	array := fixture.With(fixture.With(plain(), "features.csv", nil), "features.mtx",
		[]byte(dense+"4 2\n1\n0\n0\n3\n0.5\n-2e-3\n0\n4\n"))
	npy := fixture.With(fixture.With(plain(), "features.csv", nil), "features.npy",
		fixture.Npy("<f4", "4, 2", []float32{1, .5, 0, -2e-3, 0, 0, 3, 4}))
	npy = fixture.With(fixture.With(npy, "labels.csv", nil), "labels.npy", fixture.Npy("<i8", "4,", []int64{1, 2, -1, 2}))
	column := fixture.With(fixture.With(plain(), "labels.csv", nil), "labels.mtx", []byte(dense+"1 4\n0\n1\n-1\n1\n"))
	for name, files := range map[string]map[string][]byte{
		"plain": plain(), "packed, with another matrix": fixture.With(files, "other.mtx", []byte(pattern)), "array": array,
		"npy": fixture.With(npy, "split.csv", split), "column": fixture.With(column, "split.csv", split),
	} {
		t.Run(name, func(t *testing.T) { fixture.Same(t, fixture.Open(t, fixture.Folder(t, files)), want) })
	}
	fixture.Is(t, fixture.Open(t, fixture.Folder(t, npy)), "classes 1|2")
}

func TestRefuses(t *testing.T) {
	real3 := "%%MatrixMarket matrix coordinate real general\n4 4 1\n"
	for _, c := range []struct{ file, text, want string }{
		{"adjacency.mtx", "", `adjacency.mtx:1: the line "", expected %%MatrixMarket matrix coordinate real general`},
		{"adjacency.mtx", "4 4 4\n", `adjacency.mtx:1: the line "4 4 4", expected %%MatrixMarket`},
		{"adjacency.mtx", "%%MatrixMarket matrix coordinate complex general\n", `a matrix of "complex", must be real`},
		{"adjacency.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n",
			"a skew-symmetric matrix, must be general"},
		{"adjacency.mtx", "%%MatrixMarket matrix list real general\n", `a matrix as "list", must be coordinate or array`},
		{"adjacency.mtx", dense + "4 4\n", "the adjacency is an array, must be as coordinate"},
		{"adjacency.mtx", banner, "the file ends before the sizes"},
		{"adjacency.mtx", banner + "4 4\n", "adjacency.mtx:2: 2 sizes, expected 3"},
		{"adjacency.mtx", banner + "4 x 1\n", `adjacency.mtx:2: size "x", must be an integer`},
		{"adjacency.mtx", banner + "4 3 1\n", "adjacency.mtx:2: the adjacency is 4×3, must be square"},
		{"adjacency.mtx", banner + "5 5 1\n1 2\n", "adjacency.mtx:2: the adjacency is 5×5, and there are 4 labels"},
		{"adjacency.mtx", banner + "4 4 9999999999\n1 2\n", "the file is too short for 9999999999 entries"},
		{"adjacency.mtx", banner + "4 4 1\n1 5\n", `adjacency.mtx:3: column "5", must be 1 to 4`},
		{"adjacency.mtx", banner + "4 4 1\n0 1\n", `adjacency.mtx:3: row "0", must be 1 to 4`},
		{"adjacency.mtx", banner + "4 4 1\n1 2\n2 3\n", "adjacency.mtx:4: one line too many, expected 1"},
		{"adjacency.mtx", banner + "4 4 2\n1 2     \n", "adjacency.mtx: 1 lines, expected 2, one for each of the entries"},
		{"adjacency.mtx", real3 + "1 2 -1\n", "adjacency.mtx: entry 1: weight -1 of edge 1–2, must be a positive number"},
		{"adjacency.mtx", real3 + "1 2 nan\n", `adjacency.mtx:3: value "nan", must be a finite number`},
		{"features.mtx", dense + "3 1\n1\n1\n1\n", "features.mtx:2: 3 rows of features, and there are 4 labels"},
		{"features.mtx", dense + "4 1\n1\n1\nx\n1\n", `features.mtx:5: value "x", must be a finite number`},
		{"features.mtx", dense + "4 2147483647\n1\n", "features.mtx:2: an array of 4 × 2147483647 numbers"},
		{"labels.csv", "0,train\n1\nx\n0\n", `labels.csv:3: label "x", and label "0" in line 1: must be only integers`},
		{"labels.csv", "0,dev\n1\n1\n0\n", `labels.csv:1: split "dev", must be train, val, test or nothing`},
		{"labels.csv", "0,train\n1\n1\n-2\n", "labels.csv:4: label -2, must be at least 0"},
		{"split.csv", "train\n\n\n\nval\n", "split.csv:5: one line too many, expected 4, one for each label"},
		{"split.csv", "val\n", "split.csv: the training split is empty"},
	} {
		fixture.Refuses(t, fixture.With(plain(), c.file, []byte(c.text)), c.want)
	}
	files := fixture.With(plain(), "labels.csv", nil)
	fixture.Refuses(t, fixture.With(files, "labels.mtx", []byte(dense+"4 1\n1.5\n2\n3\n4\n")),
		"labels.mtx: label 1.5 of node 0, must be an integer")
	fixture.Refuses(t, fixture.With(files, "labels.mtx", []byte(dense+"4 2\n1\n2\n3\n4\n1\n1\n1\n1\n")),
		"labels.mtx: labels are 4×2, expected one column")
	fixture.Refuses(t, fixture.With(files, "labels.mtx", []byte(banner+"4 1 1\n1 1\n")),
		"labels as coordinate, must be an array")
	fixture.Refuses(t, map[string][]byte{"a.mtx": []byte(pattern), "b.mtx": []byte(pattern), "labels.csv": []byte("0")},
		"the matrices a.mtx, b.mtx, expected one, or one that is called adjacency.mtx")
}

// TestBareMatrix checks that the error for a single matrix lists the missing files.
func TestBareMatrix(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "web.mtx")
	for _, c := range []struct{ name, want string }{
		{"web.mtx", "web.mtx: an adjacency alone cannot be condensed: there is no labels.csv (or .npy, .mtx) " +
			"next to it, and no features.mtx (or .npy, .csv)"},
		{"labels.csv", "web.mtx: an adjacency alone cannot be condensed: there is no features.mtx (or .npy, .csv)"},
	} {
		mattest.OK(t, os.WriteFile(filepath.Join(dir, c.name), []byte(pattern), 0o600))
		for _, path := range []string{file, dir} {
			fixture.RefusesAt(t, path, c.want)
		}
	}
}

// FuzzRead checks that no input causes a panic or unbounded memory use. Errors are allowed.
func FuzzRead(f *testing.F) {
	f.Add(pattern, dense+"4 2\n1\n0\n0\n3\n0.5\n-2e-3\n0\n4\n", "label,part\n0,train\n1, val\n,\n1,TEST\n\n")
	f.Add("%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 3e4\n",
		"%%MatrixMarket matrix coordinate integer general\n2 3 2\n1 1 7\n1 1 2\n", "a,train\nb,\n")
	f.Fuzz(func(t *testing.T, adjacency, features, labels string) {
		files := map[string][]byte{
			"adjacency.mtx": []byte(adjacency), "features.mtx": []byte(features), "labels.csv": []byte(labels),
		}
		fixture.Valid(t, fixture.Folder(t, files))
	})
}
