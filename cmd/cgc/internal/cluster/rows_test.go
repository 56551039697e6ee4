package cluster_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/cluster"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/stored"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/reach"
	"github.com/graph-condensation/cgc/internal/slow"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// shuffle sorts a worker's frames by block, and returns the number of bytes of sums.
func shuffle(t *testing.T, sent []byte, boxes []map[cluster.Kind][]byte) (sums int) {
	t.Helper()
	for len(sent) > 0 {
		to, kind := binary.LittleEndian.Uint32(sent), cluster.Kind(sent[4])
		size := binary.LittleEndian.Uint64(sent[5:])
		boxes[to][kind] = append(boxes[to][kind], sent[4:13+size]...)
		if sent = sent[13+size:]; kind == cluster.SumFrame {
			sums += int(size)
		}
	}
	return sums
}

// newBoxes returns an empty map of frames for each block.
func newBoxes(blocks int) []map[cluster.Kind][]byte {
	boxes := make([]map[cluster.Kind][]byte, blocks)
	for i := range boxes {
		boxes[i] = map[cluster.Kind][]byte{}
	}
	return boxes
}

// byRows runs the workers of all steps and blocks one after the other, and merges the files that they write. Entries
// arrive in descending order. It also returns the number of bytes of the sums of each hop.
func byRows(
	t *testing.T, g *graph.Graph, o stored.Origin, blocks int, scaling graph.Scaling,
) (f *stored.File, sums []int) {
	t.Helper()
	o.Graph, o.Nodes, o.Edges, o.Features, o.Classes = g.Name, g.Nodes(), int64(g.Edges()), g.Features(), g.Classes
	set := reach.New(g.Adj, g.Split.Train)
	for range o.Hops {
		set.Grow()
	}
	trains := map[int]bool{}
	for _, v := range g.Split.Train {
		trains[int(v)] = true
	}
	boxes, paths := newBoxes(blocks), []string(nil)
	for v := range g.Nodes() {
		if set.Distance[v] == reach.Unreached {
			continue
		}
		degree, class := 0.0, int32(-1)
		for _, w := range g.Adj.Row(v) {
			degree += float64(w)
		}
		if trains[v] {
			class = g.Y[v]
		}
		box, x, sizes := boxes[v%blocks], g.X.(*mat.Dense).Row(v), []float64(nil)
		if o.NormalizeFeatures {
			sizes = []float64{size(x)}
		}
		box[cluster.NodeFrame] = frame(box[cluster.NodeFrame], cluster.NodeFrame, uint32(1), int32(v),
			int32(set.Distance[v]), degree, class, sizes, x)
	}
	for step := range o.Hops + 1 {
		for v := g.Nodes() - 1; v >= 0 && step < o.Hops; v-- {
			if d := set.Distance[v]; d == reach.Unreached || int(d) > o.Hops-step-1 {
				continue
			}
			for j, w := range g.Adj.Row(v) {
				box, weight := boxes[int(j)%blocks], []float32(nil)
				if g.Adj.Data != nil {
					weight = []float32{w}
				}
				box[cluster.EntryFrame] = frame(box[cluster.EntryFrame], cluster.EntryFrame, uint32(1), uint32(len(weight)),
					int32(j), int32(1), int32(v), weight)
			}
		}
		next, bytesOfHop := newBoxes(blocks), 0
		for q, box := range boxes {
			task := cluster.Task{Do: "rows", Origin: o, Hi: g.Features(), Step: step, Block: q, Blocks: blocks}
			if step == 0 {
				task.Mean, task.Std = scaling.Mean, scaling.Std
			}
			in := head(t, task)
			for _, kind := range []cluster.Kind{
				cluster.NodeFrame, cluster.HopFrame, cluster.SumFrame, cluster.EntryFrame,
			} {
				in = append(in, box[kind]...)
			}
			out := filepath.Join(t.TempDir(), "part.safetensors")
			var sent bytes.Buffer
			if err := cluster.Run(t.Context(), open(t, frame(in, cluster.EndFrame)), &sent, out); err != nil {
				t.Fatalf("step %d, block %d: %v", step, q, err)
			}
			bytesOfHop += shuffle(t, sent.Bytes(), next)
			if step == o.Hops {
				paths = append(paths, out)
			}
		}
		boxes, sums = next, append(sums, bytesOfHop)
	}
	merged := filepath.Join(t.TempDir(), "merged.safetensors")
	slices.Reverse(paths)
	mattest.OK(t, stored.Merge(t.Context(), merged, paths))
	f = mattest.Must(stored.Read(merged))
	return f, sums[:o.Hops]
}

// The sums of a hop have as many bytes as docs/how-to/several-machines.md predicts: a row of D entries needs P·(1 − (1
// − 1/P)^(D+1))·(4d + 4) if the entries are spread over the blocks at random.
func TestTraffic(t *testing.T) {
	slow.Test(t, "propagates on up to 16 workers")
	g := synth.Demo()
	set := reach.New(g.Adj, g.Split.Train)
	set.Grow()
	for _, blocks := range []int{2, 4, 8, 16} {
		_, sums := byRows(t, g, stored.Origin{Rule: propagate.SGC, Hops: 2}, blocks, graph.Scaling{})
		p, want := float64(blocks), 0.0
		for v, d := range set.Distance {
			if d != reach.Unreached {
				degree := float64(g.Adj.Indptr[v+1] - g.Adj.Indptr[v])
				want += p * (1 - math.Pow(1-1/p, degree+1)) * float64(4*g.Features()+4)
			}
		}
		ratio := float64(sums[0]) / want
		t.Logf("%d blocks: %d bytes in hop 1, %.3f of the formula", blocks, sums[0], ratio)
		mattest.True(t, math.Abs(ratio-1) <= 0.05, "%d blocks: %d bytes of sums, want about %.0f", blocks, sums[0], want)
	}
}

// Blocks of rows give the same result as one process, up to rounding. Each row is a sum of at most a few hundred
// float32 terms, which is split into one partial sum per block.
func TestRows(t *testing.T) {
	slow.Test(t, "computes in blocks of rows in many ways")
	for _, g := range []*graph.Graph{synth.Demo(), weighted(synth.Demo())} {
		normalized := mattest.Must(g.NormalizedFeatures(t.Context()))
		scaling := mattest.Must(graph.FitScaling(normalized.X, g.Split.Train))
		for _, rule := range propagate.Rules() {
			for _, c := range []struct {
				hops, blocks int
				standardize  bool
			}{{2, 3, false}, {3, 4, true}, {1, 1, false}, {0, 2, false}} {
				o := stored.Origin{
					Rule: rule, Hops: c.hops,
					Setting: condense.Setting{Standardize: c.standardize, NormalizeFeatures: c.standardize},
				}
				if rule == propagate.PPR {
					o.Teleport = 0.1
				}
				want := mattest.Must(stored.Compute(t.Context(), blocked.Engine{}, o, g, 0, g.Features()))
				var s graph.Scaling
				if c.standardize {
					s = scaling
				}
				got, _ := byRows(t, g, o, c.blocks, s)
				if !slices.Equal(got.Train, want.Train) || !slices.Equal(got.Y, want.Y) ||
					!slices.Equal(got.X.Data, want.X.Data) {
					t.Fatal("other training nodes or features")
				}
				for l := range want.H {
					most := 0.0
					for i, v := range want.H[l].Data {
						most = max(most, math.Abs(float64(v-got.H[l].Data[i])))
					}
					mattest.True(t, most <= 1e-5, "%s, %+v, weights %v: hop %d is %.2g away", rule, c, g.Adj.Data != nil, l+1, most)
				}
			}
		}
	}
}

// The scaling that a worker sends equals the scaling computed from the full graph.
func TestScaling(t *testing.T) {
	g := synth.Demo()
	o := stored.Origin{Rule: propagate.SGC, Hops: 2, Nodes: g.Nodes(), Features: g.Features(), Classes: g.Classes}
	in := head(t, cluster.Task{Do: "scaling", Origin: o, Lo: 3, Hi: 20})
	for _, v := range slices.Backward(g.Split.Train) {
		in = frame(in, cluster.NodeFrame, uint32(1), v, int32(0), 0.0, g.Y[v], g.X.(*mat.Dense).Row(int(v))[3:20])
	}
	var sent bytes.Buffer
	mattest.OK(t, cluster.Run(t.Context(), bytes.NewReader(frame(in, cluster.EndFrame)), &sent, ""))
	want := mattest.Must(graph.FitScaling(g.X, g.Split.Train))
	if got := sent.Bytes(); !bytes.Equal(got[4:], frame(nil, cluster.ScalingFrame, want.Mean[3:20], want.Std[3:20])) {
		t.Error("another scaling than that of the graph")
	}
}

// Input that does not belong to a block gives a one-sentence error.
func TestRowsRefuse(t *testing.T) {
	o := stored.Origin{Rule: propagate.SGC, Hops: 2, Nodes: 10, Features: 1, Classes: 2}
	node := func(v, hops, class int32) []byte {
		return frame(nil, cluster.NodeFrame, uint32(1), v, hops, 1.0, class, float32(1))
	}
	entry := func(rows, cols []int32, weights ...float32) []byte {
		weighted := uint32(min(1, len(weights)))
		return frame(nil, cluster.EntryFrame, uint32(len(rows)), weighted, cols,
			slices.Repeat([]int32{1}, len(rows)), rows, weights)
	}
	for _, c := range []struct {
		want   string
		step   int
		blocks int
		frames [][]byte
	}{
		{"node 4 is of block 0, expected 1", 0, 2, [][]byte{node(4, 1, -1)}},
		{"hops from training nodes", 0, 2, [][]byte{node(3, 1, 1)}},
		{"hops from training nodes", 0, 2, [][]byte{node(3, 3, -1)}},
		{"node 5 is missing", 0, 2, [][]byte{node(3, 0, 1), entry([]int32{2}, []int32{5})}},
		{"must be rows 0 to 9", 0, 2, [][]byte{node(3, 0, 1), entry([]int32{10}, []int32{3})}},
		{"an entry came twice", 0, 2, [][]byte{node(3, 0, 1), entry([]int32{2, 2}, []int32{3, 3})}},
		{"some entries have weights", 0, 2, [][]byte{node(3, 0, 1), entry([]int32{2}, []int32{3}),
			entry([]int32{4}, []int32{3}, 1)}},
		{"a node comes after", 0, 2, [][]byte{node(3, 0, 1), entry([]int32{2}, []int32{3}), node(5, 0, 1)}},
		{"rows of hop 1 come in step 0", 0, 2, [][]byte{node(3, 0, 1),
			frame(nil, cluster.HopFrame, uint32(1), uint32(1), int32(3), float32(1))}},
		{"block 1 of 0", 0, 0, nil},
		{"step 3 of 2 hops", 3, 2, nil},
	} {
		task := head(t, cluster.Task{Do: "rows", Origin: o, Hi: 1, Step: c.step, Block: 1, Blocks: c.blocks})
		refused(t, open(t, frame(append(task, slices.Concat(c.frames...)...), cluster.EndFrame)), c.want)
	}
}
