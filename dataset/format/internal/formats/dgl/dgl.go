// Package dgl reads and writes folders of DGL's CSVDataset (Wang et al. 2019): meta.yaml, nodes and edges as text.
package dgl

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/csvfile"
	"github.com/graph-condensation/cgc/dataset/format/table"
	"github.com/graph-condensation/cgc/graph"
	"go.yaml.in/yaml/v3"
)

// Name is the name of the format.
const Name = "dgl"

const (
	metaFile  = "meta.yaml"
	extension = ".dgl"
)

// Format reads and writes a folder with meta.yaml and the files that it names: one of nodes (node_id, label,
// train_mask, val_mask, test_mask and features) and one of edges (src_id, dst_id and weight).
type Format struct{}

// Describe implements format.Format. A folder is identified by meta.yaml.
func (Format) Describe() format.Description {
	return format.Description{Title: "DGL's CSVDataset", Folder: metaFile, Extensions: []string{extension}}
}

// Recognise looks for meta.yaml, and for node_data in it.
func (Format) Recognise(path string) format.Certainty {
	f, err := os.Open(filepath.Join(path, metaFile))
	if err != nil {
		return format.No
	}
	defer f.Close()
	if text, err := io.ReadAll(io.LimitReader(f, most)); err == nil && bytes.Contains(text, []byte("node_data")) {
		return format.Certain
	}
	return format.Possible
}

// most is the maximum size of meta.yaml in bytes.
const most = 1 << 22

// meta is the content of meta.yaml.
type meta struct {
	Version   string            `yaml:"version,omitempty"`
	Name      string            `yaml:"dataset_name"`
	Separator string            `yaml:"separator,omitempty"`
	Edges     []file            `yaml:"edge_data"`
	Nodes     []file            `yaml:"node_data"`
	Metadata  map[string]string `yaml:"metadata,omitempty"` // written by cgc, ignored by DGL

	path string
}

// file describes a file of nodes or edges. readMeta fills in DGL's defaults.
type file struct {
	File    string   `yaml:"file_name"`
	Type    string   `yaml:"ntype,omitempty"`
	Triple  []string `yaml:"etype,omitempty,flow"`
	NodeID  string   `yaml:"node_id_field,omitempty"`
	Source  string   `yaml:"src_id_field,omitempty"`
	Target  string   `yaml:"dst_id_field,omitempty"`
	GraphID string   `yaml:"graph_id_field,omitempty"`
}

// readMeta reads meta.yaml in a folder, and fills in DGL's defaults. The files that it names must be in the folder.
func readMeta(folder string) (m meta, err error) {
	m.path = filepath.Join(folder, metaFile)
	f, err := os.Open(m.path)
	if err != nil {
		return m, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return m, err
	}
	fail := func(text string, args ...any) error {
		return format.Wrong(m.path, text, args...)
	}
	if len(text) > most {
		return m, fail("more than %d bytes", most)
	}
	if err := yaml.Unmarshal(text, &m); err != nil {
		return m, fail("%.300s", strings.ReplaceAll(strings.TrimPrefix(err.Error(), "yaml: "), "\n", ";"))
	}
	var nodes, edges []string
	for _, n := range m.Nodes {
		nodes = append(nodes, cmp.Or(n.Type, n.File))
	}
	for _, e := range m.Edges {
		edges = append(edges, cmp.Or(strings.Join(e.Triple, "–"), e.File))
	}
	switch {
	case m.Version != "" && m.Version != "1.0.0":
		return m, fail("version %.20q, must be 1.0.0", m.Version)
	case m.Separator != "" && m.Separator != ",":
		return m, fail("separator %.20q, must be a comma", m.Separator)
	case len(nodes) != 1:
		return m, fail("%d types of nodes (%.200s), expected one", len(nodes), strings.Join(nodes, ", "))
	case len(edges) != 1:
		return m, fail("%d types of edges (%.200s), expected one", len(edges), strings.Join(edges, ", "))
	}
	for _, f := range []*file{&m.Nodes[0], &m.Edges[0]} {
		if !filepath.IsLocal(f.File) {
			return m, fail("file_name %.100q, must be a file in the folder", f.File)
		}
		f.NodeID, f.GraphID = cmp.Or(f.NodeID, "node_id"), cmp.Or(f.GraphID, "graph_id")
		f.Source, f.Target = cmp.Or(f.Source, "src_id"), cmp.Or(f.Target, "dst_id")
	}
	return m, nil
}

// open opens a file that meta.yaml names.
func (m *meta) open(folder string, f file) (*csvfile.Table, error) {
	t, err := csvfile.OpenTable(filepath.Join(folder, f.File))
	if errors.Is(err, os.ErrNotExist) {
		return nil, format.Wrong(m.path, "there is no file %.100q", f.File)
	}
	return t, err
}

// Read reads a folder. Row i of the nodes is node i.
func (Format) Read(ctx context.Context, path string) (*graph.Graph, []string, error) {
	m, err := readMeta(path)
	if err != nil {
		return nil, nil, err
	}
	if m.Metadata["format"] == format.CondensedKind {
		return nil, nil, &format.ReadError{File: m.path, Err: format.ErrCondensed}
	}
	t, err := m.open(path, m.Nodes[0])
	if err != nil {
		return nil, nil, err
	}
	nodes, err := newNodes(t, m.Nodes[0])
	if err != nil {
		return nil, nil, err
	}
	var notes []string
	p := table.Pair{Name: filepath.Base(path), Nodes: nodes}
	if m.Metadata["format"] == format.GraphKind {
		if p.Known, err = m.known(); err != nil {
			return nil, nil, err
		}
		p.Name = m.Metadata["name"]
		p.FeatureNames = func(n int) ([]string, error) { return format.NamesOf(m.Metadata, format.FeatureNames, n) }
	}
	p.Edges = func(context.Context) (table.Table, error) {
		t, err := m.open(path, m.Edges[0])
		if err != nil {
			return nil, err
		}
		edges, note, err := newEdges(t, m.Edges[0])
		if note != "" {
			notes = append(notes, note)
		}
		return edges, err
	}
	g, more, err := p.Graph(ctx)
	if err != nil {
		return nil, nil, err
	}
	return g, append(notes, more...), nil
}
