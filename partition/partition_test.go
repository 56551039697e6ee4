package partition_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/internal/registry"
	"github.com/graph-condensation/cgc/internal/slow"
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
		if strings.Contains(name, ",") && !slow.On() {
			continue // another way to compute the same
		}
		t.Run(name, func(t *testing.T) { partitiontest.Run(t, m) })
	}
}

func TestRegistry(t *testing.T) {
	names := partition.Names()
	if len(names) < 3 || !slices.Equal(names[:3], []string{"kmeans", "spectral", "random"}) {
		t.Errorf("names %v, want kmeans, spectral and random first", names)
	}
	kmeans := partition.KMeans{Tolerance: 1e-3}
	for name, want := range map[string]partition.Partitioner{
		"kmeans": kmeans, "spectral": partition.Spectral{KMeans: kmeans}, "Random": partition.Random{},
	} {
		if got, err := partition.Find(name); got != want || err != nil {
			t.Errorf("Find(%q) is %+v, %v; want %+v", name, got, err, want)
		}
	}
	var unknown *registry.Unknown
	if _, err := partition.Find("metis"); !errors.As(err, &unknown) || unknown.Name != "metis" {
		t.Errorf("Find of a name that is not registered: %v", err)
	}
}
