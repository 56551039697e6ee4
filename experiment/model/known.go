package model

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/internal/parameter"
	"github.com/graph-condensation/cgc/internal/safetensors"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/partition"
)

// Summarize returns m with a summary of g, which lets New predict new nodes without g. k-means clusters the nodes of
// each predicted class by the rows that the model propagates last. groups is the total number of clusters, from the
// number of predicted classes to the number of nodes; 0 means 1,000, but at most a tenth of the nodes and at least one
// for each predicted class. Equal arguments give equal bytes for any number of threads.
func (m *Model) Summarize(ctx context.Context, g *graph.Graph, groups int, seed uint64) (*Model, error) {
	if m.Causal { // an edge from a new node must not change the degree of a known one
		return nil, fmt.Errorf("the model was trained for causal graph %s, must be for an undirected one", m.Graph)
	}
	g, err := m.fitting(ctx, g)
	if err != nil {
		return nil, err
	}
	with := *m
	with.IDs = g.IDs
	with.Known, err = m.Trained.Summarize(ctx, g.Adj, g.X, func(logits, last *mat.Dense) ([]int32, int, error) {
		return divide(ctx, logits, last, groups, seed)
	})
	return &with, err
}

// divide clusters the rows of x of each predicted class, and returns the group of each node. groups is as in Summarize.
func divide(ctx context.Context, logits, x *mat.Dense, groups int, seed uint64) (group []int32, _ int, err error) {
	n := logits.Rows
	rows, class, counts := make([][]float32, n), make([]int32, n), make([]int, logits.Cols)
	for i := range rows {
		rows[i] = x.Row(i)
		class[i] = int32(kernel.ArgMax(logits.Row(i)))
		counts[class[i]]++
	}
	present := 0
	for _, count := range counts {
		present += min(1, count)
	}
	if groups == 0 {
		groups = max(present, min(1000, n/10))
	}
	if groups < present || groups > n {
		return nil, 0, parameter.Check(false, "groups", groups,
			fmt.Sprintf("from %d (the predicted classes) to %d (the nodes)", present, n))
	}
	budgets, err := partition.Budgets(counts, groups)
	if err != nil {
		return nil, 0, err
	}
	plan := partition.Plan{Budgets: budgets, Partitioner: partition.KMeans{}, Temperature: math.Inf(1)}
	a, err := plan.Aggregate(ctx, rows, class, nil, rand.NewPCG(seed, 0))
	if err != nil {
		return nil, 0, err
	}
	group = make([]int32, n)
	for k := range groups {
		for i := range a.Members.Row(k) {
			group[i] = int32(k)
		}
	}
	return group, groups, nil
}

// New returns class probabilities, B×c, for B new nodes with features x, without the graph that m was trained for.
// names holds the name of each feature, or is nil. edges has the layout that gnn.Trained.LogitsOfNew expects. Features
// are prepared as m needs them.
func (m *Model) New(ctx context.Context, x mat.Matrix, names []string, edges *mat.CSR) (*mat.Dense, error) {
	if m.Known == nil {
		return nil, errors.New("the model has no summary of a graph, which Summarize adds")
	}
	b, d := x.Dims()
	if names != nil && len(names) != d {
		return nil, fmt.Errorf("%d names for %d features of new nodes", len(names), d)
	}
	g := &graph.Graph{
		Name: "of new nodes", X: x, FeatureNames: names,
		Adj: &mat.CSR{Rows: b, Cols: b, Indptr: make([]int64, b+1)},
	}
	g, err := m.fitting(ctx, g)
	if err != nil {
		return nil, err
	}
	logits, err := m.LogitsOfNew(ctx, m.Known, edges, g.X)
	return softmax(logits, nil, err)
}

// Names of the tensors of a summary. meansKey is followed by the number of the propagation.
const (
	groupKey  = "known.group"
	degreeKey = "known.degree"
	meansKey  = "known.means."
	idsKey    = "known.ids"
)

// known returns the tensors of the summary. Group numbers have 16 bits if there are at most 65,536 groups. Other
// tensors have 16 bits if no value exceeds the range of float16.
func (m *Model) known() []safetensors.Tensor {
	list := []safetensors.Tensor{{Name: groupKey, Data: m.Known.Group}}
	if m.Known.Means[0].Rows <= 1<<16 {
		narrow := make([]uint16, len(m.Known.Group))
		for i, k := range m.Known.Group {
			narrow[i] = uint16(k)
		}
		list[0].Data = narrow
	}
	if m.Known.Degree != nil {
		list = append(list, narrowed(degreeKey, m.Known.Degree, len(m.Known.Degree)))
	}
	for k, means := range m.Known.Means {
		list = append(list, narrowed(fmt.Sprint(meansKey, k), means.Data, means.Rows, means.Cols))
	}
	if m.IDs != nil {
		list = append(list, safetensors.Strings(idsKey, m.IDs)...)
	}
	return list
}

// narrowed returns a tensor of float16, or of float32 if a value is beyond its range.
func narrowed(name string, data []float32, shape ...int) safetensors.Tensor {
	for _, v := range data {
		if v > kernel.MaxFloat16 || v < -kernel.MaxFloat16 {
			return safetensors.Tensor{Name: name, Shape: shape, Data: data}
		}
	}
	narrow := make([]uint16, len(data))
	kernel.NarrowFloat16(narrow, data)
	return safetensors.Tensor{Name: name, DType: safetensors.F16, Shape: shape, Data: narrow}
}

// readKnown reads the summary of a file, if it has one.
func (m *Model) readKnown(f *safetensors.File) error {
	info, found := f.Find(groupKey)
	if !found {
		return nil
	}
	s := &gnn.Summary{}
	var err error
	if s.Group, err = readGroups(f, info); err != nil {
		return err
	}
	if s.Means, err = readMeans(f); err != nil {
		return err
	}
	groups := 0
	if len(s.Means) > 0 {
		groups = s.Means[0].Rows
	}
	for i, k := range s.Group {
		if k < 0 || int(k) >= groups {
			return fmt.Errorf("tensor %q: node %d is in group %d, must be 0 to %d", groupKey, i, k, groups-1)
		}
	}
	n := len(s.Group)
	if info, found := f.Find(degreeKey); found {
		if !slices.Equal(info.Shape, []int{n}) {
			return fmt.Errorf("tensor %q has the shape %v, must have %v", degreeKey, info.Shape, []int{n})
		}
		if s.Degree, err = widened(f, info); err != nil {
			return err
		}
	}
	if i := slices.IndexFunc(s.Degree, func(d float32) bool { return !(d >= 0) }); i >= 0 {
		return fmt.Errorf("tensor %q: node %d has the degree %v, must be at least 0", degreeKey, i, s.Degree[i])
	}
	if m.IDs, err = safetensors.ReadStrings(f, idsKey); err != nil {
		return err
	}
	if m.IDs != nil && len(m.IDs) != n {
		return fmt.Errorf("%d ids, must be %d", len(m.IDs), n)
	}
	m.Known = s
	return nil
}

// readGroups returns the group of each node.
func readGroups(f *safetensors.File, t safetensors.Info) (groups []int32, err error) {
	if t.DType != safetensors.U16 {
		mapped, err := safetensors.Slice[int32](f, groupKey)
		return slices.Clone(mapped), err
	}
	narrow, err := safetensors.Slice[uint16](f, groupKey)
	for _, k := range narrow {
		groups = append(groups, int32(k))
	}
	return groups, err
}

// readMeans returns the means of the groups for each propagation.
func readMeans(f *safetensors.File) (means []*mat.Dense, _ error) {
	for {
		name := fmt.Sprint(meansKey, len(means))
		info, found := f.Find(name)
		if !found {
			return means, nil
		}
		if len(info.Shape) != 2 || len(means) > 0 && info.Shape[0] != means[0].Rows {
			return nil, fmt.Errorf("tensor %q has the shape %v, must have a row for each group", name, info.Shape)
		}
		data, err := widened(f, info)
		if err != nil {
			return nil, err
		}
		means = append(means, &mat.Dense{Rows: info.Shape[0], Cols: info.Shape[1], Data: data})
	}
}

// widened returns a copy of a tensor of float16 or float32.
func widened(f *safetensors.File, t safetensors.Info) ([]float32, error) {
	if t.DType != safetensors.F16 {
		data, err := safetensors.Slice[float32](f, t.Name)
		return slices.Clone(data), err
	}
	narrow, err := safetensors.Slice[uint16](f, t.Name)
	if err != nil {
		return nil, err
	}
	data := make([]float32, len(narrow))
	kernel.WidenFloat16(data, narrow)
	return data, nil
}
