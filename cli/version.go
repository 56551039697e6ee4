package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/internal/buildinfo"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/partition"
	"github.com/graph-condensation/cgc/report"
)

func (c *command) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Example: examples("cgc version", "cgc version --json"),
		Short:   "Print the version, the commit, the kernels in use, and what is built in",
		Args:    arguments(0),
		RunE: func(*cobra.Command, []string) error {
			v := version()
			v.Settings = c.settings.file
			return c.print(v, v.document())
		},
	}
}

// versions is what the command says of itself. Its JSON keys are a contract (docs/formats.md).
type versions struct {
	// Version is that of the module, "(devel)" if the build does not know it.
	Version string `json:"version"`
	// Revision is the commit, Date its time in RFC 3339; empty if the build does not know them.
	Revision string `json:"revision"`
	Date     string `json:"date"`
	// Modified says that files differed from the commit.
	Modified bool `json:"modified"`
	// Kernels is the set of loops in use, Available all that this processor runs, fastest first.
	Kernels   string   `json:"kernels"`
	Available []string `json:"kernels_available"`
	Go        string   `json:"go"`
	Platform  string   `json:"platform"`
	// What is registered: by this module, and by others that a program adds.
	Methods    []string `json:"methods"`
	Models     []string `json:"models"`
	Partitions []string `json:"partitions"`
	// Formats are the formats of graphs that are read, Written those of them that are written too.
	Formats []string `json:"formats"`
	Written []string `json:"formats_written"`
	// Settings is the path of the file of settings that was read; empty if there was none.
	Settings string `json:"settings"`
}

func version() versions {
	i := buildinfo.This()
	v := versions{
		Version: i.Version, Revision: i.Revision, Date: i.Time, Modified: i.Modified,
		Kernels: kernel.Name(), Available: kernel.Names(), Go: i.Go, Platform: i.Platform,
		Methods: condense.Names(), Models: gnn.Names(), Partitions: partition.Names(),
		Formats: format.Names(), Written: format.Writers(),
	}
	if v.Version == "" {
		v.Version = "(devel)"
	}
	return v
}

func (v versions) document() *report.Document {
	t := &report.Table{Columns: []report.Column{{Key: "of"}, {Key: "what"}}}
	row := func(of, what string) { t.Row(report.Word(of), report.Word(what)) }
	row("cgc", v.Version)
	row("commit", v.commit())
	row("kernels", v.kernels())
	row("go", v.Go+" "+v.Platform)
	row("methods", strings.Join(v.Methods, ", "))
	row("models", strings.Join(v.Models, ", "))
	row("partitions", strings.Join(v.Partitions, ", "))
	row("formats", strings.Join(v.Formats, ", "))
	row("written", strings.Join(v.Written, ", "))
	row("settings", v.settings())
	d := new(report.Document)
	d.Add(t)
	return d
}

// line is the version in one line.
func (v versions) line() string {
	words := []string{"cgc", v.Version}
	if v.Revision != "" {
		words = append(words, "("+v.Revision[:min(12, len(v.Revision))]+")")
	}
	return strings.Join(append(words, v.Go, v.Platform), " ")
}

// commit is the line of the commit.
func (v versions) commit() string {
	if v.Revision == "" {
		return "not known: the build was given none"
	}
	text := v.Revision
	if v.Date != "" {
		text += " of " + v.Date
	}
	if v.Modified {
		text += ", modified"
	}
	return text
}

// kernels is the line of the kernels.
func (v versions) kernels() string {
	others := slices.DeleteFunc(slices.Clone(v.Available), func(name string) bool { return name == v.Kernels })
	if len(others) == 0 {
		return fmt.Sprintf("%s, the only one that runs here", v.Kernels)
	}
	return fmt.Sprintf("%s; %s would run here too", v.Kernels, strings.Join(others, " and "))
}

// settings is the line of the file of settings.
func (v versions) settings() string {
	if v.Settings != "" {
		return v.Settings
	}
	path, _ := settingsPath()
	if path == "" {
		return "none; $" + settingsVariable + " names a file"
	}
	return "none; they would stand in " + path
}
