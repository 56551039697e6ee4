package session

import (
	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/condense/auto"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/internal/buildinfo"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/propagate"
)

// About describes the program and what it supports.
type About struct {
	// Version, Revision and Go identify the build; each is empty if unknown.
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Go       string `json:"go"`
	// Methods, Partitions, Propagations and Models list the choices. The default, if any, comes first.
	Methods      []string         `json:"methods"`
	Partitions   []string         `json:"partitions"`
	Propagations []propagate.Rule `json:"propagations"`
	Models       []string         `json:"models"`
	// Formats describes the formats of graphs, one line each.
	Formats []Format `json:"formats"`
}

// Format describes the files of a format. Folder or File may be empty.
type Format struct {
	Title  string `json:"title"`
	Folder string `json:"folder,omitempty"`
	File   string `json:"file,omitempty"`
}

func about() About {
	build := buildinfo.This()
	a := About{
		Version: build.Version, Revision: build.Revision, Go: build.Go,
		Partitions: partition.Names(), Propagations: propagate.Rules(), Models: gnn.Names(),
	}
	for _, v := range cgc.Variants() {
		a.Methods = append(a.Methods, string(v))
	}
	a.Methods = append(a.Methods, auto.New().Name())
	for _, name := range format.Names() {
		if f, err := format.Find(name); err == nil {
			d := f.Describe()
			a.Formats = append(a.Formats, Format{d.Title, d.Folder, d.File})
		}
	}
	return a
}
