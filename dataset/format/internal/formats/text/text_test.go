package text_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/formattest"
	"github.com/graph-condensation/cgc/dataset/format/internal/formats/text"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
)

func TestContract(t *testing.T) { formattest.Run(t, text.Name, fixture.Folder(t, fixture.Plain())) }

func TestReadText(t *testing.T) {
	g, notes := fixture.Noted(t, fixture.Folder(t, fixture.Plain()))
	fixture.Is(t, g, "edges 0-1 1-2; dense 1 0.5, 0 -0.002, 0 0, 3 4; y 0 1 - 1; split 0 / 1 / 3")
	if g.Classes != 2 || g.Name != "own" {
		t.Errorf("%d classes, name %s", g.Classes, g.Name)
	}
	fixture.Notes(t, notes, "4 edge entries became 2 undirected edges (1 self-loop dropped")
}

func TestReadTextVariants(t *testing.T) {
	want := fixture.Open(t, fixture.Folder(t, fixture.Plain()))
	files := fixture.Plain()
	for name, change := range map[string]map[string][]byte{
		"packed": fixture.With(fixture.With(files, "edges.csv", nil), "edges.csv.gz", fixture.Packed("0,1\n1,2\n")),
		"features.npy": fixture.With(fixture.With(files, "features.csv", nil),
			"features.npy", fixture.Npy("<f8", "4, 2", []float64{1, .5, 0, -2e-3, 0, 0, 3, 4})),
		"split.csv": fixture.With(fixture.With(files, "labels.csv", []byte("0\n1\n-1\n1")),
			"split.csv", []byte("train\nvalidation\n\ntest\n")),
	} {
		t.Run(name, func(t *testing.T) { fixture.Same(t, fixture.Open(t, fixture.Folder(t, change)), want) })
	}
	one := fixture.With(files, "labels.csv", []byte("1,train\n2,val\n-1\n2,test\n"))
	fixture.Is(t, fixture.Open(t, fixture.Folder(t, one)), "y 0 1 - 1; classes 1|2; split 0 / 1 / 3")
	quoted := fixture.With(files, "features.csv", []byte("\"0\",\"1\",\"2\"\n1,2,3\n4,5,6\n7,8,9\n0,1,2\n"))
	fixture.Is(t, fixture.Open(t, fixture.Folder(t, quoted)), "dense 1 2 3, 4 5 6, 7 8 9, 0 1 2")
}

func TestReadTextWeights(t *testing.T) {
	files := fixture.With(fixture.Plain(), "edges.csv", []byte("0,1,2\n1,0,3.5\n1,2,0.25\n"))
	g := fixture.Open(t, fixture.Folder(t, files))
	fixture.Is(t, g, "edges 0-1*3.5 1-2*0.25") // the larger weight of the two directions
	_, notes := fixture.Noted(t, fixture.Folder(t, fixture.With(files, "edges.csv", []byte("source,target,ts\n0,1,9\n"))))
	fixture.Notes(t, notes, `edges.csv: the column "ts" is read as the weight of the edges: leave it out if it is not`)
}

func TestReadTextDrawsASplit(t *testing.T) {
	labels := strings.Repeat("0\n1\n", 100)
	files := fixture.Text("0,1\n", strings.Repeat("1\n", 200), labels)
	dir := fixture.Folder(t, files)
	one := fixture.Open(t, dir).Split
	if len(one.Train) != 40 || len(one.Val) != 60 || len(one.Test) != 100 {
		t.Errorf("split %d/%d/%d, want 20 and 30 of each class, and the rest", len(one.Train), len(one.Val), len(one.Test))
	}
	if !slices.Equal(one.Train, fixture.Open(t, dir).Split.Train) {
		t.Error("the same seed draws another split")
	}
	two, err := dataset.Options{Seed: 1}.Open(t.Context(), dir)
	if err != nil || slices.Equal(one.Train, two.Split.Train) {
		t.Errorf("another seed draws the same split (%v)", err)
	}
}

func TestReadTextRefuses(t *testing.T) {
	for _, c := range []struct{ file, data, want string }{
		{"edges.csv", "0,1\n1,4\n", "edges.csv:2: node 4, must be 0 to 3"},
		{"edges.csv", "a,b\n0,1\n1,x\n", `edges.csv:3: node "x"`},
		{"edges.csv", "0,1\n1\n", `edges.csv:2: node ""`},
		{"edges.csv", "0,1,-1\n", `edges.csv:1: weight "-1", must be a positive`},
		{"edges.csv", "0,1,inf\n", `weight "inf"`},
		{"edges.csv", "\n", "edges.csv: no lines"},
		{"edges.csv", "0,1\n\n1,2\n", "edges.csv:2: the line is empty, and lines with values follow"},
		{"features.csv", "1,2\n1,NaN\n1,2\n1,2\n", `features.csv:2: column 2: "NaN", must be a finite number`},
		{"features.csv", "1,2\n1\n1,2\n1,2\n", "features.csv:2: 1 columns, and the first line has 2"},
		{"features.csv", "1,2\n1,2\n", "features.csv: the file is too short for 4 nodes with 2 features"},
		{"features.csv", "1,2\n1,2\n,3\n1,2\n", `features.csv:3: column 1: "", must be a finite number`},
		{"labels.csv", "0,train\n1\n1\n70000\n", "labels.csv:4: label 70000, must be 0 to 65535"},
		{"labels.csv", "0,train\n1\n1\n-2\n", "label -2"},
		{"labels.csv", "0,train\n0.5\n1\n1\n", `labels.csv:2: label "0.5" is not an integer`},
		{"labels.csv", "0,train\n1,tset\n1\n1\n", `labels.csv:2: part "tset", must be train`},
		{"labels.csv", "0,val\n1,test\n1\n1\n", "training split is empty"},
		{"labels.csv", "0,train\n,test\n1\n1\n", "node 1 of test has no label"},
	} {
		fixture.Refuses(t, fixture.With(fixture.Plain(), c.file, []byte(c.data)), c.want)
	}
	fixture.Refuses(t, fixture.With(fixture.Plain(), "split.csv", []byte("train\n")), "1 lines for 4 labels")
	fixture.Refuses(t, fixture.With(fixture.Plain(), "features.csv", nil), "features.csv: there is no such file")
	notPacked := fixture.With(fixture.With(fixture.Plain(), "edges.csv", nil), "edges.csv.gz", []byte("0,1\n"))
	fixture.Refuses(t, notPacked, "edges.csv.gz: unpacking gzip")
	dir := fixture.Folder(t, fixture.With(fixture.Plain(), "edges.csv", []byte("0,9\n")))
	_, err := dataset.Options{}.Open(t.Context(), dir)
	var place *format.ReadError
	if !errors.As(err, &place) || place.Line != 1 || filepath.Base(place.File) != "edges.csv" {
		t.Errorf("%v is not a ReadError with file and line", err)
	}
}

// TestReadTextInBlocks checks that lines that span blocks are read once, and that errors name the right line.
func TestReadTextInBlocks(t *testing.T) {
	const n = 300_000
	var b strings.Builder
	b.WriteString("source,target\n")
	for i := range n {
		b.WriteString("3,")
		b.WriteString(strings.Repeat("0", i%7))
		b.WriteString("2\n")
	}
	b.WriteString("3,1\n")
	if b.Len() < 2<<20 {
		t.Fatalf("%d bytes are not several blocks", b.Len())
	}
	g := fixture.Open(t, fixture.Folder(t, fixture.With(fixture.Plain(), "edges.csv", []byte(b.String()))))
	fixture.Is(t, g, "edges 1-3 2-3")
	fixture.Refuses(t, fixture.With(fixture.Plain(), "edges.csv", []byte(b.String()+"9,9\n")), "edges.csv:300003: node 9")
}

func TestOpenStopsWhenCancelled(t *testing.T) {
	ctx := mattest.Cancelled(t)
	_, err := (dataset.Options{}).Open(ctx, fixture.Folder(t, fixture.Plain()))
	mattest.WantIs(t, err, context.Canceled)
	dir := fixture.Folder(t, fixture.With(fixture.Plain(), "labels.csv", nil))
	_, err = (dataset.Options{}).Open(t.Context(), dir)
	mattest.WantIs(t, err, fs.ErrNotExist)
}

// FuzzText checks that no input, gzip-compressed or not, causes a panic or unbounded memory use. Errors are allowed.
func FuzzText(f *testing.F) {
	p := fixture.Plain()
	f.Add(p["edges.csv"], p["features.csv"], p["labels.csv"], "")
	f.Add([]byte("0,1,0.5\n"), []byte("1\n2"), []byte("1,train\n2"), "")
	f.Add([]byte(","), []byte("x\n\n"), []byte("\r\n,train"), "")
	f.Add(fixture.Packed(string(p["edges.csv"])), fixture.Packed(string(p["features.csv"])), p["labels.csv"], ".gz")
	f.Add([]byte("\x1f\x8b"), fixture.Packed(""), p["labels.csv"], ".gz")
	f.Fuzz(func(t *testing.T, edges, features, labels []byte, extension string) {
		if extension != ".gz" {
			extension = ""
		}
		fixture.Valid(t, fixture.Folder(t, map[string][]byte{
			"edges.csv" + extension: edges, "features.csv" + extension: features, "labels.csv": labels,
		}))
	})
}

// TestFilesOfOtherPrograms checks that a pandas index, and fields that are not separated by commas, are errors.
func TestFilesOfOtherPrograms(t *testing.T) {
	const index = ":1: the first column looks like an index that pandas wrote, and must not be there: write the file with"
	for _, c := range []struct{ file, data, want string }{
		{"features.csv", "Unnamed: 0,f\n0,1\n1,1\n2,1\n3,1\n", "features.csv" + index},
		{"features.csv", ",f\n0,1\n1,1\n2,1\n3,1\n", "features.csv" + index},
		{"features.csv", ",0,1,2\n0,1,1,1\n1,1,1,1\n2,1,1,1\n3,1,1,1\n", "features.csv" + index},
		{"features.csv", "0,1,2\n1,1,1\n1,1,1\n1,1,1\n1,1,1\n", "features.csv:1: the numbers 0 to 2 look like the column " +
			"names that pandas wrote, and must not be there: write the file with to_csv(…, header=False), or name the columns"},
		{"features.csv", "f,id\n1,0\n1,1\n1,2\n1,3\n", `features.csv:1: the column "id" would be a feature: leave it out`},
		{"features.csv", "\"Label\",f\n0,1\n1,1\n1,1\n0,1\n", `the column "Label" would be a feature`},
		{"edges.csv", "type,source,target\n1,0,1\n1,1,2\n", `edges.csv:1: the columns are "type,source,target", must be ` +
			"source, target and weight in this order"},
		{"edges.csv", "\"to\",\"from\"\n0,1\n1,2\n", `the columns are "to,from", must be source, target and weight`},
		{"labels.csv", ",label\n0,1\n1,1\n2,1\n3,1\n", "labels.csv" + index},
		{"edges.csv", ",source,target\n0,1,2\n1,2,3\n", "edges.csv" + index},
		{"edges.csv", "0;1\n1;2\n", `edges.csv:2: node "1;2" is not an integer: fields must be separated by commas`},
		{"labels.csv", "0;train\n1;val\n1\n1\n", `"1;val" is not an integer: fields must be separated by commas`},
		{"edges.csv", "0 1\n1 2\n", `edges.csv:2: node "1 2" is not an integer: fields must be separated by commas`},
		{"features.csv", "1 2\n1 2\n1 2\n1 2\n", `"1 2", must be a finite number: fields must be separated by commas`},
		{"features.csv", "1\t2\n1\t2\n1\t2\n1\t2\n", "fields must be separated by commas"},
	} {
		fixture.Refuses(t, fixture.With(fixture.Plain(), c.file, []byte(c.data)), c.want)
	}
	// A node without a label is not mistaken for an index without a name.
	fixture.Open(t, fixture.Folder(t, fixture.With(fixture.Plain(), "labels.csv", []byte(",\n1,train\n1,val\n0,test\n"))))
}
