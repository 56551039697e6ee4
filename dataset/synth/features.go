package synth

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"github.com/graph-condensation/cgc/internal/parallel"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
)

// featureChunk is the number of rows of X that one generator fills.
const featureChunk = 1024

// centres returns the centre of each sub-class: centre of the class + offset of the sub-class.
func (m *maker) centres() *mat.Dense {
	random := rand.New(m.stream(forCentres, 0))
	centre := mat.NewDense(m.Classes*m.Groups, m.Features)
	class := make([]float32, m.Features)
	unit := m.Signal / math.Sqrt(float64(m.Features)) // the distance of a class from the origin is then about Signal
	for k := range centre.Rows {
		if k%m.Groups == 0 {
			for j := range class {
				class[j] = float32(unit * random.NormFloat64())
			}
		}
		for j, v := range class {
			centre.Row(k)[j] = v + float32(unit/2*random.NormFloat64())
		}
	}
	return centre
}

// dense returns dense features: the centre of the sub-class + noise of unit variance.
func (m *maker) dense(ctx context.Context) (*mat.Dense, error) {
	x, centre := mat.NewDense(m.Nodes, m.Features), m.centres()
	var done atomic.Int64
	err := parallel.ForContext(ctx, m.Nodes, featureChunk, func(lo, hi int) {
		block := mat.Dense{Rows: hi - lo, Cols: m.Features, Data: x.Data[lo*m.Features : hi*m.Features]}
		m.noise(&block, centre, lo)
		now := done.Add(int64(hi - lo))
		progress.Report(ctx, progress.Event{Stage: "drawing features", Done: now, Total: int64(m.Nodes)})
	})
	return x, err
}

// noise sets block to the features of nodes first, first+1, …, which are one chunk.
func (m *maker) noise(block, centre *mat.Dense, first int) {
	random := rand.New(m.stream(forFeatures, first/featureChunk))
	for i := range block.Rows {
		row := block.Row(i)
		for j, c := range centre.Row(int(m.group[first+i])) {
			row[j] = c + float32(random.NormFloat64())
		}
	}
}

// topic is the number of words that are typical of a class, and of a sub-class.
const topic = 30

// words returns sparse binary features. A word is drawn from the words of the class, of the sub-class, or of the full
// vocabulary. From the full vocabulary, words of low index are drawn more often.
func (m *maker) words(ctx context.Context) (*mat.CSR, error) {
	random := rand.New(m.stream(forCentres, 0))
	topics := make([][]int32, m.Classes*m.Groups)
	var class []int32
	for k := range topics {
		if k%m.Groups == 0 {
			class = make([]int32, topic)
			for i := range class {
				class[i] = random.Int32N(int32(m.Features))
			}
		}
		topics[k] = slices.Clone(class)
		for range topic {
			topics[k] = append(topics[k], random.Int32N(int32(m.Features)))
		}
	}
	rows := make([][]int32, m.Nodes)
	err := parallel.ForContext(ctx, m.Nodes, featureChunk, func(lo, hi int) {
		random := rand.New(m.stream(forFeatures, lo/featureChunk))
		for i := lo; i < hi; i++ {
			var row []int32
			for range 1 + m.Words/2 + random.IntN(m.Words+1) {
				u := random.Float64()
				w := int32(u * u * float64(m.Features))
				if random.Float64() < m.Signal {
					w = topics[m.group[i]][random.IntN(2*topic)]
				}
				row = append(row, w)
			}
			slices.Sort(row)
			rows[i] = slices.Compact(row)
		}
	})
	x := &mat.CSR{Rows: m.Nodes, Cols: m.Features, Indptr: make([]int64, 1, m.Nodes+1)}
	for _, row := range rows {
		x.Indices = append(x.Indices, row...)
		x.Indptr = append(x.Indptr, int64(len(x.Indices)))
	}
	return x, err
}
