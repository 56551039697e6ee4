package parquet_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	pqformat "github.com/parquet-go/parquet-go/format"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format/arrivals"
	"github.com/graph-condensation/cgc/dataset/format/formattest"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/tables/internal/parquet"

	_ "github.com/graph-condensation/cgc/tables"
)

func TestContract(t *testing.T) {
	formattest.Run(t, parquet.Name, filepath.Join("testdata", "pandas-snappy"))
	formattest.Condensed(t, parquet.Name)
}

func open(ctx context.Context, path string) (*graph.Graph, error) {
	return (dataset.Options{}).Open(ctx, path)
}

// TestLibraries reads the same graph from files of several libraries (testdata/write.py).
func TestLibraries(t *testing.T) {
	for _, name := range []string{
		"pandas-snappy", "pandas-zstd", "pandas-gzip", "pandas-lz4", "pandas-brotli",
		"fastparquet", "polars", "duckdb", "pyarrow-lists", "pyarrow-encodings", "spark",
	} {
		t.Run(name, func(t *testing.T) {
			g := mattest.Must(open(t.Context(), filepath.Join("testdata", name)))
			mattest.Equal(t, g.Name, name, "the name is")
			fixture.Is(t, g, "ids ann|bob|zoë|dan|eve; classes blue|red; y 1 0 1 - 0; split 0 1 / 2 / 4")
			fixture.Is(t, g, "edges 0-1*1 1-2*2.5 3-4*1; dense 1 2, 3 4, 5 6, 7 8, 9.5 -0.25")
		})
	}
}

// TestArrivals reads new nodes.
func TestArrivals(t *testing.T) {
	a := mattest.First(arrivals.Source{Path: filepath.Join("testdata", "pandas-snappy")}.ReadLabelled(
		t.Context(), []string{}, 0, 2, []string{"blue", "red"}))
	mattest.Equal(t, a.IDs, []string{"ann", "bob", "zoë", "dan", "eve"}, "ids")
	mattest.Equal(t, a.Y, []int32{1, 0, 1, graph.Unlabelled, 0}, "classes")
	mattest.Equal(t, a.Edges.NNZ(), 6, "entries of edges")
}

// TestCompressions reads the same 1,000 nodes from files of every compression, with both versions of pages.
func TestCompressions(t *testing.T) {
	type node struct {
		ID    string  `parquet:"id"`
		Label string  `parquet:"label,dict"`
		F0    float64 `parquet:"f0,optional"`
		F1    float64 `parquet:"f1,dict"`
	}
	type edge struct {
		Source string `parquet:"source"`
		Target string `parquet:"target,optional"`
	}
	const n = 1000
	random := rand.New(rand.NewPCG(1, 2))
	var nodes []node
	var edges []edge
	var want []float32
	for i := range n {
		row := node{fmt.Sprint("u", i), []string{"a", "b"}[i%2], random.NormFloat64(), float64(i % 7)}
		nodes = append(nodes, row)
		edges = append(edges, edge{row.ID, fmt.Sprint("u", (i+2)%n)})
		want = append(want, float32(row.F0), float32(row.F1))
	}
	for _, codec := range []compress.Codec{
		&pq.Uncompressed, &pq.Snappy, &pq.Zstd, &pq.Gzip, &pq.Lz4Raw, &pq.Brotli,
	} {
		for version := 1; version <= 2; version++ {
			dir, about := t.TempDir(), fmt.Sprint(codec, ", pages of version ", version)
			options := []pq.WriterOption{pq.Compression(codec), pq.DataPageVersion(version)}
			mattest.OK(t, pq.WriteFile(filepath.Join(dir, "nodes.parquet"), nodes, options...))
			mattest.OK(t, pq.WriteFile(filepath.Join(dir, "edges.parquet"), edges, options...))
			if g := mattest.Must(open(t.Context(), dir)); g.Edges() != n || !slices.Equal(g.X.(*mat.Dense).Data, want) {
				t.Errorf("%s: %d edges, features %v", about, g.Edges(), g.X.(*mat.Dense).Data[:8])
			}
		}
	}
}

// TestUnreadColumns checks that columns of edges that are not read may have any type, and that the others are checked.
func TestUnreadColumns(t *testing.T) {
	type edge struct {
		Source string    `parquet:"source"`
		Target string    `parquet:"target"`
		When   time.Time `parquet:"ts,timestamp"`
	}
	type since struct {
		Source time.Time `parquet:"source,timestamp"`
		Target string    `parquet:"target"`
	}
	dir := filepath.Join(t.TempDir(), "own")
	mattest.OK(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "polars"))))
	edges := filepath.Join(dir, "edges.parquet")
	mattest.OK(t, pq.WriteFile(edges, []edge{{"ann", "bob", time.Unix(0, 0)}}))
	g, notes := fixture.Noted(t, dir)
	fixture.Is(t, g, "edges 0-1")
	fixture.Notes(t, notes, "edges.parquet: columns that are not read: ts")
	mattest.OK(t, pq.WriteFile(edges, []since{{time.Unix(0, 0), "bob"}}))
	mattest.Fails(t, "own/edges.parquet: column source holds times, must hold numbers, text")(open(t.Context(), dir))
}

// TestIntegers checks ids of any integer width, next to features of other types. The ends of edges may then be floats,
// as pandas writes them in a column with nulls.
func TestIntegers(t *testing.T) {
	g := mattest.Must(open(t.Context(), filepath.Join("testdata", "integers")))
	fixture.Is(t, g, "ids 40|7|3000000000; classes 1|2; y 0 1 0; edges 0-1 1-2")
	fixture.Is(t, g, "dense 1 1 -1.5 0.5, 0 2 0.25 -2, 1 3 7 65504")
	g = mattest.Must(open(t.Context(), filepath.Join("testdata", "uuids")))
	if g.Edges() != 1 || g.IDs[0] != "00000000-0000-0001-0000-000000000000" {
		t.Errorf("%d edges, ids %q", g.Edges(), g.IDs)
	}
	if g = mattest.Must(open(t.Context(), filepath.Join("testdata", "typeless"))); g.Features() != 1 { // split is all null
		t.Errorf("%d features, want 1", g.Features())
	}
}

// TestParts reads tables that are folders of files. All files of a folder count, but none of another folder.
func TestParts(t *testing.T) {
	const kept = "part-00001-c000.snappy.parquet"
	put := func(name string) func(nodes string) error {
		return func(nodes string) error {
			mattest.OK(t, os.MkdirAll(filepath.Dir(filepath.Join(nodes, name)), 0o700))
			return os.Rename(filepath.Join(nodes, kept), filepath.Join(nodes, name))
		}
	}
	for _, c := range []struct {
		change func(nodes string) error
		want   string // the error, or nothing
	}{
		{put("part-1.PARQUET"), ""},
		{func(nodes string) error { return os.WriteFile(filepath.Join(nodes, "."+kept+".crc"), nil, 0o600) }, ""},
		{put("part-1"), "nodes.parquet: the file part-1, must be a .parquet file"},
		{put("part-1.parq"), "nodes.parquet: the file part-1.parq, must be a .parquet file"},
		{put("year=2026/part-1.parquet"), "nodes.parquet: the folder year=2026 in it is not read: all .parquet files must " +
			"be directly in nodes.parquet"},
	} {
		dir := t.TempDir()
		spark, own := os.DirFS(filepath.Join("testdata", "spark")), filepath.Join(dir, "own[1]")
		mattest.OK(t, os.CopyFS(own, spark))
		mattest.OK(t, os.CopyFS(filepath.Join(dir, "own1"), spark)) // what own[1] matches if it is read as a pattern
		mattest.OK(t, os.Remove(filepath.Join(dir, "own1", "nodes.parquet", kept)))
		mattest.OK(t, c.change(filepath.Join(own, "nodes.parquet")))
		if c.want != "" {
			mattest.Fails(t, c.want)(open(t.Context(), own))
		} else if g := mattest.Must(open(t.Context(), own)); g.Nodes() != 5 {
			t.Errorf("%d nodes, want 5", g.Nodes())
		}
	}
}

func TestRefuses(t *testing.T) {
	for name, want := range map[string]string{
		"bad-null":     "bad-null/nodes.parquet: row 4: column x: missing value, must be a finite number",
		"bad-nan":      "bad-nan/nodes.parquet: row 2: column x: missing value, must be a finite number",
		"bad-list":     "bad-list/nodes.parquet: row 3: column x holds 2 numbers, and 1 in the rows before",
		"bad-element":  "bad-element/nodes.parquet: row 2: column x: number 2 of the list is NaN or null, must be a finite",
		"bad-nulls":    "bad-nulls/nodes.parquet: row 2: column x: missing value, must be a finite number",
		"bad-texts":    "bad-texts/nodes.parquet: column x holds lists of strings, must hold numbers, text or lists",
		"bad-records":  "bad-records/nodes.parquet: column x holds records, must hold numbers, text or lists of numbers",
		"bad-nested":   "bad-nested/nodes.parquet: column x holds lists of lists, must hold numbers",
		"bad-times":    "bad-times/nodes.parquet: column x holds times, must hold numbers",
		"bad-words":    `bad-words/nodes.parquet: row 1: column x: the text "a", must be a finite number`,
		"bad-empty":    "bad-empty/nodes.parquet: the table has no rows, must have at least 1 node",
		"bad-column":   `bad-column/nodes.parquet: there is no column label, the columns are "id,split,x"`,
		"bad-again":    `bad-again/nodes.parquet: row 4: the id "bob" appears twice, first in row 2`,
		"bad-dangling": `bad-dangling/edges.parquet: row 2: target "Bob" is not an id in nodes.parquet, which has "bob"`,
		"bad-nobody":   "bad-nobody/edges.parquet: row 2: source is null, must be an id in nodes.parquet",
	} {
		mattest.Fails(t, want)(open(t.Context(), filepath.Join("testdata", name)))
	}
}

// damaged is a copy of a folder of testdata with one file changed.
func damaged(t *testing.T, folder, name string, change func(content []byte) []byte) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "own")
	mattest.OK(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", folder))))
	file := filepath.Join(dir, name)
	mattest.OK(t, os.WriteFile(file, change(mattest.Must(os.ReadFile(file))), 0o600))
	return dir
}

// TestDamaged checks that files that are truncated, changed in one byte or missing give an error or a valid graph.
func TestDamaged(t *testing.T) {
	cut := damaged(t, "pyarrow-lists", "edges.parquet", func(b []byte) []byte { return b[:len(b)/2] })
	mattest.Fails(t, "own/edges.parquet: not a whole Parquet file: ")(open(t.Context(), cut))
	missing := damaged(t, "pyarrow-lists", "edges.parquet", func(b []byte) []byte { return b })
	mattest.OK(t, os.Remove(filepath.Join(missing, "edges.parquet")))
	mattest.Fails(t, "edges.parquet: there is no such file")(open(t.Context(), missing))
	dir := damaged(t, "pyarrow-lists", "nodes.parquet", func(b []byte) []byte { return b })
	eachByte(t, filepath.Join(dir, "nodes.parquet"), 29, func() error {
		g, err := open(t.Context(), dir)
		if err == nil {
			mattest.OK(t, g.Validate(t.Context()))
		} else if !strings.HasPrefix(err.Error(), dir) {
			t.Errorf("error without the file: %v", err)
		}
		return err
	})
}

// eachByte changes single bytes of a file, at multiples of apart, and calls read each time. It fails the test if fewer
// than a tenth of the reads fail.
func eachByte(t *testing.T, path string, apart int, read func() error) {
	t.Helper()
	whole := mattest.Must(os.ReadFile(path))
	wrong := 0
	for at := 0; at < len(whole); at += apart {
		changed := slices.Clone(whole)
		changed[at] ^= 0x55
		mattest.OK(t, os.WriteFile(path, changed, 0o600))
		if read() != nil {
			wrong++
		}
	}
	if wrong < len(whole)/apart/10 {
		t.Errorf("%d of %d damaged files were found to be wrong", wrong, len(whole)/apart)
	}
}

func TestCancelled(t *testing.T) {
	_, err := open(mattest.Cancelled(t), filepath.Join("testdata", "spark"))
	mattest.WantIs(t, err, context.Canceled)
}

// TestUnlabelled checks that the column of labels may be missing if graphs without labels are allowed, and only then.
func TestUnlabelled(t *testing.T) {
	folder := t.TempDir()
	mattest.OK(t, pq.WriteFile(filepath.Join(folder, "nodes.parquet"), []struct {
		ID string  `parquet:"id"`
		A  float64 `parquet:"a"`
	}{{"x", 1}, {"y", 2}}))
	mattest.OK(t, pq.WriteFile(filepath.Join(folder, "edges.parquet"), []struct {
		Source string `parquet:"source"`
		Target string `parquet:"target"`
	}{{"x", "y"}}))
	o := dataset.Options{Unlabelled: true}
	g, s := mattest.Must(o.Open(t.Context(), folder)), mattest.Must(o.Stream(t.Context(), folder, 1<<20))
	mattest.OK(t, s.Close())
	for _, y := range [][]int32{g.Y, s.Y} {
		mattest.Equal(t, y, []int32{graph.Unlabelled, graph.Unlabelled}, "labels")
	}
	mattest.Fails(t, "there is no column label")(open(t.Context(), folder))
}

// TestWriteMany checks that a graph of many row groups and pages is read back unchanged.
func TestWriteMany(t *testing.T) {
	t.Cleanup(parquet.SetRowGroup(1 << 18))
	const n = 20_000
	x := mat.NewDense(n, 32)
	b := graph.Builder{X: x, Y: make([]int32, n)}
	for i := range n {
		x.Data[i*32] = float32(i)
		b.AddEdge(i, (i+7)%n)
	}
	g := mattest.First(b.Graph(t.Context()))
	path := filepath.Join(t.TempDir(), "many.parquet")
	mattest.OK(t, dataset.Write(t.Context(), path, g))
	again := mattest.First((parquet.Format{}).Read(t.Context(), path))
	if !slices.Equal(again.X.(*mat.Dense).Data, x.Data) || !slices.Equal(again.Adj.Indices, g.Adj.Indices) ||
		again.IDs != nil {
		t.Error("the graph that is read is another")
	}
}

// TestWriteKeepsOthers checks that a folder with other files is not replaced.
func TestWriteKeepsOthers(t *testing.T) {
	g := mattest.Must(open(t.Context(), filepath.Join("testdata", "spark")))
	path := filepath.Join(t.TempDir(), "out.parquet")
	mattest.OK(t, os.CopyFS(path, os.DirFS(filepath.Join("testdata", "spark"))))
	err := dataset.Write(t.Context(), path, g)
	mattest.WantError(t, err, "the folder holds edges.parquet, must hold only the files nodes")
	fixture.Open(t, path) // what was there
}

// TestDamagedCondensed checks that a damaged file of a condensed graph gives an error or a valid condensed graph.
func TestDamagedCondensed(t *testing.T) {
	small := formattest.Small()
	small.MemberIDs = []string{"ann", "bob", "zoë"}
	path := filepath.Join(t.TempDir(), "small.parquet")
	mattest.OK(t, small.Save(t.Context(), path))
	eachByte(t, filepath.Join(path, "nodes.parquet"), 13, func() error {
		_, err := condense.Load(path)
		return err
	})
}

// FuzzRead checks that no input causes a panic or unbounded memory use, in tables of nodes and of edges. Any graph that
// is read must be valid.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"pandas-snappy", "pyarrow-lists", "pyarrow-encodings", "integers", "duckdb"} {
		nodes := mattest.Must(os.ReadFile(filepath.Join("testdata", name, "nodes.parquet")))
		f.Add(nodes, mattest.Must(os.ReadFile(filepath.Join("testdata", name, "edges.parquet"))))
	}
	f.Fuzz(func(t *testing.T, nodes, edges []byte) {
		fixture.Valid(t, fixture.Folder(t, map[string][]byte{"nodes.parquet": nodes, "edges.parquet": edges}))
	})
}

// TestPagesClaim checks that a page whose header has an impossible size is an error before memory is allocated for it.
func TestPagesClaim(t *testing.T) {
	for _, c := range map[string]struct {
		change func(h *pqformat.PageHeader)
		want   string
		folder string
	}{
		"unpacked": {func(h *pqformat.PageHeader) { h.UncompressedPageSize = 2e9 }, "claims 2000000000 decompressed", ""},
		"packed":   {func(h *pqformat.PageHeader) { h.CompressedPageSize = 2e9 }, "has 2000000000 bytes, must have at", ""},
		"LZ4": {
			func(h *pqformat.PageHeader) { h.UncompressedPageSize++ },
			"its LZ4 block has 50 bytes when decompressed, must have the 51 of its header", "pyarrow-encodings",
		},
		"values": {func(h *pqformat.PageHeader) {
			h.DictionaryPageHeader.Valid = false
			h.Type, h.DataPageHeader.Valid = pqformat.DataPage, true
			h.DataPageHeader.V.NumValues = 2_000_000_000
		}, "says that it has 2000000000 values, and its column has ", ""},
	} {
		dir := damaged(t, cmp.Or(c.folder, "pyarrow-lists"), "nodes.parquet", func(content []byte) []byte {
			var protocol thrift.CompactProtocol
			var h pqformat.PageHeader
			const first = 4 // after the magic number
			r := bytes.NewReader(content[first:])
			mattest.OK(t, thrift.NewDecoder(protocol.NewReader(r)).Decode(&h))
			rest := content[len(content)-r.Len():]
			c.change(&h)
			var changed bytes.Buffer
			mattest.OK(t, thrift.NewEncoder(protocol.NewWriter(&changed)).Encode(&h))
			return slices.Concat(content[:first], changed.Bytes(), rest)
		})
		const where = "own/nodes.parquet: column id: the file is damaged: page 0 at byte 4"
		mattest.Fails(t, where, c.want)(open(t.Context(), dir))
	}
}
