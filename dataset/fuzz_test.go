package dataset_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
)

// What the fuzz tests look for is a panic, memory without bound, or a graph that is not valid; errors are right.

func FuzzNpy(f *testing.F) {
	f.Add(npy("<f4", "2, 2", []float32{1, 2, 3, 4}))
	f.Add(npy(">i2", "3,", []int16{1, 2, 3}))
	f.Add(npy("|b1", "", []bool{true}))
	f.Add(npy("<f8", "9999999999, 9999999999", []float64{1}))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _, _ = dataset.ParseNpy[float32](data)
		_, _, _ = dataset.ParseNpy[int32](data)
	})
}

func FuzzPickle(f *testing.F) {
	f.Add([]byte("\x80\x02cnumpy.core.multiarray\n_reconstruct\nq\x01cnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01K\x02\x85cnumpy\ndtype\nU\x02i4K\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89U\x08\x01\x00\x00\x00\x02\x00\x00\x00tb."))
	f.Add([]byte("\x80\x02ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R(K\x00]K\x01aK\x01]u."))
	f.Add([]byte("\x80\x02cscipy.sparse.csr\ncsr_matrix\n)\x81}(U\x06_shapeK\x01K\x01\x86ub."))
	f.Add([]byte("cos\nsystem\nU\x02idR."))
	f.Add([]byte("\x8e\xff\xff\xff\xff\xff\x00\x00\x00"))
	f.Add([]byte("T\xff\xff\xff\x7f"))
	for _, s := range dataset.Environment().List() { // one real file, if it is here
		if s.Name == "cora" && s.Path != "" {
			if data, err := os.ReadFile(filepath.Join(filepath.Dir(s.Path), "ind.cora.y")); err == nil {
				f.Add(data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) { _ = dataset.Unpickle(data) })
}

// valid fails if the files open as a graph that is not valid.
func valid(t *testing.T, path string) {
	t.Helper()
	if g, err := (dataset.Options{}).Open(t.Context(), path); err == nil {
		if err := g.Validate(); err != nil {
			t.Fatal(err)
		}
	}
}

func FuzzText(f *testing.F) {
	p := plain()
	f.Add(p["edges.csv"], p["features.csv"], p["labels.csv"])
	f.Add([]byte("0,1,0.5\n"), []byte("1\n2"), []byte("1,train\n2"))
	f.Add([]byte(","), []byte("x\n\n"), []byte("\r\n,train"))
	f.Fuzz(func(t *testing.T, edges, features, labels []byte) {
		valid(t, folder(t, map[string][]byte{"edges.csv": edges, "features.csv": features, "labels.csv": labels}))
	})
}

func FuzzSAINT(f *testing.F) {
	s := saint()
	f.Add(s["adj_full.npz"], s["feats.npy"], s["class_map.json"], s["role.json"])
	f.Fuzz(func(t *testing.T, adj, feats, classes, roles []byte) {
		valid(t, folder(t, map[string][]byte{"adj_full.npz": adj, "feats.npy": feats, "class_map.json": classes, "role.json": roles}))
	})
}

func FuzzSafetensors(f *testing.F) {
	data, err := os.ReadFile(writeTensors(f, foreign(), nil))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		valid(t, filepath.Join(folder(t, map[string][]byte{"own.safetensors": data}), "own.safetensors"))
	})
}
