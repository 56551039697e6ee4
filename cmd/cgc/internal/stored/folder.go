package stored

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/npy"
	"github.com/graph-condensation/cgc/dataset/format/table"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/atomicfile"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/progress"
	"github.com/graph-condensation/cgc/propagate"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// Info is the content of InfoName in a folder of propagated features.
type Info struct {
	// Graph has no fingerprint, which would take as long as propagating a graph on disk. Digest identifies the graph; it
	// is absent once nodes were added.
	Graph  graph.Identity `json:"graph"`
	Digest graph.Digest   `json:"digest,omitzero"`
	// Propagation is the rule, Hops is the number of steps, and Teleport is the parameter of ppr.
	Propagation propagate.Rule `json:"propagation"`
	Hops        int            `json:"hops"`
	Teleport    float64        `json:"teleport,omitempty"`
	// NormalizeFeatures and Standardize report how features were scaled before propagation. Inductive reports whether only
	// edges between training nodes were used, Causal whether only those from nodes that arrived earlier.
	NormalizeFeatures bool `json:"normalize_features"`
	Standardize       bool `json:"standardize"`
	Inductive         bool `json:"inductive"`
	Causal            bool `json:"causal,omitempty"`
	// Rows is the number of nodes. Precision is the precision between hops, and Store is the number type of the arrays.
	Rows      int               `json:"rows"`
	Precision blocked.Precision `json:"precision"`
	Store     mat.Storage       `json:"store"`
	// Grows reports whether nodes can be added (Folder).
	Grows *Grows `json:"grows,omitempty"`
	// Seconds is the time for propagating and writing. PeakRSS is the largest resident set in bytes.
	Seconds float64 `json:"seconds"`
	PeakRSS int64   `json:"peak_rss"`
	Folder  string  `json:"folder"`
}

// InfoName is the name of the file with Info.
const InfoName = "propagate.json"

// Grows has the names that new nodes are compared with; each may be nil.
type Grows struct {
	ClassNames   []string `json:"class_names,omitempty"`
	FeatureNames []string `json:"feature_names,omitempty"`
}

// propagation returns the rule, the hops and the teleport probability.
func (i *Info) propagation() propagate.Propagation {
	return propagate.Propagation{Rule: i.Propagation, Hops: i.Hops, Teleport: i.Teleport}
}

// Folder holds the propagated features of all nodes of a causal graph, to which later nodes can be added. Node v is in
// row v of each array:
//
//	hop0 … hopK  H⁽⁰⁾ … H⁽ᴷ⁾, float32
//	degree       Σ_{j<v} A_vj, the degree at arrival, float32
//	y, nodes     the label, which Label can change, and the number of the node
//	ids          its name, if nodes have names
//
// train, val and test list the nodes of the split. A row depends only on rows before it, so the folder has the same
// bytes however its nodes were divided into additions.
type Folder struct {
	Info
	// IDs are the names of the nodes, or nil.
	IDs  []string
	path string
	rows map[string]*npy.Rows
	lock *os.File
	// changed has the arrays that Commit replaces, by the names of their files.
	changed map[string]format.Array
}

// Batch holds nodes in the order of their arrival, which is after all nodes of a folder.
type Batch struct {
	// X holds their features, b×d.
	X *mat.Dense
	// Adj is b×(n+b) for n nodes of the folder. Row i has the weights of the neighbours before node n+i.
	Adj *mat.CSR
	// Y is the class of each node, or graph.Unlabelled, and IDs are the names, or nil.
	Y   []int32
	IDs []string
	// Split lists nodes by their numbers in the folder.
	Split graph.Split
}

// counts returns the number of rows of each array but ids.
func (f *Folder) counts() map[string]int {
	counts := map[string]int{
		"degree": f.Rows, "y": f.Rows, "nodes": f.Rows,
		"train": f.Graph.Train, "val": f.Graph.Val, "test": f.Graph.Test,
	}
	for l := range f.Hops + 1 {
		counts[HopName(l)] = f.Rows
	}
	return counts
}

// HopName returns the name of the array of hop l in a folder.
func HopName(l int) string { return fmt.Sprintf("hop%d", l) }

// file returns the path of an array.
func (f *Folder) file(name string) string { return filepath.Join(f.path, name+".npy") }

// empty returns an array without rows that has the type of the named one.
func (f *Folder) empty(name string) format.Array {
	a := format.Array{Name: name, Data: []int32{}}
	switch {
	case strings.HasPrefix(name, "hop"):
		a.Data = mat.NewDense(0, f.Graph.Features)
	case name == "degree":
		a.Data = []float32{}
	}
	return a
}

// Create makes a folder without nodes in an empty directory. info describes the graph; its numbers of nodes and edges
// are not read.
func Create(path string, info Info) (*Folder, error) {
	g := &info.Graph
	info.Rows, g.Nodes, g.Edges, g.Train, g.Val, g.Test = 0, 0, 0, 0, 0, 0
	f := &Folder{Info: info, path: path}
	for name := range f.counts() {
		err := atomicfile.Write(f.file(name), func(w io.Writer) error { return npy.Write(w, f.empty(name), mat.F32) })
		if err != nil {
			return nil, err
		}
	}
	return f, f.open(true)
}

// OpenFolder opens a folder to which nodes can be added. With write, it undoes what an interrupted addition left, and
// fails if another process adds nodes.
func OpenFolder(path string, write bool) (_ *Folder, err error) {
	f := &Folder{path: path}
	if f.Info, err = readInfo(path); err != nil {
		return nil, err
	}
	if f.Grows == nil {
		return nil, fmt.Errorf("%s: nodes cannot be added, must be a folder that cgc propagate --causal wrote, with all "+
			"nodes, in f32 and in no other setting", path)
	}
	if err := f.validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(path, InfoName), err)
	}
	if err := f.open(write); err != nil {
		return nil, err
	}
	if _, err := os.Stat(f.file("ids")); err == nil {
		if f.IDs, err = npy.Texts(f.file("ids")); err != nil || len(f.IDs) < f.Rows {
			return nil, errors.Join(fmt.Errorf("%s: %d names for %d nodes", path, len(f.IDs), f.Rows), err, f.Close())
		}
		f.IDs = f.IDs[:f.Rows]
	}
	return f, nil
}

// validate returns an error unless the sizes of f are possible.
func (f *Folder) validate() error {
	if err := f.propagation().Validate(); err != nil {
		return err
	}
	g := &f.Graph
	if f.Rows < 0 || f.Rows > graph.MaxNodes || f.Rows != g.Nodes || g.Features < 1 || g.Classes < 0 {
		return fmt.Errorf("%d rows of %d nodes, %d features and %d classes, must be equal, at least 1 and at least 0",
			f.Rows, g.Nodes, g.Features, g.Classes)
	}
	if g.Train < 0 || g.Val < 0 || g.Test < 0 || g.Train > f.Rows || g.Val > f.Rows || g.Test > f.Rows {
		return fmt.Errorf("parts of %d, %d and %d nodes, must be 0 to %d", g.Train, g.Val, g.Test, f.Rows)
	}
	return nil
}

// open opens the arrays.
func (f *Folder) open(write bool) (err error) {
	f.rows = map[string]*npy.Rows{}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	if f.lock, err = os.Open(f.file("degree")); err != nil {
		return err
	}
	if write {
		if err := atomicfile.Lock(f.lock); err != nil {
			return fmt.Errorf("%s: another process adds nodes (%w)", f.path, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.counts())) { // in an order, so that equal faults give equal errors
		r, err := npy.OpenRows(f.file(name), f.empty(name), write)
		if err != nil {
			return err
		}
		f.rows[name] = r
	}
	if !write {
		return nil
	}
	return f.resize()
}

// resize makes the headers of all arrays agree with the description.
func (f *Folder) resize() error {
	for name, count := range f.counts() {
		if err := f.rows[name].Resize(count); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the files. Nodes that were added since the last Commit are lost.
func (f *Folder) Close() error {
	var errs []error
	if f.lock != nil {
		errs = append(errs, f.lock.Close())
	}
	for _, r := range f.rows {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}

// Add adds nodes, which Commit makes permanent. If it fails, the folder is as before.
func (f *Folder) Add(ctx context.Context, b Batch) error {
	n, k := f.Rows, b.X.Rows
	if n+k > graph.MaxNodes {
		return fmt.Errorf("%d nodes, must be at most %d", n+k, graph.MaxNodes)
	}
	if i, j, found := b.X.View().FirstNotFinite(); found {
		return propagate.NotFinite(0, int32(n+i), j, b.X.Row(i)[j])
	}
	old, local := f.local(b.Adj)
	degree := mat.NewDense(0, 1) // of old and new nodes
	if err := f.rows["degree"].Read(ctx, degree, old); err != nil {
		return err
	}
	for i := range k {
		var sum float64
		for _, w := range b.Adj.Row(i) {
			sum += float64(w)
		}
		degree.Data = append(degree.Data, float32(sum))
	}
	degrees := make([]float64, len(degree.Data))
	for i, v := range degree.Data {
		degrees[i] = float64(v)
	}
	operator, beta := propagate.Input{Adj: local, Degrees: degrees}.Step(f.propagation())
	add := []format.Array{
		{Name: "degree", Data: degree.Data[len(old):]}, {Name: "y", Data: b.Y}, {Name: "nodes", Data: memory.Range(n, n+k)},
		{Name: "train", Data: b.Split.Train}, {Name: "val", Data: b.Split.Val}, {Name: "test", Data: b.Split.Test},
		{Name: HopName(0), Data: b.X},
	}
	all, part, hop := mat.NewDense(local.Rows, b.X.Cols), new(mat.Dense), b.X
	for l := range f.Hops {
		part.Data = all.Data[: 0 : len(old)*all.Cols]
		if err := f.rows[HopName(l)].Read(ctx, part, old); err != nil {
			return err
		}
		copy(all.Data[len(part.Data):], hop.Data)
		next := new(mat.Dense)
		if err := operator.ApplyRows(ctx, next, all, memory.Range(len(old), local.Rows), nil); err != nil {
			return err
		}
		if beta > 0 { // as propagate.Plain
			for i, v := range next.Data {
				next.Data[i] = float32((1-beta)*v) + float32(beta*b.X.Data[i])
			}
		}
		add, hop = append(add, format.Array{Name: HopName(l + 1), Data: next}), next
	}
	if i, j, found := hop.View().FirstNotFinite(); found {
		return propagate.NotFinite(f.Hops, int32(n+i), j, hop.Row(i)[j])
	}
	counts := f.counts()
	for _, a := range add {
		if err := f.rows[a.Name].Append(counts[a.Name], a); err != nil {
			return err
		}
	}
	g := &f.Graph
	g.Nodes, g.Edges = n+k, g.Edges+b.Adj.NNZ()
	g.Train, g.Val, g.Test = g.Train+len(b.Split.Train), g.Val+len(b.Split.Val), g.Test+len(b.Split.Test)
	f.Rows, f.IDs, f.Digest = n+k, append(f.IDs, b.IDs...), graph.Digest{}
	return nil
}

// AddGraph adds all nodes of a causal graph, in batches that need about the given number of bytes.
func (f *Folder) AddGraph(ctx context.Context, g *graph.Graph, bytes int64) error {
	row := 4 * int64(g.Features())
	part := func(all []int32, lo, hi int) []int32 {
		from, _ := slices.BinarySearch(all, int32(lo))
		end, _ := slices.BinarySearch(all, int32(hi))
		return all[from:end]
	}
	for lo, hi := 0, 0; lo < g.Nodes(); lo = hi {
		from := g.Adj.Indptr[lo]
		for hi = lo + 1; hi < g.Nodes(); hi++ { // the nodes, and the earlier neighbours
			old := min(int64(lo), g.Adj.Indptr[hi+1]-from)
			if int64(hi+1-lo)*row*int64(f.Hops+3)+old*row > bytes {
				break
			}
		}
		end := g.Adj.Indptr[hi]
		b := Batch{
			X: new(mat.Dense), Y: g.Y[lo:hi],
			Adj: &mat.CSR{Rows: hi - lo, Cols: hi, Indices: g.Adj.Indices[from:end]},
			Split: graph.Split{
				Train: part(g.Split.Train, lo, hi), Val: part(g.Split.Val, lo, hi), Test: part(g.Split.Test, lo, hi),
			},
		}
		for _, p := range g.Adj.Indptr[lo : hi+1] {
			b.Adj.Indptr = append(b.Adj.Indptr, p-from)
		}
		if g.Adj.Data != nil {
			b.Adj.Data = g.Adj.Data[from:end]
		}
		if g.IDs != nil {
			b.IDs = g.IDs[lo:hi]
		}
		if err := mat.Rows(b.X, g.X, memory.Range(lo, hi)); err != nil {
			return fmt.Errorf("reading features: %w", err)
		}
		if err := f.Add(ctx, b); err != nil {
			return err
		}
		progress.Report(ctx, progress.Event{Stage: "propagating", Done: int64(hi), Total: int64(g.Nodes())})
	}
	return nil
}

// Batch returns new nodes as an addition to f. Each node keeps only its earlier neighbours.
func (f *Folder) Batch(a *table.Arrivals) (b Batch, err error) {
	g := &graph.Graph{Name: "of new nodes", X: a.X, FeatureNames: a.FeatureNames}
	if g, err = g.WithFeatures(f.Grows.FeatureNames); err != nil {
		return b, err
	}
	if d := g.Features(); d != f.Graph.Features {
		return b, fmt.Errorf("the new nodes have %d features, must have the %d of graph %s", d, f.Graph.Features,
			f.Graph.Name)
	}
	b = Batch{
		X: new(mat.Dense), Y: a.Y, Split: a.Split,
		Adj: &mat.CSR{Rows: a.Edges.Rows, Cols: a.Edges.Cols, Indptr: []int64{0}},
	}
	if err := mat.Rows(b.X, g.X, memory.Range(0, a.X.Rows)); err != nil {
		return b, err
	}
	for _, part := range []*[]int32{&b.Split.Train, &b.Split.Val, &b.Split.Test} {
		for i := range *part {
			(*part)[i] += int32(f.Rows)
		}
	}
	for i := range a.Edges.Rows {
		for j, w := range a.Edges.Row(i) {
			if j >= f.Rows+i {
				break // the columns ascend
			}
			b.Adj.Indices = append(b.Adj.Indices, int32(j))
			if a.Edges.Data != nil {
				b.Adj.Data = append(b.Adj.Data, w)
			}
		}
		b.Adj.Indptr = append(b.Adj.Indptr, int64(len(b.Adj.Indices)))
	}
	if b.IDs = a.IDs; f.IDs != nil {
		return b, nil
	}
	for i, id := range a.IDs {
		if id != strconv.Itoa(f.Rows+i) {
			return b, fmt.Errorf("id %.50q of new node %d, must be %d: the nodes of graph %s are numbered", id, i, f.Rows+i,
				f.Graph.Name)
		}
	}
	b.IDs = nil
	return b, nil
}

// local returns the old nodes that have new neighbours, ascending, and the adjacency of these and the new nodes, in
// which only the rows of the new ones have entries. Its order is that of a, and so is the order of additions.
func (f *Folder) local(a *mat.CSR) (old []int32, local *mat.CSR) {
	n := int32(f.Rows)
	place := memory.Make[int32](f.Rows)
	for _, j := range a.Indices {
		if j < n {
			place[j] = 1
		}
	}
	for j, needed := range place {
		if needed > 0 {
			place[j] = int32(len(old))
			old = append(old, int32(j))
		}
	}
	m := len(old)
	local = &mat.CSR{
		Rows: m + a.Rows, Cols: m + a.Rows, Indptr: append(make([]int64, m, m+a.Rows+1), a.Indptr...),
		Indices: make([]int32, a.NNZ()), Data: a.Data,
	}
	for e, j := range a.Indices {
		if j < n {
			local.Indices[e] = place[j]
		} else {
			local.Indices[e] = int32(m) + j - n
		}
	}
	return old, local
}

// Commit makes additions or labels permanent: after a crash, the folder has either all or none of them.
func (f *Folder) Commit() error {
	if f.changed != nil {
		path, err := filepath.Abs(f.path)
		if err == nil {
			path, err = filepath.EvalSymlinks(path) // a link stays a link, to the new folder
		}
		if err != nil {
			return err
		}
		return atomicfile.Folder(path, f.relabelled)
	}
	if f.IDs != nil {
		err := atomicfile.Write(f.file("ids"), func(w io.Writer) error {
			return npy.Write(w, format.Array{Name: "ids", Data: f.IDs}, mat.F32)
		})
		if err != nil {
			return err
		}
	}
	if err := f.describe(f.path); err != nil {
		return err
	}
	return f.resize() // OpenFolder does this too, if the process is killed before
}

// describe writes the description into a folder.
func (f *Folder) describe(folder string) error {
	return atomicfile.Write(filepath.Join(folder, InfoName), func(w io.Writer) error {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(f.Info)
	})
}

// Open reads a file of embeddings, or those of the training nodes in a Folder.
func Open(ctx context.Context, path string) (*File, error) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return Read(path)
	}
	folder, err := OpenFolder(path, false)
	if err != nil {
		return nil, err
	}
	f, err := folder.File(ctx)
	return f, errors.Join(err, folder.Close())
}

// File returns the embeddings of the training nodes. Features are in memory.
func (f *Folder) File(ctx context.Context) (*File, error) {
	e := &File{
		Origin: Origin{
			Graph: f.Graph.Name, Nodes: f.Rows, Edges: int64(f.Graph.Edges), Features: f.Graph.Features,
			Classes: f.Graph.Classes, ClassNames: f.Grows.ClassNames, FeatureNames: f.Grows.FeatureNames,
			Rule: f.Propagation, Hops: f.Hops, Teleport: f.Teleport, Setting: condense.Setting{Causal: true},
		},
		Hi: f.Graph.Features,
	}
	if f.Digest != (graph.Digest{}) {
		e.Source = &f.Digest
	}
	var err error
	if e.Train, err = f.rows["train"].Integers(f.Graph.Train); err != nil {
		return nil, err
	}
	y, err := f.rows["y"].Integers(f.Rows)
	if err != nil {
		return nil, err
	}
	for _, v := range e.Train {
		if int(v) >= f.Rows || v < 0 {
			return nil, fmt.Errorf("%s: training node %d, must be 0 to %d", f.path, v, f.Rows-1)
		}
		e.Y = append(e.Y, y[v])
		if f.IDs != nil {
			e.IDs = append(e.IDs, f.IDs[v])
		}
	}
	for l := range f.Hops + 1 {
		h := new(mat.Dense)
		if err := f.rows[HopName(l)].Read(ctx, h, e.Train); err != nil {
			return nil, err
		}
		e.H = append(e.H, h)
	}
	e.X, e.H = e.H[0], e.H[1:]
	return e, e.Validate()
}

// readInfo reads the description in a folder.
func readInfo(path string) (info Info, err error) {
	file := filepath.Join(path, InfoName)
	text, err := os.ReadFile(file)
	if err != nil {
		return info, fmt.Errorf("%s: no propagated features: %w", path, err)
	}
	if err := json.Unmarshal(text, &info); err != nil {
		return info, fmt.Errorf("%s: %w", file, err)
	}
	return info, nil
}
