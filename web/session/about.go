package session

import (
	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/internal/buildinfo"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/propagate"
)

// About says what the program is and what it knows.
type About struct {
	// Version, Revision and Go say which build it is. Empty where the build does not know.
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Go       string `json:"go"`
	// Methods, Partitions, Propagations and Models list what can be chosen, the default first where there is one.
	Methods      []cgc.Variant    `json:"methods"`
	Partitions   []string         `json:"partitions"`
	Propagations []propagate.Rule `json:"propagations"`
	Models       []string         `json:"models"`
	// Formats says what the formats of graphs look like, a line each.
	Formats []Format `json:"formats"`
}

// Format says what files of a format look like. Folder or File may be empty.
type Format struct {
	Title  string `json:"title"`
	Folder string `json:"folder,omitempty"`
	File   string `json:"file,omitempty"`
}

func about() About {
	build := buildinfo.This()
	a := About{
		Version: build.Version, Revision: build.Revision, Go: build.Go, Methods: cgc.Variants(),
		Partitions: partition.Names(), Propagations: propagate.Rules(), Models: gnn.Names(),
	}
	for _, name := range format.Names() {
		if f, err := format.Find(name); err == nil {
			d := f.Describe()
			a.Formats = append(a.Formats, Format{d.Title, d.Folder, d.File})
		}
	}
	return a
}
