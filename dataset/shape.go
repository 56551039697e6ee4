package dataset

import (
	"errors"
	"fmt"
	"math"
)

// Shape says what Make makes. The zero values of the last five fields are legal; start from Like for shapes of real graphs.
type Shape struct {
	// Name becomes the graph's.
	Name string
	// Nodes and Edges (undirected) are met exactly.
	Nodes, Edges int
	// Features is the number of columns of X.
	Features int
	// Classes is the number of classes. The largest is about four times the smallest.
	Classes int
	// Train, Val and Test are the sizes of the split, together at most Nodes.
	Train, Val, Test int
	// Balanced spreads the training nodes evenly over the classes, as the public splits of Cora and Citeseer do. Otherwise they
	// are drawn from all nodes, and at least one from each class if there are enough.
	Balanced bool
	// Groups is the number of sub-classes of each class; 0 means 1.
	Groups int
	// Homophily is the probability that an edge is drawn within a class, half of it within a sub-class. In [0, 1].
	Homophily float64
	// Signal is the distance of a class from the origin, and half that of a sub-class from its class, in units of the
	// noise of a feature: 0 makes features that tell nothing.
	Signal float64
	// Words, if not 0, makes sparse features of zeros and ones, with about so many ones in a row; Signal is then the
	// probability, at most 1, that a word tells the class or the sub-class.
	Words int
}

// Like returns the shape of one of the paper's data sets (its table of statistics): cora, citeseer, arxiv, flickr, reddit or
// products. Edges are undirected: the paper's numbers for Flickr and Reddit count both directions and are halved.
func Like(name string) (Shape, error) {
	s := Shape{Name: name, Groups: 4, Homophily: 0.7, Signal: 1.5}
	switch name {
	case "cora":
		s.Nodes, s.Edges, s.Features, s.Classes = 2_708, 5_429, 1_433, 7
		s.Train, s.Val, s.Test = 140, 500, 1_000
		s.Balanced, s.Words, s.Signal = true, 18, 0.25
	case "citeseer":
		s.Nodes, s.Edges, s.Features, s.Classes = 3_327, 4_732, 3_703, 6
		s.Train, s.Val, s.Test = 120, 500, 1_000
		s.Balanced, s.Words, s.Signal = true, 32, 0.2
	case "arxiv":
		s.Nodes, s.Edges, s.Features, s.Classes = 169_343, 1_166_243, 128, 40
		s.Train, s.Val, s.Test = 90_941, 29_799, 48_603
	case "flickr":
		s.Nodes, s.Edges, s.Features, s.Classes = 89_250, 899_756/2, 500, 7
		s.Train, s.Val, s.Test = 44_625, 22_312, 22_313
	case "reddit":
		s.Nodes, s.Edges, s.Features, s.Classes = 232_965, 23_213_838/2, 602, 41
		s.Train, s.Val, s.Test = 153_932, 23_699, 55_334
	case "products":
		s.Nodes, s.Edges, s.Features, s.Classes = 2_449_029, 61_859_140, 100, 47
		s.Train, s.Val, s.Test = 196_615, 39_323, 2_213_091
	default:
		return Shape{}, fmt.Errorf("dataset: no shape is called %q, want cora, citeseer, arxiv, flickr, reddit or products", name)
	}
	return s, nil
}

// Scale returns s with factor times its nodes, edges and split, for studies of growth.
func (s Shape) Scale(factor float64) Shape {
	for _, n := range []*int{&s.Nodes, &s.Edges, &s.Train, &s.Val, &s.Test} {
		*n = int(math.Floor(float64(*n) * factor))
	}
	return s
}

// maxDensity is the share of all pairs that edges may take: far above it, drawing edges until enough differ takes too long.
const maxDensity = 0.1

// Validate returns every reason why s cannot be made, naming field, value and bound.
func (s Shape) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("dataset: shape: "+format, args...))
		}
	}
	groups := max(1, s.Groups)
	check(s.Nodes >= 1 && s.Nodes <= maxNodes, "Nodes %d, want 1 to %d", s.Nodes, maxNodes)
	check(s.Features >= 1 && s.Features <= maxNodes, "Features %d, want 1 to %d", s.Features, maxNodes)
	check(s.Classes >= 1 && s.Classes < maxClasses, "Classes %d, want 1 to %d", s.Classes, maxClasses-1)
	check(s.Groups >= 0, "Groups %d is negative", s.Groups)
	check(s.Classes*groups*4 <= s.Nodes, "%d classes of %d sub-classes, want at least 4 nodes for each; there are %d", s.Classes, groups, s.Nodes)
	most := int(maxDensity * float64(s.Nodes) * float64(s.Nodes) / 2)
	check(s.Edges >= 0 && s.Edges <= most, "Edges %d, want 0 to %d (a tenth of all pairs)", s.Edges, most)
	check(s.Train >= 1 && s.Val >= 0 && s.Test >= 0, "split %d/%d/%d, want at least one training node and none negative", s.Train, s.Val, s.Test)
	check(s.Train+s.Val+s.Test <= s.Nodes, "split %d/%d/%d is more than the %d nodes", s.Train, s.Val, s.Test, s.Nodes)
	check(s.Homophily >= 0 && s.Homophily <= 1, "Homophily %v, want 0 to 1", s.Homophily)
	check(s.Signal >= 0 && !math.IsInf(s.Signal, 0), "Signal %v, want 0 or a positive number", s.Signal)
	check(s.Words >= 0 && s.Words <= s.Features/4, "Words %d, want 0 to a quarter of the %d features", s.Words, s.Features)
	check(s.Words == 0 || s.Signal <= 1, "Signal %v of words, want at most 1", s.Signal)
	return errors.Join(errs...)
}
