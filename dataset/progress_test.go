package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/slow"
	"github.com/graph-condensation/cgc/progress"
)

// TestProgress reads graphs of 20,000 nodes in formats whose readers count bytes themselves. The reported progress
// never decreases, never exceeds the total, and reaches it. A reader that is cancelled at its first report stops.
func TestProgress(t *testing.T) {
	slow.Test(t, "reads large files")
	const n = 20_000
	saint := fixture.SAINT(fixture.Made(t, "arxiv", 0.12), strings.Repeat(" ", 100))
	lines := new(strings.Builder)
	for i := range n {
		for k := range 20 {
			lines.WriteString(strconv.FormatFloat(math.Sqrt(float64(i+n*k)), 'f', 12, 64) + ",")
		}
		lines.WriteString("1\n")
	}
	text := map[string][]byte{
		"edges.csv": []byte("0,1\n"), "features.csv.gz": fixture.Packed(lines.String()),
		"labels.csv": []byte(strings.Repeat("1,train\n", n)),
	}

	var graphText strings.Builder // a dictionary of lists
	ends, columns, values, hot := []int32{0}, []int32{}, []int32{}, []int32{}
	graphText.WriteString("ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R(")
	for i := range n {
		graphText.WriteString(fixture.PickleInt(i) + "](")
		for k := range 20 {
			graphText.WriteString(fixture.PickleInt((i + k + 1) % n))
			columns, values = append(columns, int32(k)), append(values, 1)
		}
		graphText.WriteString("e")
		ends, hot = append(ends, int32(len(columns))), append(hot, 1, 0)
	}
	graphText.WriteString("u")
	csr := fixture.PickleCSR(n, 20, ends, columns, values)
	row := fixture.PickleCSR(1, 20, []int32{0, 1}, []int32{0}, []int32{1})
	planetoid := map[string][]byte{
		"ind.own.x": fixture.Pickled(row), "ind.own.y": fixture.Pickled(fixture.PickleArray([]int32{1, 0}, 1, 2)),
		"ind.own.allx": fixture.Pickled(csr), "ind.own.ally": fixture.Pickled(fixture.PickleArray(hot, n, 2)),
		"ind.own.tx": fixture.Pickled(row), "ind.own.ty": fixture.Pickled(fixture.PickleArray([]int32{0, 1}, 1, 2)),
		"ind.own.graph": fixture.Pickled(graphText.String()), "ind.own.test.index": fmt.Appendln(nil, n),
	}
	object := func(object string) []byte {
		return fixture.Npy("|O", "", fixture.Pickled(fixture.PickleObjects([]string{object})))
	}
	scipy := fixture.Folder(t, map[string][]byte{"own.npz": fixture.Npz(map[string][]byte{
		"adj_matrix": object(fixture.PickleCSR(n, n, ends, columns, values)), "node_attr": object(csr),
		"node_label": fixture.Npy("<i8", fmt.Sprint(n, ","), make([]int64, n)),
	})})
	made := fixture.Made(t, "cora", 1)
	written := func(name, file string) string {
		f := mattest.Must(format.Find(name))
		path := filepath.Join(t.TempDir(), file)
		mattest.OK(t, f.(format.Writer).Write(t.Context(), path, made))
		return path
	}
	for _, c := range []struct {
		path  string
		files []string // files that report progress
	}{
		{fixture.Folder(t, saint), []string{"reading feats.npy", "reading class_map.json", "reading role.json"}},
		{fixture.Folder(t, planetoid), []string{"reading ind.own.allx", "reading ind.own.graph"}},
		{filepath.Join(scipy, "own.npz"), []string{"reading own.npz"}},
		{written("pyg", "made.npz"), []string{"reading made.npz"}},
		{written("torch", "made.pt"), []string{"reading made.pt"}},
		{fixture.Folder(t, text), []string{"reading features.csv.gz", "reading edges.csv", "reading labels.csv"}},
	} {
		last := map[string]progress.Event{}
		ctx := progress.With(t.Context(), func(e progress.Event) {
			if before := last[e.Stage]; e.Done < before.Done || e.Done > e.Total {
				t.Errorf("%s: %v after %v", c.path, e, before)
			}
			last[e.Stage] = e
		})
		mattest.Must(dataset.Environment().Open(ctx, c.path))
		for _, stage := range c.files {
			if e := last[stage]; e.Total == 0 || e.Done < e.Total*2/3 {
				t.Errorf("%s: the last report of %q is %v, want most of the total", c.path, stage, e)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		events := 0
		heard := progress.With(ctx, func(progress.Event) { events++; cancel() })
		_, err := dataset.Environment().Open(heard, c.path)
		if !errors.Is(err, context.Canceled) || events > 2 {
			t.Errorf("%s: %v, and %d reports, after a cancellation at the first", c.path, err, events)
		}
		cancel()
	}
}
