// Package torch reads and writes the files of torch.save: a Data object of PyTorch Geometric, a dictionary of tensors,
// or the processed file of a data set. Nothing in a file is executed.
package torch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/dataset/format/internal/reading"
	"github.com/graph-condensation/cgc/dataset/format/internal/roles"
	"github.com/graph-condensation/cgc/dataset/format/internal/torchfile"
	"github.com/graph-condensation/cgc/graph"
	"github.com/nlpodyssey/gopickle/types"
)

// Name is the name of the format.
const Name = "torch"

var extensions = []string{".pt", ".pth"}

// processed is the folder of a data set in PyTorch Geometric, and dataFiles lists the usual names of its file. The
// names of WikiCS and CitationFull show whether the edges are directed.
const processed = "processed"

var dataFiles = []string{"data.pt", "data_undirected.pt", "data_directed.pt"}

// Format reads and writes one file of torch.save. It also stores condensed graphs.
type Format struct {
	unlabelled bool // the array of labels may be missing
}

var (
	_ format.Splitter   = Format{}
	_ format.Unlabeller = Format{}
)

// Unlabelled implements format.Unlabeller.
func (Format) Unlabelled() format.Format { return Format{unlabelled: true} }

// Describe implements format.Format. A folder is identified by processed/data.pt.
func (Format) Describe() format.Description {
	return format.Description{
		Title: "torch.save", File: "a .pt file", Folder: processed + "/" + dataFiles[0], Extensions: extensions,
	}
}

// Recognise checks the name and the start of a file, and the file in the folder of a data set.
func (Format) Recognise(path string) format.Certainty {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		if within(path) != path {
			return format.Likely
		}
		return format.No
	}
	switch named, looks := slices.Contains(extensions, filepath.Ext(path)), torchfile.Looks(path); {
	case named && looks:
		return format.Certain
	case named: // Read reports the error
		return format.Likely
	case looks:
		return format.Possible
	}
	return format.No
}

// within returns the file of the data set in a folder, or path.
func within(path string) string {
	for _, name := range dataFiles {
		for _, file := range []string{filepath.Join(path, name), filepath.Join(path, processed, name)} {
			if info, err := os.Stat(file); err == nil && !info.IsDir() {
				return file
			}
		}
	}
	return path
}

// nameOf returns the name of a graph: the name of its file, or of the folder of its data set.
func nameOf(path string) string {
	name := filepath.Base(path)
	if slices.Contains(dataFiles, name) {
		path = filepath.Dir(path)
		if name = filepath.Base(path); name == processed {
			name = filepath.Base(filepath.Dir(path))
		}
	}
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// Read reads a file. Labels that start at 1 are shifted to start at 0.
func (f Format) Read(ctx context.Context, path string) (*graph.Graph, []string, error) {
	return f.ReadSplit(ctx, path, 0)
}

// ReadSplit implements format.Splitter: masks may hold several splits.
func (f Format) ReadSplit(ctx context.Context, path string, split int) (*graph.Graph, []string, error) {
	opened, err := open(ctx, within(path))
	if err != nil {
		return nil, nil, err
	}
	defer opened.Close()
	return roles.Read(ctx, opened, opened.meta, nameOf(opened.Path), split, f.unlabelled)
}

// file is an open file whose object is a graph.
type file struct {
	*torchfile.File
	torchfile.Values
	meta map[string]string
}

func open(ctx context.Context, path string) (*file, error) {
	opened, err := torchfile.Open(ctx, path)
	if err != nil {
		return nil, reading.Failed(path, err)
	}
	f := &file{File: opened, Values: torchfile.Values{Path: path}}
	if f.Fields, f.meta, err = fieldsOf(opened.Object); err != nil {
		opened.Close()
		return nil, &format.ReadError{File: path, Err: err}
	}
	return f, nil
}

// fieldsOf returns the arrays of the graph in an object, and the metadata if cgc wrote it.
func fieldsOf(object any) (fields map[string]any, meta map[string]string, err error) {
	if t, is := object.(*types.Tuple); is {
		if object, err = single(*t); err != nil {
			return nil, nil, err
		}
	}
	if r, is := object.(*torchfile.Record); is && strings.HasSuffix(r.Class, ".HeteroData") {
		return nil, nil, errors.New("it holds a HeteroData, a graph of several types of nodes, must be a Data")
	}
	fields, ok := torchfile.Fields(object)
	if !ok {
		return nil, nil, fmt.Errorf("it holds %s, must hold a Data or a dictionary with x, y and edge_index",
			torchfile.Kind(object))
	}
	if split, has := torchfile.Fields(fields["split_idx"]); has {
		for _, part := range []string{"train", "valid", "val", "test"} {
			if nodes := split[part]; nodes != nil && fields[part+"_idx"] == nil {
				fields[part+"_idx"] = nodes
			}
		}
	}
	if list, is := fields[torchfile.Metadata].(*types.List); is && list.Len() == 1 {
		text, _ := list.Get(0).(string)
		if err := json.Unmarshal([]byte(text), &meta); err != nil {
			return nil, nil, fmt.Errorf("%s holds no JSON object of strings: %w", torchfile.Metadata, err)
		}
	} else if origin, is := torchfile.Fields(fields["origin"]); is { // a Data that the Python package made
		said, _ := torchfile.Fields(origin["metadata"])
		meta = map[string]string{}
		for key, v := range said {
			if text, is := v.(string); is {
				meta[key] = text
			}
		}
	}
	return fields, meta, nil
}

// single returns the graph of (graph, slices, …), the form in which PyTorch Geometric saves a data set with one graph.
func single(t types.Tuple) (any, error) {
	if t.Len() < 2 || t.Len() > 4 {
		return nil, fmt.Errorf("it holds a tuple of %d, expected (data, slices) of PyTorch Geometric", t.Len())
	}
	slices, _ := torchfile.Fields(t.Get(1))
	for name, v := range slices {
		if tensor, is := v.(*torchfile.Tensor); is && len(tensor.Shape) == 1 && tensor.Shape[0] > 2 {
			return nil, fmt.Errorf("it holds %d graphs (slices of %s), expected one: save it with torch.save(dataset[i])",
				tensor.Shape[0]-1, name)
		}
	}
	return t.Get(0), nil
}

// Holds describes each value.
func (f *file) Holds() (texts []string) {
	for _, name := range slices.Sorted(maps.Keys(f.Fields)) {
		if t, is := f.Fields[name].(*torchfile.Tensor); is {
			texts = append(texts, roles.Shown(name, t.Shape, t.DType.String()))
		} else if f.Fields[name] != nil && name != torchfile.Metadata {
			texts = append(texts, fmt.Sprintf("%q (%s)", name, torchfile.Kind(f.Fields[name])))
		}
	}
	return texts
}
