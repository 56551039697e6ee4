package dataset_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// arrays returns bad .npz files.
func arrays(t *testing.T) (all []bad) {
	t.Helper()
	add := func(name string, content []byte) {
		all = append(all, single("npz: "+name, "own.npz", content))
	}
	good := map[string][]byte{
		"x": fixture.Npy("<f4", "2, 1", []float32{1, 2}), "y": fixture.Npy("<i8", "2,", []int64{0, 1}),
		"edge_index": fixture.Npy("<i8", "2, 1", []int64{0, 1}),
	}
	header := func(descr, shape string) []byte { return fixture.Npy(descr, shape, []float32{1}) }
	for name, x := range map[string][]byte{
		"10¹² rows":             header("<f4", "1000000000000, 100"),
		"a product above 2⁶⁴":   header("<f4", "4294967296, 4294967296"),
		"a negative side":       header("<f4", "-2, -1"),
		"a side of 1e9":         header("<f4", "1e9,"),
		"a side of 30 digits":   header("<f4", "100000000000000000000000000000,"),
		"nested sides":          header("<f4", strings.Repeat("(", 5000)),
		"elements of 4 GB":      header("<U1073741824", "1, 1"),
		"elements of 2⁶⁴ bytes": header("<U4611686018427387904", "1, 1"),
		"an unknown type":       header("<c8", "2, 1"),
		"objects":               header("|O", "2, 1"),
		"records":               header("[('a', '<f4')]", "2, 1"),
		"no magic word":         []byte("NUMPY"),
		"nothing":               {},
		"a header of 4 GB":      []byte("\x93NUMPY\x02\x00\xff\xff\xff\xff{}"),
		"a header of 65535":     []byte("\x93NUMPY\x01\x00\xff\xff{}"),
		"NaN":                   fixture.Npy("<u4", "2, 1", []uint32{0, 0x7fc00000})[:0],
		"too few numbers":       good["x"][:len(good["x"])-3],
		"one row too many":      fixture.Npy("<f4", "3, 1", []float32{1, 2, 3}),
		"three axes":            fixture.Npy("<f4", "2, 1, 1", []float32{1, 2}),
		"no columns":            fixture.Npy("<f4", "2, 0", []float32{}),
		"doubles that overflow": fixture.Npy("<f8", "2, 1", []float64{1, 1e300}),
	} {
		add("features: "+name, fixture.Npz(fixture.With(good, "x", x)))
	}
	for name, edges := range map[string][]byte{
		"2³¹":        fixture.Npy("<i8", "2, 1", []int64{0, 1 << 31}),
		"2³²+1":      fixture.Npy("<i8", "2, 1", []int64{0, 1<<32 + 1}),
		"−2³¹":       fixture.Npy("<i8", "2, 1", []int64{0, -1 << 31}),
		"2⁶⁴−1":      fixture.Npy("<u8", "2, 1", []uint64{0, 1<<64 - 1}),
		"a float":    fixture.Npy("<f8", "2, 1", []float64{0, 0.5}),
		"one row":    fixture.Npy("<i8", "1, 2", []int64{0, 1}),
		"10¹² edges": fixture.Npy("<i8", "2, 1000000000000", []int64{0, 1}),
	} {
		add("edges: "+name, fixture.Npz(fixture.With(good, "edge_index", edges)))
	}
	var zeros bytes.Buffer
	z := mattest.Must(flate.NewWriter(&zeros, 9))
	mattest.Must(z.Write(append(fixture.Npy("<f4", "50000000, 1", []float32{}), make([]byte, 1000)...)))
	mattest.OK(t, z.Close())
	add("a member that claims 4 GB of 100 bytes", zipped(t, "x.npy", zeros.Bytes(), 4<<30, zip.Deflate))
	add("a member that claims 2⁶³ bytes", zipped(t, "x.npy", zeros.Bytes(), 1<<63, zip.Deflate))
	add("a stored member that claims 4 GB", zipped(t, "x.npy", good["x"], 4<<30, zip.Store))
	add("a packing that is not known", zipped(t, "edge_index.npy", good["x"], 64, 99))
	add("a member that climbs out", zipped(t, "../../etc/x.npy", good["x"], uint64(len(good["x"])), zip.Store))
	add("a member with a path of the root", zipped(t, "/x.npy", good["x"], uint64(len(good["x"])), zip.Store))
	add("metadata of 2⁶³ bytes",
		fixture.Npz(fixture.With(good, "cgc", fixture.Npy("|S9223372036854775807", "0,", []byte{}))))
	many := map[string][]byte{}
	for i := range 5000 {
		many[fmt.Sprintf("%040d", i)] = []byte{}
	}
	add("thousands of members", fixture.Npz(many))
	add("a bomb of rows", bomb(t, good))
	all[len(all)-1].bomb = true
	return all
}

// bomb returns a small .npz with these arrays, in which x has millions of rows of zeros.
func bomb(t *testing.T, arrays map[string][]byte) []byte {
	t.Helper()
	rows := bombBytes() / 4
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	write := func(name string, content io.Reader) {
		mattest.Must(io.Copy(mattest.Must(z.Create(name+".npy")), content))
	}
	for _, name := range slices.Sorted(maps.Keys(arrays)) {
		if name != "x" {
			write(name, bytes.NewReader(arrays[name]))
		}
	}
	header := fixture.Npy("<f4", fmt.Sprintf("%d, 1", rows), []float32{})
	write("x", io.MultiReader(bytes.NewReader(header), io.LimitReader(endless{}, int64(4*rows))))
	mattest.OK(t, z.Close())
	return out.Bytes()
}

// endless is a reader of zeros that never ends.
type endless struct{}

// Read fills p.
func (endless) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// saint returns bad folders in the format of GraphSAINT, with errors in zip, arrays and JSON.
func saint() (all []bad) {
	matrix := func(indptr []int64, shape []int64, indices []int32) []byte {
		return fixture.Npz(map[string][]byte{
			"indptr": fixture.Npy("<i8", "3,", indptr), "indices": fixture.Npy("<i4", "2,", indices),
			"data": fixture.Npy("<f4", "2,", []float32{1, 1}), "shape": fixture.Npy("<i8", "2,", shape),
			"format": fixture.Npy("|S3", "", []byte("csr")),
		})
	}
	good := map[string][]byte{
		"adj_full.npz":   matrix([]int64{0, 1, 2}, []int64{2, 2}, []int32{1, 0}),
		"feats.npy":      fixture.Npy("<f4", "2, 1", []float32{1, 2}),
		"class_map.json": []byte(`{"0": 0, "1": 1}`),
		"role.json":      []byte(`{"tr": [0], "va": [], "te": [1]}`),
	}
	add := func(name, file string, content []byte) {
		all = append(all, among("saint: "+name, good, file, content))
	}
	add("10¹² nodes", "adj_full.npz", matrix([]int64{0, 1, 2}, []int64{1e12, 1e12}, []int32{1, 0}))
	add("a negative shape", "adj_full.npz", matrix([]int64{0, 1, 2}, []int64{-2, 2}, []int32{1, 0}))
	add("row ends below 0", "adj_full.npz", matrix([]int64{0, -1, 2}, []int64{2, 2}, []int32{1, 0}))
	add("row ends of 2⁶²", "adj_full.npz", matrix([]int64{0, 1 << 62, 2}, []int64{2, 2}, []int32{1, 0}))
	add("a negative column", "adj_full.npz", matrix([]int64{0, 1, 2}, []int64{2, 2}, []int32{1, -1}))
	add("classes that are nested", "class_map.json", []byte(strings.Repeat(`{"0":`, 100_000)))
	add("classes that are lists of lists", "class_map.json", []byte(`{"0": [[[[1]]]]}`))
	add("a class of 10¹²", "class_map.json", []byte(`{"0": 1000000000000, "1": 1}`))
	add("a class below none", "class_map.json", []byte(`{"0": -2, "1": 1}`))
	add("a node of 2³²", "class_map.json", []byte(`{"0": 1, "4294967296": 1}`))
	add("no object", "class_map.json", []byte(`[0, 1]`))
	add("a role that is nested", "role.json", []byte(`{"tr": `+strings.Repeat("[", 100_000)))
	add("a role of nobody", "role.json", []byte(`{"tr": [9], "va": [], "te": [1]}`))
	add("a role of 2³¹", "role.json", []byte(`{"tr": [2147483648], "va": [], "te": [1]}`))
	add("features of one node", "feats.npy", fixture.Npy("<f4", "1, 1", []float32{1}))
	add("features that claim 4 GB", "feats.npy", fixture.Npy("<f4", "2, 500000000", []float32{1}))
	return all
}

// pickles returns pickles with forbidden functions or false sizes.
func pickles() (all []bad) {
	csr := fixture.PickleCSR(2, 2, []int32{0, 1, 2}, []int32{1, 0}, []int32{1, 1})
	good := map[string][]byte{
		"ind.own.x": fixture.Pickled(csr), "ind.own.y": fixture.Pickled(fixture.PickleArray([]int32{1, 0, 0, 1}, 2, 2)),
		"ind.own.allx": fixture.Pickled(csr),
		"ind.own.ally": fixture.Pickled(fixture.PickleArray([]int32{1, 0, 0, 1}, 2, 2)),
		"ind.own.tx":   fixture.Pickled(fixture.PickleCSR(1, 2, []int32{0, 1}, []int32{1}, []int32{1})),
		"ind.own.ty":   fixture.Pickled(fixture.PickleArray([]int32{1, 0}, 1, 2)),
		"ind.own.graph": fixture.Pickled("ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R(" +
			fixture.PickleInt(0) + "](" + fixture.PickleInt(1) + "eu"),
		"ind.own.test.index": []byte("2\n"),
	}
	add := func(name string, content []byte) {
		all = append(all, among("pickle: "+name, good, "ind.own.allx", content))
	}
	for _, class := range []string{
		"os\nsystem", "posix\nsystem", "subprocess\nPopen", "builtins\neval", "__builtin__\nexec", "builtins\n__import__",
		"builtins\ngetattr", "runpy\nrun_path", "socket\nsocket", "shutil\nrmtree", "numpy\nload", "numpy.f2py\nrun_main",
		"torch\nload", "torch.hub\nload", "pickle\nloads", "scipy.io\nloadmat", "importlib\nimport_module",
	} {
		name := strings.ReplaceAll(class, "\n", ".")
		add("calls "+name, fixture.Pickled("c"+class+"\n"+fixture.PickleString("true")+"\x85R"))
	}
	for name, content := range map[string]string{
		"the class from the stack": "\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R.",
		"an instance by INST":      "(S'true'\nios\nsystem\n.",
		"an object by OBJ":         "(cos\nsystem\nS'true'\no.",
		"an extension":             "\x80\x02\x82\x01.",
		"a persistent object":      "\x80\x02K\x01Q.",
		"4 GB of bytes":            "\x80\x04B\xff\xff\xff\xffx.",
		"2⁶³ bytes":                "\x80\x04\x8e\x00\x00\x00\x00\x00\x00\x00\x80x.",
		"2 GB of text":             "T\xff\xff\xff\x7fx.",
		"a frame of 2⁶³ bytes":     "\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x80.",
		"a number of 4 GB":         "\x80\x02\x8b\xff\xff\xff\x7fx.",
		"a place of 2³¹":           "\x80\x02K\x01r\xff\xff\xff\x7f.",
		"marks alone":              strings.Repeat("(", 100_000) + ".",
		"lists in lists":           strings.Repeat("(l", 100_000) + strings.Repeat("a", 99_999) + ".",
		"a list in itself":         "\x80\x02]q\x00h\x00a.",
		"an empty stack":           "\x80\x02R.",
		"no end":                   "\x80\x02K\x01",
		"protocol 200":             "\x80\xc8K\x01.",
		"an unknown word":          "\x80\x02\xff.",
		"nothing":                  "",
		"the number 1":             "\x80\x02K\x01.",
		"doubling tuples":          "\x80\x02K\x01" + strings.Repeat("2\x86", 2_000) + ".",
	} {
		add(name, []byte(content))
	}
	add("10⁹ rows", fixture.Pickled(fixture.PickleCSR(1e9, 2, []int32{0, 1, 2}, []int32{1, 0}, []int32{1, 1})))
	add("a negative shape", fixture.Pickled(fixture.PickleCSR(-2, 2, []int32{0, 1, 2}, []int32{1, 0}, []int32{1, 1})))
	add("a column of 2³¹−1", fixture.Pickled(
		fixture.PickleCSR(2, 2, []int32{0, 1, 2}, []int32{1, 1<<31 - 1}, []int32{1, 1})))
	add("row ends that fall", fixture.Pickled(fixture.PickleCSR(2, 2, []int32{0, 2, 1}, []int32{1, 0}, []int32{1, 1})))
	return all
}

// documents returns bad files of GraphML, Matrix Market and DGL.
func documents(t *testing.T) (all []bad) {
	t.Helper()
	markup := func(name, content string) {
		all = append(all, single("graphml: "+name, "own.graphml", []byte(content)))
	}
	const head = `<graphml><key id="l" for="node" attr.name="label" attr.type="string"/>` +
		`<key id="x" for="node" attr.name="x" attr.type="double"/><graph edgedefault="undirected">`
	node := func(id, x string) string {
		return `<node id="` + id + `"><data key="l">a</data><data key="x">` + x + `</data></node>`
	}
	const tail = `</graph></graphml>`
	markup("an entity that grows", `<!DOCTYPE lolz [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>`+
		head+node("n", "&b;")+tail)
	markup("an entity from a file", `<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>`+head+node("&f;", "1")+tail)
	markup("nested elements", strings.Repeat("<a>", 50_000))
	markup("a name of 1 MB", head+`<`+strings.Repeat("n", 1<<20)+tail)
	markup("an edge without ends", head+node("n", "1")+`<edge/>`+tail)
	markup("an infinite feature", head+node("n", "1e999")+tail)

	for name, content := range map[string]string{
		"names": head + "<" + strings.Repeat("n", bombBytes()/2), "space": strings.Repeat(" ", bombBytes()/2),
		"a feature": head + node("n", strings.Repeat("1", bombBytes()/2)) + tail,
	} {
		all = append(all, single("graphml: a gzip bomb of "+name, "own.graphml.gz", fixture.Packed(content)))
		all[len(all)-1].bomb = true
	}

	market := func(name, content string) {
		files := fixture.With(from(t, "mtx/testdata/pattern"), "pattern.mtx", []byte(content))
		all = append(all, bad{name: "mtx: " + name, files: files, open: "pattern.mtx", want: "pattern.mtx"})
	}
	const banner = "%%MatrixMarket matrix coordinate pattern general\n"
	market("10¹² nodes", banner+"1000000000000 1000000000000 1\n1 2\n")
	market("10¹² entries", banner+"4 4 1000000000000\n1 2\n")
	market("2⁶⁴ entries", banner+"4 4 18446744073709551616\n1 2\n")
	market("negative sizes", banner+"-4 -4 1\n1 2\n")
	market("column 2³²+1", banner+"4 4 1\n1 4294967297\n")
	market("a word", banner+"4 4 1\none 2\n")
	market("another banner", "%%MatrixMarket tensor\n4 4 1\n1 2\n")
	market("a line without an end", banner+strings.Repeat("1", 1<<20))

	dgl := func(name, file, content, want string) {
		all = append(all, bad{
			name: "dgl: " + name, files: fixture.With(from(t, "dgl/testdata/made"), file, []byte(content)), want: want,
		})
	}
	const meta = "version: 1.0.0\ndataset_name: made\nedge_data:\n- file_name: %E\nnode_data:\n- file_name: %N\n"
	files := func(edges, nodes string) string {
		return strings.NewReplacer("%E", edges, "%N", nodes).Replace(meta)
	}
	dgl("nodes outside", "meta.yaml", files("edges_0.csv", "../../../../etc/passwd"), "meta.yaml")
	dgl("edges at the root", "meta.yaml", files("/etc/passwd", "nodes_0.csv"), "meta.yaml")
	dgl("files that are not there", "meta.yaml", files("a.csv", "b.csv"), "own")
	dgl("aliases that grow", "meta.yaml", "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"+
		"c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\n"+
		"version: [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n", "meta.yaml")
	dgl("nested lists", "meta.yaml", strings.Repeat("[", 20_000), "meta.yaml")
	dgl("a tag of Python", "meta.yaml", "version: !!python/object/apply:os.system ['true']\n", "meta.yaml")
	dgl("a node twice", "nodes_0.csv", "node_id,label,feat\na,1,1\na,2,1\n", "nodes_0.csv")

	return all
}
