package dataset_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset"
	"github.com/graph-condensation/cgc/dataset/format"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/fixture"
	"github.com/graph-condensation/cgc/internal/mattest"
	"github.com/graph-condensation/cgc/internal/memory"
	"github.com/graph-condensation/cgc/mat"
)

// vast is a format whose files need more memory than any system allows.
type vast struct{}

func init() { format.Register("vast", vast{}) }

// Describe implements format.Format. Files have the extension .vast.
func (vast) Describe() format.Description {
	return format.Description{Title: "vast", File: "a .vast file", Extensions: []string{".vast"}}
}

// Recognise checks the file extension.
func (vast) Recognise(path string) format.Certainty {
	if filepath.Ext(path) == ".vast" {
		return format.Likely
	}
	return format.No
}

// Read asks for 64 TiB.
func (vast) Read(context.Context, string) (*graph.Graph, []string, error) {
	memory.Make[float32](1 << 44)
	return nil, nil, nil
}

// TestMemoryIsRefused checks that a file that needs more memory than the system allows is an error that names the file.
func TestMemoryIsRefused(t *testing.T) {
	if most, _ := memory.Limit(); most == 0 {
		t.Skip("this system does not tell how much it allows")
	}
	path := filepath.Join(t.TempDir(), "graph.vast")
	mattest.OK(t, os.WriteFile(path, nil, 0o600))
	_, err := dataset.Options{}.Open(t.Context(), path)
	if large := new(memory.Exceeded); !errors.As(err, &large) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v, want that the memory is refused, and the path", err)
	}
}

// TestDescribeWithoutMemory checks that features whose summary needs more memory than the system allows are an error.
func TestDescribeWithoutMemory(t *testing.T) {
	if most, _ := memory.Limit(); most == 0 {
		t.Skip("this system does not tell how much it allows")
	}
	g := fixture.Open(t, fixture.Folder(t, fixture.Plain()))
	g.X = &mat.CSR{Rows: g.Nodes(), Cols: 1 << 40, Indptr: make([]int64, g.Nodes()+1)}
	if _, err := dataset.Describe(g); !errors.As(err, new(*memory.Exceeded)) {
		t.Errorf("error %v, want that the memory is refused", err)
	}
}
