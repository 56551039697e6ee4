package all_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/dataset/synth"
	_ "github.com/graph-condensation/cgc/rival/all"
)

// TestMemory checks that every method that stores data for each training node has a memory limit, and fails before any
// work if the limit is too small.
func TestMemory(t *testing.T) {
	g := synth.Demo()
	bounded := 0
	for _, name := range condense.Names() {
		m, err := condense.New(name, json.RawMessage(`{"memory":"4kB"}`))
		if err != nil {
			continue // cgc's own methods and random, which have no such parameter
		}
		bounded++
		checker, is := m.(condense.Checker)
		if !is {
			t.Errorf("%s has a bound and no Check", name)
			continue
		}
		for what, err := range map[string]error{
			"Check":    checker.Check(g, 10),
			"Condense": func() error { _, err := m.Condense(t.Context(), g, 10, 0); return err }(),
		} {
			if err == nil || !strings.Contains(err.Error(), name+" on ") ||
				!strings.Contains(err.Error(), "bound 4.0 kB (parameter memory)") {
				t.Errorf("%s: %s gives %v, want a refusal", name, what, err)
			}
		}
	}
	if bounded != 17 { // every method but random
		t.Errorf("%d methods have a bound on memory, want 17", bounded)
	}
}
