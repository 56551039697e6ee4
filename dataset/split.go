package dataset

import (
	"math/rand/v2"
	"slices"

	"github.com/graph-condensation/cgc/graph"
)

const (
	splitTrain = 20 // training nodes of a class, as in the public splits of Cora and Citeseer
	splitVal   = 30 // validation nodes of a class
)

// drawSplit draws a split for a graph without one. Each class gives 20 training nodes, 30 validation nodes and the rest
// as test nodes. A class with fewer than 80 nodes gives two fifths as training nodes (at most 20), and half of the rest
// as validation nodes.
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
