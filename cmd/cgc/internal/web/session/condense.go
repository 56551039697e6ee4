package session

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/graph-condensation/cgc"
	"github.com/graph-condensation/cgc/cmd/cgc/internal/overview"
	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/condense/auto"
	"github.com/graph-condensation/cgc/dataset/synth"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/progress"
)

// extension is the file extension of condensed graphs.
const extension = ".safetensors"

// File is a file for the user.
type File struct {
	// Name is the file name shown to the user. Path is the path in the Outbox.
	Name string `json:"name"`
	Path string `json:"path"`
	// Bytes is the size of the file, and What describes its content.
	Bytes int64  `json:"bytes"`
	What  string `json:"what"`
}

// Condensed describes a condensed graph.
type Condensed struct {
	// Nodes and Edges (undirected) are the sizes of the condensed graph.
	Nodes int `json:"nodes"`
	Edges int `json:"edges"`
	// Total is the time of the condensation, in seconds.
	Total float64 `json:"total"`
	// Chosen says which method auto chose, and why. It is empty for other methods.
	Chosen string `json:"chosen"`
	// Warnings lists properties of the graph that harm the result, with remedies.
	Warnings []string `json:"warnings"`
	// Command is the command line of cgc that makes the same file from the user's files.
	Command string `json:"command"`
	// Files contains the condensed graph.
	Files []File `json:"files"`
	// Formats lists the other formats in which the condensed graph can be saved.
	Formats []Store `json:"formats"`
}

// condense condenses the graph at path with its default configuration and the given changes, and writes the result.
func (s *Session) condense(ctx context.Context, path string, changes json.RawMessage) (*Condensed, error) {
	g, err := s.opened(ctx, path)
	if err != nil {
		return nil, err
	}
	s.small, s.onSmall, s.onWhole = nil, nil, nil
	small, err := condensed(ctx, g, changes)
	if err != nil {
		return nil, err
	}
	s.name = overview.FileName(g.Name, small.Nodes())
	name := s.name + extension
	progress.Report(ctx, progress.Event{Stage: "write"})
	if err := small.Save(progress.With(ctx, nil), filepath.Join(s.Outbox, name)); err != nil {
		return nil, err
	}
	s.small, s.file = small, filepath.Join(s.Outbox, name)
	c := &Condensed{
		Nodes: small.Nodes(), Edges: small.Edges(), Total: small.Seconds.Total, Formats: stores(),
		Warnings: append([]string{}, small.Warnings...), Command: overview.Command(name, small, s.argument(path)),
	}
	if account, err := auto.AccountOf(small); err == nil {
		c.Chosen = account.String()
	}
	file, err := s.made(name, "the condensed graph")
	if err != nil {
		return nil, err
	}
	c.Files = []File{file}
	return c, nil
}

// condensed condenses g with its default configuration and the given changes. The method auto reads only the size, the
// seed and the setting.
func condensed(ctx context.Context, g *graph.Graph, changes json.RawMessage) (*condense.Condensed, error) {
	config, _ := cgc.DefaultsFor(g)
	if len(changes) > 0 {
		decoder := json.NewDecoder(bytes.NewReader(changes))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&config); err != nil {
			return nil, fmt.Errorf("the parameters: %w", err)
		}
	}
	m := auto.New()
	if string(config.Variant) != m.Name() {
		return cgc.Condense(ctx, g, config)
	}
	m.NormalizeFeatures, m.Standardize = config.NormalizeFeatures, config.Standardize
	m.Inductive, m.Causal = config.Inductive, config.Causal
	nodes, err := config.Size.Of(g, config.Inductive)
	if err != nil {
		return nil, err
	}
	return m.Condense(ctx, g, nodes, config.Seed)
}

// argument returns the graph as an argument of the command. A user's graph becomes ./NAME, because NAME could be the
// name of a known graph.
func (s *Session) argument(path string) string {
	inside, is := strings.CutPrefix(path, strings.TrimSuffix(s.Inbox, "/")+"/")
	switch {
	case path == synth.DemoShape().Name:
		return path
	case !is || inside == "":
		return "FOLDER" // the user chose files one by one
	}
	return "./" + inside
}

// made describes a file in the Outbox.
func (s *Session) made(name, what string) (File, error) {
	path := filepath.Join(s.Outbox, name)
	info, err := os.Stat(path)
	if err != nil {
		return File{}, fmt.Errorf("the file that was written: %w", err)
	}
	return File{Name: name, Path: path, Bytes: info.Size(), What: what}, nil
}
