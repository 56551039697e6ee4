package synth

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/registry"
)

// Shape holds the parameters of Make. The last six fields may be 0. Like returns the shapes of real graphs.
type Shape struct {
	// Name is the name of the graph.
	Name string
	// Nodes and Edges (undirected) are met exactly.
	Nodes, Edges int
	// Features is the number of columns of X.
	Features int
	// Classes is the number of classes. The largest is about four times the smallest.
	Classes int
	// Train, Val and Test are the sizes of the split, together at most Nodes.
	Train, Val, Test int
	// Balanced spreads the training nodes evenly over the classes, as the public splits of Cora and Citeseer do. Otherwise
	// they are drawn from all nodes: at least one from each class, if Train is at least Classes.
	Balanced bool
	// Partial leaves the nodes outside the split without a label.
	Partial bool
	// Groups is the number of sub-classes of each class; 0 means 1.
	Groups int
	// Homophily is the probability that an edge is drawn within a class, half of it within a sub-class. In [0, 1].
	Homophily float64
	// Signal is the distance of a class from the origin, in units of the noise of a feature. A sub-class is half as far
	// from its class. With 0, features carry no information about the class.
	Signal float64
	// Words, if not 0, gives sparse binary features with about Words ones in each row. Signal is then the probability
	// that a word is typical of the class or of the sub-class, at most 1.
	Words int
}

// Prefix begins the name of each shape that Like returns.
const Prefix = "made-"

// shapes holds the sizes of the paper's data sets (its table of statistics). Edges are undirected: the paper's numbers
// for Flickr and Reddit count both directions and are halved. papers100m has the sizes of ogbn-papers100M (Hu et al.
// 2020), and mag240m the sizes of the papers in MAG240M (Hu et al. 2021): edges are citations, and few nodes have
// labels.
var shapes = registry.New[Shape]("shape").With("cora", Shape{
	Nodes: 2_708, Edges: 5_429, Features: 1_433, Classes: 7, Train: 140, Val: 500, Test: 1_000,
	Balanced: true, Words: 18, Signal: 0.25,
}).With("citeseer", Shape{
	Nodes: 3_327, Edges: 4_732, Features: 3_703, Classes: 6, Train: 120, Val: 500, Test: 1_000,
	Balanced: true, Words: 32, Signal: 0.2,
}).With("arxiv", Shape{
	Nodes: 169_343, Edges: 1_166_243, Features: 128, Classes: 40, Train: 90_941, Val: 29_799, Test: 48_603, Signal: 1.5,
}).With("flickr", Shape{
	Nodes: 89_250, Edges: 899_756 / 2, Features: 500, Classes: 7, Train: 44_625, Val: 22_312, Test: 22_313, Signal: 1.5,
}).With("reddit", Shape{
	Nodes: 232_965, Edges: 23_213_838 / 2, Features: 602, Classes: 41, Train: 153_932, Val: 23_699, Test: 55_334,
	Signal: 1.5,
}).With("products", Shape{
	Nodes: 2_449_029, Edges: 61_859_140, Features: 100, Classes: 47, Train: 196_615, Val: 39_323, Test: 2_213_091,
	Signal: 1.5,
}).With("papers100m", Shape{
	Nodes: 111_059_956, Edges: 1_615_685_872, Features: 128, Classes: 172,
	Train: 1_207_179, Val: 125_265, Test: 214_338, Partial: true, Signal: 1.5,
}).With("mag240m", Shape{
	Nodes: 121_751_666, Edges: 1_297_748_926, Features: 768, Classes: 153,
	Train: 1_112_392, Val: 138_949, Test: 146_818, Partial: true, Signal: 1.5,
})

// Names returns the names for Like.
func Names() []string { return shapes.Names() }

// Like returns the shape of a data set: cora, citeseer, arxiv, flickr, reddit, products, papers100m or mag240m. The
// shape is called Prefix + name, so that its graphs cannot be mistaken for the data set. An error lists the names.
func Like(name string) (Shape, error) {
	s, err := shapes.Find(name)
	if err != nil {
		return Shape{}, err
	}
	s.Name, s.Groups, s.Homophily = Prefix+strings.ToLower(name), 4, 0.7
	return s, nil
}

// Scale returns s with its nodes, edges and split multiplied by factor and rounded down, for studies of growth.
func (s Shape) Scale(factor float64) Shape {
	for _, n := range []*int{&s.Nodes, &s.Edges, &s.Train, &s.Val, &s.Test} {
		*n = int(math.Floor(float64(*n) * factor))
	}
	return s
}

// maxDensity is the largest share of node pairs that may be edges. Far above it, drawing enough distinct edges takes
// too long.
const maxDensity = 0.1

// Validate returns every reason why s is invalid, each with field, value and limit.
func (s Shape) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("shape: "+format, args...))
		}
	}
	groups := max(1, s.Groups)
	check(s.Nodes >= 1 && s.Nodes <= graph.MaxNodes, "Nodes %d, must be 1 to %d", s.Nodes, graph.MaxNodes)
	check(s.Features >= 1 && s.Features <= graph.MaxNodes, "Features %d, must be 1 to %d", s.Features, graph.MaxNodes)
	check(s.Classes >= 1 && s.Classes <= graph.MaxClasses, "Classes %d, must be 1 to %d", s.Classes, graph.MaxClasses)
	check(s.Groups >= 0, "Groups %d is negative", s.Groups)
	check(s.Classes*groups*4 <= s.Nodes, "%d classes of %d sub-classes, must be at least 4 nodes for each; there are %d",
		s.Classes, groups, s.Nodes)
	most := int(maxDensity * float64(s.Nodes) * float64(s.Nodes) / 2)
	check(s.Edges >= 0 && s.Edges <= most, "Edges %d, must be 0 to %d (a tenth of all pairs)", s.Edges, most)
	check(s.Train >= 1 && s.Val >= 0 && s.Test >= 0, "split %d/%d/%d, must be at least one training node and none "+
		"negative",
		s.Train, s.Val, s.Test)
	check(s.Train+s.Val+s.Test <= s.Nodes, "split %d/%d/%d is more than the %d nodes", s.Train, s.Val, s.Test, s.Nodes)
	check(s.Homophily >= 0 && s.Homophily <= 1, "Homophily %v, must be 0 to 1", s.Homophily)
	check(s.Signal >= 0 && !math.IsInf(s.Signal, 0), "Signal %v, must be 0 or a positive number", s.Signal)
	check(s.Words >= 0 && s.Words <= s.Features/4, "Words %d, must be 0 to a quarter of the %d features", s.Words,
		s.Features)
	check(s.Words == 0 || s.Signal <= 1, "Signal %v of words, must be at most 1", s.Signal)
	return errors.Join(errs...)
}
