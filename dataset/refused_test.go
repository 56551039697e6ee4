package dataset_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/slow"
)

// bad is a folder with a file that cannot be read.
type bad struct {
	name  string
	files map[string][]byte
	open  string // within the folder; "" is the folder
	want  string // a part of the error
	bomb  bool   // the files decompress to far more bytes
}

// single returns a file that cannot be read.
func single(name, file string, content []byte) bad {
	return bad{name: name, files: map[string][]byte{file: content}, open: file, want: file}
}

// among returns a folder in which one file is bad.
func among(name string, good map[string][]byte, file string, content []byte) bad {
	return bad{name: name, files: fixture.With(good, file, content), want: file}
}

// bombBytes returns the decompressed size of a bomb. Only slow tests use bombs that exceed the limits of a line and of
// a GraphML token, and so test how much a reader allocates.
func bombBytes() int {
	if slow.On() {
		return 200 << 20
	}
	return 4 << 20
}

const (
	// A reader may allocate allowance + multiple · (bytes of the files) in total before it returns an error. For
	// compressed files, the factor is unpacked.
	allowance = 64 << 20
	multiple  = 256
	unpacked  = 2048
)

// TestRefused checks that each bad input gives a one-line error that names the place, without a panic, and that readers
// allocate a bounded amount of memory before the error.
func TestRefused(t *testing.T) {
	cases := refused(t)
	names := map[string]bool{}
	for _, c := range cases {
		if names[c.name] {
			t.Errorf("%s appears twice", c.name)
		}
		names[c.name] = true
		dir := fixture.Folder(t, c.files)
		size := int64(0)
		for _, content := range c.files {
			size += int64(len(content))
		}
		bound := allowance + multiple*size
		if c.bomb {
			bound = allowance + unpacked*size
		}
		used, err := measured(t, c.name, func() error {
			_, err := dataset.Options{}.Open(t.Context(), filepath.Join(dir, c.open))
			return err
		})
		switch {
		case err == nil:
			t.Errorf("%s is opened", c.name)
		case strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: error %q, want one line with %q", c.name, err, c.want)
		case used > bound:
			t.Errorf("%s: %d bytes are allocated for files of %d, want at most %d", c.name, used, size, bound)
		}
	}
	t.Logf("%d bad inputs", len(cases))
	if len(cases) < 150 {
		t.Errorf("%d bad inputs, want at least 150", len(cases))
	}
}

// measured calls f and returns the bytes that it allocated, and its error. A panic fails the test.
func measured(t *testing.T, name string, f func() error) (allocated int64, err error) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s: panic: %v", name, p)
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err = f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc), err
}

// tensors returns a safetensors file with the given header and data zero bytes.
func tensors(header string, data int) []byte {
	b := append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)
	return append(b, make([]byte, data)...)
}

// zipped returns a zip file with one member, whose header states the size claim.
func zipped(t *testing.T, member string, content []byte, claim uint64, method uint16) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	w := mattest.Must(z.CreateRaw(&zip.FileHeader{
		Name: member, Method: method, CompressedSize64: uint64(len(content)), UncompressedSize64: claim,
	}))
	mattest.Must(w.Write(content))
	mattest.OK(t, z.Close())
	return out.Bytes()
}

// from returns the files of a folder below format.
func from(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	dir := filepath.Join("format", "internal", "formats", folder)
	for _, e := range mattest.Must(os.ReadDir(dir)) {
		files[e.Name()] = mattest.Must(os.ReadFile(filepath.Join(dir, e.Name())))
	}
	return files
}

// refused lists the bad inputs.
func refused(t *testing.T) []bad {
	return slices.Concat(texts(), wholeFiles(t), safetensorsFiles(), arrays(t), saint(), pickles(), documents(t))
}

// wholeFiles returns files of every format that are truncated, empty, of another format, or changed.
func wholeFiles(t *testing.T) (all []bad) {
	base64 := func(path string) []byte {
		return fixture.Base64(t, filepath.Join("format", "internal", "formats", path))
	}
	whole := map[string][]byte{
		"own.pt":          base64("torch/testdata/data.pt.b64"),
		"old.pt":          base64("torch/testdata/legacy.pt.b64"),
		"own.npz":         base64("npz/testdata/masks.npz.b64"),
		"csr.npz":         base64("npz/testdata/csr.npz.b64"),
		"own.mat":         base64("matlab/testdata/own.mat.b64"),
		"own.graphml":     from(t, "graphml/testdata")["networkx.graphml"],
		"own.graphml.gz":  base64("graphml/testdata/packed.graphml.gz.b64"),
		"own.safetensors": tensors(`{"x":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}}`, 8),
	}
	for file, content := range whole {
		for what, changed := range map[string][]byte{
			"empty":             {},
			"one byte":          content[:1],
			"a third":           content[:len(content)/3],
			"half":              content[:len(content)/2],
			"but for ten bytes": content[:len(content)-10],
			"zeros":             make([]byte, 5000),
			"HTML":              []byte("<!DOCTYPE html><html><body>404 not found</body></html>"),
			"an ELF file":       append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 500)...),
			"ones":              bytes.Repeat([]byte{0xff}, 5000),
		} {
			all = append(all, single(file+": "+what, file, changed))
		}
	}
	return all
}

// texts returns bad folders of text tables.
func texts() (all []bad) {
	add := func(name, file, content, want string) {
		all = append(all, bad{name: "text: " + name, files: fixture.With(fixture.Plain(), file, []byte(content)), want: want})
	}
	add("10¹² nodes", "edges.csv", "0,1000000000000\n", "edges.csv:1")
	add("the first number above 32 bits", "edges.csv", "0,2147483648\n", "edges.csv:1")
	add("2³²", "edges.csv", "0,4294967296\n", "edges.csv:1")
	add("2⁶⁴", "edges.csv", "18446744073709551616,0\n", "edges.csv:1")
	add("a number of 400 digits", "edges.csv", "0,1\n"+strings.Repeat("9", 400)+",0\n", "edges.csv:2")
	add("a negative node", "edges.csv", "0,-1\n", "edges.csv:1")
	add("half a node", "edges.csv", "0,1.5\n", "edges.csv:1")
	add("four columns", "edges.csv", "0,1,1,1\n", "edges.csv:1")
	add("bytes that are no text", "edges.csv", "\x00\x01\x02\xff\xfe\n", "edges.csv")
	add("a line without an end", "edges.csv", strings.Repeat("1", 1<<20), "edges.csv")
	add("UTF-16", "edges.csv", "\xff\xfe0\x00,\x001\x00\n\x00", "edges.csv")
	add("no features", "features.csv", "", "features.csv")
	add("too many rows", "features.csv", strings.Repeat("1,0.5\n", 9), "own")
	add("a million columns in one row of two", "features.csv", "1"+strings.Repeat(",1", 100_000)+"\n1\n", "features.csv")
	add("a label of 10¹²", "labels.csv", "label,part\n1000000000000,train\n1,val\n,\n1,test\n", "labels.csv:2")
	add("a label of 2³¹", "labels.csv", "label,part\n2147483648,train\n1,val\n,\n1,test\n", "labels.csv:2")
	add("no labels", "labels.csv", "", "labels.csv")
	packed := func(name string, content []byte, want string) {
		files := fixture.With(fixture.Plain(), "edges.csv", nil)
		files["edges.csv.gz"] = content
		all = append(all, bad{name: "text: " + name, files: files, want: want, bomb: true})
	}
	whole := fixture.Packed("0,1\n1,2\n")
	packed("gzip that is cut", whole[:len(whole)-6], "edges.csv.gz")
	packed("gzip with a wrong checksum", append(bytes.Clone(whole[:len(whole)-8]), make([]byte, 8)...), "edges.csv.gz")
	packed("no gzip", []byte("0,1\n"), "edges.csv.gz")
	packed("a gzip bomb", fixture.Packed(strings.Repeat("0", bombBytes())), "edges.csv.gz")
	packed("a gzip bomb of empty lines", fixture.Packed(strings.Repeat("\n", bombBytes())), "edges.csv.gz")
	return all
}

// safetensorsFiles returns files with wrong headers.
func safetensorsFiles() (all []bad) {
	add := func(name string, content []byte) {
		all = append(all, single("safetensors: "+name, "own.safetensors", content))
	}
	long := func(length uint64) []byte { return append(binary.LittleEndian.AppendUint64(nil, length), "{}"...) }
	add("a header of 4 GB in 10 bytes", long(4<<30))
	add("a header of 2⁶⁴−1 bytes", long(1<<64-1))
	add("a header of 2⁶³ bytes", long(1<<63))
	add("no header", long(0))
	entry := func(rest string) string { return `{"x":{"dtype":"F32",` + rest + `}}` }
	for name, header := range map[string]string{
		"10¹² nodes":             entry(`"shape":[1000000000000,100],"data_offsets":[0,8]`),
		"4 GB":                   entry(`"shape":[1073741824],"data_offsets":[0,4294967296]`),
		"a product above 2⁶⁴":    entry(`"shape":[4294967296,4294967296,4],"data_offsets":[0,0]`),
		"a negative side":        entry(`"shape":[-1,-8],"data_offsets":[0,8]`),
		"a side of 1e300":        entry(`"shape":[1e300],"data_offsets":[0,8]`),
		"offsets out of order":   entry(`"shape":[2],"data_offsets":[8,0]`),
		"offsets beyond the end": entry(`"shape":[2],"data_offsets":[4,12]`),
		"a negative offset":      entry(`"shape":[2],"data_offsets":[-8,0]`),
		"an offset of 2⁶³":       entry(`"shape":[2],"data_offsets":[0,9223372036854775808]`),
		"one offset":             entry(`"shape":[2],"data_offsets":[0]`),
		"three offsets":          entry(`"shape":[2],"data_offsets":[0,4,8]`),
		"too few bytes":          entry(`"shape":[3],"data_offsets":[0,8]`),
		"an unknown type":        `{"x":{"dtype":"F31","shape":[2],"data_offsets":[0,8]}}`,
		"no type":                `{"x":{"shape":[2],"data_offsets":[0,8]}}`,
		"a list for a tensor":    `{"x":[1,2]}`,
		"a list":                 `[1,2,3]`,
		"nested objects":         strings.Repeat(`{"x":`, 100_000) + "1" + strings.Repeat("}", 100_000),
		"nested lists":           entry(`"shape":` + strings.Repeat("[", 50_000) + strings.Repeat("]", 50_000)),
		"half a header":          `{"x":{"dtype":"F32"`,
		"metadata of numbers":    `{"__metadata__":{"classes":3}}`,
		"overlapping tensors": `{"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},` +
			`"y":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`,
		"nothing of a graph": `{"weights":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`,
	} {
		add(name, tensors(header, 8))
	}
	graph := func(n int, indptr, indices, y string, data int) []byte {
		return tensors(fmt.Sprintf(`{"adj.indptr":%s,"adj.indices":%s,"x":{"dtype":"F32","shape":[%d,1],`+
			`"data_offsets":[0,%d]},"y":%s}`, indptr, indices, n, 4*n, y), data)
	}
	for name, content := range map[string][]byte{
		"fewer row ends than nodes": graph(2, `{"dtype":"I64","shape":[1],"data_offsets":[8,16]}`,
			`{"dtype":"I32","shape":[1],"data_offsets":[16,20]}`, `{"dtype":"I32","shape":[2],"data_offsets":[20,28]}`, 28),
		"neighbours that no row has": graph(2, `{"dtype":"I64","shape":[3],"data_offsets":[8,32]}`,
			`{"dtype":"I32","shape":[1],"data_offsets":[32,36]}`, `{"dtype":"I32","shape":[2],"data_offsets":[36,44]}`, 44),
		"labels of half the nodes": graph(2, `{"dtype":"I64","shape":[3],"data_offsets":[8,32]}`,
			`{"dtype":"I32","shape":[0],"data_offsets":[32,32]}`, `{"dtype":"I32","shape":[1],"data_offsets":[32,36]}`, 36),
	} {
		add(name, content)
	}
	return all
}

// TestCondensedRefused checks that reading damaged files of condensed graphs allocates a bounded amount of memory.
func TestCondensedRefused(t *testing.T) {
	meta := `"__metadata__":{"format":"cgc-condensed","format_version":"3","classes":"1000000000","graph_nodes":` +
		`"1000000000000","config":"{}","account":"{}"}`
	for name, header := range map[string]string{
		"10⁹ classes": `{` + meta + `,"x":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},` +
			`"y":{"dtype":"I64","shape":[1],"data_offsets":[4,12]},` +
			`"edge_index":{"dtype":"I64","shape":[2,0],"data_offsets":[12,12]}}`,
		"nothing but metadata": `{` + meta + `}`,
		"an edge to nowhere": `{"__metadata__":{"format":"cgc-condensed","format_version":"1","classes":"1","config":"{}",` +
			`"account":"{}"},"x":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},` +
			`"y":{"dtype":"I32","shape":[1],"data_offsets":[4,8]},"edge_index":{"dtype":"U32","shape":[2,1],` +
			`"data_offsets":[8,16]}}`,
	} {
		path := filepath.Join(t.TempDir(), "small.safetensors")
		mattest.OK(t, os.WriteFile(path, tensors(header, 16), 0o600))
		used, err := measured(t, name, func() error {
			_, err := condense.Load(path)
			return err
		})
		if err == nil || !strings.Contains(err.Error(), "small.safetensors") || used > allowance {
			t.Errorf("%s: error %v after %d bytes", name, err, used)
		}
	}
}
