package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/internal/parameter"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/propagate/blocked"
)

// Plan lists what Run measures. Run reports the start of each part to its context (package progress).
type Plan struct {
	// Sizes lists the data sets whose sizes the graphs have: a subset of Sizes(). All lists have at least one element.
	Sizes []string
	// Scales multiply the nodes, edges and split of each size, but not the number of condensed nodes. Each is above 0 and
	// at most a million. With two scales or more, growth is fitted.
	Scales []float64
	// Partitions lists the partitions to measure: a subset of partition.Names().
	Partitions []string
	// Precisions are the number formats of propagation between hops.
	Precisions []blocked.Precision
	// Runs is the number of condensations of each graph, at least 1. Results are their medians.
	Runs int
	// Train adds the training of a GCN for each size. It is trained on the condensed graph of the first scale, partition
	// and precision, with gnn.Defaults and a validation on the full graph every 10 epochs.
	Train bool
	// Seed is the random seed of the graphs and of everything else.
	Seed uint64

	// Measure measures the ceilings of the machine. Other functions than Measure of this package are for tests.
	Measure func(ctx context.Context, t Table, seconds float64, src rand.Source) (Ceilings, error)
	// Peak returns the largest resident set of the process in bytes.
	Peak func() int64

	epochs int // training epochs, for tests; 0 means the default
}

// size is a data set with the middle of the three numbers of condensed nodes in the paper's table 3.
type size struct {
	name  string
	nodes int
}

var sizes = []size{
	{"cora", 70}, {"citeseer", 60}, {"arxiv", 454}, {"flickr", 223}, {"reddit", 153}, {"products", 1238},
}

// Sizes returns the names of the data sets.
func Sizes() (names []string) {
	for _, s := range sizes {
		names = append(names, s.name)
	}
	return names
}

// most is the largest scale. At this scale, every size has more nodes than a graph may have.
const most = 1e6

// Validate returns the joined errors for all invalid fields of p. The Field of each is the name of the command's flag.
func (p Plan) Validate() error {
	var errs []error
	check := func(ok bool, field string, value any, want string, args ...any) bool {
		if !ok {
			errs = append(errs, &parameter.Error{Field: field, Value: value, Want: fmt.Sprintf(want, args...)})
		}
		return ok
	}
	check(p.Runs >= 1, "runs", p.Runs, "at least 1")
	for _, name := range p.Partitions {
		_, err := partition.Find(name)
		check(err == nil, "partition", strconv.Quote(name), "one of %s", strings.Join(partition.Names(), ", "))
	}

	valid := func(scale float64) bool { return scale > 0 && scale <= most }
	for _, scale := range p.Scales {
		check(valid(scale), "scale", scale, "above 0 and at most %g", most)
	}
	for _, name := range p.Sizes {
		if !check(slices.Contains(Sizes(), name), "sizes", strconv.Quote(name), "some of %s", strings.Join(Sizes(), ", ")) {
			continue
		}
		for _, scale := range p.Scales {
			if !valid(scale) {
				continue
			}
			s, nodes, err := shape(name, scale)
			if err == nil {
				err = s.Validate()
			}
			of := fmt.Sprintf("%g of %s", scale, name)
			if check(err == nil, "scale", of, "a graph that can be made: %v", err) {
				check(nodes <= s.Train, "scale", fmt.Sprintf("%s: %d training nodes", of, s.Train),
					"at least the %d condensed ones", nodes)
			}
		}
	}
	return errors.Join(errs...)
}

// shape returns the shape of a graph of the given size and scale, and the number of condensed nodes.
func shape(name string, scale float64) (s synth.Shape, nodes int, err error) {
	for _, of := range sizes {
		if of.name == name {
			nodes = of.nodes
		}
	}
	if s, err = synth.Like(name); err != nil {
		return s, 0, err
	}
	return s.Scale(scale), nodes, nil
}
