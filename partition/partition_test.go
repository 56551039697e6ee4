package partition_test

import (
	"testing"

	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/partition/partitiontest"
)

var methods = map[string]partition.Partitioner{
	"kmeans":          partition.KMeans{},
	"random":          partition.Random{},
	"spectral":        partition.Spectral{},
	"spectral, dense": partition.Spectral{Dense: 400},
	"spectral, free":  partition.Spectral{Dense: -1},
}

func TestMethods(t *testing.T) {
	for name, m := range methods {
		t.Run(name, func(t *testing.T) { partitiontest.Run(t, m) })
	}
}
