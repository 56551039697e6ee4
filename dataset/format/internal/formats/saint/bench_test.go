package saint_test

import (
	"fmt"
	"testing"

	"github.com/graph-condensation/cgc/dataset/format/internal/formats/saint"
	"github.com/graph-condensation/cgc/dataset/internal/fixture"
)

// BenchmarkRead reads the labels and the split of a graph with as many nodes as products. The MB/s count JSON.
func BenchmarkRead(b *testing.B) {
	const nodes = 2_449_029
	files := folder()
	text, list := []byte("{"), []byte(`{"tr": [`)
	for i := range nodes {
		text = fmt.Appendf(text, "\"%d\": %d, ", i, i%47)
		list = fmt.Appendf(list, "%d, ", i)
	}
	files["class_map.json"] = append(text[:len(text)-2], '}')
	files["role.json"] = append(list[:len(list)-2], "], \"va\": [], \"te\": []}"...)
	dir := fixture.Folder(b, files)
	b.SetBytes(int64(len(files["class_map.json"]) + len(files["role.json"])))
	for b.Loop() {
		if err := saint.ReadText(b.Context(), dir, nodes); err != nil {
			b.Fatal(err)
		}
	}
}
