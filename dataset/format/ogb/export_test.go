package ogb

// ReadFeatures and ReadEdges read one file.
var (
	ReadFeatures = readFeatures
	ReadEdges    = readEdges
)
