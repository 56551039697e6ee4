package dataset_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
)

// npy returns an .npy file of the given numbers, little-endian, in C order.
func npy(descr, shape string, numbers any) []byte {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }\n", descr, shape)
	b := append([]byte("\x93NUMPY\x01\x00"), binary.LittleEndian.AppendUint16(nil, uint16(len(header)))...)
	b, err := binary.Append(append(b, header...), binary.LittleEndian, numbers)
	if err != nil {
		panic(err)
	}
	return b
}

// npz packs members of alternating compression.
func npz(members map[string][]byte) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	method := zip.Store
	for name, data := range members {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: method})
		if err != nil {
			panic(err)
		}
		if _, err := w.Write(data); err != nil {
			panic(err)
		}
		method = zip.Deflate - method
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func packed(text string) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write([]byte(text)); err != nil {
		panic(err)
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// folder writes files into a new folder called "own".
func folder(t testing.TB, files map[string][]byte) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "own")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		if data == nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// with returns files with one replaced; nil leaves it out.
func with(files map[string][]byte, name string, data []byte) map[string][]byte {
	changed := map[string][]byte{name: data}
	for n, d := range files {
		if n != name {
			changed[n] = d
		}
	}
	return changed
}

// open reads a path with no folder searched.
func open(t testing.TB, path string) *graph.Graph {
	t.Helper()
	g, err := dataset.Options{}.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// refuses checks that reading the files gives one sentence which mentions want.
func refuses(t *testing.T, files map[string][]byte, want string) {
	t.Helper()
	_, err := dataset.Options{}.Open(t.Context(), folder(t, files))
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got the error %v\nwant one line with %q", err, want)
	}
}

func made(t testing.TB, s synth.Shape, seed uint64) *graph.Graph {
	t.Helper()
	g, err := synth.Make(s, rand.NewPCG(seed, 0))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func like(t testing.TB, name string) synth.Shape {
	t.Helper()
	s, err := synth.Like(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
