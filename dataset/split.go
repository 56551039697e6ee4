package dataset

import (
	"math/rand/v2"
	"slices"

	"github.com/graph-condensation/cgc/graph"
)

const (
	splitTrain = 20 // labelled nodes of a class that train: what the public splits of Cora and Citeseer have
	splitVal   = 30 // labelled nodes of a class that validate
)

// drawSplit draws a split for a graph that comes without one. Of each class 20 nodes train, 30 validate and the rest
// test. Of a class with fewer than 80 nodes, two fifths train (at most 20), and half of the rest validates.
func drawSplit(y []int32, classes int, src rand.Source) (split graph.Split) {
	nodes := make([][]int32, classes)
	for i, c := range y {
		if c >= 0 && int(c) < classes {
			nodes[c] = append(nodes[c], int32(i))
		}
	}
	random := rand.New(src)
	for _, v := range nodes {
		random.Shuffle(len(v), func(i, j int) { v[i], v[j] = v[j], v[i] })
		train := min(splitTrain, (2*len(v)+4)/5)
		val := train + min(splitVal, (len(v)-train)/2)
		split.Train = append(split.Train, v[:train]...)
		split.Val = append(split.Val, v[train:val]...)
		split.Test = append(split.Test, v[val:]...)
	}
	slices.Sort(split.Train)
	slices.Sort(split.Val)
	slices.Sort(split.Test)
	return split
}
