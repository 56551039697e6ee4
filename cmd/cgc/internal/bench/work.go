package bench

import (
	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/reach"
	"github.com/graph-condensation/cgc/mat"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// Work is the amount of work that the method requires in a step.
type Work struct {
	// Amount is the work of the step, in 10⁹ bytes, or in 10⁹ floating-point operations if Ceiling is compute.
	Amount float64 `json:"work"`
	// Ceiling names the rate that limits the step: gather, stream or compute.
	Ceiling Ceiling `json:"ceiling"`
}

// propagation counts the bytes that the hops gather to compute the given rows,
//
//	Σ_{l=1…K} Σ_i Σ_{j ∈ N(i)∪{i}} 4·d,  i over the nodes within K−l hops of the rows.
//
// With half precision, numbers count 2 bytes instead of 4. In the first hop, a row of a sparse X counts 4 bytes for the
// column of each entry and 4 for its value, if it has one, instead of a row of d numbers.
func propagation(a *mat.CSR, x mat.Matrix, rows []int32, hops int, precision blocked.Precision) *Work {
	_, d := x.Dims()
	row := 4 * float64(d)
	if precision == blocked.Half {
		row /= 2
	}
	first := func(int32) float64 { return row }
	if x, sparse := x.(*mat.CSR); sparse {
		entry := 4.0
		if x.Data != nil {
			entry = 8
		}
		first = func(j int32) float64 { return entry * float64(x.Indptr[j+1]-x.Indptr[j]) }
	}
	set := reach.New(a, rows)
	for range hops - 1 {
		set.Grow()
	}
	bytes := 0.0
	for v, distance := range set.Distance {
		times := hops - int(distance) // the hops that compute row v: 1 to K − distance
		if distance == reach.Unreached || times < 1 {
			continue
		}
		neighbours := a.Indices[a.Indptr[v]:a.Indptr[v+1]]
		bytes += float64(times-1) * row * float64(len(neighbours)+1)
		bytes += first(int32(v))
		for _, j := range neighbours {
			bytes += first(j)
		}
	}
	return &Work{bytes / 1e9, Gather}
}

// working returns the table that a propagation of g reads at random: S⁽⁰⁾ of a block of columns. It also returns the
// memory that condensing allocates, as a step without seconds.
func working(g *graph.Graph, config cgc.Config) (t Table, allocated Step, err error) {
	e, err := cgc.Expect(g, config)
	if err != nil {
		return t, allocated, err
	}
	rows, d := g.Split.Train, g.Features()
	all, near := within(g.Adj, rows, config.Hops)
	t = Table{Rows: all, Columns: (e.Propagation.Columns + 15) / 16 * 16, Precision: config.Precision}
	t.Degree = max(1, g.Adj.NNZ()/g.Nodes())
	return t, Step{Name: "new memory", Work: allocation(len(rows), d, config.Hops, near, t)}, nil
}

// allocation counts the bytes of memory that a propagation must at least get from the system and write,
//
//	4·n·d·min(K, 2) + s·w·|R|,
//
// H⁽ᴷ⁾ of n rows, and for K > 1 hops the mean T of all hops, and one block of w columns of s bytes each, for the nodes
// R within K−1 hops.
func allocation(n, d, hops, near int, t Table) *Work {
	bytes, number := 4*float64(n)*float64(d)*float64(min(hops, 2)), 4.0
	if t.Precision == blocked.Half {
		number = 2
	}
	if hops > 1 {
		bytes += number * float64(t.Columns) * float64(near)
	}
	return &Work{bytes / 1e9, Fresh}
}

// within returns how many nodes are within K hops of the rows, and how many within K−1.
func within(a *mat.CSR, rows []int32, hops int) (all, near int) {
	set := reach.New(a, rows)
	for hop := range hops {
		if hop == hops-1 {
			near = set.Count()
		}
		set.Grow()
	}
	return set.Count(), near
}

// assessment counts the operations of fitting the classifier on n rows of d features and of computing the confidence of
// J sets of rows,
//
//	M·m·(m+1) + m³/3 + J·2·n·d·c  with m = min(n, d), M = max(n, d):
//
// one triangle of the smaller Gram matrix, its Cholesky factorisation, and the products with W. The dual system (n < d)
// needs 2·n·d·c more, for W itself. The eigenvectors of a rank-deficient system are not counted.
func assessment(n, d, classes, judged int) *Work {
	small, large := float64(min(n, d)), float64(max(n, d))
	product := 2 * float64(n) * float64(d) * float64(classes)
	flop := large*small*(small+1) + small*small*small/3 + float64(judged)*product
	if n < d {
		flop += product
	}
	return &Work{flop / 1e9, Compute}
}

// augmentation counts the bytes read and written to copy n embeddings of d features and the picks to one matrix:
// 2·4·d·(n + picks), or 0 if there are no picks.
func augmentation(n, d, picks int) *Work {
	if picks == 0 {
		return &Work{0, Stream}
	}
	return &Work{8 * float64(d) * float64(n+picks) / 1e9, Stream}
}

// operations maps partitions to the functions that count their operations. n, k and d are the numbers of rows, groups
// and columns.
var operations = map[string]func(n, k, d float64, s partition.Stats) float64{"kmeans": kmeans, "spectral": spectral}

// partitioning counts the operations of partitioning every class. It returns nil if the partition is not in operations.
// train is the number of training nodes of each class. A class has n rows: its training nodes and its expected share of
// the embeddings that augmentation adds, e_c·train_c / Σ e·train, or train_c / Σ train if all errors are 0.
func partitioning(train []int, d int, partition string, budget []int, account cgc.Account) *Work {
	count := operations[partition]
	if count == nil {
		return nil
	}
	var weights, labels float64
	for c, n := range train {
		weights += account.Assessed.Error[c] * float64(n)
		labels += float64(n)
	}
	flop := 0.0
	for c, stats := range account.Partitions {
		n, share := float64(train[c]), float64(train[c])/labels
		if weights > 0 {
			share = account.Assessed.Error[c] * n / weights
		}
		n += share * float64(account.Assessed.Augmented)
		flop += count(n, float64(budget[c]), float64(d), stats)
	}
	return &Work{flop / 1e9, Compute}
}

// kmeans returns the operations of k-means on n rows of d columns,
//
//	visits · 2·k·min(n, d),
//
// because distances between n rows need at most n coordinates. The initialisation by k-means++ is not counted.
func kmeans(n, k, d float64, s partition.Stats) float64 {
	return float64(s.Visits) * 2 * k * min(n, d)
}

// spectral returns the operations of spectral clustering of n rows of d columns,
//
//	M·m·(m+1) + products · 2·n·r²·k + k-means on k columns,  m = min(n, d), M = max(n, d), r = min(k, d):
//
// the Gram matrix for the singular vectors, and the products with the kernel matrix. For a small class the kernel
// matrix is formed explicitly. Then there are no products, and computing its eigenvectors is not counted. The Gram
// matrix is counted even if a cheaper way was used for many columns.
func spectral(n, k, d float64, s partition.Stats) float64 {
	if len(s.Objective) == 0 { // each row is a group
		return 0
	}
	r, m := min(k, d), min(n, d)
	return max(n, d)*m*(m+1) + float64(s.Products)*2*n*r*r*k + kmeans(n, k, k, s)
}

// generation counts the operations of computing A′ and X′ with d features,
//
//	2·N′²·d + Σ (K·(2m³ + 2m²d) + 2m³ + m³/3 + 2m²d),  m over the sizes of the components of A′ above 1:
//
// the cosines, then Q and QᵀH′, QᵀQ, its factorisation and the solution. All but the cosines are computed in float64,
// so an instruction processes half as many numbers.
func generation(a *mat.CSR, d, hops int) *Work {
	features := float64(d)
	flop := 2 * float64(a.Rows) * float64(a.Rows) * features
	for _, nodes := range reach.Components(a) {
		if m := float64(len(nodes)); m > 1 {
			square, cube := m*m*features, m*m*m
			flop += float64(hops)*(2*cube+2*square) + 2*cube + cube/3 + 2*square
		}
	}
	return &Work{flop / 1e9, Compute}
}

// learning counts the operations of training a GCN with h hidden units on n nodes, and of evaluating it on g,
//
//	epochs·2·n·h·(2d+3c) + (validations·|R_val| + |R_test|)·2·h·(d+c):
//
// the forward and backward products, without the unneeded gradient of the features; then the evaluation of R, the nodes
// of a split and their neighbours. With sparse features, the last bracket is c instead of d+c. Gathering is not
// counted.
func learning(g *graph.Graph, n int, config gnn.Config) *Work {
	hidden, d, classes := float64(config.Hidden), float64(g.Features()), float64(g.Classes)
	flop := float64(config.Epochs) * 2 * float64(n) * hidden * (2*d + 3*classes)
	if _, sparse := g.X.(*mat.CSR); sparse {
		d = 0
	}
	validations := (config.Epochs + config.ValidateEvery - 1) / config.ValidateEvery
	near := func(nodes []int32) int {
		set := reach.New(g.Adj, nodes)
		set.Grow()
		return set.Count()
	}
	asked := validations*near(g.Split.Val) + near(g.Split.Test)
	return &Work{(flop + float64(asked)*2*hidden*(d+classes)) / 1e9, Compute}
}
