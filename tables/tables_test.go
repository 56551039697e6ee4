package tables_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/dataset/format"

	_ "github.com/graph-condensation/cgc/tables"
)

// TestDocs: the formats are registered, and the page of formats has a row for each.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"parquet", "sqlite", "postgres"} {
		if !slices.Contains(format.Names(), name) {
			t.Errorf("the format %s is not registered", name)
		}
		if !strings.Contains(string(page), "\n| `"+name+"` | ") {
			t.Errorf("the page of formats says nothing of %s", name)
		}
	}
}
