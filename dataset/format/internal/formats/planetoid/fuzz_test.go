package planetoid_test

import (
	"testing"

	"github.com/graph-condensation/cgc/dataset/internal/fixture"
)

// FuzzRead checks that no input causes a panic or unbounded memory use, in features, in neighbours and in the numbers
// of the test nodes. Errors are allowed.
func FuzzRead(f *testing.F) {
	files := planetoidFiles()
	f.Add(files["ind.own.allx"], files["ind.own.graph"], files["ind.own.test.index"])
	f.Add(files["ind.own.tx"], fixture.Pickled(pickleGraph(map[int][]int{0: {5}})), []byte("3\n2000000000\n"))
	f.Fuzz(func(t *testing.T, features, neighbours, index []byte) {
		own := fixture.With(planetoidFiles(), "ind.own.allx", features)
		own = fixture.With(own, "ind.own.graph", neighbours)
		fixture.Valid(t, fixture.Folder(t, fixture.With(own, "ind.own.test.index", index)))
	})
}
