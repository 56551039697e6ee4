package ogb

// ReadEdges reads one file.
var ReadEdges = readEdges
