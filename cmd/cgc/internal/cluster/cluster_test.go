package cluster_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/cluster"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/stored"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/reach"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// frame appends a frame whose payload is the given values.
func frame(out []byte, kind cluster.Kind, values ...any) []byte {
	var payload []byte
	for _, v := range values {
		payload, _ = binary.Append(payload, binary.LittleEndian, v)
	}
	out = binary.LittleEndian.AppendUint64(append(out, byte(kind)), uint64(len(payload)))
	return append(out, payload...)
}

// feed returns the input of a worker for columns lo to hi−1 of g: the nodes within two hops and the rows within one
// hop, in descending order, in two frames each. If apart is set, features come in separate frames in another order than
// nodes, and both features and entries come before nodes.
func feed(t *testing.T, g *graph.Graph, o stored.Origin, lo, hi int, apart bool) []byte {
	t.Helper()
	o.Graph, o.Nodes, o.Edges, o.Features, o.Classes = g.Name, g.Nodes(), int64(g.Edges()), g.Features(), g.Classes
	task, nodes := head(t, cluster.Task{Do: "columns", Origin: o, Lo: lo, Hi: hi}), []byte(nil)
	set := reach.New(g.Adj, g.Split.Train)
	set.Grow()
	near := slices.Clone(set.Distance)
	set.Grow()
	class := make([]int32, g.Nodes())
	for v := range class {
		class[v] = -1
	}
	for _, v := range g.Split.Train {
		class[v] = g.Y[v]
	}
	var entries, features [][]byte
	for part := range 2 {
		var numbers, counts, classes, rows, cols []int32
		var degrees, sizes []float64
		var x, weights []float32
		for v := g.Nodes() - 1; v >= 0; v-- {
			if set.Distance[v] == reach.Unreached || v%2 != part {
				continue
			}
			degree, count := 0.0, 0
			for j, w := range g.Adj.Row(v) {
				degree += float64(w)
				if near[v] != reach.Unreached {
					count++
					rows, cols, weights = append(rows, int32(v)), append(cols, int32(j)), append(weights, w)
				}
			}
			numbers, counts = append(numbers, int32(v)), append(counts, int32(count))
			degrees, classes = append(degrees, degree), append(classes, class[v])
			x = append(x, g.X.(*mat.Dense).Row(v)[lo:hi]...)
			if o.NormalizeFeatures {
				sizes = append(sizes, size(g.X.(*mat.Dense).Row(v)))
			}
		}
		slices.Reverse(rows)
		slices.Reverse(cols)
		slices.Reverse(weights)
		if apart {
			features = append(features, frame(nil, cluster.FeatureFrame, uint32(len(numbers)), numbers, sizes, x))
			sizes, x = nil, nil
		}
		nodes = frame(nodes, cluster.NodeFrame, uint32(len(numbers)), numbers, counts, degrees, classes, sizes, x)
		weighted := uint32(0)
		if g.Adj.Data == nil {
			weights = nil
		} else {
			weighted = 1
		}
		lengths := slices.Repeat([]int32{1}, len(rows))
		entries = append(entries, frame(nil, cluster.EntryFrame, uint32(len(rows)), weighted, rows, lengths, cols, weights))
	}
	slices.Reverse(features)
	rest := slices.Concat(append(features, entries...)...)
	if apart {
		return frame(slices.Concat(task, rest, nodes), cluster.EndFrame)
	}
	return frame(slices.Concat(task, nodes, rest), cluster.EndFrame)
}

// size returns the sum of the absolute values of a row, or 1 if it is 0.
func size(row []float32) float64 {
	sum := 0.0
	for _, v := range row {
		sum += math.Abs(float64(v))
	}
	if sum == 0 {
		return 1
	}
	return sum
}

// open returns a pipe that stays open after its content, like the pipe of a running feeder.
func open(t *testing.T, content []byte) io.Reader {
	r, w := io.Pipe()
	go func() { _, _ = w.Write(content) }()
	t.Cleanup(func() { w.Close() })
	return r
}

// head returns the frame of a task.
func head(t testing.TB, task cluster.Task) []byte {
	t.Helper()
	text := mattest.Must(json.Marshal(task))
	return frame(nil, cluster.TaskFrame, text)
}

// written runs a worker and returns the file that it writes.
func written(t *testing.T, in []byte) *stored.File {
	t.Helper()
	out := filepath.Join(t.TempDir(), "part.safetensors")
	mattest.OK(t, cluster.Run(t.Context(), open(t, in), io.Discard, out))
	return mattest.Must(stored.Read(out))
}

// refused checks that a worker returns an error that contains want, and writes no file.
func refused(t *testing.T, in io.Reader, want string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "part.safetensors")
	err := cluster.Run(t.Context(), in, io.Discard, out)
	mattest.True(t, err != nil && strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "\n"),
		"%v, want %q in one sentence", err, want)
	if _, err := os.Stat(out); err == nil {
		t.Errorf("%q: a file was written", want)
	}
}

// weighted returns g with weights on its edges.
func weighted(g *graph.Graph) *graph.Graph {
	h := *g
	adj := *g.Adj
	for i := range adj.Rows {
		for _, j := range adj.Indices[adj.Indptr[i]:adj.Indptr[i+1]] {
			adj.Data = append(adj.Data, float32(1+(i+int(j))%5)/4)
		}
	}
	h.Adj = &adj
	return &h
}

// A worker with a part of the graph writes, bit for bit, what one process with the full graph computes.
func TestColumns(t *testing.T) {
	for _, g := range []*graph.Graph{synth.Demo(), weighted(synth.Demo())} {
		for _, rule := range propagate.Rules() {
			for _, standardize := range []bool{false, true} {
				o := stored.Origin{
					Rule: rule, Hops: 2, Setting: condense.Setting{Standardize: standardize, NormalizeFeatures: standardize},
				}
				if rule == propagate.PPR {
					o.Teleport = 0.1
				}
				got := written(t, feed(t, g, o, 5, 23, rule != propagate.SGC))
				want := mattest.Must(stored.Compute(t.Context(), blocked.Engine{}, o, g, 5, 23))
				if !slices.Equal(got.Train, want.Train) || !slices.Equal(got.X.Data, want.X.Data) {
					t.Fatal("other training nodes or features")
				}
				for l := range want.H {
					mattest.True(t, slices.Equal(got.H[l].Data, want.H[l].Data),
						"%s, standardize %v, weights %v: hop %d differs", rule, standardize, g.Adj.Data != nil, l+1)
				}
			}
		}
	}
}

// A truncated or inconsistent input gives a one-sentence error, and no file is written.
func TestRefuses(t *testing.T) {
	good := feed(t, synth.Demo(), stored.Origin{Rule: propagate.SGC, Hops: 2}, 0, 4, false)
	end := len(good) - 9
	entry := func(row, col int32) []byte {
		return frame(slices.Clone(good[:end]), cluster.EntryFrame, uint32(1), uint32(0), row, int32(1), col)
	}
	for _, c := range []struct {
		want string
		in   []byte
	}{
		{"ends before its last frame", good[:len(good)/2]},
		{"ends before its last frame", good[:end]},
		{"first frame", good[60+bytes.IndexByte(good[60:], 'N'):]},
		{"more than the", append(entry(0, 1), good[end:]...)},
		{"received a list of node 3999999, but not the node", append(entry(3999999, 0), good[end:]...)},
		{"kind", frame(slices.Clone(good[:end]), 'x')},
		{"length -2", append(frame(slices.Clone(good[:end]), cluster.EntryFrame, uint32(1), uint32(0), int32(0), int32(-2)),
			good[end:]...)},
		{"bytes left", append(frame(slices.Clone(good[:end]), cluster.EntryFrame, uint32(1<<31), uint32(0)), good[end:]...)},
		{"at most", append(slices.Clone(good[:end]), 'A', 0, 0, 0, 0, 0, 0, 0, 9)},
		{"ends before its last frame", append(slices.Clone(good[:end]), 'A', 0, 0, 0, 32, 0, 0, 0, 0)},
	} {
		refused(t, bytes.NewReader(c.in), c.want)
	}
}

// A count of more entries than arrived gives a one-sentence error, before memory is allocated for the entries. So does
// an entry in the column of a missing node. Neither check needs a memory limit in the task.
func TestRefusesCounts(t *testing.T) {
	o := stored.Origin{Rule: propagate.SGC, Hops: 1, Nodes: 1<<31 - 1, Features: 1, Classes: 2}
	for count, want := range map[int32]string{
		1<<31 - 1: "announce 2147483647 entries of 4 bytes, received 20 bytes of entries",
		1:         "entry (3, 4) is of a node that is missing",
	} {
		in := frame(head(t, cluster.Task{Do: "columns", Origin: o, Hi: 1}), cluster.NodeFrame, uint32(1), int32(3), count, 1.,
			int32(0), float32(0))
		in = frame(in, cluster.EntryFrame, uint32(1), uint32(0), int32(3), int32(1), int32(4))
		refused(t, open(t, frame(in, cluster.EndFrame)), want)
	}
}

// A few nodes of a large graph are found by their numbers.
func TestFewNodes(t *testing.T) {
	o := stored.Origin{Graph: "few", Rule: propagate.SGC, Hops: 1, Nodes: 1<<31 - 1, Edges: 1, Features: 1, Classes: 2}
	in := frame(head(t, cluster.Task{Do: "columns", Origin: o, Hi: 1}), cluster.NodeFrame, uint32(2),
		[]int32{2_000_000_000, 3}, []int32{0, 1}, []float64{1, 1}, []int32{-1, 1}, []float32{5, 7})
	in = frame(in, cluster.EntryFrame, uint32(1), uint32(0), int32(3), int32(1), int32(2_000_000_000))
	f := written(t, frame(in, cluster.EndFrame))
	if h := f.H[0].Data; !slices.Equal(f.Train, []int32{3}) || len(h) != 1 || math.Abs(float64(h[0])-6) > 1e-5 {
		t.Errorf("hop 1 of nodes %v is %v, want 6: the mean of the two, both of degree 1", f.Train, h)
	}
}

// Tasks with too many blocks or columns, or with a large graph but few nodes, give an error before they use much
// memory. The memory limit is the task's own or the machine's.
func TestRefusesClaims(t *testing.T) {
	o := stored.Origin{Rule: propagate.SGC, Hops: 2, Nodes: 1<<31 - 1, Features: 1 << 40, Classes: 2}
	for _, c := range []struct {
		task cluster.Task
		want string
	}{
		{cluster.Task{Do: "rows", Origin: o, Hi: 1, Blocks: 1<<31 - 1}, "2147483647 blocks, must be at most 65536"},
		{cluster.Task{Do: "rows", Origin: o, Hi: 1 << 40, Blocks: 1, Step: 1},
			"hops of 4398046511104 bytes, must be at most"},
		{cluster.Task{Do: "rows", Origin: o, Hi: 1 << 10, Blocks: 1, Step: 1, Memory: 1 << 10}, "must be at most 1024"},
		{cluster.Task{Do: "rows", Origin: o, Hi: 1, Blocks: 1, Step: 1}, "node 5 is missing"},
	} {
		in := frame(head(t, c.task), cluster.NodeFrame, uint32(1), int32(3), int32(1), 1., int32(-1))
		in = frame(in, cluster.EntryFrame, uint32(1), uint32(0), int32(5), int32(1), int32(3))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		refused(t, open(t, frame(in, cluster.EndFrame)), c.want)
		runtime.ReadMemStats(&after)
		took := after.TotalAlloc - before.TotalAlloc
		mattest.True(t, took <= 64<<20, "%q took %d bytes", c.want, took)
	}
}

// Features that do not belong to the nodes, or a class that the graph does not have, give a one-sentence error.
// Features may come in several frames, some of them empty.
func TestRefusesNodes(t *testing.T) {
	o := stored.Origin{Graph: "pair", Rule: propagate.SGC, Hops: 0, Nodes: 9, Features: 1, Classes: 2}
	task := head(t, cluster.Task{Do: "columns", Origin: o, Hi: 1})
	nodes := func(class int32) []byte {
		return frame(slices.Clone(task), cluster.NodeFrame, uint32(2), []int32{3, 5}, []int32{0, 0}, []float64{0, 0},
			[]int32{class, 1})
	}
	feature := func(numbers ...int32) []byte {
		x := make([]float32, len(numbers))
		return frame(nil, cluster.FeatureFrame, uint32(len(numbers)), numbers, x)
	}
	for _, c := range []struct {
		want  string
		class int32
		x     []byte
	}{
		{"received the features of 1 nodes, expected 2", 0, feature(3)},
		{"received the features of node 4, expected node 5", 0, feature(4, 3)},
		{"received the features of node 3, expected node 5", 0, append(feature(3), feature(3)...)},
		{"node 3 has the class -2", -2, feature(3, 5)},
		{"node 3 has the class 2", 2, feature(3, 5)},
		{"node 3 has the class 1073741824", 1 << 30, feature(3, 5)},
	} {
		refused(t, open(t, frame(slices.Concat(nodes(c.class), c.x), cluster.EndFrame)), c.want)
	}
	written(t, frame(slices.Concat(nodes(0), feature(5), feature(), feature(3)), cluster.EndFrame))
}

// FuzzRun sends arbitrary frames to a worker after a task on a small graph. The worker completes its task, or returns a
// one-line error. The task itself is not fuzzed, because it comes from the program that starts the worker. It states
// the number of nodes, and limits the entries that a frame may claim.
func FuzzRun(f *testing.F) {
	const nodes, width = 4, 2
	origin := stored.Origin{
		Graph: "path", Nodes: nodes, Edges: 3, Features: width, Classes: 2,
		Rule: propagate.SGC, Hops: 2,
	}
	var tasks [][]byte
	for _, task := range []cluster.Task{
		{Do: "columns"}, {Do: "scaling"}, {Do: "rows", Blocks: 1}, {Do: "rows", Blocks: 2, Block: 1, Step: 1},
		{Do: "rows", Blocks: 1, Step: 2}, {Do: "columns", Memory: -1},
	} {
		task.Origin, task.Hi, task.Memory = origin, width, 64<<20*(task.Memory+1) // the last task has no limit
		tasks = append(tasks, head(f, task))
	}
	x := []float32{1, 2, 3, 4, 5, 6, 7, 8}
	numbers, counts := []int32{0, 1, 2, 3}, []int32{1, 2, 2, 1}
	degrees, classes := []float64{1, 2, 2, 1}, []int32{0, -1, 1, -1}
	node := frame(nil, cluster.NodeFrame, uint32(nodes), numbers, counts, degrees, classes, x)
	apart := frame(nil, cluster.NodeFrame, uint32(nodes), numbers, counts, degrees, classes)
	features := frame(nil, cluster.FeatureFrame, uint32(nodes), numbers, x)
	entries := frame(nil, cluster.EntryFrame, uint32(6), uint32(0), []int32{0, 1, 1, 2, 2, 3}, []int32{1, 0, 2, 1, 3, 2})
	sums := frame(nil, cluster.SumFrame, uint32(nodes), numbers, x)
	hop := frame(nil, cluster.HopFrame, uint32(1), uint32(2), []int32{0, 2}, x[:4])
	names := frame(nil, cluster.NameFrame, uint32(1), []int32{0}, []uint32{0, 1}, []byte("a"))
	end := frame(nil, cluster.EndFrame)
	for place := range tasks {
		f.Add(byte(place), slices.Concat(node, entries, end))
		f.Add(byte(place), slices.Concat(apart, features, names, entries, end))
		f.Add(byte(place), slices.Concat(apart, sums, hop, entries, end))
		f.Add(byte(place), slices.Concat(features, node[:20]))
	}
	out := filepath.Join(f.TempDir(), "out.safetensors")
	f.Fuzz(func(t *testing.T, place byte, frames []byte) {
		in := io.MultiReader(bytes.NewReader(tasks[int(place)%len(tasks)]), bytes.NewReader(frames))
		if err := cluster.Run(t.Context(), in, io.Discard, out); err != nil && (err.Error() == "" ||
			strings.ContainsRune(err.Error(), '\n')) {
			t.Errorf("%q", err)
		}
	})
}
