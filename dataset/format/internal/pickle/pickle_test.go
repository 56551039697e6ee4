package pickle_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset/format/internal/pickle"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
)

// matrices returns the three layouts of the matrix with 1 and 2 in row 0, and 3 in row 2.
func matrices() map[string]string {
	return map[string]string{
		"csr": fixture.PickleCSR(3, 4, []int32{0, 2, 2, 3}, []int32{3, 0, 1}, []int32{2, 1, 3}),
		"csc": fixture.PickleSparse("csc", 3, 4, map[string][]int32{
			"indptr": {0, 1, 2, 2, 3}, "indices": {0, 2, 0}, "data": {1, 3, 2}}),
		"coo": fixture.PickleSparse("coo", 3, 4, map[string][]int32{
			"row": {2, 0, 0}, "col": {1, 3, 0}, "data": {3, 2, 1}}),
	}
}

func TestMatricesOfEachLayout(t *testing.T) {
	for layout, body := range matrices() {
		object := mattest.Must(pickle.Load(fixture.Pickled(body)))
		m := mattest.Must(object.(*pickle.Matrix).CSR(t.Context(), 3))
		if m.Rows != 3 || m.Cols != 4 || !slices.Equal(m.Indptr, []int64{0, 2, 2, 3}) ||
			!slices.Equal(m.Indices, []int32{0, 3, 1}) || !slices.Equal(m.Data, []float32{1, 2, 3}) {
			t.Errorf("%s is read as %+v", layout, m)
		}
	}
}

// TestFrames checks that frames of protocol 4 around an array have no effect, even with a wrong length.
func TestFrames(t *testing.T) {
	body := fixture.PickleArray([]int32{1, 2}, 2) + "."
	for _, length := range []byte{byte(len(body)), 1} {
		data := append([]byte("\x80\x04\x95"), length, 0, 0, 0, 0, 0, 0, 0)
		object := mattest.Must(pickle.Load(append(data, body...)))
		if v, err := pickle.Numbers[int32](object); err != nil || !slices.Equal(v, []int32{1, 2}) {
			t.Errorf("numbers %v, %v", v, err)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	for want, data := range map[string][]byte{
		`the class "os.system"`:       fixture.Pickled("cos\nsystem\n" + fixture.PickleString("true") + "\x85R"),
		"claims a string of 214748":   []byte("T\xff\xff\xff\x7f"),
		"cut short":                   []byte("\x80\x02]"),
		"must have at most 64":        []byte("\x8b\xff\xff\x00\x00"),
		"more than 4300 digits":       []byte("L" + strings.Repeat("9", 4301) + "L\n."),
		"more than 1048576 lists":     bytes.Repeat([]byte("("), 1<<20+1),
		"the stack is empty":          []byte("."),
		"does not fit the 8 bytes":    fixture.Pickled(fixture.PickleArray([]int32{1, 2}, 3)),
		"expected Latin-1":            fixture.Pickled("c_codecs\nencode\n" + "X\x02\x00\x00\x00\xc4\x80\x85R"),
		"is not a type and its bytes": fixture.Pickled("cnumpy.core.multiarray\nscalar\n)R"),
	} {
		_, err := pickle.Load(data)
		fixture.Says(t, err, want)
	}
}

func TestMatricesRefuse(t *testing.T) {
	for want, body := range map[string]string{
		"row 3 of entry 0, must be 0 to 2": fixture.PickleSparse("coo", 3, 4, map[string][]int32{
			"row": {3}, "col": {0}, "data": {1}}),
		"1 rows, 2 columns and 1 values": fixture.PickleSparse("coo", 3, 4, map[string][]int32{
			"row": {0}, "col": {0, 1}, "data": {1}}),
		"in columns: 2 row pointers for 4 rows": fixture.PickleSparse("csc", 3, 4, map[string][]int32{
			"indptr": {0, 0}, "indices": {}, "data": {}}),
		"column 4 of entry 0, must be 0 to 3": fixture.PickleCSR(1, 4, []int32{0, 1}, []int32{4}, []int32{1}),
		"data: found nothing (None), expected a numpy array": fixture.PickleSparse("csr", 0, 1,
			map[string][]int32{"indptr": {0}, "indices": {}}),
		"not two numbers": fixture.PickleCSR(-1, 4, []int32{0}, nil, nil),
	} {
		object := mattest.Must(pickle.Load(fixture.Pickled(body)))
		mattest.Fails(t, want)(object.(*pickle.Matrix).CSR(t.Context(), 3))
	}
}

// FuzzPickle checks that no input causes a panic or unbounded memory use. Errors are allowed.
func FuzzPickle(f *testing.F) {
	f.Add([]byte("\x80\x02cnumpy.core.multiarray\n_reconstruct\nq\x01cnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01" +
		"K\x02\x85" +
		"cnumpy\ndtype\nU\x02i4K\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89" +
		"U\x08\x01\x00\x00\x00\x02\x00\x00\x00tb."))
	f.Add([]byte("\x80\x02ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R(K\x00]K\x01aK\x01]u."))
	f.Add([]byte("\x80\x02cscipy.sparse.csr\ncsr_matrix\n)\x81}(U\x06_shapeK\x01K\x01\x86ub."))
	f.Add([]byte("cos\nsystem\nU\x02idR."))
	f.Add([]byte("\x8e\xff\xff\xff\xff\xff\x00\x00\x00"))
	f.Add([]byte("T\xff\xff\xff\x7f"))
	f.Add(fixture.Pickled(fixture.PickleArray([]int32{1, 0}, 1, 2)))
	for _, body := range matrices() {
		f.Add(fixture.Pickled(body))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		object, err := pickle.Load(data)
		if err != nil {
			return
		}
		_, _ = pickle.Numbers[float32](object)
		if m, ok := object.(*pickle.Matrix); ok {
			_, _ = m.CSR(t.Context(), len(data))
		}
	})
}
