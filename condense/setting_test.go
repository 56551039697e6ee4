package condense_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/graph-condensation/cgc/condense"
	"github.com/graph-condensation/cgc/graph"
	"github.com/graph-condensation/cgc/internal/mattest"
)

func TestView(t *testing.T) {
	g := hundred(t)
	for _, s := range []condense.Setting{
		{}, {Standardize: true}, {Inductive: true}, {Standardize: true, Inductive: true},
		{NormalizeFeatures: true}, {NormalizeFeatures: true, Standardize: true, Inductive: true},
	} {
		view := mattest.Must(s.View(t.Context(), g))
		want := g
		if s.NormalizeFeatures {
			want = mattest.Must(g.NormalizedFeatures(t.Context()))
		}
		source := want
		if s.Inductive {
			want = want.TrainingGraph()
		}
		if s.Standardize {
			scaling := mattest.Must(graph.FitScaling(source.X, g.Split.Train))
			if !reflect.DeepEqual(view.Scaling, &scaling) {
				t.Errorf("%+v: scaling %v, want that of the training nodes, %v", s, view.Scaling, scaling)
			}
			want = mattest.Must(want.Scaled(t.Context(), scaling))
		}
		if !reflect.DeepEqual(view.Graph, want) || view.Nodes != 100 || (view.Scaling != nil) != s.Standardize {
			t.Errorf("%+v: another graph than expected", s)
		}
		if s.Inductive != slices.Equal(view.Origin, g.Split.Train) || !s.Inductive && view.Origin != nil {
			t.Errorf("%+v: origin %v", s, view.Origin)
		}
	}
}

// Adopt maps members from nodes of the view to nodes of the original graph. It does not modify a shared matrix.
func TestAdopt(t *testing.T) {
	view := mattest.Must(condense.Setting{Inductive: true}.View(t.Context(), hundred(t)))
	nodes := []int32{0, 7, 3}
	members := condense.FromRows(nodes, 50)
	nodes[0] = 9 // members do not share it
	small := &condense.Condensed{Members: members}
	view.Adopt(small)
	if !slices.Equal(small.Members.Indices, []int32{0, 14, 6}) || small.Members.Cols != 100 {
		t.Errorf("members %v of %d nodes, want 0, 14, 6 of 100", small.Members.Indices, small.Members.Cols)
	}
	if !small.Inductive || small.GraphNodes != 100 {
		t.Errorf("inductive %v, of %d nodes, want true and 100", small.Inductive, small.GraphNodes)
	}
	if !slices.Equal(members.Indices, []int32{0, 7, 3}) || members.Cols != 50 {
		t.Error("the members of the view were changed")
	}
	graphless := &condense.Condensed{}
	view.Adopt(graphless)
	if graphless.Members != nil || graphless.GraphNodes != 100 {
		t.Errorf("%+v without members", graphless)
	}
}

// Under condenses the graph as the setting shows it, records the setting in the configuration, and keeps the method's
// own parameters.
func TestUnder(t *testing.T) {
	setting := condense.Setting{Inductive: true, Standardize: true}
	m := condense.Under(setting, Draw{Replace: true})
	if m.Name() != "draw" || condense.SettingOf(m) != setting || condense.SettingOf(Draw{}) != (condense.Setting{}) {
		t.Errorf("%s in %+v", m.Name(), condense.SettingOf(m))
	}
	if text, err := json.Marshal(m); err != nil || string(text) != `{"standardize":true,"inductive":true,"replace":true}` {
		t.Errorf("JSON %s, error %v", text, err)
	}
	small := mattest.Must(m.Condense(t.Context(), hundred(t), 9, 4))
	const config = `{"method":"draw","nodes":9,"seed":4,"standardize":true,"inductive":true,"replace":true}`
	if string(small.Config) != config || !small.Inductive || small.Scaling == nil || small.GraphNodes != 100 {
		t.Errorf("configuration %s, inductive %v, scaling %v", small.Config, small.Inductive, small.Scaling)
	}
	for _, v := range small.Members.Indices {
		if v%2 != 0 {
			t.Errorf("node %d does not train", v)
		}
	}
	again := condense.Under(condense.Setting{Standardize: true}, m)
	mattest.Fails(t, "has a setting of its own")(again.Condense(t.Context(), hundred(t), 9, 4))
}
