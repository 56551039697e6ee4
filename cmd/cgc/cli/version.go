package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graph-condensation/cgc/cmd/cgc/internal/report"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/gnn"
	"github.com/graph-condensation/cgc/internal/buildinfo"
	"github.com/graph-condensation/cgc/internal/kernel"
	"github.com/graph-condensation/cgc/partition"
)

func (c *command) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Example: examples("cgc version", "cgc version --json"),
		Short:   "Print the version, the commit, the SIMD code path, and the available methods, models and formats",
		Args:    arguments(0),
		RunE: func(*cobra.Command, []string) error {
			v := version()
			v.Settings = c.settings.file
			return c.print(v, v.document())
		},
	}
}

// versions is the output of cgc version. Its JSON keys are a contract (docs/reference/json.md).
type versions struct {
	// Version is the version of the module, or "(devel)" if unknown.
	Version string `json:"version"`
	// Revision is the commit, and Date is its time in RFC 3339; each is empty if unknown.
	Revision string `json:"revision"`
	Date     string `json:"date"`
	// Modified says that files differed from the commit.
	Modified bool `json:"modified"`
	// Kernels is the SIMD code path in use. Available lists all code paths that this processor supports, fastest first.
	Kernels   string   `json:"kernels"`
	Available []string `json:"kernels_available"`
	// Go is the version of the compiler. Platform is the operating system and the processor architecture.
	Go       string `json:"go"`
	Platform string `json:"platform"`
	// Methods, Models and Partitions are the names that flags accept.
	Methods    []string `json:"methods"`
	Models     []string `json:"models"`
	Partitions []string `json:"partitions"`
	// Formats lists the formats that can be read, and Written lists the formats that can be written.
	Formats []string `json:"formats"`
	Written []string `json:"formats_written"`
	// Settings is the path of the settings file, or empty.
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
	rows := [][2]string{
		{"cgc", v.Version}, {"commit", v.commit()}, {"kernels", v.kernels()}, {"go", v.Go + " " + v.Platform},
		{"methods", strings.Join(v.Methods, ", ")}, {"models", strings.Join(v.Models, ", ")},
		{"partitions", strings.Join(v.Partitions, ", ")}, {"formats", strings.Join(v.Formats, ", ")},
		{"writes", strings.Join(v.Written, ", ")}, {"settings", v.settings()},
	}
	t := &report.Table{Columns: []report.Column{{Key: "of"}, {Key: "what"}}}
	for _, row := range rows {
		t.Row(report.Word(row[0]), report.Word(row[1]))
	}
	return &report.Document{Blocks: []report.Block{t}}
}

func (v versions) line() string {
	words := []string{"cgc", v.Version}
	if v.Revision != "" {
		words = append(words, "("+v.Revision[:min(12, len(v.Revision))]+")")
	}
	return strings.Join(append(words, v.Go, v.Platform), " ")
}

func (v versions) commit() string {
	if v.Revision == "" {
		return "unknown"
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

func (v versions) kernels() string {
	others := slices.DeleteFunc(slices.Clone(v.Available), func(name string) bool { return name == v.Kernels })
	if len(others) == 0 {
		return v.Kernels
	}
	return fmt.Sprintf("%s (available: %s)", v.Kernels, strings.Join(others, ", "))
}

func (v versions) settings() string {
	if v.Settings != "" {
		return v.Settings
	}
	path, _ := settingsPath()
	if path == "" {
		return "none (set $" + settingsVariable + " to a file)"
	}
	return "none (" + path + " does not exist)"
}
