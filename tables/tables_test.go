package tables_test

import (
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/dataset/format"

	_ "github.com/graph-condensation/cgc/tables"
)

// TestRegistered checks that a program that imports the package can read its formats.
func TestRegistered(t *testing.T) {
	for _, name := range []string{"parquet", "sqlite", "postgres"} {
		if !slices.Contains(format.Names(), name) {
			t.Errorf("the format %s is not registered", name)
		}
	}
}
