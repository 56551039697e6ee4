package condense_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/graph-condensation/cgc/condense"
)

// If the nodes and classes of a graph have names, the file contains those of the source nodes and classes, in each
// setting.
func TestNamesOfMembersAndClasses(t *testing.T) {
	bare := hundred(t)
	g := *bare
	for i := range g.Nodes() {
		g.IDs = append(g.IDs, fmt.Sprintf("node-%d", i))
	}
	for c := range g.Classes {
		g.ClassNames = append(g.ClassNames, fmt.Sprintf("class-%d", c))
	}
	for _, setting := range []condense.Setting{{}, {Standardize: true}, {Inductive: true}} {
		view, err := setting.View(t.Context(), &g)
		if err != nil {
			t.Fatal(err)
		}
		small := whole(t)
		small.Members = condense.FromRows([]int32{3, 1, 4, 0, 5, 9, 2, 6, 7, 8, 10, 11}, view.Graph.Nodes())
		if view.Adopt(small); g.Classes != small.Classes {
			t.Fatalf("%d classes, want those of whole, %d", g.Classes, small.Classes)
		}
		small.Scaling = nil // it has another number of features
		again, err := condense.Load(save(t, small))
		if err != nil {
			t.Fatal(err)
		}
		for e, v := range again.Members.Indices {
			if len(again.MemberIDs) != len(again.Members.Indices) || again.MemberIDs[e] != g.IDs[v] {
				t.Errorf("%+v: names of members %q, want those of %v", setting, again.MemberIDs, again.Members.Indices)
				break
			}
		}
		if !slices.Equal(again.ClassNames, g.ClassNames) {
			t.Errorf("%+v: names of classes %q", setting, again.ClassNames)
		}
	}
}

// If a graph has no names, the file contains none.
func TestFilesWithoutNames(t *testing.T) {
	small := whole(t)
	small.TakeNames(hundred(t))
	data, err := os.ReadFile(save(t, small))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), "class_names") || strings.Contains(string(data), "members.ids") {
		t.Error("the file of a graph without names has names")
	}
}

func TestValidateCountsNames(t *testing.T) {
	for want, change := range map[string]func(*condense.Condensed){
		"1 names of members":  func(c *condense.Condensed) { c.MemberIDs = []string{"a"} },
		"2 names for 3 class": func(c *condense.Condensed) { c.ClassNames = []string{"a", "b"} },
	} {
		small := whole(t)
		change(small)
		if err := small.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
