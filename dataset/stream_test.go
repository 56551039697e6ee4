package dataset_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/internal/content"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/paneled"
	"github.com/graph-condensation/cgc/internal/slow"
	"github.com/graph-condensation/cgc/mat"
)

// lists are the parts of a graph with repeats, self-loops and nodes without labels or edges.
type lists struct {
	from, to, y []int64
	weight      []float32
	x           []float32
	width       int // the number of features
	part        []string
}

func randomLists(nodes, edges, features int) lists {
	random := rand.New(rand.NewPCG(7, 7))
	l := lists{width: features}
	for range edges {
		u, v := random.IntN(nodes-5), random.IntN(nodes-5)
		if random.IntN(50) == 0 {
			v = u
		}
		l.from, l.to = append(l.from, int64(u)), append(l.to, int64(v))
		l.weight = append(l.weight, float32(1+random.IntN(3)))
		if random.IntN(4) == 0 {
			l.from, l.to, l.weight = append(l.from, int64(v)), append(l.to, int64(u)), append(l.weight, 2)
		}
	}
	for i := range nodes {
		l.y, l.part = append(l.y, int64(i%7)), append(l.part, []string{"train", "val", "test", ""}[i/7%4])
		if i%100 == 99 {
			l.y[i], l.part[i] = -1, ""
		}
		for range features {
			l.x = append(l.x, float32(random.NormFloat64()))
		}
	}
	return l
}

// text returns a table with a line for each of n rows.
func text(header string, n int, row func(i int) string) []byte {
	out := []byte(header)
	for i := range n {
		out = append(append(out, row(i)...), '\n')
	}
	return out
}

func (l lists) features(i int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(l.x[i*l.width:][:l.width]), " ", ","), "[]")
}

func (l lists) edge(i int) string { return fmt.Sprintf("%d,%d", l.from[i], l.to[i]) }

// own returns a folder in the text format. Edges from index weighted on have weights.
func (l lists) own(weighted int) map[string][]byte {
	return map[string][]byte{
		"edges.csv": text("source,target\n", len(l.from), func(i int) string {
			if i < weighted {
				return l.edge(i)
			}
			return fmt.Sprintf("%s,%v", l.edge(i), l.weight[i])
		}),
		"features.csv": text("", len(l.y), l.features),
		"labels.csv": text("label,part\n", len(l.y), func(i int) string {
			if l.y[i] < 0 && i < len(l.y)-1 {
				return ""
			}
			return fmt.Sprintf("%d,%s", l.y[i], l.part[i])
		}),
	}
}

// packed compresses the .csv files.
func packed(files map[string][]byte) map[string][]byte {
	all := map[string][]byte{}
	for name, content := range files {
		if strings.HasSuffix(name, ".csv") && content != nil {
			name, content = name+".gz", fixture.Packed(string(content))
		}
		all[name] = content
	}
	return all
}

// npy returns the features as an .npy file, in C or in Fortran order.
func (l lists) npy(fortran bool) []byte {
	x := l.x
	if fortran {
		x = make([]float32, len(l.x))
		for i, v := range l.x {
			x[i%l.width*len(l.y)+i/l.width] = v
		}
	}
	file := fixture.Npy("<f4", fmt.Sprint(len(l.y), ", ", l.width), x)
	if fortran {
		file = bytes.Replace(file, []byte("False"), []byte("True "), 1)
	}
	return file
}

// ends returns the edges as an .npy file of the given type.
func (l lists) ends(descr string, fortran bool) []byte {
	both := append(append([]int64{}, l.from...), l.to...)
	if fortran {
		for i := range l.from {
			both[2*i], both[2*i+1] = l.from[i], l.to[i]
		}
	}
	var file []byte
	if shape := fmt.Sprint("2, ", len(l.from)); descr == "<i8" {
		file = fixture.Npy(descr, shape, both)
	} else {
		short := make([]int32, len(both))
		for i, v := range both {
			short[i] = int32(v)
		}
		file = fixture.Npy(descr, shape, short)
		if descr == ">i4" {
			raw := file[len(file)-4*len(short):]
			for i, v := range short {
				binary.BigEndian.PutUint32(raw[4*i:], uint32(v))
			}
		}
	}
	if fortran {
		file = bytes.Replace(file, []byte("False"), []byte("True "), 1)
	}
	return file
}

// ogb returns the files in the folders split and mapping of OGB.
func (l lists) ogb(order bool) map[string][]byte {
	files := map[string][]byte{}
	for from, to := range map[string]string{"train": "train", "val": "valid", "test": "test"} {
		var list []byte
		for i, part := range l.part {
			if part == from {
				list = fmt.Appendln(list, i)
			}
		}
		files["split/time/"+to+".csv"] = list
	}
	files["mapping/nodeidx2paperid.csv"] = text("node,paper\n", len(l.y), func(i int) string {
		if !order && i < 2 {
			i = 1 - i
		}
		return fmt.Sprintf("%d,paper %d", i, i*i)
	})
	files["mapping/labelidx2field.csv"] = []byte("label,field\n0,a\n1,b\n2,c\n3,d\n4,e\n5,f\n6,g\n7,unused\n")
	return files
}

func (l lists) ogbText(order bool) map[string][]byte {
	files := l.ogb(order)
	files["raw/edge.csv"] = text("", len(l.from), l.edge)
	files["raw/node-feat.csv"] = text("", len(l.y), l.features)
	files["raw/node-label.csv"] = text("", len(l.y), func(i int) string {
		if l.y[i] < 0 {
			return `""`
		}
		return fmt.Sprint(l.y[i])
	})
	files["raw/num-node-list.csv"] = fmt.Append(nil, len(l.y))
	files["raw/num-edge-list.csv"] = fmt.Append(nil, len(l.from))
	return files
}

func (l lists) ogbArrays(ends, x []byte) map[string][]byte {
	files := l.ogb(true)
	labels := make([]float32, len(l.y))
	for i, c := range l.y {
		if labels[i] = float32(c); c < 0 {
			labels[i] = float32(math.NaN())
		}
	}
	count := fixture.Npy("<i8", "1,", []int64{int64(len(l.y))})
	files["raw/data.npz"] = fixture.Npz(map[string][]byte{"edge_index": ends, "node_feat": x, "num_nodes_list": count})
	files["raw/node-label.npz"] = fixture.Npz(map[string][]byte{
		"node_label": fixture.Npy("<f4", fmt.Sprint(len(l.y), ", 1"), labels),
	})
	return files
}

// ogbFiles has the arrays of data.npz as .npy files.
func (l lists) ogbFiles() map[string][]byte {
	files := l.ogbArrays(nil, nil)
	files["raw/data.npz"] = nil
	files["raw/edge_index.npy"], files["raw/node_feat.npy"] = l.ends("<i8", false), l.npy(true)
	return files
}

// named returns a folder with names. If wild is true, they are quoted and span several lines.
func (l lists) named(id func(i int64) string, wild bool) map[string][]byte {
	quote := func(s string) string { return s }
	if wild {
		quote = func(s string) string { return `"` + strings.Replace(s, " ", "\n\"\"", 1) + `"` }
	}
	header := "\xef\xbb\xbfid,split,label"
	for j := range l.width {
		header += fmt.Sprintf(",%c%d", 'a'+j%5, j/5)
	}
	return map[string][]byte{
		"nodes.csv": text(header+"\n", len(l.y), func(i int) string {
			label := ""
			if l.y[i] >= 0 {
				label = string(rune('a' + l.y[i]))
			}
			line := fmt.Sprintf("%s,%s,%s,%s", quote(id(int64(i))), l.part[i], label, l.features(i))
			if wild && i%100 == 0 {
				line += "\r\n" // an empty line follows
			}
			return line
		}),
		"edges.csv": text("weight,source,target\n", len(l.from), func(i int) string {
			return fmt.Sprintf("%v,%s,%s", l.weight[i], quote(id(l.from[i])), quote(id(l.to[i])))
		}),
	}
}

// TestStreamWritesWhatOpenReads checks that streaming, with so little memory that sorting needs many buckets, writes
// the same file as Open and Write.
func TestStreamWritesWhatOpenReads(t *testing.T) {
	slow.Test(t, "reads dozens of large files")
	l := randomLists(3000, 10_000, 5)
	all := len(l.from)
	digits := func(i int64) string { return fmt.Sprint(i) }
	words := func(i int64) string {
		return fmt.Sprintf("node %d, %s", i*i%9_999_991, strings.Repeat("x", int(i%900)))
	}
	named := l.named(words, true)
	mixed := func(i int64) string { return []string{"x", "007", "7.0"}[i%3] + fmt.Sprint(i) }
	npy := fixture.With(fixture.With(l.own(all), "features.csv", nil), "features.npy", l.npy(false))
	for name, files := range map[string]map[string][]byte{
		"text":              l.own(all),
		"text, weights":     l.own(0),
		"text, late weight": l.own(all - 3),
		"text, packed":      packed(l.own(0)),
		"text, no split": fixture.With(l.own(all), "labels.csv", text("", len(l.y), func(i int) string {
			return fmt.Sprint(i%7 + 1)
		})),
		"text, split.csv": fixture.With(l.own(all), "split.csv", text("", len(l.y), func(i int) string {
			return l.part[i] + " "
		})),
		"named, numbers":      l.named(digits, false),
		"named, names":        named,
		"named, both":         l.named(mixed, false),
		"named, plain":        l.named(func(i int64) string { return fmt.Sprint(i + 5) }, false),
		"named, packed":       packed(named),
		"npy":                 npy,
		"npy, Fortran":        fixture.With(npy, "features.npy", l.npy(true)),
		"ogb text":            packed(l.ogbText(true)),
		"ogb text, disorder":  l.ogbText(false),
		"ogb arrays":          l.ogbArrays(l.ends("<i8", false), l.npy(false)),
		"ogb files":           l.ogbFiles(),
		"ogb arrays, turned":  l.ogbArrays(l.ends("<i4", true), l.npy(false)),
		"ogb arrays, swapped": l.ogbArrays(l.ends(">i4", false), l.npy(false)),
	} {
		t.Run(name, func(t *testing.T) {
			kept := []format.Storing{{Memory: 1 << 18}}
			if name == "text, weights" || name == "named, names" { // the storage does not depend on the format
				kept = append(kept, format.Storing{Memory: 1 << 30, Storage: mat.BF16, Width: 2},
					format.Storing{Memory: 1 << 30, Storage: mat.F16})
			}
			sameFile(t, fixture.Folder(t, files), kept)
		})
	}
}

// sameFile fails unless reading the graph at path in one piece and in parts gives the same bytes and the same notes.
func sameFile(t *testing.T, path string, kept []format.Storing) {
	t.Helper()
	var notes, streamNotes []string
	g := mattest.Must(dataset.Options{Note: func(s string) { notes = append(notes, s) }}.Open(t.Context(), path))
	for _, o := range kept {
		whole := *g
		if o.Storage != "" {
			whole.X = mattest.Must(paneled.Copy(g.X, o.Width, o.Storage))
		}
		dir := t.TempDir()
		want, got := filepath.Join(dir, "want.safetensors"), filepath.Join(dir, "got.safetensors")
		mattest.OK(t, dataset.Write(t.Context(), want, &whole))
		streamNotes = nil
		options := dataset.Options{Note: func(s string) { streamNotes = append(streamNotes, s) }}
		s, err := options.Stream(t.Context(), path, 1<<20)
		if err != nil || s == nil {
			t.Fatalf("no stream: %v", err)
		}
		changes := mattest.Must(dataset.WriteStream(t.Context(), got, s, o))
		if s.Close != nil {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		if a, b := contents(t, want), contents(t, got); !bytes.Equal(a, b) {
			t.Errorf("%+v: %d bytes written in parts are not the %d written as a whole", o, len(b), len(a))
		}
		streamNotes = append(streamNotes, content.EdgeNotes(s.Name, changes)...)
		for _, sentence := range notes {
			if !strings.Contains(strings.Join(streamNotes, "\n"), sentence) {
				t.Errorf("notes %q, want %q among them", streamNotes, sentence)
			}
		}
		if left, _ := os.ReadDir(dir); len(left) != 2 {
			t.Errorf("files are left: %v", left)
		}
		if s.Held <= 0 || s.Size <= 0 || s.Plan(o).File < int64(len(contents(t, got)))/2 {
			t.Errorf("held %d, size %d, plan %+v for a file of %d bytes", s.Held, s.Size, s.Plan(o), len(contents(t, got)))
		}
	}
}

func contents(t *testing.T, path string) []byte {
	t.Helper()
	return mattest.Must(os.ReadFile(path))
}

// refusesBoth fails unless reading at once and in parts return the same error.
func refusesBoth(t *testing.T, files map[string][]byte, want string) {
	t.Helper()
	fixture.Refuses(t, files, want)
	refusesParts(t.Context(), t, files, 1<<20, want)
}

// refusesParts fails unless reading in parts, with the given memory, returns the error.
func refusesParts(ctx context.Context, t *testing.T, files map[string][]byte, memory int64, want string) {
	t.Helper()
	_, _, err := fixture.Written(ctx, t, fixture.Folder(t, files), memory)
	fixture.Says(t, err, want)
}

// TestStreamRefuses checks that errors have one line with the place and the value, and that no files are left.
func TestStreamRefuses(t *testing.T) {
	l := randomLists(3000, 10_000, 5)
	good := l.own(len(l.from))
	bad := l.npy(false)
	binary.LittleEndian.PutUint32(bad[len(bad)-4:], math.Float32bits(float32(math.Inf(1))))
	npy := fixture.With(fixture.With(good, "features.csv", nil), "features.npy", bad)
	refusesParts(t.Context(), t, npy, 1<<20, "features.npy: feature 4 of node 2999 is +Inf, must be a finite")
	ends := l.ends("<i8", false)
	binary.LittleEndian.PutUint64(ends[len(ends)-8:], 3000)
	arrays := l.ogbArrays(ends, l.npy(false))
	refusesParts(t.Context(), t, arrays, 1<<20, fmt.Sprintf("data.npz: edge %d (", len(l.from)-1))
	named := l.named(func(i int64) string { return fmt.Sprintf("n%d", i) }, false)
	nobody := fixture.With(named, "edges.csv", append(named["edges.csv"], "1,n1,Nobody\n"...))
	refusesBoth(t, nobody, fmt.Sprintf(`edges.csv:%d: target "Nobody" is not an id in nodes.csv`, len(l.from)+2))
	for want, id := range map[string]string{
		`nodes.csv:4: the id "n0" appears twice, first in line 2`: "n0,",
		`nodes.csv:4: 9 fields, and the header has 8`:             "n2,,",
	} {
		nodes := bytes.Replace(named["nodes.csv"], []byte("\nn2,"), []byte("\n"+id), 1)
		refusesBoth(t, fixture.With(named, "nodes.csv", nodes), want)
	}
	refusesParts(t.Context(), t, good, 1000, "labels and split of")
	refusesParts(mattest.Cancelled(t), t, good, 1<<20, context.Canceled.Error())
}
