package cluster_test

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/cluster"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/stored"
	"github.com/graph-condensation/cgc/propagate"
)

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
