// Package graphml reads and writes GraphML (Brandes et al. 2002), as networkx, igraph and Gephi do.
package graphml

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/classes"
	"github.com/graph-condensation/cgc/dataset/format/internal/lines"
	"github.com/graph-condensation/cgc/graph"
)

// Name is the name of the format.
const Name = "graphml"

const (
	extension = ".graphml"
	packed    = extension + ".gz"
)

// Format reads a .graphml file with one graph, gzip-compressed or not. The names and types of the node attributes
// decide which of them are features, labels and the split.
type Format struct{}

// Describe implements format.Format. Files have the extension .graphml or .graphml.gz.
func (Format) Describe() format.Description {
	return format.Description{Title: "GraphML", File: "a .graphml file", Extensions: []string{extension, packed}}
}

// Recognise looks at the name, and for <graphml at the start.
func (Format) Recognise(path string) format.Certainty {
	if !strings.HasSuffix(path, extension) && !strings.HasSuffix(path, packed) {
		return format.No
	}
	t, err := lines.Open(path)
	if err != nil {
		return format.Possible // Read reports the error
	}
	defer t.Close()
	head := make([]byte, 4096)
	if n, _ := t.Read(head); bytes.Contains(head[:n], []byte("<graphml")) {
		return format.Certain
	}
	return format.Likely
}

// Read reads a file. Nodes are numbered in their order in the file. Labels become classes as in tables.
func (Format) Read(ctx context.Context, path string) (*graph.Graph, []string, error) {
	r := &reader{at: map[string]int32{}, usual: "1", labels: classes.Labels{Loose: true}}
	r.document = document{begin: r.begin, node: r.node, edge: r.edge}
	if err := r.read(ctx, path); err != nil {
		return nil, nil, err
	}
	name := filepath.Base(path)
	for _, end := range []string{packed, extension} {
		name = strings.TrimSuffix(name, end)
	}
	r.b.Name = name // unless the file gives another name
	if err := r.finish(ctx); err != nil {
		return nil, nil, err
	}
	g, notes, err := format.Build(ctx, &r.b, path, nil)
	return g, append(r.notes, notes...), err
}
