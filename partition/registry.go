package partition

import "github.com/graph-condensation/cgc/internal/registry"

// registered holds the named partitioners, the default first.
var registered = registry.New[Partitioner]("partition").
	With("kmeans", KMeans{Tolerance: rest}).
	With("spectral", Spectral{KMeans: KMeans{Tolerance: rest}}).
	With("random", Random{})

// rest ends a run of k-means when an iteration lowers the objective by less than this share of it. That saves half of
// the iterations on classes of many thousand rows. Accuracies on arxiv and Amazon Photo do not change.
const rest = 1e-3

// Register adds a partitioner under a name of lower-case letters, digits and hyphens, so that configurations can use
// it. It panics if the name is invalid or taken. It is safe for concurrent use.
func Register(name string, p Partitioner) { registered.Register(name, p) }

// Names returns the names of the partitioners in the order of their registration: "kmeans", "spectral", "random", and
// those that were added.
func Names() []string { return registered.Names() }

// Find returns the partitioner of the given name, ignoring case. The error for another name lists the names.
//
// "kmeans" and the k-means inside "spectral" stop when an iteration lowers the objective by less than 0.1%; their other
// parameters are those of the zero value.
func Find(name string) (Partitioner, error) { return registered.Find(name) }
