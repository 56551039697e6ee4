package bench

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/partition"
)

// Plan says what is measured. Run reports the beginning of each part to its context (package progress).
type Plan struct {
	// Sizes names data sets. The graphs get their sizes: see Sizes.
	Sizes []string
	// Scales multiplies the nodes, edges and split of each size. Each is above 0 and at most a million. N′ stays. With two
	// scales or more, growth is fitted.
	Scales []float64
	// Partitions names the partitions to measure: some of partition.Names.
	Partitions []string
	// Runs is the number of condensations of each graph, at least 1. Their medians count.
	Runs int
	// Train says whether a GCN is trained as well, for each size: on the condensed graph of the first scale and partition,
	// with gnn.Defaults and a validation on the whole graph every 10 epochs.
	Train bool
	// Seed decides the graphs and all random choices.
	Seed uint64

	// Peak, if not nil, returns the largest resident set of the process in bytes.
	Peak func() int64
}

// size is a data set and N′, its middle number of condensed nodes in the paper's table 3.
type size struct {
	name  string
	nodes int
}

func sizes() []size {
	return []size{
		{"cora", 70}, {"citeseer", 60}, {"arxiv", 454}, {"flickr", 223}, {"reddit", 153}, {"products", 1238},
	}
}

// Sizes lists the sizes, in the order of the paper's table 1.
func Sizes() (names []string) {
	for _, s := range sizes() {
		names = append(names, s.name)
	}
	return names
}

// most is the largest scale: below it, no size has more nodes than a graph can have.
const most = 1e6

// Validate returns everything that is wrong with p, joined: for each mistake the field, the value and the bound.
func (p Plan) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) bool {
		if !ok {
			errs = append(errs, fmt.Errorf("bench: "+format, args...))
		}
		return ok
	}
	check(len(p.Sizes) > 0, "sizes 0, want at least 1")
	check(len(p.Scales) > 0, "scale 0, want at least 1")
	check(len(p.Partitions) > 0, "partition 0, want at least 1")
	check(p.Runs >= 1, "runs %d, want at least 1", p.Runs)
	for _, name := range p.Partitions {
		_, err := partition.Find(name)
		check(err == nil, "%w", err)
	}
	valid := func(scale float64) bool { return scale > 0 && scale <= most }
	for _, scale := range p.Scales {
		check(valid(scale), "scale %g, want above 0 and at most %g", scale, most)
	}
	for _, name := range p.Sizes {
		if !check(slices.Contains(Sizes(), name), "sizes %q, want some of %s", name, strings.Join(Sizes(), ", ")) {
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
			if check(err == nil, "scale %g of %s: %w", scale, name, err) {
				check(nodes <= s.Train, "scale %g of %s: %d training nodes, want at least the %d condensed ones", scale, name,
					s.Train, nodes)
			}
		}
	}
	return errors.Join(errs...)
}

// shape returns the shape of the graph of a size and scale, and N′.
func shape(name string, scale float64) (s synth.Shape, nodes int, err error) {
	for _, of := range sizes() {
		if of.name == name {
			nodes = of.nodes
		}
	}
	if s, err = synth.Like(name); err != nil {
		return s, 0, err
	}
	return s.Scale(scale), nodes, nil
}
